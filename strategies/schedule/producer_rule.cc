// Computes what the result reads at the same leading indices (a convolution under its epilogue, the
// sums of a softmax) inside the result's outer loop, so that it stays in cache.
#include <algorithm>
#include <unordered_map>

#include "tenon/loop/simplify/simplify.h"
#include "tenon/loop/visit.h"
#include "tenon/schedule/lower.h"
#include "tenon/strategies/schedule/choices.h"
#include "tenon/strategies/schedule/inner_loops.h"
#include "tenon/strategies/schedule/reductions.h"
#include "tenon/strategies/te_compute.h"

namespace tenon::strategies {
namespace {

using loop::Expr;
using schedule::Stage;
using te::IterVar;
using te::OperationNode;

// Iterations that make an outer loop worth being one.
constexpr std::int64_t kMinOuter = 8;
// What a function of the vector math library costs in simple operations: a lane of a vector, and
// a call for one element alone.
constexpr std::int64_t kMathLane = 16;
constexpr std::int64_t kMathCall = 4000;
// A call for one element may be one part in this many of a row's work.
constexpr std::int64_t kSmallShare = 10;

// An axis of one element is read at 0 as well as at its variable.
bool IsAxis(const Expr& index, const IterVar& axis) {
  return index.same_as(axis.var) || (IsOne(axis.extent) && loop::IsConstInt(index, 0));
}

std::int64_t InnerExtent(const std::vector<IterVar>& axes, std::size_t outer) {
  return ProductOfExtents(std::span(axes).subspan(outer));
}

// How many leading axes of both have the same extent.
std::size_t EqualAxes(const Stage& a, const Stage& b) {
  const auto& axes = a.op()->axes;
  const auto& others = b.op()->axes;
  std::size_t equal = 0;
  while (equal < std::min(axes.size(), others.size()) &&
         loop::StructuralEqual(axes[equal].extent, others[equal].extent))
    ++equal;
  return equal;
}

// Whether the output may have no elements while the stage, another result, has some. Inside the
// output's loop these would not be computed.
bool MayBeLeftOut(SchedulingState& state, const Stage& stage, const Stage& output) {
  const auto& axes = output.op()->axes;
  return std::any_of(axes.begin() + static_cast<std::ptrdiff_t>(EqualAxes(stage, output)),
                     axes.end(), [&](const IterVar& axis) {
                       loop::Bounds bounds;
                       loop::VisitExpr(axis.extent, [&](const Expr& e) {
                         if (e.kind() != loop::ExprKind::kVar) return;
                         const loop::Var extent(e);
                         bounds.Bind(extent,
                                     schedule::RangeOfExtent(extent, state.options.positive));
                       });
                       return !loop::CanProve(axis.extent >= 1, bounds);
                     });
}

// Whether each element of the stage takes a sum along memory at its own indices, and the element's
// own work is nothing beside that.
bool ReadsOneSumAnElement(SchedulingState& state, const Stage& stage) {
  if (stage.op()->is_reduction()) return false;
  const auto& axes = stage.op()->axes;
  for (const Access& access : state.accesses.Of(stage)) {
    if (!access.producer->is_reduction() || access.indices.size() != axes.size()) continue;
    const bool same = std::equal(axes.begin(), axes.end(), access.indices.begin(),
                                 [](const IterVar& a, const Expr& i) { return IsAxis(i, a); });
    const Stage* sum = state.schedule.Find(access.producer);
    if (same && sum != nullptr && ReducesAlongMemory(*sum, state.accesses)) return true;
  }
  return false;
}

// How many leading axes all readers (which must be hosts) share with the stage, index for index.
std::size_t CommonAxes(SchedulingState& state, const Stage& stage,
                       const std::unordered_map<const OperationNode*, const Stage*>& hosts) {
  std::size_t common = stage.op()->axes.size();
  bool is_read = false;
  for (const auto& reader : state.schedule.stages()) {
    if (reader->op()->is_placeholder() || reader->placement() == Stage::Placement::kInline)
      continue;
    for (const Access& access : state.accesses.Of(*reader)) {
      if (access.producer != stage.op().get()) continue;
      if (!hosts.contains(reader->op().get())) return 0;
      is_read = true;
      std::size_t same = 0;
      while (same < access.indices.size() && same < reader->op()->axes.size() &&
             IsAxis(access.indices[same], reader->op()->axes[same]))
        ++same;
      common = std::min(common, same);
    }
  }
  return is_read ? common : 0;
}

// The stage inside that has the result's axes and computes long enough to fetch the lines that the
// result will be written to meanwhile, or null.
const Stage* FetcherOf(SchedulingState& state, const Stage& output,
                       const std::vector<std::pair<Stage*, std::size_t>>& inside) {
  const std::size_t rank = output.op()->axes.size();
  for (const auto& [stage, common] : inside) {
    if (!stage->is_output() && !stage->op()->is_reduction() &&
        state.accesses.MathCallsOf(*stage) > 0 && stage->op()->axes.size() == rank &&
        EqualAxes(*stage, output) == rank)
      return stage;
  }
  return nullptr;
}

// Whether an iteration would call mathematics for one element, at a cost that the work of a row
// does not hide. By itself the stage runs in vectors.
bool CallsMathForOneElement(SchedulingState& state, const Stage& stage, std::size_t outer,
                            const std::vector<std::pair<Stage*, std::size_t>>& inside) {
  const auto& axes = stage.op()->axes;
  if (stage.op()->is_reduction() || InnerExtent(axes, outer) != 1) return false;
  std::int64_t work = 0;
  for (const auto& [producer, common] : inside) {
    work +=
        (state.accesses.NodesOf(*producer) + kMathLane * state.accesses.MathCallsOf(*producer)) *
        InnerExtent(producer->op()->axes, outer) * InnerExtent(producer->op()->reduce_axes, 0);
  }
  return state.accesses.MathCallsOf(stage) * kMathCall * kSmallShare > work;
}

}  // namespace

std::vector<Stage*> ScheduleWithProducers(SchedulingState& state, Stage& output) {
  // Consumers come before producers, so each stage's readers are decided before it.
  std::vector<std::pair<Stage*, std::size_t>> inside;
  std::unordered_map<const OperationNode*, const Stage*> hosts = {{output.op().get(), &output}};
  const auto& stages = state.schedule.stages();
  const std::size_t most =
      ReadsOneSumAnElement(state, output) ? output.op()->axes.size() : MaxOuter(state, output);
  for (auto it = stages.rbegin(); it != stages.rend(); ++it) {
    Stage& stage = **it;
    if (stage.op()->is_placeholder() || stage.placement() == Stage::Placement::kInline ||
        state.done.contains(&stage) || hosts.contains(stage.op().get()))
      continue;
    if (stage.is_output() && MayBeLeftOut(state, stage, output)) continue;
    std::size_t common = CommonAxes(state, stage, hosts);
    if (stage.is_output()) common = std::min(common, EqualAxes(stage, output));
    // A stage that shares few axes would leave the outer loop with too little to share out.
    if (common < most && OuterExtent(output, common) < kMinOuter) continue;
    if (common == 0) continue;
    inside.emplace_back(&stage, common);
    hosts.emplace(stage.op().get(), &stage);
  }
  if (inside.empty()) return {};
  std::size_t outer = most;
  for (const auto& [stage, common] : inside) outer = std::min(outer, common);
  if (outer == 0 || CallsMathForOneElement(state, output, outer, inside)) return {};
  std::int64_t work = WorkOf(output);
  for (const auto& [stage, common] : inside) work += WorkOf(*stage);
  // Threads cannot share one iteration, but the stages may have loops that they can. This is not a
  // choice: the next rule has one of the same name.
  if (OuterExtent(output, outer) == 1 && work >= kParallelWork) return {};
  if (!ChoiceOf(state, output, "producers", true)) return {};
  const IterVar loop = output.Fuse(OuterAxes(output, outer));
  const Stage* fetcher = FetcherOf(state, output, inside);
  ScheduleInner(state, output, outer, fetcher == nullptr ? &output : nullptr);
  if (OuterExtent(output, outer) > 1 && IsShared(state, output, work)) output.Parallel(loop);
  std::vector<Stage*> scheduled = {&output};
  for (const auto& [stage, common] : inside) {
    ScheduleInner(state, *stage, std::min(outer, stage->op()->axes.size()),
                  stage == fetcher ? &output : nullptr);
    stage->ComputeAt(output, loop);
    scheduled.push_back(stage);
  }
  return scheduled;
}

}  // namespace tenon::strategies
