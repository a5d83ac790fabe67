#include "tenon/compiler/dynamic_model.h"

#include <atomic>
#include <chrono>
#include <optional>
#include <utility>

#include "tenon/compiler/lower_program.h"
#include "tenon/compiler/symbolic/concrete_module.h"
#include "tenon/compiler/symbolic/hot_shapes.h"
#include "tenon/compiler/symbolic/named_extents.h"
#include "tenon/passes/declared_limits.h"
#include "tenon/passes/infer_type.h"
#include "tenon/runtime/input_symbols.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon {
namespace {

using compiler::HotShapes;

void Check(const DynamicModel::Options& options) {
  if (options.hot_shapes < 1)
    throw InvalidArgument("hot_shapes is 0; a dynamic model keeps at least 1 shape");
  if (options.hot_after == 0) return;
  const CompileOptions& compile = options.compile;
  const std::pair<const void*, const char*> reports[] = {
      {compile.pass_report, "pass_report"},
      {compile.fusion_report, "fusion_report"},
      {compile.folding_report, "folding_report"}};
  for (const auto& [report, name] : reports) {
    if (report != nullptr)
      throw InvalidArgument(StrCat("a dynamic model with hot shapes takes no ", name,
                                   "; its compiles run at the same time"));
  }
}

// What hot shapes are compiled from, and how runs are told from each other.
struct Hot {
  Hot(ir::Module module, const Executable& common, const DynamicModel::Options& options)
      : symbols(common.inputs(), passes::DeclaredLimits(module.Main())),
        shapes({.after = options.hot_after, .most = options.hot_shapes},
               [module = std::move(module), compile = options.compile](const Dim::Values& extents) {
                 return Compile(compiler::WithExtents(module, extents).module, compile);
               }) {}

  const runtime::InputSymbols symbols;
  HotShapes shapes;
};

}  // namespace

struct DynamicModel::State {
  explicit State(Executable executable) : common(std::move(executable)) {}
  std::vector<NDArray> RunCommon(const runtime::Inputs& inputs) {
    std::vector<NDArray> results = ValueOrThrow(common.Run(inputs));
    ++common_runs;
    return results;
  }

  const Executable common;
  std::atomic<std::size_t> common_runs = 0;
  std::optional<Hot> hot;
};

absl::StatusOr<DynamicModel> DynamicModel::Make(ir::Module module, const Options& options) {
  return CatchErrors([&] {
    Check(options);
    std::optional<ir::Module> kept;
    if (options.hot_after > 0 && module.Find("main") && !IsProgram(module) &&
        compiler::HasSymbols(module))
      kept = passes::InferType(compiler::NameExtents(module));
    const auto state =
        std::make_shared<State>(ValueOrThrow(Compile(std::move(module), options.compile)));
    if (kept) state->hot.emplace(*std::move(kept), state->common, options);
    return DynamicModel(state);
  });
}

const Executable& DynamicModel::executable() const { return state_->common; }

absl::StatusOr<std::vector<NDArray>> DynamicModel::Run(const runtime::Inputs& inputs) const {
  return CatchErrors([&] {
    if (!state_->hot) return state_->RunCommon(inputs);
    using Clock = std::chrono::steady_clock;
    const Dim::Values extents = state_->hot->symbols.Solve(inputs);
    const HotShapes::Turn turn = state_->hot->shapes.Next(extents);
    const auto start = Clock::now();
    std::vector<NDArray> results =
        turn.executable ? ValueOrThrow(turn.executable->Run(inputs)) : state_->RunCommon(inputs);
    if (turn.is_timed)
      state_->hot->shapes.Report(extents, turn,
                                 std::chrono::duration<double>(Clock::now() - start).count());
    return results;
  });
}

DynamicModel::Statistics DynamicModel::statistics() const {
  Statistics statistics{.common = state_->common_runs};
  if (!state_->hot) return statistics;
  const HotShapes::Statistics hot = state_->hot->shapes.statistics();
  statistics.hot_compiled = hot.compiled;
  statistics.hot_kept = hot.kept;
  statistics.hot_dropped = hot.dropped;
  return statistics;
}

}  // namespace tenon
