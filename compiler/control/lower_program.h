// Lowers a fused module with control flow to functions and plans. Only files of compiler/ include
// this header.
#ifndef TENON_COMPILER_CONTROL_LOWER_PROGRAM_H_
#define TENON_COMPILER_CONTROL_LOWER_PROGRAM_H_

#include <vector>

#include "tenon/compiler/lower_program.h"
#include "tenon/jit/kernel.h"

namespace tenon::compiler {

// `fused` is as for BuildProgram. Kernels that prepare constants are compiled by `code`, and run.
// Throws what making kernels throws, and Unimplemented naming a kernel in a part with variables
// that can be made only for numbers.
LoweredProgram LowerParts(const ir::Module& fused, const strategies::StrategyOptions& strategy,
                          const jit::CompileOptions& code,
                          const std::vector<runtime::RunTimeExtent>& extents,
                          const std::vector<ExtentCondition>& needs);

// The kernels of all parts, also of such parts, without their plans (LowerKernels in
// compiler/compile.h).
Lowered LowerKernelsOfParts(const ir::Module& fused, const strategies::StrategyOptions& strategy,
                            const jit::CompileOptions& code,
                            const std::vector<ExtentCondition>& needs);

}  // namespace tenon::compiler

#endif  // TENON_COMPILER_CONTROL_LOWER_PROGRAM_H_
