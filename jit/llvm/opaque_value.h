// Values that LLVM cannot see through. Only files inside jit/ include this header.
#ifndef TENON_JIT_LLVM_OPAQUE_VALUE_H_
#define TENON_JIT_LLVM_OPAQUE_VALUE_H_

#include "llvm/IR/IRBuilder.h"

namespace tenon::jit {

// The same value, of which LLVM knows nothing. No instruction is made for it: the result is in the
// register of the operand. `registers` is the constraint of inline assembly for their kind: r for
// integers; v for vectors of a whole register of x86.
llvm::Value* EmitOpaque(llvm::IRBuilder<>& builder, llvm::Value* x, char registers);

}  // namespace tenon::jit

#endif  // TENON_JIT_LLVM_OPAQUE_VALUE_H_
