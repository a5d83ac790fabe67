// The weights of a model are read once a run and are mostly larger than the caches. Each block of
// them is used by several tiles in a row, of which the first would wait for memory while the others
// leave it idle. So each tile fetches a share of the next block.
//
// Of an image a convolution of one tap reads a few pixels of each channel. Their distance is not
// one that the processor foresees, and the multiply-adds that wait for them fill its queues before
// the next loads are sent, so that misses follow one another: where another core has written the
// image, most of the time of the tile. Fetches wait for nothing.
#include "tenon/strategies/operand_fetches.h"

#include <algorithm>

#include "tenon/loop/visit.h"
#include "tenon/strategies/planned_extent.h"
#include "tenon/strategies/register_tile.h"
#include "tenon/strategies/te_compute.h"
#include "tenon/support/alignment.h"
#include "tenon/support/arithmetic.h"

namespace tenon::strategies {
namespace {

// Steps of a sum among which fetches are few.
constexpr std::int64_t kMinSteps = 16;
// Terms of a sum that take as long as a line from another core, images that leave the first-level
// cache, and the distance of channels that have no line in common.
constexpr std::int64_t kTermsAhead = 16;
constexpr std::int64_t kMinImageBytes = 1 << 15;

// Those of one argument that the tile makes.
std::vector<Access> AccessesOf(Accesses& accesses, const schedule::Stage& tile,
                               const te::Tensor& input) {
  std::vector<Access> all;
  for (const Access& access : accesses.Of(tile)) {
    if (access.producer == input.op().get()) all.push_back(access);
  }
  return all;
}

// Whether all tiles along the last axis of the grid read the same elements.
bool IsShared(const std::vector<Access>& reads, const te::IterVar& last) {
  return std::none_of(reads.begin(), reads.end(), [&](const Access& read) {
    return std::any_of(read.indices.begin(), read.indices.end(),
                       [&](const loop::Expr& index) { return loop::UsesVar(index, last.var); });
  });
}

// Whether each term of the sum reads another channel, of which a tile takes as many pixels as it
// has adjacent rows, and all lanes the same ones.
bool IsReadByChannels(const std::vector<Access>& reads, const te::OperationNode& tile) {
  const auto& taps = tile.reduce_axes;
  if (!std::all_of(taps.begin() + 1, taps.end(),
                   [](const te::IterVar& tap) { return Extent(tap) == 1; }))
    return false;
  const TileAxes axes = TileAxesOf(tile);
  const std::int64_t pixels = Extent(axes.vectors);
  return std::all_of(reads.begin(), reads.end(), [&](const Access& read) {
    const auto bytes = static_cast<std::int64_t>(read.buffer->dtype.bytes());
    const std::int64_t channel = StepOf(read, taps.front().var).value_or(0);
    return channel * bytes >= kCacheLineBytes && StepOf(read, axes.lanes.var) == 0 &&
           CeilDiv(channel, pixels) == Extent(axes.grid.back());
  });
}

// Of others the lines that a tile reads are no region with ends that can be computed.
bool HasNumbers(const te::Tensor& tensor) {
  return std::all_of(tensor.shape().begin(), tensor.shape().end(), IsNumber);
}

}  // namespace

void FetchOperandsAhead(schedule::Schedule& schedule, Accesses& accesses, schedule::Stage& tile) {
  const te::OperationNode& op = *tile.op();
  const auto grid = TileAxesOf(op).grid;
  if (grid.empty() || IsTallTile(op)) return;
  const te::IterVar& last = grid.back();
  const te::IterVar steps = tile.leaves()[grid.size()];
  const auto* count = steps.extent.As<loop::IntImmNode>();
  if (count == nullptr || count->value < kMinSteps) return;
  const te::Tensor reader(tile.op(), 0);
  for (const te::Tensor& input : te::InputsOf(op)) {
    if (!input.op()->is_placeholder() || !HasNumbers(input)) continue;
    const std::vector<Access> reads = AccessesOf(accesses, tile, input);
    if (Extent(last) > 1 && BytesOf(input) >= kFarBytes && IsShared(reads, last)) {
      schedule.PrefetchNextBlock(input, reader, steps, Extent(last));
    } else if (BytesOf(input) >= kMinImageBytes && IsReadByChannels(reads, op)) {
      const std::int64_t terms = Extent(op.reduce_axes.front()) / count->value;
      schedule.Prefetch(input, reader, steps, std::max<std::int64_t>(kTermsAhead / terms, 1));
    }
  }
}

}  // namespace tenon::strategies
