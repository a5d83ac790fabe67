// From a module of fused functions to a plan: which kernels run in which order on which values.
#ifndef TENON_COMPILER_PLAN_BUILD_PLAN_H_
#define TENON_COMPILER_PLAN_BUILD_PLAN_H_

#include <string>

#include "tenon/compiler/compile.h"
#include "tenon/jit/kernel.h"

namespace tenon::compiler {

// `module` must have checked types and be fused; its @main becomes the plan. Kernels that prepare
// constants are compiled by `preparing`, and run.
Lowered BuildPlan(const ir::Module& module, const strategies::StrategyOptions& options,
                  const jit::CompileOptions& preparing = {});

// "fused_nn_conv2d_add" for a fused function: its operators in order of execution. Names of more
// than 80 characters are cut and end in a hash.
std::string NameOfFunction(const ir::FunctionNode& function);

}  // namespace tenon::compiler

#endif  // TENON_COMPILER_PLAN_BUILD_PLAN_H_
