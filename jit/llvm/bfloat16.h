// bfloat16 in registers: its 16 bits as an integer. Only files inside jit/ include this header.
//
//   llvm::Value* bits = ToBfloat16(builder, value, /*native=*/false);  // one i16 per lane
//   llvm::Value* value = FromBfloat16(builder, bits);                  // one float per lane
#ifndef TENON_JIT_LLVM_BFLOAT16_H_
#define TENON_JIT_LLVM_BFLOAT16_H_

#include "llvm/IR/IRBuilder.h"

namespace tenon::jit {

// `value`, of float or double, rounded to nearest with ties to even. With `native` the CPU rounds
// float32 (AVX512_BF16), without it integer arithmetic does.
llvm::Value* ToBfloat16(llvm::IRBuilder<>& builder, llvm::Value* value, bool native);
llvm::Value* FromBfloat16(llvm::IRBuilder<>& builder, llvm::Value* bits);

}  // namespace tenon::jit

#endif  // TENON_JIT_LLVM_BFLOAT16_H_
