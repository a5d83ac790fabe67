// From a module of fused functions to a plan: which kernels run in which order on which values.
#ifndef TENON_COMPILER_BUILD_PLAN_H_
#define TENON_COMPILER_BUILD_PLAN_H_

#include <string>

#include "tenon/compiler/compile.h"

namespace tenon::compiler {

// `module` must have checked types and be fused; its @main becomes the plan. `cache_dir` keeps the
// kernels that prepare constants (jit::CompileOptions).
Lowered BuildPlan(const ir::Module& module, const strategies::StrategyOptions& options,
                  const std::string& cache_dir = "");

// "fused_nn_conv2d_add" for a fused function: its operators in order of execution. Names of more
// than 80 characters are cut and end in a hash.
std::string NameOfFunction(const ir::FunctionNode& function);

}  // namespace tenon::compiler

#endif  // TENON_COMPILER_BUILD_PLAN_H_
