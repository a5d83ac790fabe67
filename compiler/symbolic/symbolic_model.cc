// Fused functions of the symbolic module are kernels of their own. Binding follows the same calls
// in the module of numbers, so that views, joins and storage are planned as for any other module.
#include "tenon/compiler/symbolic/symbolic_model.h"

#include <algorithm>
#include <unordered_map>

#include "tenon/compiler/plan/build_plan.h"
#include "tenon/compiler/plan/link.h"
#include "tenon/compiler/symbolic/concrete_module.h"
#include "tenon/ir/visit.h"
#include "tenon/strategies/planned_extent.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::compiler {
namespace {

using ir::Expr;

std::vector<const void*> Addresses(const std::vector<NDArray>& arrays) {
  std::vector<const void*> addresses;
  for (const NDArray& array : arrays) addresses.push_back(array.raw());
  return addresses;
}

}  // namespace

SymbolicModel::SymbolicModel(ir::Module fused, strategies::StrategyOptions strategy,
                             jit::CompileOptions code, int threads)
    : fused_(std::move(fused)),
      strategy_(std::move(strategy)),
      code_(std::move(code)),
      threads_(threads),
      kernels_(LowerSymbolicKernels(fused_, strategy_)) {
  MakeKernels();
}

void SymbolicModel::MakeKernels() {
  // Together, so that all threads have work until the end.
  std::vector<loop::Function> functions, preparations;
  for (const LoweredKernel& kernel : kernels_.list) {
    if (const auto* function = std::get_if<loop::Function>(&kernel.choice.built.kernel))
      functions.push_back(*function);
    for (const strategies::PreparedConstant& constant : kernel.choice.built.prepared)
      preparations.push_back(constant.function);
  }
  const std::vector<jit::Kernel> prepare =
      ValueOrThrow(jit::CompileAll(preparations, ForOneRun(code_)));
  const std::vector<jit::Kernel> compiled = ValueOrThrow(jit::CompileAll(functions, code_));
  auto next = compiled.begin();
  auto next_preparation = prepare.begin();
  std::vector<PreparingCode> preparing;
  for (const LoweredKernel& kernel : kernels_.list) {
    Made& made = made_.emplace_back();
    if (const auto* function = std::get_if<loop::Function>(&kernel.choice.built.kernel)) {
      made.code = *next++;
      for (const loop::Var& scalar : function->scalars) made.symbols.push_back(scalar.name());
    }
    const auto begin = next_preparation;
    next_preparation += static_cast<std::ptrdiff_t>(kernel.choice.built.prepared.size());
    preparing.emplace_back(begin, next_preparation);
  }
  PrepareConstants(preparing);
}

void SymbolicModel::PrepareConstants(const std::vector<PreparingCode>& preparing) {
  ir::VisitPostOrder(
      fused_.Main().body,
      [&](const Expr& e) {
        const auto* call = e.As<ir::CallNode>();
        if (call == nullptr || !kernels_.uses.contains(call->callee)) return;
        const int index = kernels_.uses.at(call->callee).kernel;
        const LoweredKernel& kernel = kernels_.list[static_cast<std::size_t>(index)];
        if (kernel.choice.built.prepared.empty()) return;
        const std::vector<NDArray> constants = RequestOf(*call).constants;
        std::vector<NDArray>& prepared = prepared_[{index, Addresses(constants)}];
        if (!prepared.empty()) return;
        for (std::size_t i = 0; i < kernel.choice.built.prepared.size(); ++i) {
          const strategies::PreparedConstant& wanted = kernel.choice.built.prepared[i];
          std::vector<NDArray> arrays;
          for (const int argument : wanted.arguments)
            arrays.push_back(constants[static_cast<std::size_t>(argument)]);
          const loop::Buffer& buffer = wanted.function.buffers.back();
          arrays.push_back(NDArray::Empty(StaticShape(buffer), buffer->dtype));
          const jit::Kernel& code = preparing[static_cast<std::size_t>(index)][i];
          if (const absl::Status status = code.Run(arrays); !status.ok())
            throw Error(status.code(), std::string(status.message()));
          prepared.push_back(arrays.back());
        }
      },
      [](const Expr& e) { return e.kind() != ir::ExprKind::kFunction; });
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
    // What a plan reads of a kernel: not how it was chosen, which is long.
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
    std::vector<runtime::EntryRef>& entries = given_[{shared->second, Addresses(constants)}];
    const auto arrays = model_.prepared_.find({shared->second, Addresses(constants)});
    if (entries.empty() && arrays != model_.prepared_.end()) {
      for (const NDArray& array : arrays->second) entries.push_back(add(array));
    }
    return entries;
  }

  void ForEachPrepared(const std::function<void(runtime::EntryRef&)>& visit) override {
    FreshKernels::ForEachPrepared(visit);
    for (auto& [key, entries] : given_) std::for_each(entries.begin(), entries.end(), visit);
  }

  // Of the list; null for those that are still to be compiled.
  std::vector<std::shared_ptr<const jit::Callable>> TakeReady() { return std::move(ready_); }

 private:
  // Null where the model has no kernel for all extents. It is asked several times of each function.
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
    const auto& [kernel, extents, assumed_equal, labels] = found->second;
    const auto value = [&](const Dim& dim) { return dim.Evaluate(values_).value(); };
    const bool fits =
        std::all_of(extents.begin(), extents.end(),
                    [&](const auto& extent) {
                      return value(extent.second) >= strategies::kMinSymbolicExtent;
                    }) &&
        std::all_of(assumed_equal.begin(), assumed_equal.end(),
                    [&](const auto& pair) { return value(pair.first) == value(pair.second); });
    return fits && model_.made_[static_cast<std::size_t>(kernel)].code ? &found->second : nullptr;
  }

  const SymbolicModel& model_;
  const ConcreteModule& concrete_;
  const Dim::Values& values_;
  mutable std::unordered_map<Expr, const SymbolicUse*, ir::ExprHash> known_;
  std::vector<std::shared_ptr<const jit::Callable>> ready_;
  std::map<int, int> shared_;  // positions in the list, and in the model's
  std::map<std::pair<int, std::vector<const void*>>, std::vector<runtime::EntryRef>> given_;
};

runtime::Executable SymbolicModel::Build(const Dim::Values& values) const {
  const ConcreteModule concrete = MakeConcrete(fused_, values);
  Kernels source(*this, concrete, values);
  const Lowered lowered = BuildPlan(concrete.module, source);
  return Linked(lowered, source.TakeReady(), code_, threads_, memory_);
}

SymbolicModel& SymbolicModel::WithoutZeros(const Dim::Values& zeros) {
  const std::lock_guard<std::mutex> lock(zeros_mutex_);
  std::unique_ptr<SymbolicModel>& model = without_zeros_[zeros];
  if (model == nullptr)
    model = std::make_unique<SymbolicModel>(WithExtents(fused_, zeros), strategy_, code_, threads_);
  return *model;
}

runtime::Executable SymbolicModel::Bind(const Dim::Values& values) {
  Dim::Values zeros, others;
  for (const auto& value : values) (value.second == 0 ? zeros : others).insert(value);
  if (!zeros.empty()) return WithoutZeros(zeros).Bind(others);
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (const runtime::Executable* found = FindBound(values)) return *found;
  }
  // Several threads may bind the same values; the first one is kept.
  const runtime::Executable made = Build(values);
  const std::lock_guard<std::mutex> lock(mutex_);
  if (const runtime::Executable* found = FindBound(values)) return *found;
  Keep(values, made);
  return made;
}

const runtime::Executable* SymbolicModel::FindBound(const Dim::Values& values) {
  const auto found = index_.find(values);
  if (found == index_.end()) return nullptr;
  bound_.splice(bound_.begin(), bound_, found->second);
  return &found->second->executable;
}

void SymbolicModel::Keep(const Dim::Values& values, const runtime::Executable& executable) {
  bound_.push_front({values, executable});
  index_.emplace(values, bound_.begin());
  if (bound_.size() <= kMaxKept) return;
  index_.erase(bound_.back().values);
  bound_.pop_back();
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
