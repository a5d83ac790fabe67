// Mathematical functions as instructions in the loop itself. There is no call, no registers are
// saved around it, and neighbouring vectors overlap. Only files inside jit/ include this header.
//
//   llvm::Value* y = EmitExp(builder, x, /*by_table=*/true);
#ifndef TENON_JIT_LLVM_INLINE_MATH_H_
#define TENON_JIT_LLVM_INLINE_MATH_H_

#include "llvm/IR/IRBuilder.h"

namespace tenon::jit {

// exp of floats, one or a vector of any length. It is within 1.1 ULP if the result is a normal
// number, and within 2 on targets without fused multiply-add. NaN gives NaN, overflow gives
// infinity. Results below the smallest normal number are flushed to 0 or given as they are, by the
// mode that the kernel runs in. `by_table` says that the target looks up, bounds and scales 16
// floats in one instruction each (AVX512-F and AVX512-DQ). Either way all lanes of vectors of all
// lengths give the same bits for the same number.
llvm::Value* EmitExp(llvm::IRBuilder<>& builder, llvm::Value* x, bool by_table);

// 1 / (1 + exp(-x)) of floats in the same way, within 3 ULP. It is 0 or denormal below -88.3.
llvm::Value* EmitSigmoid(llvm::IRBuilder<>& builder, llvm::Value* x, bool by_table);

// The same for functions that need only look-ups (AVX512-F). erf is within 2.5 ULP, tanh within
// 1.5, log within 2.
llvm::Value* EmitErf(llvm::IRBuilder<>& builder, llvm::Value* x);
llvm::Value* EmitTanh(llvm::IRBuilder<>& builder, llvm::Value* x);
llvm::Value* EmitLog(llvm::IRBuilder<>& builder, llvm::Value* x);

}  // namespace tenon::jit

#endif  // TENON_JIT_LLVM_INLINE_MATH_H_
