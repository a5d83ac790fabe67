// A plan with variables, made into a plan for their values.
//
// Which kernels run on which values, and which of these share storage, is the same for all values.
// What the values change is numbers: shapes, sizes, places, and what kernels are called with.
//
//   const SymbolicPlan plan(lowered.plan);
//   PlanAtValues four = plan.At({{"n", 4}});
#ifndef TENON_RUNTIME_SYMBOLIC_PLAN_H_
#define TENON_RUNTIME_SYMBOLIC_PLAN_H_

#include <cstdint>
#include <vector>

#include "tenon/runtime/plan.h"
#include "tenon/support/dim_program.h"

namespace tenon::runtime {

// A kernel of the plan with variables, and the extents that it is called with.
struct KernelUse {
  int kernel = 0;
  std::vector<std::int64_t> extents;
};

struct PlanAtValues {
  Plan plan;                       // without variables; its nodes count `kernels`
  std::vector<KernelUse> kernels;  // one for each node that is a kernel
};

// Throws InvalidArgument: the model needs what these values break. `shown` says which input has the
// value; empty: that is not known.
[[noreturn]] void RefuseValues(const ExtentCondition& broken, const Dim::Values& values,
                               const std::string& shown = "");

class SymbolicPlan {
 public:
  // The plan's storage is assigned. Throws InvalidArgument where an expression has a variable that
  // is none of the plan's symbols.
  explicit SymbolicPlan(Plan plan);

  // Whether the plan is right for these values, of all symbols.
  bool Takes(const Dim::Values& values) const;
  // Throws InvalidArgument naming a condition that does not hold, or an extent that is too large.
  PlanAtValues At(const Dim::Values& values) const;

  const Plan& plan() const { return plan_; }

 private:
  std::vector<std::int64_t> InOrder(const Dim::Values& values) const;
  // The first condition that does not hold; null where all do.
  const ExtentCondition* Broken(const std::vector<std::int64_t>& results) const;

  Plan plan_;
  DimProgram program_;
  // Operations of the program: by node and output, by node and output, by node, by condition.
  std::vector<std::vector<std::vector<int>>> shapes_;
  std::vector<std::vector<int>> begins_, arguments_;
  std::vector<std::pair<int, int>> conditions_;
};

}  // namespace tenon::runtime

#endif  // TENON_RUNTIME_SYMBOLIC_PLAN_H_
