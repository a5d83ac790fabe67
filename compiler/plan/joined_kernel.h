// A library's kernel and the generated ones before and after it, as one kernel.
#ifndef TENON_COMPILER_PLAN_JOINED_KERNEL_H_
#define TENON_COMPILER_PLAN_JOINED_KERNEL_H_

#include <functional>
#include <memory>

#include "tenon/jit/callable.h"
#include "tenon/strategies/strategy.h"

namespace tenon::compiler {

// `built` has a library's kernel; `next` gives the code of GeneratedFunctions(built), one after the
// other. What lies between the kernels is in the workspace.
std::shared_ptr<const jit::Callable> Join(
    const strategies::Built& built,
    const std::function<std::shared_ptr<const jit::Callable>()>& next);

}  // namespace tenon::compiler

#endif  // TENON_COMPILER_PLAN_JOINED_KERNEL_H_
