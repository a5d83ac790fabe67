// Mathematical functions as instructions in the loop itself: no call, no registers saved around it,
// and neighbouring vectors overlap. Only files inside jit/ include this header.
//
//   llvm::Value* y = EmitExp(builder, x, /*has_avx512=*/true);
#ifndef TENON_JIT_INLINE_MATH_H_
#define TENON_JIT_INLINE_MATH_H_

#include "llvm/IR/IRBuilder.h"

namespace tenon::jit {

// exp of floats, one or a vector of any length. Within 2 ULP where the result is a normal number;
// NaN gives NaN, overflow infinity; results below the smallest normal number are flushed to 0 or
// given as they are, by the mode that the kernel runs in. `has_avx512`: the target scales by powers
// of two in one instruction; other targets give the same normal results.
llvm::Value* EmitExp(llvm::IRBuilder<>& builder, llvm::Value* x, bool has_avx512);

}  // namespace tenon::jit

#endif  // TENON_JIT_INLINE_MATH_H_
