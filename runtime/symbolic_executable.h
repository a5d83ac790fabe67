// An executable of a plan with variables: it takes inputs of all extents that the plan takes.
//
//   Executable exe = MakeSymbolicExecutable({.plan = plan, .constants = constants,
//                                            .kernel_for = kernel_for});
#ifndef TENON_RUNTIME_SYMBOLIC_EXECUTABLE_H_
#define TENON_RUNTIME_SYMBOLIC_EXECUTABLE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "tenon/runtime/bound_executables.h"
#include "tenon/runtime/executable.h"
#include "tenon/runtime/symbolic_plan.h"

namespace tenon::runtime {

// The inputs of a plan, with expressions where there are variables.
std::vector<InputInfo> InputsOf(const Plan& plan);

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

// The executables of a plan by the values of its variables, of which the last used are kept.
// Thread-safe.
//   PlanBinder binder({.plan = plan, .constants = constants, .kernel_for = kernel_for});
//   Executable four = binder.At({{"n", 4}});
class PlanBinder {
 public:
  explicit PlanBinder(SymbolicParts parts) : parts_(std::move(parts)), plan_(parts_.plan) {}

  // Whether the plan is right for these values, of all symbols; others may be there, too.
  bool Takes(const Dim::Values& values) const { return plan_.Takes(values); }
  // What At made for them, if it is kept.
  std::optional<Executable> Find(const Dim::Values& values) { return bound_.Find(values); }
  // Throws as SymbolicPlan::At does, and what the check throws.
  Executable At(const Dim::Values& values);
  const Plan& plan() const { return parts_.plan; }

 private:
  const SymbolicParts parts_;
  const SymbolicPlan plan_;
  BoundExecutables bound_;
};

// Throws Unimplemented for a variable that no input has alone as an extent.
Executable MakeSymbolicExecutable(SymbolicParts parts);

}  // namespace tenon::runtime

#endif  // TENON_RUNTIME_SYMBOLIC_EXECUTABLE_H_
