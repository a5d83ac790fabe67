// The stages of a kernel on its way to machine code, as text.
#ifndef TENON_TOOLS_KERNEL_TEXTS_H_
#define TENON_TOOLS_KERNEL_TEXTS_H_

#include <string>
#include <vector>

#include "tenon/compiler/compile.h"
#include "tenon/jit/kernel.h"

namespace tenon::tools {

// Its fused function as tensor expressions.
std::string TensorExpressions(const LoweredKernel& kernel);

// The code generated for a kernel: the kernel itself, or the prologue and epilogue of a library's
// kernel, whose own code has no text. Throws what code generation throws.
std::vector<jit::Kernel> GeneratedCode(const LoweredKernel& kernel,
                                       const jit::CompileOptions& options);

// The loops that this code is made of.
std::vector<loop::Function> GeneratedLoops(const LoweredKernel& kernel,
                                           const jit::CompileOptions& options);

// The library's name for its code, or "" when all code is generated.
std::string LibraryCode(const LoweredKernel& kernel);

}  // namespace tenon::tools

#endif  // TENON_TOOLS_KERNEL_TEXTS_H_
