// Register tiles inside the loops of what reads them.
#include <algorithm>
#include <span>
#include <variant>

#include "tenon/strategies/planned_extent.h"
#include "tenon/strategies/schedule/inner_loops.h"
#include "tenon/strategies/schedule/operand_fetches.h"
#include "tenon/strategies/schedule/register_tile.h"
#include "tenon/strategies/schedule/transposition.h"
#include "tenon/support/arithmetic.h"

namespace tenon::strategies {
namespace {

using loop::Expr;
using schedule::Stage;
using te::IterVar;

// The axes of a te::TileInput by role.
struct StepAxes {
  IterVar row_in_step, column_in_step, row, column;
};
StepAxes StepAxesOf(std::span<const IterVar> axes) {
  const auto own = axes.last(4);
  return {own[0], own[1], own[2], own[3]};
}
struct VectorAxes {
  IterVar row, group, lane;
};
VectorAxes VectorAxesOf(std::span<const IterVar> axes) {
  const auto own = axes.last(3);
  return {own[0], own[1], own[2]};
}

void ScheduleTileInput(SchedulingState& state, Stage& stage, te::TileInputForm form) {
  const std::vector<IterVar> axes = stage.op()->axes;
  const IterVar& last = axes.back();
  const std::int64_t lanes = state.options.target.Lanes(stage.op()->outputs[0]->dtype.bytes());
  const auto in_vectors = [&] {
    const auto [vectors, lane] = stage.Split(last, lanes);
    stage.Vectorize(lane);
    if (IsNumber(last.extent) && CeilDiv(Extent(last), lanes) <= kUnroll) stage.Unroll(vectors);
    return std::pair(vectors, lane);
  };
  switch (form) {
    case te::TileInputForm::kLines:
      if (Extent(last) < lanes) return ScheduleInner(state, stage, 0);
      in_vectors();
      return;
    case te::TileInputForm::kSteps:
    case te::TileInputForm::kAlignedSteps: {
      const auto [vectors, lane] = in_vectors();
      const auto [row_in_step, column_in_step, row, column] = StepAxesOf(axes);
      // The rows of one step are adjacent: memory is read as it comes.
      if (form == te::TileInputForm::kAlignedSteps) stage.StorageAlign(row, lanes);
      stage.Reorder({row, row_in_step, column_in_step, vectors, lane});
      stage.Unroll(row_in_step);
      stage.Unroll(column_in_step);
      return;
    }
    case te::TileInputForm::kPanel:
      if (!ScheduleTransposition(state, stage, /*is_alone=*/false)) in_vectors();
      return;
    case te::TileInputForm::kCopies:
      return;
    case te::TileInputForm::kVectors: {
      const auto [row, group, lane] = VectorAxesOf(axes);
      stage.Vectorize(lane);
      stage.Unroll(row);
      return;
    }
  }
}

// Multiply-adds of vectors that take two microseconds, less than threads cost.
constexpr std::int64_t kParallelVectors = 1 << 14;

std::int64_t VectorsOf(SchedulingState& state, const Stage& tile) {
  const te::OperationNode& op = *tile.op();
  return ProductOfExtents(op.axes) * ProductOfExtents(op.reduce_axes) / state.accesses.LanesOf(op);
}

bool IsPanel(const te::OperationNode& op) {
  const auto* input = std::get_if<te::TileInput>(&op.label.hint);
  return input != nullptr && input->form == te::TileInputForm::kPanel;
}

bool ReadsPanel(SchedulingState& state, const Stage& tile) {
  return std::ranges::any_of(state.accesses.Of(tile),
                             [](const Access& access) { return IsPanel(*access.producer); });
}

TileReaderTraits TraitsOf(SchedulingState& state, const Stage& reader, const Stage& tile) {
  return {.target = state.options.target,
          .parallel = VectorsOf(state, tile) >= kParallelVectors,
          .calls_math = state.accesses.MathCallsOf(reader) > 0,
          .has_panels = ReadsPanel(state, tile)};
}

// The only register tile of the schedule, or null.
Stage* OnlyTile(const schedule::Schedule& schedule) {
  Stage* tile = nullptr;
  for (const auto& stage : schedule.stages()) {
    if (!IsRegisterTile(*stage->op())) continue;
    if (tile != nullptr || stage->is_output()) return nullptr;
    tile = stage.get();
  }
  return tile;
}

// Whether tiles share so little of what they read that each has a copy of its own, in the nearest
// cache. If they share much of it, it is copied once for all tiles of the outermost loop.
bool HasFewMargins(const Stage& tile) {
  constexpr std::int64_t kMaxTaps = 3;
  return std::ranges::all_of(tile.op()->reduce_axes,
                             [](const IterVar& taps) { return Extent(taps) <= kMaxTaps; });
}

}  // namespace

const std::vector<Expr>* OnlyRead(SchedulingState& state, const Stage& producer,
                                  const Stage& reader) {
  const std::vector<Expr>* indices = nullptr;
  for (const auto& stage : state.schedule.stages()) {
    if (stage->op()->is_placeholder() || stage->placement() == Stage::Placement::kInline) continue;
    for (const Access& access : state.accesses.Of(*stage)) {
      if (access.producer != producer.op().get()) continue;
      if (stage.get() != &reader) return nullptr;
      if (indices != nullptr && !SameIndices(*indices, access.indices)) return nullptr;
      indices = &access.indices;
    }
  }
  return indices;
}

bool MayReadTile(SchedulingState& /*state*/, const Stage& stage) {
  return std::holds_alternative<te::Stored>(stage.op()->label.hint) && !stage.is_output();
}

std::vector<Stage*> ScheduleStoredTile(SchedulingState& state, Stage& stage) {
  const auto& stages = state.schedule.stages();
  for (const Access& access : state.accesses.Of(stage)) {
    const auto tile = std::find_if(stages.begin(), stages.end(), [&](const auto& other) {
      return other->op().get() == access.producer;
    });
    if (tile == stages.end() || !IsRegisterTile(*(*tile)->op())) continue;
    if (ScheduleByTiles(stage, **tile, access.indices, TraitsOf(state, stage, **tile)))
      return {&stage, tile->get()};
  }
  return {};
}

bool IsOnlyResult(SchedulingState& state, const Stage& stage) {
  return stage.is_output() &&
         std::count_if(state.schedule.stages().begin(), state.schedule.stages().end(),
                       [](const auto& other) { return other->is_output(); }) == 1;
}

std::vector<Stage*> ScheduleTileUnderResult(SchedulingState& state, Stage& result) {
  Stage* tile = OnlyTile(state.schedule);
  if (tile == nullptr) return {};
  const std::vector<Expr>* indices = OnlyRead(state, *tile, result);
  if (indices == nullptr ||
      !ScheduleByTiles(result, *tile, *indices, TraitsOf(state, result, *tile)))
    return {};
  FetchOperandsAhead(state.schedule, state.accesses, *tile);
  FetchNextTiles(state.schedule, state.accesses, result, *tile);
  const IterVar outermost = result.leaves().front();
  const IterVar* place = HasFewMargins(*tile) ? &tile->attach_axis() : &outermost;
  std::vector<Stage*> scheduled = {&result, tile};
  for (const auto& stage : state.schedule.stages()) {
    const auto* input = std::get_if<te::TileInput>(&stage->op()->label.hint);
    if (input == nullptr || stage->placement() != Stage::Placement::kRoot) continue;
    ScheduleTileInput(state, *stage, input->form);
    stage->ComputeAt(result, IsPanel(*stage->op()) ? outermost : *place);
    scheduled.push_back(stage.get());
  }
  return scheduled;
}

}  // namespace tenon::strategies
