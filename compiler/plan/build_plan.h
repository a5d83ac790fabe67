// Makes a plan from a module of fused functions: which kernels run in which order on which values.
#ifndef TENON_COMPILER_PLAN_BUILD_PLAN_H_
#define TENON_COMPILER_PLAN_BUILD_PLAN_H_

#include <string>

#include "tenon/compiler/compile.h"
#include "tenon/compiler/plan/kernel_source.h"
#include "tenon/jit/kernel.h"

namespace tenon::compiler {

// `module` must have checked types and be fused; its @main becomes the plan. Kernels that prepare
// constants are compiled by `preparing`, and run.
//
// Without `keeps_module`, Lowered::module is empty, and each constant is freed when the last form
// that a kernel reads has been made from it. So a model's weights are never all in memory twice,
// unless somebody else holds the module.
Lowered BuildPlan(ir::Module module, const strategies::StrategyOptions& options,
                  const jit::CompileOptions& preparing, bool keeps_module);

// The same with kernels that `source` has. The module is kept.
Lowered BuildPlan(ir::Module module, KernelSource& source);

// The kernel that the call of a fused function asks for. An argument counts as constant when it is
// written as one; the value of a variable is not looked up.
KernelTable::Request RequestOf(const ir::CallNode& call);

}  // namespace tenon::compiler

#endif  // TENON_COMPILER_PLAN_BUILD_PLAN_H_
