// A module of symbolic extents, compiled once for all values of its variables.
//
// Kernels are made when the model is, and a plan for all values when it is bound first. New values
// are put into that plan: shapes, places and what kernels are called with. No code is made. There
// is one plan for each set of variables that are 1, since more nodes are views then. If variables
// are 0 and a kernel does not take that, the module without them is a model of its own, which is
// made once.
//
// If the plan does not hold, types are inferred again from numbers, and what they need is made.
// This happens for operators that can be computed only for numbers, and for extents that are
// broadcast together and differ. There an operator refuses values, with its words. Any number of
// threads may bind.
//
//   auto model = std::make_shared<SymbolicModel>(fused, strategy, code, threads);
//   Executable exe = model->Bind({{"n", 4}});
#ifndef TENON_COMPILER_SYMBOLIC_SYMBOLIC_MODEL_H_
#define TENON_COMPILER_SYMBOLIC_SYMBOLIC_MODEL_H_

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "tenon/compiler/symbolic/prepared_arrays.h"
#include "tenon/compiler/symbolic/symbolic_kernels.h"
#include "tenon/jit/kernel.h"
#include "tenon/runtime/bound_executables.h"
#include "tenon/runtime/symbolic_plan.h"

namespace tenon::compiler {

class SymbolicModel {
 public:
  // `fused` must have checked types. `needs` is what the module needed of the variables before
  // passes changed it. Equal kernels of `donors` are not compiled again. Throws what making kernels
  // throws, and Unimplemented for a value of unknown extents, naming the operator.
  SymbolicModel(ir::Module fused, strategies::StrategyOptions strategy, jit::CompileOptions code,
                int threads, std::vector<ExtentCondition> needs = {},
                const std::vector<const SymbolicModel*>& donors = {});

  // The executable for these values, of all variables. Throws what operators refuse of such
  // extents.
  runtime::Executable Bind(const Dim::Values& values);

  // The kernels that are made for all extents.
  std::vector<std::shared_ptr<const jit::Callable>> Callables() const;

 private:
  // A kernel that calls of equal fused functions share. Without code it is made for each shape.
  struct Made {
    std::optional<jit::Kernel> code;
    std::vector<std::string> symbols;  // whose values it is called with
  };
  class Kernels;  // what Bind takes kernels from where the plan does not hold

  // What the module needed before passes changed it.
  struct Needs {
    std::vector<ExtentCondition> of_others;     // of operators that passes have replaced, of calls
    std::vector<ExtentCondition> of_operators;  // that the module still has
    std::vector<ExtentCondition> All() const;
  };

  // A plan for all values except those that are 1, and the constants that it reads.
  struct Planned {
    runtime::SymbolicPlan plan;
    std::vector<NDArray> constants;
  };

  static Needs Split(std::vector<ExtentCondition> needs, const ir::Module& fused);
  // Gives how many are compiled.
  std::size_t MakeKernels(const std::vector<const SymbolicModel*>& donors);
  // Null if the model has no plan for all values.
  std::shared_ptr<const Planned> PlannedFor(Dim::Values ones);
  std::shared_ptr<const Planned> PlanFor(const Dim::Values& values);
  bool TakesZeros(const Dim::Values& zeros, const Dim::Values& values);
  std::shared_ptr<const Planned> MakePlan(const Dim::Values& ones) const;
  runtime::Executable Build(const Dim::Values& values);
  runtime::Executable BuildFromTypes(const Dim::Values& values) const;
  // The model without variables that are 0; null where the plan for all values takes these.
  SymbolicModel* WithoutZeros(const Dim::Values& zeros, const Dim::Values& values);

  const ir::Module fused_;
  const strategies::StrategyOptions strategy_;
  const jit::CompileOptions code_;
  const int threads_;
  const Needs needs_;
  const SymbolicKernels kernels_;
  std::vector<Made> made_;  // of kernels_
  const PreparedArrays prepared_;
  const std::size_t num_compiled_;

  // Plans, by the variables that are 1.
  static constexpr std::size_t kMaxPlans = 16;
  std::mutex plans_mutex_;
  std::map<Dim::Values, std::shared_ptr<const Planned>> plans_;

  runtime::BoundExecutables bound_;

  // Models for values of which some are 0.
  std::mutex zeros_mutex_;
  std::map<Dim::Values, std::unique_ptr<SymbolicModel>> without_zeros_;
};

}  // namespace tenon::compiler

#endif  // TENON_COMPILER_SYMBOLIC_SYMBOLIC_MODEL_H_
