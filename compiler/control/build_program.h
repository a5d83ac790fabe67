// Makes something that runs from a module with control flow. Only files of compiler/ include this
// header.
#ifndef TENON_COMPILER_CONTROL_BUILD_PROGRAM_H_
#define TENON_COMPILER_CONTROL_BUILD_PROGRAM_H_

#include "tenon/compiler/compile.h"
#include "tenon/jit/kernel.h"

namespace tenon::compiler {

// `fused` must have checked types and be fused, with the branches of its ifs as functions
// (OutlineBranches). Straight-line parts of the functions that @main reaches are compiled one by
// one. Runs are refused where one of `needs` does not hold. Throws what making kernels throws, and
// Unimplemented for values that are not tensors.
Executable BuildProgram(const ir::Module& fused, const strategies::StrategyOptions& strategy,
                        const jit::CompileOptions& code, int threads,
                        const std::vector<runtime::RunTimeExtent>& extents,
                        const std::vector<ExtentCondition>& needs);

}  // namespace tenon::compiler

#endif  // TENON_COMPILER_CONTROL_BUILD_PROGRAM_H_
