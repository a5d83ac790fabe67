// A stage with loops of its own.
#include <algorithm>
#include <optional>
#include <vector>

#include "tenon/strategies/planned_extent.h"
#include "tenon/strategies/schedule/choices.h"
#include "tenon/strategies/schedule/inner_loops.h"
#include "tenon/strategies/schedule/reductions.h"
#include "tenon/strategies/schedule/register_tile.h"
#include "tenon/strategies/schedule/transposition.h"

namespace tenon::strategies {
namespace {

using schedule::Stage;
using te::IterVar;

// Iterations that any number of threads share evenly.
constexpr std::int64_t kMinOuterAlone = 128;
// A reduction to one line of at least so many results has several tiles, whatever the vectors.
constexpr std::int64_t kMinLine = 512;

// The loop over tiles of a reduction to one line of results; nothing where there is none.
std::optional<IterVar> TilesOfLine(const Stage& stage) {
  const std::vector<IterVar>& leaves = stage.leaves();
  if (!stage.op()->is_reduction() || leaves.size() < 2 || leaves[1].is_reduce) return std::nullopt;
  const IterVar& line = stage.op()->axes.back();
  return IsNumber(line.extent) && Extent(line) >= kMinLine ? std::optional(leaves[1])
                                                           : std::nullopt;
}

}  // namespace

std::size_t MaxOuter(SchedulingState& state, const Stage& stage) {
  if (stage.op()->is_reduction()) return AxesAroundReduction(stage, state.accesses);
  const std::size_t rank = stage.op()->axes.size();
  return rank == 0 ? 0 : rank - 1;
}

std::vector<Stage*> ScheduleTransposed(SchedulingState& state, Stage& stage) {
  const bool is_plain = !stage.op()->is_reduction() && !IsRegisterTile(*stage.op());
  return is_plain && ScheduleTransposition(state, stage) ? std::vector<Stage*>{&stage}
                                                         : std::vector<Stage*>{};
}

std::vector<Stage*> ScheduleAlone(SchedulingState& state, Stage& stage) {
  std::size_t outer = MaxOuter(state, stage);
  if (IsRegisterTile(*stage.op())) {
    ScheduleTile(stage);
    return {&stage};
  }
  if (!stage.op()->is_reduction()) {
    outer = std::min(outer, FirstInner(state, stage, 0));
  }
  if (outer == 0) {
    const bool one_axis = !stage.op()->axes.empty();
    ScheduleInner(state, stage, 0);
    // The remaining loop over blocks of vectors can still be shared.
    if (one_axis && !stage.op()->is_reduction() && IsShared(state, stage, WorkOf(stage)))
      stage.Parallel(stage.leaves().front());
    return {&stage};
  }
  // If many iterations are left, the last outer axis stays a loop of its own. Indices are then
  // taken apart once per line rather than once per vector.
  if (outer > 1 && outer + 1 == stage.op()->axes.size() && !stage.op()->is_reduction() &&
      OuterExtent(stage, outer - 1) >= kMinOuterAlone)
    --outer;
  const IterVar loop = stage.Fuse(OuterAxes(stage, outer));
  ScheduleInner(state, stage, outer);
  const std::optional<IterVar> shared = OuterExtent(stage, outer) > 1 ? loop : TilesOfLine(stage);
  if (shared && IsShared(state, stage, WorkOf(stage))) stage.Parallel(*shared);
  return {&stage};
}

}  // namespace tenon::strategies
