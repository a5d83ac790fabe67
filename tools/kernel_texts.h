// The stages of a kernel on its way to machine code, as text.
#ifndef TENON_TOOLS_KERNEL_TEXTS_H_
#define TENON_TOOLS_KERNEL_TEXTS_H_

#include <string>
#include <vector>

#include "tenon/compiler/compile.h"
#include "tenon/jit/kernel.h"

namespace tenon::tools {

// All that is generated for it: the kernel itself, or what stands at the sides of a library's, and
// what prepares constants for it.
std::vector<loop::Function> GeneratedParts(const LoweredKernel& kernel);

// Of one of them, "// none" and why where there is none. Throws what code generation throws.
std::string PartText(const loop::Function& part, jit::KernelText kind,
                     const jit::CompileOptions& options);

// The library's name for its code, or "" when all code is generated.
std::string LibraryCode(const LoweredKernel& kernel);

}  // namespace tenon::tools

#endif  // TENON_TOOLS_KERNEL_TEXTS_H_
