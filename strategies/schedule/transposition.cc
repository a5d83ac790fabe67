// Tiles that registers hold are read along the source's rows, stored along the result's, and follow
// one another in blocks. In cache a block is as wide as a line of the source. From memory, blocks
// take long parts of few rows, since each row is another page. Their best length depends on what is
// stored (whole lines or parts of them, non-temporally or not). It was measured on matrices of all
// these kinds.
#include "tenon/strategies/schedule/transposition.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "tenon/strategies/schedule/choices.h"
#include "tenon/support/arithmetic.h"

namespace tenon::strategies {
namespace {

using schedule::Stage;
using te::IterVar;

// The part of the second-level cache in which an array stays.
constexpr std::int64_t kPartOfL2 = 2;
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
// The part of the last cache in which the lines of a result stay until their second part is
// written.
constexpr std::int64_t kPartOfL3 = 8;
// The part of the second-level cache in which one line of each row stays while the rows are read
// part by part.
constexpr std::int64_t kLinesInL2 = 16;
// The fewest tiles of a block, which is what is fetched at a time.
constexpr std::int64_t kMinTiles = 16;
// Rows that the caches still hold when all of them fall into the same sets.
constexpr std::int64_t kAliasedRows = 32;
// The side of the largest tiles that are square.
constexpr std::int64_t kSquare = 16;
// The fewest rows of a tile that is transposed in registers, and the longest run that is tried.
constexpr std::int64_t kMinRows = 4;
constexpr std::int64_t kLongestRun = 128;
// From so many bytes on a result is stored non-temporally. Then reading a line only to write all of
// it takes more time than reading it once more later, even where a large cache could hold it.
constexpr std::int64_t kStreamed = std::int64_t{16} << 20;
// So many times above or below that there is no doubt.
constexpr std::int64_t kDoubt = 16;

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
  std::int64_t rows, lanes;           // of a tile
  std::int64_t element_bytes, bytes;  // of an element, and of all of the result
  bool streams, aliased;
  Target target;

  std::int64_t cached_bytes() const { return target.l2_bytes / kPartOfL2; }
  std::int64_t source_tiles() const { return CeilDiv(source, rows); }
  std::int64_t result_tiles() const { return CeilDiv(result, lanes); }
  // Whether its lines leave the cache before all of them are read.
  bool is_far() const { return streams || source * result * element_bytes > cached_bytes(); }
};

Runs RunsOf(const Matrix& m) {
  if (!m.is_far()) return {std::min(m.lanes / m.rows, m.source_tiles()), 1};
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
  } else if (m.bytes <= m.target.l3_bytes / kPartOfL3) {
    runs = kOfFewPartsOfLines;
  }
  const std::int64_t most_rows = m.target.l2_bytes / kLinesInL2 / m.target.line_bytes;
  runs.result = std::clamp(most_rows / m.lanes, std::int64_t{1}, runs.result);
  if (m.aliased) runs.result = std::clamp(kAliasedRows / m.lanes, std::int64_t{1}, runs.result);
  return {std::min(runs.source, m.source_tiles()), std::min(runs.result, m.result_tiles())};
}

// How the matrix is taken apart: runs of tiles, and whether all runs of the same columns of the
// source come first, or all of the same rows of it.
struct Tiling {
  Matrix matrix;
  Runs runs;
  bool source_first;
};

// The choices of a stage that has loops of its own. A stage inside the loops of its reader takes
// the defaults: it takes little of the reader's time.
struct Choices {
  SchedulingState& state;
  const Stage& stage;
  bool are_asked;

  std::int64_t Of(const char* what, std::vector<std::int64_t> values, std::int64_t usual) const {
    return are_asked && values.size() > 1 ? ChoiceOf(state, stage, what, std::move(values), usual)
                                          : usual;
  }
  bool Of(const char* what, bool usual) const { return Of(what, {0, 1}, usual ? 1 : 0) == 1; }
};

// One of the powers of two up to `most`, or the usual number.
std::int64_t RunIn(const Choices& choices, const char* what, std::int64_t most,
                   std::int64_t usual) {
  std::vector<std::int64_t> values;
  for (std::int64_t run = 1; run <= std::min(most, kLongestRun); run *= 2) values.push_back(run);
  const auto at = std::ranges::lower_bound(values, usual);
  if (at == values.end() || *at != usual) values.insert(at, usual);
  return choices.Of(what, std::move(values), usual);
}

// Non-temporal stores take whole vectors of the caller's memory.
bool Streams(const Choices& choices, const Matrix& m) {
  if (!choices.stage.is_output() ||
      m.lanes * m.element_bytes != choices.state.options.target.vector_bytes)
    return false;
  const bool usual = m.bytes >= kStreamed;
  if (m.bytes < kStreamed / kDoubt || m.bytes >= kStreamed * kDoubt) return usual;
  return choices.Of("streams", usual);
}

// As many rows as are loaded at once. For elements that wide, tiles are square.
std::int64_t RowsOfTile(const Choices& choices, std::int64_t lanes) {
  const std::int64_t usual = lanes <= kSquare ? lanes : lanes / 4;
  std::vector<std::int64_t> values;
  for (const std::int64_t rows : {lanes / 4, lanes / 2, lanes}) {
    if (rows >= kMinRows || rows == usual) values.push_back(rows);
  }
  return choices.Of("rows", std::move(values), usual);
}

// From memory, runs of tiles read and write longer parts of few rows. In cache tiles follow one
// another along the shorter rows, source's or result's, which lie together where they end.
Tiling TilingOf(const Choices& choices, Matrix m) {
  m.rows = RowsOfTile(choices, m.lanes);
  m.streams = Streams(choices, m);
  Runs runs = RunsOf(m);
  runs.source = RunIn(choices, "source", m.source_tiles(), runs.source);
  runs.result = RunIn(choices, "result", m.result_tiles(), runs.result);
  // What is fetched for the next run of rows must still be in cache when its turn comes.
  const bool stays = m.source * runs.result * m.lanes * m.element_bytes <= m.cached_bytes();
  const bool by_columns = m.streams && (m.result % m.lanes != 0 || !stays);
  const bool source_first = m.is_far() ? by_columns : m.source >= m.result;
  return {m, runs, choices.Of("source_first", source_first)};
}

}  // namespace

bool ScheduleTransposition(SchedulingState& state, Stage& stage, bool is_alone) {
  Accesses& accesses = state.accesses;
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
  const auto element_bytes = static_cast<std::int64_t>(te::Tensor(stage.op(), 0).dtype().bytes());
  const std::int64_t bytes = element_bytes * ProductOfExtents(axes);
  const Tiling tiling =
      TilingOf(Choices{state, stage, is_alone}, {.source = extent,
                                                 .result = last_extent,
                                                 .rows = 0,
                                                 .lanes = lanes,
                                                 .element_bytes = element_bytes,
                                                 .bytes = bytes,
                                                 .streams = false,
                                                 .aliased = AliasesInCaches(stage, accesses),
                                                 .target = accesses.target()});
  const auto [source_tiles, source_lane] = stage.Split(source, tiling.matrix.rows);
  const auto [source_blocks, source_tile] = stage.Split(source_tiles, tiling.runs.source);
  const auto [result_tiles, result_lane] = stage.Split(last, lanes);
  const auto [result_runs, result_tile] = stage.Split(result_tiles, tiling.runs.result);
  std::vector<IterVar> order;
  for (std::size_t i = 0; i < first_last; ++i) {
    if (i < first || i > *along) order.push_back(axes[i]);
  }
  order.push_back(tiling.source_first ? source_blocks : result_runs);
  const IterVar& second = tiling.source_first ? result_runs : source_blocks;
  if (tiling.matrix.is_far()) order.push_back(second);
  std::vector<IterVar> all = order;
  if (!tiling.matrix.is_far()) all.push_back(second);
  all.insert(all.end(), {source_tile, result_tile, source_lane, result_lane});
  stage.Reorder(all);
  const IterVar outer = stage.Fuse(order);
  if (is_alone && WorkOf(stage) >= kParallelWork &&
      (bytes >= kParallelBytes || accesses.MathCallsOf(stage) > 0))
    stage.Parallel(outer);
  stage.Unroll(source_lane);
  stage.Vectorize(result_lane);
  if (tiling.matrix.streams) stage.StreamStores();
  return true;
}

}  // namespace tenon::strategies
