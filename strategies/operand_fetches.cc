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
// Rows of tiles that take as long as a line from memory, and bytes of one that the nearest cache
// has room for beside those that are read meanwhile.
constexpr std::int64_t kTilesAhead = 2;
constexpr std::int64_t kMaxAheadBytes = 1 << 14;

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

// Whether both have the same extents, so that each element of one goes into one of the other.
bool HaveSameShape(const te::Tensor& a, const te::OperationNode& b) {
  const auto extent = [](const te::IterVar& axis) { return axis.extent; };
  return std::ranges::equal(a.shape(), b.axes, loop::StructuralEqual, {}, extent);
}

// Whether all tiles along the last axis of the grid multiply the same pixels of an image, of which
// lanes are neighbours, and each term of the sum another row that is apart from those before: at
// least one for each of these tiles to fetch.
bool IsSharedByRows(Accesses& accesses, const schedule::Stage& tile, const te::Tensor& input) {
  const te::OperationNode& op = *tile.op();
  const TileAxes axes = TileAxesOf(op);
  const std::vector<Access> reads = AccessesOf(accesses, tile, input);
  const std::int64_t pixels = Extent(axes.vectors) * Extent(axes.lanes);
  return std::all_of(input.shape().begin() + 1, input.shape().end(), IsNumber) && !reads.empty() &&
         Extent(axes.grid.back()) > 1 &&
         Extent(axes.grid.back()) <= Extent(op.reduce_axes.front()) &&
         IsShared(reads, axes.grid.back()) && std::ranges::all_of(reads, [&](const Access& read) {
           return StepOf(read, axes.lanes.var) == 1 &&
                  std::ranges::all_of(op.reduce_axes, [&](const te::IterVar& term) {
                    return Extent(term) == 1 || StepOf(read, term.var).value_or(0) > pixels;
                  });
         });
}

bool IsReadBy(Accesses& accesses, const schedule::Stage& stage, const te::Tensor& input) {
  return std::ranges::any_of(accesses.Of(stage), [&](const Access& access) {
    return access.producer == input.op().get();
  });
}

// Whether `tile`, of which `count` are computed one after the other, is a sum of taps alone, as
// channels have kernels of their own, over a part of the image that is worth fetching.
bool DoesLittle(Accesses& accesses, const schedule::Stage& tile, const te::Tensor& input,
                std::int64_t count) {
  return IsTallTile(*tile.op()) && ProductOfExtents(tile.op()->reduce_axes) <= kMaxUnrolledTerms &&
         BytesOf(input) <= kMaxAheadBytes * count && IsReadBy(accesses, tile, input);
}

}  // namespace

void FetchOperandsAhead(schedule::Schedule& schedule, Accesses& accesses, schedule::Stage& tile) {
  const te::OperationNode& op = *tile.op();
  const auto grid = TileAxesOf(op).grid;
  if (grid.empty() || IsTallTile(op) || AddsInTurn(op)) return;
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

void FetchNextTiles(schedule::Schedule& schedule, Accesses& accesses, const schedule::Stage& result,
                    const schedule::Stage& tile) {
  const te::Tensor reader(result.op(), 0);
  const te::IterVar& place = tile.attach_axis();
  const bool is_whole = IsTallTile(*tile.op());
  const auto grid = TileAxesOf(*tile.op()).grid;
  const std::int64_t count = ProductOfExtents(grid.first(grid.size() - (is_whole ? 1 : 0)));
  // Where one loop has all tiles, the next iteration is the next tile.
  if (count == 1 || !place.var.same_as(result.leaves().front().var)) return;
  for (const auto& stage : schedule.stages()) {
    const te::Tensor input(stage->op(), 0);
    if (!stage->op()->is_placeholder() || BytesOf(input) < kFarBytes) continue;
    if (!is_whole && HaveSameShape(input, *result.op()) && IsReadBy(accesses, result, input)) {
      schedule.Prefetch(input, reader, place, 1);
    } else if (!is_whole && IsSharedByRows(accesses, tile, input)) {
      schedule.PrefetchNextBlock(input, reader, place, Extent(TileAxesOf(*tile.op()).grid.back()));
    } else if (DoesLittle(accesses, tile, input, count)) {
      schedule.Prefetch(input, reader, place, kTilesAhead);
    }
  }
}

}  // namespace tenon::strategies
