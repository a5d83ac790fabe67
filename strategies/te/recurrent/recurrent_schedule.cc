// A step is a product of the batch's states with the recurrence, and functions of its sums. Rows of
// the batch share each vector of the recurrence that is loaded. If the batch is one, layers are
// bound by these loads, so all columns of a block are summed up at once, which hides the latency of
// the sums.
#include <algorithm>
#include <variant>
#include <vector>

#include "tenon/strategies/planned_extent.h"
#include "tenon/strategies/schedule/register_tile.h"
#include "tenon/strategies/te/recurrent/recurrent.h"
#include "tenon/strategies/te_compute.h"
#include "tenon/support/arithmetic.h"

namespace tenon::strategies {
namespace {

using schedule::Schedule;
using schedule::Stage;
using te::Tensor;

constexpr std::int64_t kMaxVectors = 8;
constexpr std::int64_t kMaxRows = 4;
// So many elements of the recurrence take one core 8 microseconds or more to read, from outside its
// second-level cache. Starting threads for a step takes a fraction of that. So many products of a
// step take 20 microseconds.
constexpr std::int64_t kThreadedWeights = 1 << 17;
constexpr std::int64_t kThreadedProducts = 1 << 20;

// Rows of the batch whose sums fit the registers beside those of one block.
std::int64_t RowsOf(std::int64_t batch, std::int64_t most) {
  std::int64_t rows = std::min({kMaxRows, most, batch});
  // A last block with fewer rows would keep its sums in memory.
  if (batch < 2 * kMaxRows) {
    while (batch % rows != 0) --rows;
  }
  return rows;
}

// Whether a step's product takes much longer than starting threads for it.
bool IsWorthThreads(const Tensor& sums) {
  const std::int64_t weights =
      PlannedExtent(sums.op()->reduce_axes[0].extent) * PlannedExtent(sums.shape()[2]);
  return weights >= kThreadedWeights ||
         weights * PlannedExtent(sums.shape()[1]) >= kThreadedProducts;
}

// All sums of a layer have the same choices.
void ScheduleSums(const OpSchedule& s, const Tensor& sums) {
  Schedule& schedule = s.schedule;
  const ColumnBlocks blocks = BlocksOf(ExtentOf(sums, 2), sums.dtype(), s.target);
  const Tensor tile = schedule.CacheWrite(sums, "local");
  Stage& whole = schedule[sums];
  const std::int64_t batch = PlannedExtent(sums.shape()[1]);
  const std::int64_t most = std::max<std::int64_t>(1, MaxSums(s.target) / blocks.vectors);
  const std::int64_t rows =
      TileSideIn(&s.config, "rows", RowsOf(batch, most), std::min(batch, most), s.target);
  const auto [row_block, row] = whole.Split(whole.axis(1), rows);
  const auto [column_block, column] = whole.Split(whole.axis(2), blocks.width());
  // All rows of the batch read a block of the weight while it is in the cache.
  whole.Reorder({column_block, row_block, row, column});
  if (s.config.Knob("parallel", {0, 1}, IsWorthThreads(sums) ? 1 : 0) != 0)
    whole.Parallel(column_block);
  whole.Vectorize(whole.Split(column, blocks.lanes).second);
  Stage& part = schedule[tile];
  part.ComputeAt(whole, row_block);
  const auto [vector, lane] = part.Split(part.axis(2), blocks.lanes);
  part.Reorder({part.reduce_axis(0), part.axis(1), vector, lane});
  part.Unroll(part.axis(1)).Unroll(vector).Vectorize(lane);
}

}  // namespace

ColumnBlocks BlocksOf(std::int64_t columns, DataType type, const Target& target) {
  ColumnBlocks best{.lanes = target.Lanes(type.bytes()), .vectors = 1, .count = 0};
  const std::int64_t vectors = CeilDiv(columns, best.lanes);
  best.count = vectors;
  const std::int64_t most = std::min(kMaxVectors, target.vector_registers / 2);
  for (std::int64_t v = most; v >= std::min(most / 2, vectors); --v) {
    const ColumnBlocks blocks{.lanes = best.lanes, .vectors = v, .count = CeilDiv(vectors, v)};
    if (best.vectors == 1 || blocks.columns() < best.columns()) best = blocks;
  }
  return best;
}

void ScheduleRecurrence(const OpSchedule& s) {
  std::vector<te::Operation> ops;
  for (const auto& stage : s.schedule.stages()) ops.push_back(stage->op());
  for (const te::Operation& op : ops) {
    if (!op->is_compute()) continue;
    const Tensor tensor(op, 0);
    if (std::holds_alternative<te::RecurrentSums>(op->label.hint)) {
      ScheduleSums(s, tensor);
      continue;
    }
    Stage& stage = s.schedule[tensor];
    if (op->axes.empty() || stage.placement() != Stage::Placement::kRoot) continue;
    const std::int64_t lanes = s.target.Lanes(tensor.dtype().bytes());
    stage.Vectorize(stage.Split(stage.axis(static_cast<int>(op->axes.size()) - 1), lanes).second);
  }
}

}  // namespace tenon::strategies
