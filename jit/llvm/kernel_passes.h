// LLVM's passes over a kernel's functions. Only files inside jit/ include this header.
#ifndef TENON_JIT_LLVM_KERNEL_PASSES_H_
#define TENON_JIT_LLVM_KERNEL_PASSES_H_

#include "llvm/IR/PassManager.h"

namespace tenon::jit {

// Full optimisation of the functions that FunctionCodegen makes; not of arbitrary code.
llvm::FunctionPassManager KernelPasses();
// Of functions that run once: what makes code shorter, and nothing else.
llvm::FunctionPassManager QuickPasses();

}  // namespace tenon::jit

#endif  // TENON_JIT_LLVM_KERNEL_PASSES_H_
