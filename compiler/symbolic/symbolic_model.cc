// Fused functions of the symbolic module are kernels of their own. Binding puts numbers into the
// plan for all values. If there is no such plan, it follows the same calls in the module of
// numbers, so that views, joins and storage are planned as for any other module.
#include "tenon/compiler/symbolic/symbolic_model.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <set>
#include <unordered_map>

#include "tenon/compiler/plan/build_plan.h"
#include "tenon/compiler/plan/link.h"
#include "tenon/compiler/remade_kernels.h"
#include "tenon/compiler/symbolic/concrete_module.h"
#include "tenon/compiler/symbolic/symbolic_plan.h"
#include "tenon/ir/visit.h"
#include "tenon/loop/content.h"
#include "tenon/runtime/symbolic_executable.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon {
namespace {

std::atomic<std::size_t>& Remade() {
  static std::atomic<std::size_t> remade = 0;
  return remade;
}

}  // namespace

std::size_t RemadeKernels() { return Remade(); }

}  // namespace tenon

namespace tenon::compiler {

using ir::Expr;

SymbolicModel::SymbolicModel(ir::Module fused, strategies::StrategyOptions strategy,
                             jit::CompileOptions code, int threads,
                             std::vector<ExtentCondition> needs,
                             const std::vector<const SymbolicModel*>& donors)
    : fused_(std::move(fused)),
      strategy_(std::move(strategy)),
      code_(std::move(code)),
      threads_(threads),
      needs_(Split(std::move(needs), fused_)),
      kernels_(LowerSymbolicKernels(fused_, strategy_)),
      prepared_(fused_, kernels_, code_),
      num_compiled_(MakeKernels(donors)) {}

SymbolicModel::Needs SymbolicModel::Split(std::vector<ExtentCondition> needs,
                                          const ir::Module& fused) {
  std::set<std::string> operators;
  for (const auto& [name, function] : fused.functions()) {
    ir::VisitPostOrder(function, [&](const Expr& e) {
      const auto* call = e.As<ir::CallNode>();
      if (call != nullptr && call->op() != nullptr) operators.insert(call->op()->name);
    });
  }
  Needs split;
  for (ExtentCondition& need : needs) {
    // Of a model's node it is "nn.space_to_depth of y (SpaceToDepth)".
    const std::string name = need.needed_by.substr(0, need.needed_by.find(' '));
    (operators.contains(name) ? split.of_operators : split.of_others).push_back(std::move(need));
  }
  return split;
}

std::vector<ExtentCondition> SymbolicModel::Needs::All() const {
  std::vector<ExtentCondition> all = of_others;
  all.insert(all.end(), of_operators.begin(), of_operators.end());
  return all;
}

std::size_t SymbolicModel::MakeKernels(const std::vector<const SymbolicModel*>& donors) {
  std::unordered_map<std::string, jit::Kernel> known;
  for (const SymbolicModel* donor : donors) {
    for (const Made& made : donor->made_) {
      if (made.code) known.emplace(loop::ContentOf(made.code->function()), *made.code);
    }
  }
  made_.resize(kernels_.list.size());
  const std::vector<std::string> places = PlacesByKernel(NodesOf(kernels_), kernels_.list.size());
  std::vector<loop::Function> functions;
  std::vector<Made*> waiting;  // for the code of each function
  for (std::size_t i = 0; i < made_.size(); ++i) {
    const auto* function = std::get_if<loop::Function>(&kernels_.list[i].choice.built.kernel);
    if (function == nullptr) continue;
    made_[i].symbols = kernels_.VariablesOf(static_cast<int>(i));
    const auto same = known.empty() ? known.end() : known.find(loop::ContentOf(*function));
    if (same != known.end()) {
      made_[i].code = same->second;
    } else {
      functions.push_back(*function);
      functions.back().places = places[i];
      waiting.push_back(&made_[i]);
    }
  }
  const std::vector<jit::Kernel> compiled = ValueOrThrow(jit::CompileAll(functions, code_));
  for (std::size_t i = 0; i < compiled.size(); ++i) waiting[i]->code = compiled[i];
  return compiled.size();
}

std::shared_ptr<const SymbolicModel::Planned> SymbolicModel::MakePlan(
    const Dim::Values& ones) const {
  try {
    const Lowered lowered =
        PlanForAll(ones.empty() ? ConcreteModule{.module = fused_, .functions = {}}
                                : WithExtents(fused_, ones),
                   ones, kernels_, prepared_);
    return std::make_shared<const Planned>(
        Planned{runtime::SymbolicPlan(lowered.plan), lowered.constants});
  } catch (const Error& error) {
    if (error.code() == absl::StatusCode::kInternal) throw;
    return nullptr;
  }
}

std::shared_ptr<const SymbolicModel::Planned> SymbolicModel::PlannedFor(Dim::Values ones) {
  const std::lock_guard<std::mutex> lock(plans_mutex_);
  if (!plans_.contains(ones) && plans_.size() >= kMaxPlans) ones.clear();
  const auto [planned, is_new] = plans_.try_emplace(ones, nullptr);
  if (is_new) planned->second = MakePlan(ones);
  return planned->second;
}

// Takes kernels from the model; those that it does not have are made for the shape.
class SymbolicModel::Kernels : public FreshKernels {
 public:
  Kernels(const SymbolicModel& model, const ConcreteModule& concrete, const Dim::Values& values)
      : FreshKernels(model.strategy_, model.code_),
        model_(model),
        concrete_(concrete),
        values_(values) {}

  const FunctionLabels* LabelsOf(const Expr& function) const override {
    const SymbolicUse* known = Known(function);
    return known == nullptr ? nullptr : &known->labels;
  }

  int For(const Expr& function, const std::string& name, const std::vector<NDArray>& constants,
          std::uint64_t hash) override {
    const SymbolicUse* known = Known(function);
    if (known == nullptr) {
      const int index = FreshKernels::For(function, name, constants, hash);
      ready_.resize(std::max(ready_.size(), kernels().size()));
      return index;
    }
    const Made& made = model_.made_[static_cast<std::size_t>(known->kernel)];
    std::vector<std::int64_t> extents;
    for (const std::string& symbol : made.symbols)
      extents.push_back(known->extents.at(symbol).Evaluate(values_).value());
    // What a plan reads of a kernel, without how it was chosen, which is long.
    const LoweredKernel& whole = model_.kernels_.list[static_cast<std::size_t>(known->kernel)];
    LoweredKernel& kernel = kernels().emplace_back();
    kernel.name = whole.name;
    kernel.choice.built.arguments = whole.choice.built.arguments;
    ready_.resize(kernels().size());
    ready_.back() = made.code->AsCallable(std::move(extents));
    shared_.emplace(static_cast<int>(kernels().size()) - 1, known->kernel);
    return static_cast<int>(kernels().size()) - 1;
  }

  std::vector<runtime::EntryRef> Prepared(int kernel, const std::vector<NDArray>& constants,
                                          const AddConstant& add) override {
    const auto shared = shared_.find(kernel);
    if (shared == shared_.end()) return FreshKernels::Prepared(kernel, constants, add);
    return entries_.For(model_.prepared_.Find(shared->second, constants), add);
  }

  void ForEachPrepared(const std::function<void(runtime::EntryRef&)>& visit) override {
    FreshKernels::ForEachPrepared(visit);
    entries_.ForEach(visit);
  }

  // The code of the kernels in the list. Null for those that are still to be compiled.
  std::vector<std::shared_ptr<const jit::Callable>> TakeReady() { return std::move(ready_); }

 private:
  // Null if the model has no kernel for all extents. It is asked several times about each function.
  const SymbolicUse* Known(const Expr& function) const {
    const auto [known, is_new] = known_.try_emplace(function, nullptr);
    if (is_new) known->second = Find(function);
    return known->second;
  }

  const SymbolicUse* Find(const Expr& function) const {
    const auto symbolic = concrete_.functions.find(function);
    if (symbolic == concrete_.functions.end()) return nullptr;
    const auto found = model_.kernels_.uses.find(symbolic->second);
    if (found == model_.kernels_.uses.end()) return nullptr;
    const SymbolicUse& use = found->second;
    const auto value = [&](const Dim& dim) { return dim.Evaluate(values_).value(); };
    const bool fits =
        std::all_of(use.extents.begin(), use.extents.end(),
                    [&](const auto& extent) {
                      return value(extent.second) >= use.LeastOf(extent.first);
                    }) &&
        std::all_of(use.assumed_equal.begin(), use.assumed_equal.end(),
                    [&](const auto& pair) { return value(pair.first) == value(pair.second); });
    return fits && model_.made_[static_cast<std::size_t>(use.kernel)].code ? &use : nullptr;
  }

  const SymbolicModel& model_;
  const ConcreteModule& concrete_;
  const Dim::Values& values_;
  mutable std::unordered_map<Expr, const SymbolicUse*, ir::ExprHash> known_;
  std::vector<std::shared_ptr<const jit::Callable>> ready_;
  std::map<int, int> shared_;  // positions in the list, and in the model's
  PreparedEntries entries_;
};

std::shared_ptr<const SymbolicModel::Planned> SymbolicModel::PlanFor(const Dim::Values& values) {
  Dim::Values ones;
  for (const auto& value : values) {
    if (value.second == 1) ones.insert(value);
  }
  return PlannedFor(std::move(ones));
}

// A plan expects 0 of the variables that are counts. It takes one unless a kernel needs elements.
bool SymbolicModel::TakesZeros(const Dim::Values& zeros, const Dim::Values& values) {
  const bool are_counts = std::ranges::all_of(
      zeros, [](const auto& zero) { return Dim::Symbol(zero.first).LowerBound() == 0; });
  if (!are_counts) return false;
  const std::shared_ptr<const Planned> planned = PlanFor(values);
  return planned != nullptr && planned->plan.Takes(values);
}

runtime::Executable SymbolicModel::Build(const Dim::Values& values) {
  const std::shared_ptr<const Planned> planned = PlanFor(values);
  if (planned == nullptr || !planned->plan.Takes(values)) return BuildFromTypes(values);
  const auto kernel_for = [&](int kernel, std::vector<std::int64_t> extents) {
    return made_[static_cast<std::size_t>(kernel)].code->AsCallable(std::move(extents));
  };
  return runtime::ExecutableAt(planned->plan.At(values), kernel_for, planned->constants, threads_,
                               bound_.memory());
}

runtime::Executable SymbolicModel::BuildFromTypes(const Dim::Values& values) const {
  const ConcreteModule concrete = MakeConcrete(fused_, values);
  Kernels source(*this, concrete, values);
  const Lowered lowered = BuildPlan(concrete.module, source);
  const auto ready = source.TakeReady();
  const auto missing = std::ranges::count(ready, nullptr);
  Remade() += static_cast<std::size_t>(missing) + (lowered.kernels.size() - ready.size());
  return Linked(lowered, ready, code_, threads_, bound_.memory());
}

namespace {

bool AllHold(const std::vector<ExtentCondition>& needs, const Dim::Values& values) {
  return std::ranges::all_of(needs,
                             [&](const ExtentCondition& need) { return need.Holds(values); });
}
void Require(const std::vector<ExtentCondition>& needs, const Dim::Values& values) {
  for (const ExtentCondition& need : needs) {
    if (!need.Holds(values)) runtime::RefuseValues(need, values);
  }
}

}  // namespace

SymbolicModel* SymbolicModel::WithoutZeros(const Dim::Values& zeros, const Dim::Values& values) {
  const std::lock_guard<std::mutex> lock(zeros_mutex_);
  const auto found = without_zeros_.find(zeros);
  if (found != without_zeros_.end()) return found->second.get();
  if (TakesZeros(zeros, values)) return nullptr;
  std::vector<ExtentCondition> needs = needs_.All();
  // What is refused may have no kernels for such zeros.
  if (!AllHold(needs, values)) {
    Require(needs_.of_others, values);
    (void)MakeConcrete(fused_, values);
    Require(needs_.of_operators, values);
  }
  const std::map<std::string, Dim> numbers = AsDims(zeros);
  for (ExtentCondition& need : needs) {
    need.a = need.a.Substitute(numbers);
    need.b = need.b.Substitute(numbers);
  }
  std::vector<const SymbolicModel*> donors = {this};
  for (const auto& known : without_zeros_) donors.push_back(known.second.get());
  auto model = std::make_unique<SymbolicModel>(WithExtents(fused_, zeros).module, strategy_, code_,
                                               threads_, std::move(needs), donors);
  Remade() += model->num_compiled_;
  return without_zeros_.emplace(zeros, std::move(model)).first->second.get();
}

runtime::Executable SymbolicModel::Bind(const Dim::Values& values) {
  Dim::Values zeros, others;
  for (const auto& value : values) (value.second == 0 ? zeros : others).insert(value);
  if (std::optional<runtime::Executable> found = bound_.Find(values)) return *std::move(found);
  SymbolicModel* const without = zeros.empty() ? nullptr : WithoutZeros(zeros, values);
  if (without != nullptr) return without->Bind(others);
  Require(needs_.of_others, values);
  // Operators say more about what they refuse than the conditions, so these come after them.
  const runtime::Executable made = Build(values);
  Require(needs_.of_operators, values);
  return bound_.Keep(values, made);
}

std::vector<std::shared_ptr<const jit::Callable>> SymbolicModel::Callables() const {
  std::vector<std::shared_ptr<const jit::Callable>> callables;
  for (const Made& made : made_) {
    if (made.code)
      callables.push_back(made.code->AsCallable(std::vector<std::int64_t>(made.symbols.size(), 1)));
  }
  return callables;
}

}  // namespace tenon::compiler
