// Blocks of sums in registers, for a reduction that nobody scheduled: a matrix product, as everyone
// writes it first.
//
// A block of `rows` by `vectors` results is summed up in registers and then written (Goto and van
// de Geijn, "Anatomy of High-Performance Matrix Multiplication", 2008). What varies along the
// vectors is copied in the order in which the blocks read it, if that is chosen ("pack").
#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <utility>

#include "tenon/strategies/planned_extent.h"
#include "tenon/strategies/schedule/choices.h"
#include "tenon/strategies/schedule/reductions.h"
#include "tenon/strategies/schedule/register_tile.h"
#include "tenon/support/arithmetic.h"

namespace tenon::strategies {
namespace {

using loop::Expr;
using schedule::Stage;
using te::IterVar;

constexpr std::array<std::int64_t, 10> kRows = {0, 1, 2, 3, 4, 5, 6, 8, 10, 12};  // 0: no blocks
constexpr std::array<std::int64_t, 4> kVectors = {1, 2, 3, 4};
// From so many terms on a sum is worth keeping in a register, and from so many steps of vectors on
// an operand is worth copying.
constexpr std::int64_t kMinTerms = 8;
constexpr std::int64_t kMinSteps = 1 << 11;
// Blocks that some threads share evenly.
constexpr std::int64_t kMinBlocks = 4;

// The axes of the sums by role.
struct BlockAxes {
  std::vector<IterVar> leading;
  IterVar row, column;
};
BlockAxes BlockAxesOf(const Stage& stage) {
  const std::vector<IterVar>& axes = stage.op()->axes;
  return {{axes.begin(), axes.end() - 2}, axes[axes.size() - 2], axes.back()};
}

// The only result of the schedule, if it is the sums, or if it reads each of them at its own
// indices and nobody else reads them.
Stage* ResultOf(SchedulingState& state, const Stage& sums) {
  Stage* result = nullptr;
  for (const auto& stage : state.schedule.stages()) {
    if (stage->is_output() && std::exchange(result, stage.get()) != nullptr) return nullptr;
  }
  if (result == nullptr || result == &sums) return result;
  const std::vector<Expr>* indices = OnlyRead(state, sums, *result);
  const bool is_at_its_axes =
      indices != nullptr &&
      std::ranges::equal(*indices, result->op()->axes,
                         [](const Expr& i, const IterVar& axis) { return i.same_as(axis.var); });
  return is_at_its_axes ? result : nullptr;
}

// What the sums read, and where its index is the column.
struct Operand {
  te::Tensor tensor;
  std::size_t column = 0;
};

// The operand whose place the columns move and the rows do not, where each index is an axis of its
// own. It is copied, so the sums must read it themselves and not through a stage that is inlined.
std::optional<Operand> PackedOperand(SchedulingState& state, const Stage& sums,
                                     const BlockAxes& axes) {
  const std::vector<te::Tensor> inputs = te::InputsOf(*sums.op());
  std::vector<IterVar> own = sums.op()->axes;
  own.insert(own.end(), sums.op()->reduce_axes.begin(), sums.op()->reduce_axes.end());
  std::optional<Operand> found;
  for (const Access& access : state.accesses.Of(sums)) {
    const auto is_at = [&](const IterVar& axis) {
      return std::ranges::count_if(access.indices,
                                   [&](const Expr& i) { return i.same_as(axis.var); }) == 1;
    };
    const bool is_plain =
        static_cast<std::size_t>(std::ranges::count_if(own, is_at)) == access.indices.size();
    if (!is_plain || !is_at(axes.column) || is_at(axes.row) ||
        !std::ranges::all_of(access.buffer->shape, IsNumber))
      continue;
    const auto input = std::ranges::find_if(
        inputs, [&](const te::Tensor& tensor) { return tensor.op().get() == access.producer; });
    if (input == inputs.end()) continue;
    if (found) return std::nullopt;
    const auto column = std::ranges::find_if(
        access.indices, [&](const Expr& i) { return i.same_as(axes.column.var); });
    found = Operand{*input, static_cast<std::size_t>(column - access.indices.begin())};
  }
  return found;
}

// Whether a row shares what it reads with other rows, and a column with other columns.
bool HasReuse(SchedulingState& state, const Stage& sums, const BlockAxes& axes) {
  const auto stays = [&](const IterVar& axis) {
    return std::ranges::any_of(state.accesses.Of(sums),
                               [&](const Access& access) { return StepOf(access, axis.var) == 0; });
  };
  return stays(axes.row) && stays(axes.column);
}

// Copies the operand into panels of `width` columns.
void Pack(SchedulingState& state, const te::Tensor& sums, const Operand& operand,
          std::int64_t width, std::int64_t lanes) {
  const std::size_t place = operand.column;
  const te::Tensor panels = state.schedule.CacheRead(operand.tensor, "global", {sums});
  const auto layout = [&](const std::vector<te::Var>& at) {
    std::vector<te::Expr> moved = {loop::FloorDiv(at[place], width)};
    for (std::size_t i = 0; i < at.size(); ++i) {
      if (i != place) moved.push_back(at[i]);
    }
    moved.push_back(loop::FloorMod(at[place], width));
    return moved;
  };
  // The last panel may have room for more columns than there are.
  const auto axes = state.schedule.TransformLayout(panels, layout, 0.0);
  Stage& copy = state.schedule[panels];
  copy.Vectorize(copy.Split(axes.back(), lanes).second);
  if (IsShared(state, copy, WorkOf(copy))) copy.Parallel(axes.front());
  state.done.insert(&copy);
}

struct SumBlock {
  std::int64_t rows, vectors;
  std::int64_t steps;  // terms that one iteration adds
  bool by_rows;        // the outer loop is that of the rows
  bool packs;
};

// The tile with the least estimated time; no rows where the sums are few.
SumBlock UsualBlock(SchedulingState& state, const Stage& stage) {
  const Target& target = state.options.target;
  const auto [leading, row_axis, column_axis] = BlockAxesOf(stage);
  const std::int64_t rows = Extent(row_axis), terms = ProductOfExtents(stage.op()->reduce_axes);
  const std::int64_t vectors = CeilDiv(Extent(column_axis), state.accesses.LanesOf(*stage.op()));
  SumBlock best = {.rows = 0, .vectors = 1, .steps = 1, .by_rows = false, .packs = true};
  if (rows < 2 || terms < kMinTerms || rows * vectors * terms < kMinSteps) return best;
  double least = std::numeric_limits<double>::infinity();
  for (const std::int64_t r : kRows) {
    for (const std::int64_t v : kVectors) {
      if (r == 0 || r > rows || v > vectors || !FitsRegisters(target, r, v)) continue;
      const double time = TileStepTime(r, v) * static_cast<double>(CeilDiv(rows, r)) *
                          static_cast<double>(CeilDiv(vectors, v));
      if (time >= least) continue;
      least = time;
      best.rows = r;
      best.vectors = v;
    }
  }
  // Threads share the blocks of the outer loop.
  best.by_rows = CeilDiv(vectors, best.vectors) < kMinBlocks;
  return best;
}

// What a measurement has chosen, or the usual block if the stage is of a kind for which it is known
// to pay. Nothing for loops without blocks.
std::optional<SumBlock> BlockOf(SchedulingState& state, const Stage& stage, bool can_pack) {
  const SumBlock usual = UsualBlock(state, stage);
  const bool pays = state.options.blocks_sums && can_pack;
  SumBlock block{};
  block.rows =
      ChoiceOf(state, stage, "block_rows", {kRows.begin(), kRows.end()}, pays ? usual.rows : 0);
  if (block.rows == 0) return std::nullopt;
  block.vectors =
      ChoiceOf(state, stage, "block_vectors", {kVectors.begin(), kVectors.end()}, usual.vectors);
  block.steps = ChoiceOf(state, stage, "block_steps", {1, 2, 4}, usual.steps);
  block.by_rows = ChoiceOf(state, stage, "block_by_rows", usual.by_rows);
  block.packs = can_pack && ChoiceOf(state, stage, "block_pack", usual.packs);
  return block;
}

}  // namespace

bool MayBlockSums(SchedulingState& state, const Stage& stage) {
  if (state.options.config == nullptr && !state.options.blocks_sums) return false;
  const te::OperationNode& op = *stage.op();
  if (!op.is_reduction() || op.axes.size() < 2 || op.outputs.size() != 1 || IsRegisterTile(op) ||
      ResultOf(state, stage) == nullptr)
    return false;
  return HasReuse(state, stage, BlockAxesOf(stage));
}

std::vector<Stage*> ScheduleSumBlocks(SchedulingState& state, Stage& stage) {
  const std::optional<Operand> packed = PackedOperand(state, stage, BlockAxesOf(stage));
  const std::optional<SumBlock> block = BlockOf(state, stage, packed.has_value());
  if (!block) return {};
  const auto [rows, vectors, steps, by_rows, packs] = *block;
  const std::int64_t lanes = state.accesses.LanesOf(*stage.op()), width = vectors * lanes;
  Stage& result = *ResultOf(state, stage);
  const bool shared = IsShared(state, result, WorkOf(stage));
  const bool is_result = &result == &stage;

  const te::Tensor product(stage.op(), 0);
  const te::Tensor sums = is_result ? state.schedule.CacheWrite(product, "local") : product;
  if (packs) Pack(state, sums, *packed, width, lanes);
  const auto [leading, row_axis, column_axis] = BlockAxesOf(result);
  const auto [row_block, row] = result.Split(row_axis, rows);
  const auto [column_block, in_block] = result.Split(column_axis, width);
  std::vector<IterVar> outer = leading;
  outer.push_back(by_rows ? row_block : column_block);
  const IterVar inner = by_rows ? column_block : row_block;
  std::vector<IterVar> order = outer;
  order.insert(order.end(), {inner, row, in_block});
  result.Reorder(order);
  result.Vectorize(result.Split(in_block, lanes).second);
  const IterVar loop = result.Fuse(outer);
  if (shared) result.Parallel(loop);

  Stage& tile = state.schedule[sums];
  tile.SetScope("local").ComputeAt(result, inner);
  const std::vector<IterVar> own = tile.op()->axes;
  std::vector<IterVar> terms = tile.op()->reduce_axes;
  const auto [vector, lane] = tile.Split(own.back(), lanes);
  if (steps > 1) {
    const auto [step_block, step] = tile.Split(terms.back(), steps);
    terms.back() = step_block;
    terms.push_back(step);
    tile.Unroll(step);
  }
  terms.insert(terms.end(), {own[own.size() - 2], vector, lane});
  tile.Reorder(terms);
  tile.Unroll(own[own.size() - 2]).Unroll(vector).Vectorize(lane);
  return {&result, &tile};
}

}  // namespace tenon::strategies
