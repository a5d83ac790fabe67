#include "tenon/compiler/symbolic/symbolic_plan.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "tenon/compiler/plan/build_plan.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::compiler {
namespace {

using ir::Expr;
using Kind = ExtentCondition::Kind;

// Takes all kernels from those of the model.
class SharedKernels : public KernelSource {
 public:
  SharedKernels(const ConcreteModule& part, const Dim::Values& known,
                const SymbolicKernels& kernels, const PreparedArrays& prepared)
      : part_(part), shared_(kernels), prepared_(prepared), known_(AsDims(known)) {
    for (const LoweredKernel& whole : kernels.list) {
      LoweredKernel& kernel = kernels_.emplace_back();
      kernel.name = whole.name;
      kernel.choice.built.arguments = whole.choice.built.arguments;
    }
    for (const ExtentCondition& condition : kernels.conditions) Require(condition);
  }

  const FunctionLabels* LabelsOf(const Expr& function) const override {
    const SymbolicUse* use = UseOf(function);
    return use == nullptr ? nullptr : &use->labels;
  }
  void MakeAhead(const std::vector<KernelTable::Request>&) override {}
  int For(const Expr& function, const std::string& name, const std::vector<NDArray>&,
          std::uint64_t) override {
    const SymbolicUse* use = UseOf(function);
    if (use == nullptr || !shared_.HasCode(use->kernel))
      throw Unimplemented(StrCat("the kernel ", name,
                                 " can be made for numbers only, so the model has no plan for all "
                                 "shapes; give its extents, or compile it, which makes such "
                                 "kernels for each shape"))
          .At(function.span());
    for (const auto& [a, b] : use->assumed_equal) Require({a, Kind::kEqual, b, name});
    for (const auto& [variable, extent] : use->extents)
      Require({use->LeastOf(variable), Kind::kAtMost, extent, name});
    return use->kernel;
  }
  std::vector<Dim> ArgumentsOf(const Expr& function) const override {
    const SymbolicUse& use = *UseOf(function);
    std::vector<Dim> arguments;
    for (const std::string& variable : shared_.VariablesOf(use.kernel))
      arguments.push_back(use.extents.at(variable).Substitute(known_));
    return arguments;
  }
  std::vector<runtime::EntryRef> Prepared(int kernel, const std::vector<NDArray>& constants,
                                          const AddConstant& add) override {
    return entries_.For(prepared_.Find(kernel, constants), add);
  }
  void ForEachPrepared(const std::function<void(runtime::EntryRef&)>& visit) override {
    entries_.ForEach(visit);
  }
  void Compute(const Lowered&) override {}
  std::vector<LoweredKernel>& kernels() override { return kernels_; }

  // The conditions of the plan, in its variables.
  const std::vector<ExtentCondition>& conditions() const { return conditions_; }

 private:
  const SymbolicUse* UseOf(const Expr& function) const {
    const auto original = part_.functions.find(function);
    const auto found =
        shared_.uses.find(original == part_.functions.end() ? function : original->second);
    return found == shared_.uses.end() ? nullptr : &found->second;
  }

  // Adds a condition unless it holds for all values. One that holds for no values stays.
  void Require(ExtentCondition condition) {
    condition.a = condition.a.Substitute(known_);
    condition.b = condition.b.Substitute(known_);
    const std::optional<std::int64_t> room = (condition.b - condition.a).LowerBound();
    const bool holds =
        condition.kind == Kind::kEqual ? condition.a == condition.b : room && *room >= 0;
    const auto says_the_same = [&](const ExtentCondition& other) {
      return other.a == condition.a && other.kind == condition.kind && other.b == condition.b;
    };
    if (!holds && std::none_of(conditions_.begin(), conditions_.end(), says_the_same))
      conditions_.push_back(std::move(condition));
  }

  const ConcreteModule& part_;
  const SymbolicKernels& shared_;
  const PreparedArrays& prepared_;
  const std::map<std::string, Dim> known_;
  std::vector<LoweredKernel> kernels_;
  std::vector<ExtentCondition> conditions_;
  PreparedEntries entries_;
};

}  // namespace

Lowered PlanForAll(const ConcreteModule& part, const Dim::Values& known,
                   const SymbolicKernels& kernels, const PreparedArrays& prepared) {
  if (!kernels.silent_op.empty())
    throw Unimplemented(StrCat("the type relation of ", kernels.silent_op,
                               " does not say what it needs of variables; register the operator "
                               "with .KnownConditions() if it does"));
  SharedKernels source(part, known, kernels, prepared);
  Lowered lowered = BuildPlan(part.module, source);
  lowered.plan.conditions = source.conditions();
  return lowered;
}

}  // namespace tenon::compiler
