// Along memory, the innermost axes that are one run of it become one loop, which LLVM or
// VectorizeReductions takes in vectors. Across memory, several vectors of results stay in registers
// while the terms go by; a single one would wait for each addition.
//
// Long reductions are factored (Suriana, Adams and Kamil, "Parallel Associative Reductions in
// Halide", 2017) along their outermost loop.
#include "tenon/strategies/schedule/reductions.h"

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "tenon/strategies/planned_extent.h"
#include "tenon/strategies/schedule/choices.h"
#include "tenon/strategies/schedule/inline_stages.h"
#include "tenon/support/arithmetic.h"

namespace tenon::strategies {
namespace {

using schedule::Stage;
using te::IterVar;
using te::OperationNode;

// Vectors of results that one sum keeps in registers.
constexpr std::int64_t kTile = 8;
constexpr std::int64_t kMaxTile = 16;
// The same for lines of any length, and the number of terms from which it pays.
constexpr std::int64_t kSymbolicTile = 4;
constexpr std::int64_t kMinTermsOfTile = 32;
// See TermsAtOnce: the bytes that a row has at least, and the vectors of a line, which threads
// share.
constexpr std::int64_t kTermsAtOnce = 8;
constexpr std::int64_t kFarRow = 1024;
constexpr std::int64_t kMinLine = 8, kLine = 64, kMaxLine = 512;
// Scalar operations from which a reduction is worth splitting, and those of a piece.
constexpr std::int64_t kLongReduction = 4 * kParallelWork;
constexpr std::int64_t kPieceWork = kParallelWork / 2;
// Pieces that any number of threads share evenly.
constexpr std::int64_t kMaxPieces = 128;
// Iterations that threads can share, of results without pieces or of the loop that is split.
constexpr std::int64_t kMinIterations = 8;
// Terms per result of a piece, which is written and read again.
constexpr std::int64_t kMinTerms = 16;
// If one run of memory is split, pieces are multiples of so many terms, so that they are whole
// lines and vectors.
constexpr std::int64_t kRun = 1024;

bool IsSameForAllTerms(const OperationNode& op, const Access& access) {
  return std::all_of(op.reduce_axes.begin(), op.reduce_axes.end(),
                     [&](const IterVar& axis) { return StepOf(access, axis.var) == 0; });
}

std::int64_t LargestDivisor(std::int64_t value, std::int64_t most) {
  std::int64_t divisor = std::min(value, most);
  while (value % divisor != 0) --divisor;
  return divisor;
}

// The divisors from `least` to `most`, in ascending order.
std::vector<std::int64_t> DivisorsOf(std::int64_t value, std::int64_t least, std::int64_t most) {
  std::vector<std::int64_t> divisors;
  for (std::int64_t divisor = least; divisor <= std::min(value, most); ++divisor) {
    if (value % divisor == 0) divisors.push_back(divisor);
  }
  return divisors;
}

// How many of the `count` vectors of a line of results are summed side by side. A line of any
// length ends in a part of a tile, and few terms do not wait for each other long.
std::int64_t VectorsOfTile(SchedulingState& state, const Stage& stage, std::int64_t count) {
  const OperationNode& op = *stage.op();
  if (!IsNumber(op.axes.back().extent))
    return ProductOfExtents(op.reduce_axes) >= kMinTermsOfTile ? kSymbolicTile : 1;
  return ChoiceOf(state, stage, "vectors", DivisorsOf(count, 1, kMaxTile),
                  LargestDivisor(count, kTile));
}

// How many of the `count` vectors of a line each core has; the last one has fewer.
std::int64_t PartOfCore(std::int64_t count, int cores) {
  return CeilDiv(count, std::max(cores, 1));
}

// How many of the `count` vectors of a line rows may be added to before the next ones: equal parts,
// or one for each core, the last of which is shorter.
std::vector<std::int64_t> LinesOf(std::int64_t count, int cores) {
  std::vector<std::int64_t> lengths = DivisorsOf(count, kMinLine, kMaxLine);
  const std::int64_t of_core = PartOfCore(count, cores);
  const auto at = std::ranges::lower_bound(lengths, of_core);
  if (of_core >= kLine / 2 && of_core <= kMaxLine && (at == lengths.end() || *at != of_core))
    lengths.insert(at, of_core);
  return lengths;
}

// A piece of the line for each core, unless the pieces are short: rows are fetched best whole.
std::int64_t UsualLine(const std::vector<std::int64_t>& lengths, std::int64_t count, int cores) {
  const std::int64_t of_core = std::max(PartOfCore(count, cores), kLine);
  const auto longer = std::ranges::upper_bound(lengths, of_core);
  const bool is_shared = longer != lengths.begin() && *(longer - 1) >= kLine / 2;
  return is_shared ? *(longer - 1) : lengths.back();
}

// How many terms are added to a line of results at once, where each lies on another page of memory
// than the one before. 1 means a tile of results that all terms are added to. The line stays in the
// first-level cache, and as many rows of memory are read from their begin to their end.
std::int64_t TermsAtOnce(SchedulingState& state, const Stage& stage,
                         const std::vector<IterVar>& terms, std::int64_t count) {
  const OperationNode& op = *stage.op();
  const auto is_number = [](const IterVar& axis) { return IsNumber(axis.extent); };
  if (!is_number(op.axes.back()) || !std::all_of(terms.begin(), terms.end(), is_number) ||
      count <= kMaxTile || LinesOf(count, state.options.target.cores).empty() ||
      state.accesses.AreConditional(stage))
    return 1;
  const std::int64_t at_once =
      LargestDivisor(std::max<std::int64_t>(ProductOfExtents(terms), 1), kTermsAtOnce);
  if (at_once < kTermsAtOnce / 2) return 1;
  const std::vector<Access>& all = state.accesses.Of(stage);
  const bool has_far_rows = std::any_of(all.begin(), all.end(), [&](const Access& access) {
    const auto bytes = static_cast<std::int64_t>(access.producer->outputs[0]->dtype.bytes());
    const std::int64_t step = StepOf(access, op.reduce_axes.back().var).value_or(0);
    return StepOf(access, op.axes.back().var) == 1 && step * bytes >= kFarRow &&
           step * bytes * ProductOfExtents(op.reduce_axes) > state.options.target.l2_bytes / 2;
  });
  return ChoiceOf(state, stage, "terms", {1, at_once}, has_far_rows ? at_once : 1);
}

// Whether one step of `outer` is as far in memory as all steps of `inner`.
bool IsOneRun(const Stage& stage, Accesses& accesses, const IterVar& outer, const IterVar& inner) {
  const std::vector<Access>& all = accesses.Of(stage);
  return std::all_of(all.begin(), all.end(), [&](const Access& access) {
    const std::optional<std::int64_t> step = StepOf(access, inner.var);
    return step && StepOf(access, outer.var) == *step * Extent(inner);
  });
}

// The reduce axes in order. Those that are one run of memory are together.
std::vector<std::vector<IterVar>> RunsOf(const Stage& stage, Accesses& accesses) {
  std::vector<std::vector<IterVar>> runs;
  for (const IterVar& axis : stage.op()->reduce_axes) {
    const bool goes_on = !runs.empty() && !accesses.AreConditional(stage) &&
                         IsOneRun(stage, accesses, runs.back().back(), axis);
    if (!goes_on) runs.emplace_back();
    runs.back().push_back(axis);
  }
  return runs;
}

bool MaySplit(const OperationNode& op, bool reassociate) {
  const te::Combiner& combiner = *op.combiner;
  if (combiner.is_sum && op.outputs[0]->dtype.is_float()) return reassociate;
  return combiner.is_sum || combiner.is_order_free;
}

// The numbers of pieces that a reduction may be taken apart into. 1: it stays whole.
std::vector<std::int64_t> PiecesUpTo(std::int64_t most) {
  std::vector<std::int64_t> pieces;
  for (std::int64_t count = 1; count < most; count *= 2) pieces.push_back(count);
  pieces.push_back(most);
  return pieces;
}

// The terms of a piece, or nothing where the reduction is not long enough.
std::optional<std::int64_t> TermsOfPiece(SchedulingState& state, const Stage& stage,
                                         const std::vector<std::vector<IterVar>>& runs,
                                         const std::vector<IterVar>& split) {
  const std::int64_t work = WorkOf(stage), terms = ProductOfExtents(stage.op()->reduce_axes);
  const std::int64_t extent = ProductOfExtents(split);
  const std::int64_t most = std::min({kMaxPieces, work / kPieceWork, terms / kMinTerms, extent});
  if (most < 2) return std::nullopt;
  const std::int64_t pieces = ChoiceOf(state, stage, "pieces", PiecesUpTo(most), most);
  if (pieces < 2) return std::nullopt;
  const std::int64_t of_piece = CeilDiv(extent, pieces);
  if (runs.size() > 1 || of_piece < kRun) return of_piece;
  return RoundUp(of_piece, kRun);
}

void SplitIfLong(SchedulingState& state, Stage& stage) {
  const OperationNode& op = *stage.op();
  const auto is_number = [](const IterVar& axis) { return IsNumber(axis.extent); };
  // How many pieces pay is known for numbers only.
  if (!std::all_of(op.reduce_axes.begin(), op.reduce_axes.end(), is_number)) return;
  if (ProductOfExtents(op.axes) == 0 || WorkOf(stage) < kLongReduction) return;
  // What it keeps is wrong once the stage computes something else.
  Accesses accesses(state.schedule, state.options.target);
  const std::size_t shared = AxesAroundReduction(stage, accesses);
  if (ProductOfExtents(std::span(op.axes).first(shared)) >= kMinIterations) return;
  const std::vector<std::vector<IterVar>> runs = RunsOf(stage, accesses);
  const auto run = std::find_if(runs.begin(), runs.end(), [](const std::vector<IterVar>& axes) {
    return ProductOfExtents(axes) >= kMinIterations;
  });
  if (run == runs.end()) return;
  const std::optional<std::int64_t> of_piece = TermsOfPiece(state, stage, runs, *run);
  if (!of_piece) return;
  const auto [piece, term] = stage.Split(stage.Fuse(*run), *of_piece);
  state.schedule.RFactor(te::Tensor(stage.op(), 0), piece);
}

}  // namespace

bool ReducesAlongMemory(const Stage& stage, Accesses& accesses) {
  const OperationNode& op = *stage.op();
  bool along_reduction = false;
  bool along_result = false;
  for (const Access& access : accesses.Of(stage)) {
    const std::optional<std::int64_t> along = StepOf(access, op.reduce_axes.back().var);
    along_reduction = along_reduction || along == 1;
    // One value per row, the mean for instance, is read once.
    if (op.axes.empty() || Extent(op.axes.back()) == 1 || IsSameForAllTerms(op, access)) continue;
    // Every second element still comes in whole vectors.
    const std::int64_t step = StepOf(access, op.axes.back().var).value_or(0);
    along_result = along_result || step == 1 || step == 2;
  }
  return along_reduction && !along_result;
}

std::size_t AxesAroundReduction(const Stage& stage, Accesses& accesses) {
  const std::size_t rank = stage.op()->axes.size();
  return rank == 0 || ReducesAlongMemory(stage, accesses) ? rank : rank - 1;
}

void ScheduleReduction(SchedulingState& state, Stage& stage) {
  Accesses& accesses = state.accesses;
  const OperationNode& op = *stage.op();
  std::vector<IterVar> order;
  const std::vector<std::vector<IterVar>> runs = RunsOf(stage, accesses);
  for (const std::vector<IterVar>& run : runs) order.push_back(stage.Fuse(run));
  if (op.axes.empty() || ReducesAlongMemory(stage, accesses)) return;
  const IterVar last = op.axes.back();
  std::int64_t lanes = accesses.LanesOf(op);
  // Half vectors without a rest beat whole ones with one.
  if (IsNumber(last.extent) && Extent(last) % lanes != 0 && Extent(last) % (lanes / 2) == 0)
    lanes /= 2;
  if (Extent(last) < lanes || op.outputs.size() > 1) {
    order.push_back(last);
    stage.Reorder(order);
    return;
  }
  auto [blocks, lane] = stage.Split(last, lanes);
  const std::int64_t count = CeilDiv(Extent(last), lanes);  // the last one may be masked
  if (const std::int64_t at_once = TermsAtOnce(state, stage, runs.back(), count); at_once > 1) {
    const int cores = state.options.target.cores;
    const std::vector<std::int64_t> lengths = LinesOf(count, cores);
    const std::int64_t of_line =
        ChoiceOf(state, stage, "line", lengths, UsualLine(lengths, count, cores));
    const auto [lines, vectors] = stage.Split(blocks, of_line);
    const auto [steps, terms] = stage.Split(order.back(), at_once);
    order.insert(order.begin(), lines);
    order.back() = steps;
    order.insert(order.end(), {vectors, terms, lane});
    stage.Reorder(order);
    stage.Unroll(terms);
  } else if (const std::int64_t vectors = VectorsOfTile(state, stage, count); vectors > 1) {
    const auto [outer, tile] = stage.Split(blocks, vectors);
    order.insert(order.begin(), outer);
    order.push_back(tile);
    order.push_back(lane);
    stage.Reorder(order);
    stage.Unroll(tile);
  } else {
    order.insert(order.begin(), blocks);
    order.push_back(lane);
    stage.Reorder(order);
  }
  stage.Vectorize(lane);
}

void SplitLongReductions(SchedulingState& state) {
  std::vector<Stage*> reductions;  // splitting adds stages
  for (const auto& stage : state.schedule.stages()) {
    const OperationNode& op = *stage->op();
    if (op.is_reduction() && !ReadsRepeatedly(op) && MaySplit(op, state.options.reassociate_sums))
      reductions.push_back(stage.get());
  }
  for (Stage* stage : reductions) SplitIfLong(state, *stage);
}

}  // namespace tenon::strategies
