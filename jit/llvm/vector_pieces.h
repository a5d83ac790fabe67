// Vectors cut into pieces, joined, and made longer or shorter. Only files inside jit/ include this
// header.
//
//   Value* halves = ByPieces(builder, 64, 16, [&](unsigned first) {
//     return Narrowed(Piece(builder, floats, first, 16)); });
#ifndef TENON_JIT_LLVM_VECTOR_PIECES_H_
#define TENON_JIT_LLVM_VECTOR_PIECES_H_

#include <functional>

#include "llvm/IR/IRBuilder.h"

namespace tenon::jit {

unsigned LanesOf(const llvm::Value* vector);

// The lanes from `first` to first + lanes. `first` is a multiple of `lanes`. For one lane it is the
// element.
llvm::Value* Piece(llvm::IRBuilder<>& builder, llvm::Value* vector, unsigned first, unsigned lanes);
// The first lanes, with undefined ones after the last that there is.
llvm::Value* Resized(llvm::IRBuilder<>& builder, llvm::Value* vector, unsigned lanes);
// The bits of a mask at these places, and false beyond its end. Constants stay apart, so that LLVM
// sees which bits are never true.
llvm::Value* PickBits(llvm::IRBuilder<>& builder, llvm::Value* mask, llvm::ArrayRef<int> places);
// What `make` gives for first = 0, chunk, 2 * chunk ..., joined to a vector of `lanes`, which
// `chunk` divides.
llvm::Value* ByPieces(llvm::IRBuilder<>& builder, unsigned lanes, unsigned chunk,
                      const std::function<llvm::Value*(unsigned first)>& make);

}  // namespace tenon::jit

#endif  // TENON_JIT_LLVM_VECTOR_PIECES_H_
