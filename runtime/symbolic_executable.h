// An executable of a plan with variables: it takes inputs of all extents that the plan takes.
//
//   Executable exe = MakeSymbolicExecutable({.plan = plan, .constants = constants,
//                                            .kernel_for = kernel_for});
#ifndef TENON_RUNTIME_SYMBOLIC_EXECUTABLE_H_
#define TENON_RUNTIME_SYMBOLIC_EXECUTABLE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "tenon/runtime/executable.h"
#include "tenon/runtime/symbolic_plan.h"

namespace tenon::runtime {

// The code of a kernel of the plan, to be called with these extents.
using KernelFor = std::function<std::shared_ptr<const jit::Callable>(
    int kernel, std::vector<std::int64_t> extents)>;

// What runs a plan for values; `memory` is that of runs.
Executable ExecutableAt(PlanAtValues at, const KernelFor& kernel_for,
                        std::vector<NDArray> constants, int threads,
                        std::shared_ptr<WorkingMemory> memory);

struct SymbolicParts {
  Plan plan;  // with variables, storage assigned
  std::vector<NDArray> constants;
  KernelFor kernel_for;
  // Is given each plan for values before it is run; may be null. What it throws refuses them.
  std::function<void(const PlanAtValues& at)> check = nullptr;
  std::vector<std::shared_ptr<const jit::Callable>> kernels = {};  // as Executable::kernels shows
  int threads = 0;
};

// Throws Unimplemented for a variable that no input has alone as an extent.
Executable MakeSymbolicExecutable(SymbolicParts parts);

}  // namespace tenon::runtime

#endif  // TENON_RUNTIME_SYMBOLIC_EXECUTABLE_H_
