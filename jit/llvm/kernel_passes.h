// LLVM's passes over a kernel's functions. Only files inside jit/ include this header.
#ifndef TENON_JIT_LLVM_KERNEL_PASSES_H_
#define TENON_JIT_LLVM_KERNEL_PASSES_H_

#include "llvm/IR/PassManager.h"

namespace tenon::jit {

// Full optimisation of the functions that FunctionCodegen makes. It is not for arbitrary code.
llvm::FunctionPassManager KernelPasses();
// The passes for functions that run once: those that make code shorter, and no others.
llvm::FunctionPassManager QuickPasses();

}  // namespace tenon::jit

#endif  // TENON_JIT_LLVM_KERNEL_PASSES_H_
