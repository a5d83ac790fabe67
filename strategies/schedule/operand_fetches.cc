// The weights of a model are read once per run and are mostly larger than the caches. Several tiles
// in a row use each block of them. The first of these would wait for memory, and the others would
// leave it idle. So each tile fetches a share of the next block.
//
// A convolution of one tap reads a few pixels of each channel of an image. The processor does not
// foresee their distance, and the multiply-adds that wait for them fill its queues before the next
// loads are sent. So misses follow one another. Where another core has written the image, they take
// most of the time of the tile. Fetches wait for nothing.
#include "tenon/strategies/schedule/operand_fetches.h"

#include <algorithm>

#include "tenon/loop/visit.h"
#include "tenon/strategies/planned_extent.h"
#include "tenon/strategies/schedule/register_tile.h"
#include "tenon/strategies/te_compute.h"
#include "tenon/support/alignment.h"
#include "tenon/support/arithmetic.h"

namespace tenon::strategies {
namespace {

// Steps of a sum among which fetches are few.
constexpr std::int64_t kMinSteps = 16;
// As many terms of a sum as take the time of a line from another core, the size of images that
// leave the first-level cache, and the distance of channels that have no line in common.
constexpr std::int64_t kTermsAhead = 16;
constexpr std::int64_t kMinImageBytes = 1 << 15;
// As many bytes of a row of tiles as the nearest cache has room for beside those that are read
// meanwhile.
constexpr std::int64_t kMaxAheadBytes = 1 << 14;
// Tiles of few lines fetch the next row of tiles. Lines of tiles of more go into the second-level
// cache, by as many rows as take the time of a line from memory: the nearest cache has too few
// buffers for so many lines that are under way.
constexpr std::int64_t kMaxNearLines = 8;
constexpr schedule::BlockFetch kFetchMany{.blocks = 4, .past_nearest = true};

// The accesses of the tile to one argument.
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

// Whether each term of the sum reads another channel. A tile must take as many pixels of it as it
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

// Whether all extents are numbers. If not, the lines that a tile reads are not a region whose ends
// can be computed.
bool HasNumbers(const te::Tensor& tensor) {
  return std::all_of(tensor.shape().begin(), tensor.shape().end(), IsNumber);
}

// The same for all extents after those of the batch.
bool HasNumberedPlanes(const te::Tensor& tensor) {
  return std::all_of(tensor.shape().begin() + 1, tensor.shape().end(), IsNumber);
}

// Whether both have the same extents, so that each element of one goes into one of the other.
bool HaveSameShape(const te::Tensor& a, const te::OperationNode& b) {
  const auto extent = [](const te::IterVar& axis) { return axis.extent; };
  return std::ranges::equal(a.shape(), b.axes, loop::StructuralEqual, {}, extent);
}

// Whether all tiles along the last axis of the grid multiply the same pixels of an image. Lanes
// must be neighbours in it, and each term of the sum must read another row, apart from those
// before. There must be at least one row for each of these tiles to fetch.
bool IsSharedByRows(Accesses& accesses, const schedule::Stage& tile, const te::Tensor& input) {
  const te::OperationNode& op = *tile.op();
  const TileAxes axes = TileAxesOf(op);
  const std::vector<Access> reads = AccessesOf(accesses, tile, input);
  const std::int64_t pixels = Extent(axes.vectors) * Extent(axes.lanes);
  return HasNumberedPlanes(input) && !reads.empty() && Extent(axes.grid.back()) > 1 &&
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

// Whether `tile` is a sum of taps alone, since each channel has a kernel of its own, over a part of
// the image that is worth fetching. `count` such rows of tiles are computed one after the other.
bool DoesLittle(Accesses& accesses, const schedule::Stage& tile, const te::Tensor& input,
                std::int64_t count) {
  return IsTallTile(*tile.op()) && ProductOfExtents(tile.op()->reduce_axes) <= kMaxUnrolledTerms &&
         BytesOf(input) <= kMaxAheadBytes * count && IsReadBy(accesses, tile, input);
}

// Lets the tiles of each of `count` rows fetch a row that comes after, each a share of it. If one
// tile did so for all, it would wait for the lines before, and lose what it gains. So it does not
// where a row is one tile, or where extents are no numbers, of which there are no shares.
void FetchLaterRow(schedule::Schedule& schedule, const schedule::Stage& tile,
                   const te::Tensor& input, std::int64_t count) {
  const te::IterVar& column = TileAxesOf(*tile.op()).grid.back();
  if (!HasNumberedPlanes(input) || Extent(column) == 1) return;
  const std::int64_t lines = BytesOf(input) / (count * Extent(column) * kCacheLineBytes);
  schedule.PrefetchNextBlock(input, te::Tensor(tile.op(), 0), column, 1,
                             lines <= kMaxNearLines ? schedule::BlockFetch() : kFetchMany);
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
    if (Extent(last) > 1 && BytesOf(input) >= FarBytes(accesses.target()) &&
        IsShared(reads, last)) {
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
    if (!stage->op()->is_placeholder() || BytesOf(input) < FarBytes(accesses.target())) continue;
    if (!is_whole && HaveSameShape(input, *result.op()) && IsReadBy(accesses, result, input)) {
      schedule.Prefetch(input, reader, place, 1);
    } else if (!is_whole && IsSharedByRows(accesses, tile, input)) {
      schedule.PrefetchNextBlock(input, reader, place, Extent(TileAxesOf(*tile.op()).grid.back()));
    } else if (DoesLittle(accesses, tile, input, count)) {
      FetchLaterRow(schedule, tile, input, count);
    }
  }
}

}  // namespace tenon::strategies
