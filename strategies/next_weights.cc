// The weights of a model are read once a run and are mostly larger than the caches. Each block of
// them is used by several tiles in a row, of which the first would wait for memory while the others
// leave it idle. So each tile fetches a share of the next block.
#include "tenon/strategies/next_weights.h"

#include <algorithm>

#include "tenon/loop/visit.h"
#include "tenon/strategies/register_tile.h"
#include "tenon/strategies/te_compute.h"

namespace tenon::strategies {
namespace {

// Weights that hardly survive a run in the second-level cache, and steps of a sum among which
// fetches are few.
constexpr std::int64_t kFarBytes = 1 << 20;
constexpr std::int64_t kLeastSteps = 16;

std::int64_t BytesOf(const te::Tensor& tensor) {
  return NumElements(ShapeOf(tensor)) * static_cast<std::int64_t>(tensor.dtype().bytes());
}

}  // namespace

void PrefetchNextWeights(schedule::Schedule& schedule, Accesses& accesses, schedule::Stage& tile) {
  const std::vector<te::IterVar>& axes = tile.op()->axes;
  const std::size_t grid = axes.size() - kTileAxes;
  if (grid == 0 || tile.op()->tag == kTallTile) return;
  const te::IterVar& last = axes[grid - 1];
  const te::IterVar steps = tile.leaves()[grid];
  const auto* count = steps.extent.As<loop::IntImmNode>();
  if (Extent(last) == 1 || count == nullptr || count->value < kLeastSteps) return;
  const te::Tensor reader(tile.op(), 0);
  for (const te::Tensor& input : te::InputsOf(*tile.op())) {
    if (!input.op()->is_placeholder() || BytesOf(input) < kFarBytes) continue;
    const std::vector<Access>& all = accesses.Of(tile);
    const bool is_shared = std::all_of(all.begin(), all.end(), [&](const Access& access) {
      return access.producer != input.op().get() ||
             std::none_of(access.indices.begin(), access.indices.end(),
                          [&](const loop::Expr& index) { return loop::UsesVar(index, last.var); });
    });
    if (is_shared) schedule.PrefetchNextBlock(input, reader, steps, Extent(last));
  }
}

}  // namespace tenon::strategies
