// Tiles that registers hold are read along the source's rows, stored along the result's, and follow
// one another in blocks. In cache a block is as wide as a line of the source. From memory, blocks
// take long parts of few rows, since each row is another page. Their best length depends on what is
// stored (whole lines or parts of them, past the caches or not). It was measured on matrices of all
// these kinds.
#include "tenon/strategies/transposition.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "tenon/strategies/register_tile.h"
#include "tenon/support/arithmetic.h"

namespace tenon::strategies {
namespace {

using schedule::Stage;
using te::IterVar;

// Bytes of an array that stays in the second-level cache.
constexpr std::int64_t kCached = 1 << 19;
// Bytes of a result below which threads take longer to start than they save, when nothing is
// computed.
constexpr std::int64_t kParallelBytes = 1 << 18;
// How many tiles in turn are taken from the same rows, and how many go into the same rows. Runs go
// along the source, whose next lines the processor fetches ahead. If tiles do not write whole
// lines, runs go along the result, so that few lines are written in two parts or read twice. Past
// the caches, runs along the result are short, so that the next ones are fetched in time.
struct Runs {
  std::int64_t source, result;
};
constexpr Runs kOfWholeLines = {64, 4}, kOfPartsOfLines = {4, 32}, kOfFewPartsOfLines = {4, 4},
               kOfAlignedLines = {16, 4}, kOfStreamedLines = {64, 2};
// Bytes of a result whose lines stay in the last cache until their second part is written.
constexpr std::int64_t kKept = std::int64_t{4} << 20;
// Of so many rows, one line each stays in the second-level cache while the rows are read part by
// part.
constexpr std::int64_t kMaxRows = 1024;
// The fewest tiles of a block, which is what is fetched at a time.
constexpr std::int64_t kMinTiles = 16;
// Rows that the caches still hold when all of them fall into the same sets.
constexpr std::int64_t kAliasedRows = 32;
// The side of the largest tiles that are square.
constexpr std::int64_t kSquare = 16;
// From so many bytes on a result goes past the caches. Then reading a line only to write all of it
// takes more time than reading it once more later, even where a large cache could hold it.
constexpr std::int64_t kStreamed = std::int64_t{16} << 20;

// The only axis along which every access lies in memory that does not lie along the last axis.
std::optional<std::size_t> AxisOfGathers(const Stage& stage, Accesses& accesses) {
  const std::vector<IterVar>& axes = stage.op()->axes;
  if (axes.size() < 2 || (accesses.DifferByLane(stage, axes.back().var) &&
                          !accesses.EndsAlong(stage, axes.back().var)))
    return std::nullopt;
  std::optional<std::size_t> along;
  for (const Access& access : accesses.Of(stage)) {
    const std::optional<std::int64_t> step = StepOf(access, axes.back().var);
    if (!step) return std::nullopt;
    if (*step == 0 || *step == 1) continue;
    std::size_t axis = axes.size() - 1;
    while (axis > 0 && StepOf(access, axes[axis - 1].var) != 1) --axis;
    if (axis == 0 || (along && *along != axis - 1)) return std::nullopt;
    along = axis - 1;
  }
  if (along && accesses.DifferByLane(stage, axes[*along].var)) return std::nullopt;
  return along;
}

bool ContinuesGathers(const Stage& stage, const IterVar& axis, std::int64_t extent,
                      Accesses& accesses) {
  const IterVar& last = stage.op()->axes.back();
  for (const Access& access : accesses.Of(stage)) {
    const std::optional<std::int64_t> step = StepOf(access, last.var);
    if (step != 0 && step != 1 && StepOf(access, axis.var) != extent) return false;
  }
  return !accesses.DifferByLane(stage, axis.var);
}

// Whether every access goes on along `axis` where it ends along the last `extent` elements.
bool ContinuesLast(const Stage& stage, const IterVar& axis, std::int64_t extent,
                   Accesses& accesses) {
  const IterVar& last = stage.op()->axes.back();
  for (const Access& access : accesses.Of(stage)) {
    const std::optional<std::int64_t> step = StepOf(access, last.var);
    if (!step || StepOf(access, axis.var) != *step * extent) return false;
  }
  return !accesses.DifferByLane(stage, axis.var);
}

// How many elements of the widest array a vector holds. If that is more than `least`, or the stage
// calls vector math, the usual number (Accesses::LanesOf).
std::int64_t LanesOfCopy(const Stage& stage, Accesses& accesses, std::int64_t least) {
  std::size_t widest = 1;
  for (const loop::Buffer& output : stage.op()->outputs)
    widest = std::max(widest, output->dtype.bytes());
  for (const Access& access : accesses.Of(stage))
    widest = std::max(widest, access.buffer->dtype.bytes());
  const std::int64_t lanes = accesses.target().Lanes(widest);
  return lanes <= least && accesses.MathCallsOf(stage) == 0 ? lanes : accesses.LanesOf(*stage.op());
}

// Whether rows of the source begin a multiple of a page apart, and so fall into few sets of a
// cache.
bool AliasesInCaches(const Stage& stage, Accesses& accesses) {
  constexpr std::int64_t kPage = 4096;
  const std::vector<Access>& all = accesses.Of(stage);
  return std::any_of(all.begin(), all.end(), [&](const Access& access) {
    const std::int64_t step = StepOf(access, stage.op()->axes.back().var).value_or(0);
    const auto bytes = step * static_cast<std::int64_t>(access.buffer->dtype.bytes());
    return bytes != 0 && bytes % kPage == 0;
  });
}

// A matrix whose rows are read down, `source` elements each, into rows of `result` elements.
struct Matrix {
  std::int64_t source, result;
  std::int64_t rows, lanes;  // of a tile
  std::int64_t bytes;        // of all of the result
  bool streams, aliased;

  std::int64_t source_tiles() const { return CeilDiv(source, rows); }
  std::int64_t result_tiles() const { return CeilDiv(result, lanes); }
};

Runs RunsOf(const Matrix& m) {
  Runs runs = kOfPartsOfLines;
  if (m.result % m.lanes == 0 && m.streams) {
    runs = kOfStreamedLines;
    // What is stored lies together all the same where rows are short.
    if (m.result_tiles() <= 2 * runs.result && m.source_tiles() >= runs.source) runs.result = 1;
    runs.result = std::max(runs.result, kMinTiles / m.source_tiles());
  } else if (m.result % m.lanes == 0) {
    runs = kOfWholeLines;
  } else if (m.streams && m.result >= 4 * (kOfAlignedLines.result + 1) * m.lanes &&
             m.source >= 2 * kOfAlignedLines.source * m.lanes) {
    runs = kOfAlignedLines;
  } else if (m.bytes <= kKept) {
    runs = kOfFewPartsOfLines;
  }
  runs.result = std::min(runs.result, kMaxRows / m.lanes);
  if (m.aliased) runs.result = std::clamp(kAliasedRows / m.lanes, std::int64_t{1}, runs.result);
  return {std::min(runs.source, m.source_tiles()), std::min(runs.result, m.result_tiles())};
}

}  // namespace

bool ScheduleTransposition(Stage& stage, Accesses& accesses, bool parallel) {
  const std::vector<IterVar> axes = stage.op()->axes;
  const std::optional<std::size_t> along = AxisOfGathers(stage, accesses);
  if (!along) return false;
  // Axes before it that go on where it ends make one long axis with it.
  std::size_t first = *along;
  std::int64_t extent = Extent(axes[first]);
  while (first > 0 && ContinuesGathers(stage, axes[first - 1], extent, accesses)) {
    --first;
    extent *= Extent(axes[first]);
  }
  // So do the last axes.
  std::size_t first_last = axes.size() - 1;
  std::int64_t last_extent = Extent(axes.back());
  while (first_last > *along + 1 &&
         ContinuesLast(stage, axes[first_last - 1], last_extent, accesses)) {
    --first_last;
    last_extent *= Extent(axes[first_last]);
  }
  const std::int64_t lanes = LanesOfCopy(stage, accesses, std::min(extent, last_extent));
  if (extent < lanes || last_extent < lanes) return false;
  const IterVar last = stage.Fuse(std::span(axes).subspan(first_last));
  const IterVar source = stage.Fuse(std::span(axes).subspan(first, *along + 1 - first));
  // As many rows as are loaded at once. For elements that wide, tiles are square.
  const std::int64_t rows = lanes <= kSquare ? lanes : lanes / 4;
  const auto [source_tiles, source_lane] = stage.Split(source, rows);
  // From memory, runs of tiles read and write longer parts of few rows. In cache tiles follow one
  // another along the shorter rows, source's or result's, which lie together where they end.
  const auto element_bytes = static_cast<std::int64_t>(te::Tensor(stage.op(), 0).dtype().bytes());
  const std::int64_t bytes = element_bytes * ProductOfExtents(axes);
  const bool streams = stage.is_output() &&
                       lanes * element_bytes == accesses.target().vector_bytes &&
                       bytes >= kStreamed;
  const bool from_memory = streams || extent * last_extent * element_bytes > kCached;
  const Runs runs = from_memory ? RunsOf({.source = extent,
                                          .result = last_extent,
                                          .rows = rows,
                                          .lanes = lanes,
                                          .bytes = bytes,
                                          .streams = streams,
                                          .aliased = AliasesInCaches(stage, accesses)})
                                : Runs{std::min(lanes / rows, CeilDiv(extent, rows)), 1};
  // What is fetched for the next run of rows must still be in cache when its turn comes.
  const bool by_columns = streams && (last_extent % lanes != 0 ||
                                      extent * runs.result * lanes * element_bytes > kCached);
  const bool by_source_rows = extent < last_extent;
  const auto [source_blocks, source_tile] = stage.Split(source_tiles, runs.source);
  const auto [result_tiles, result_lane] = stage.Split(last, lanes);
  const auto [result_runs, result_tile] = stage.Split(result_tiles, runs.result);
  std::vector<IterVar> order;
  for (std::size_t i = 0; i < first_last; ++i) {
    if (i < first || i > *along) order.push_back(axes[i]);
  }
  if (by_columns) order.push_back(source_blocks);
  if (from_memory || by_source_rows) order.push_back(result_runs);
  if (!by_columns && (from_memory || !by_source_rows)) order.push_back(source_blocks);
  std::vector<IterVar> all = order;
  if (!from_memory) all.push_back(by_source_rows ? source_blocks : result_runs);
  all.insert(all.end(), {source_tile, result_tile, source_lane, result_lane});
  stage.Reorder(all);
  const IterVar outer = stage.Fuse(order);
  if (parallel && WorkOf(stage) >= kParallelWork &&
      (bytes >= kParallelBytes || accesses.MathCallsOf(stage) > 0))
    stage.Parallel(outer);
  stage.Unroll(source_lane);
  stage.Vectorize(result_lane);
  if (streams) stage.StreamStores();
  return true;
}

}  // namespace tenon::strategies
