// A library's kernel and the generated ones before and behind it, as one kernel.
#ifndef TENON_COMPILER_JOINED_KERNEL_H_
#define TENON_COMPILER_JOINED_KERNEL_H_

#include <memory>
#include <vector>

#include "tenon/jit/callable.h"
#include "tenon/strategies/strategy.h"

namespace tenon::compiler {

// `built` has a library's kernel; `generated` is the code of GeneratedFunctions(built), in order.
// What lies between the kernels is in the workspace.
std::shared_ptr<const jit::Callable> Join(
    const strategies::Built& built, std::vector<std::shared_ptr<const jit::Callable>> generated);

}  // namespace tenon::compiler

#endif  // TENON_COMPILER_JOINED_KERNEL_H_
