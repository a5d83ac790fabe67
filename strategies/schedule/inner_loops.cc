#include "tenon/strategies/schedule/inner_loops.h"

#include <algorithm>
#include <optional>
#include <variant>

#include "tenon/loop/visit.h"
#include "tenon/strategies/planned_extent.h"
#include "tenon/strategies/schedule/choices.h"
#include "tenon/strategies/schedule/operand_fetches.h"
#include "tenon/strategies/schedule/reductions.h"
#include "tenon/strategies/schedule/streamed_results.h"
#include "tenon/strategies/te_compute.h"
#include "tenon/support/arithmetic.h"

namespace tenon::strategies {

using loop::Expr;
using schedule::Stage;
using te::IterVar;
using te::OperationNode;

bool SameIndices(const std::vector<Expr>& a, const std::vector<Expr>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), loop::StructuralEqual);
}

namespace {

// The most vectors of a line that are written out, and of a line whose elements are chosen by their
// place.
constexpr std::int64_t kMaxUnrolled = 24;
constexpr std::int64_t kMaxChosen = 64;
// Elements of a line that stays in the first-level cache until it is read.
constexpr std::int64_t kMaxFetched = 8192;
// Terms of a row that is worth fetching.
constexpr std::int64_t kMinFetched = 256;
// Steps of a line, each of kUnroll vectors, that a line of results is fetched ahead.
constexpr std::int64_t kWrittenAhead = 8;

// Whether the input is read at one place. What is read at several is not a line: all between them
// would be fetched.
bool ReadsAtOnePlace(SchedulingState& state, const Stage& stage, const OperationNode& input) {
  const std::vector<Expr>* first = nullptr;
  for (const Access& access : state.accesses.Of(stage)) {
    if (access.producer != &input) continue;
    if (first != nullptr && !SameIndices(*first, access.indices)) return false;
    first = &access.indices;
  }
  return true;
}

// Fetches what the iteration `count` steps later reads, which is one line on. A result that reads
// nothing from memory fetches the line that it will write; a loop that fetched both would wait for
// them. A concatenation reads only one of its parts at a time, so most of what it fetched would be
// waste, and memory of others lies before and after a part.
void FetchNextLine(SchedulingState& state, Stage& stage, const IterVar& steps, std::int64_t count,
                   const Stage* written) {
  if (count < 2 || state.accesses.AreConditional(stage)) return;
  if (state.options.target.fetches_rows() && state.accesses.MathCallsOf(stage) == 0) return;
  const te::Tensor reader(stage.op(), 0);
  bool fetches = false;
  for (const te::Tensor& input : te::InputsOf(*stage.op())) {
    if (!input.op()->is_placeholder() || input.ndim() < stage.op()->axes.size() ||
        !ReadsAtOnePlace(state, stage, *input.op()))
      continue;
    state.schedule.Prefetch(input, reader, steps, count);
    fetches = true;
  }
  if (written == nullptr || (fetches && written == &stage)) return;
  // Another stage writes after all steps of this one. Fetched a few steps ahead, of which the
  // last are the next line's, its lines come in evenly while this one computes.
  const std::int64_t ahead = written == &stage ? count : std::min(count, kWrittenAhead);
  state.schedule.Prefetch(te::Tensor(written->op(), 0), reader, steps, ahead);
}

// Fetches the next row of an extremum. Its lanes are joined in one chain at the end of a row, and
// loads of the next row do not get far ahead of it.
void FetchNextRow(SchedulingState& state, const Stage& stage) {
  const OperationNode& op = *stage.op();
  if (state.options.target.fetches_rows()) return;
  if (!op.is_reduction() || op.combiner->is_sum || !op.combiner->is_order_free ||
      !ReducesAlongMemory(stage, state.accesses) || state.accesses.AreConditional(stage))
    return;
  const std::vector<IterVar> leaves = stage.leaves();
  const auto runs = std::count_if(leaves.begin(), leaves.end(),
                                  [](const IterVar& leaf) { return leaf.is_reduce; });
  const std::int64_t count = ProductOfExtents(op.reduce_axes);
  if (runs > 1 || count < kMinFetched || count > kMaxFetched) return;
  for (const te::Tensor& input : te::InputsOf(op)) {
    if (input.op()->is_placeholder() && BytesOf(input) >= FarBytes(state.options.target) &&
        !state.accesses.IsRead(*input.op(), &stage))
      state.schedule.Prefetch(input, te::Tensor(stage.op(), 0), leaves.back(), count);
  }
}

// How many vectors of a line one iteration computes. `whole`: those that a line has.
std::int64_t VectorsOfStep(SchedulingState& state, const Stage& stage, std::int64_t whole) {
  std::vector<std::int64_t> values;
  for (std::int64_t vectors = 1; vectors <= std::min(whole, 2 * kUnroll); vectors *= 2)
    values.push_back(vectors);
  if (values.size() < 2) return 1;
  return ChoiceOf(state, stage, "vectors", std::move(values), whole >= kUnroll ? kUnroll : 1);
}

}  // namespace

std::size_t FirstInner(SchedulingState& state, const Stage& stage, std::size_t from) {
  const auto& axes = stage.op()->axes;
  const std::vector<Access>& accesses = state.accesses.Of(stage);
  std::size_t first = axes.size();
  std::int64_t stride = 1;
  std::vector<int> moves(accesses.size(), -1);  // -1: not known, 0: stays, 1: moves
  while (first > from) {
    const IterVar& axis = axes[first - 1];
    // Padding stays out of the loop along memory, where whole vectors are inside or outside.
    if (state.accesses.DifferByLane(stage, axis.var))
      return std::max(from, std::min(first, axes.size() - 1));
    for (std::size_t a = 0; a < accesses.size(); ++a) {
      if (Extent(axis) == 1) continue;
      const std::optional<std::int64_t> step = StepOf(accesses[a], axis.var);
      const int move = !step ? 2 : *step == 0 ? 0 : *step == stride ? 1 : 2;
      if (move == 2 || (moves[a] >= 0 && moves[a] != move))
        return std::max(from, std::min(first, axes.size() - 1));
      moves[a] = move;
    }
    stride *= Extent(axis);
    --first;
  }
  return first;
}

void ScheduleInner(SchedulingState& state, Stage& stage, std::size_t from) {
  ScheduleInner(state, stage, from, stage.is_output() ? &stage : nullptr);
}

void ScheduleInner(SchedulingState& state, Stage& stage, std::size_t from, const Stage* written) {
  const OperationNode& op = *stage.op();
  if (op.is_reduction()) {
    if (op.axes.size() > from || ReducesAlongMemory(stage, state.accesses))
      ScheduleReduction(state, stage);
    if (from > 0) FetchNextRow(state, stage);
    return;
  }
  if (op.axes.size() <= from) return;
  const std::size_t first = FirstInner(state, stage, from);
  IterVar inner = op.axes[first];
  std::int64_t extent = Extent(inner);
  // What one step of several axes reads would be taken for all of them.
  bool is_one_axis = true;
  for (std::size_t i = first + 1; i < op.axes.size(); ++i) {
    inner = stage.Fuse(inner, op.axes[i]);
    is_one_axis = is_one_axis && (extent == 1 || Extent(op.axes[i]) == 1);
    extent *= Extent(op.axes[i]);
  }
  const std::int64_t lanes = state.accesses.LanesOf(op);
  if (extent < lanes) return;
  // Where elements are chosen by their place in a line, each vector that is written out knows its
  // choice; others are left to PartitionSelects.
  const bool differ = state.accesses.DifferByLane(stage, inner.var);
  const std::int64_t most = differ                                                  ? kMaxChosen
                            : std::holds_alternative<te::WrittenOut>(op.label.hint) ? kMaxUnrolled
                                                                                    : 0;
  const bool is_number =
      std::all_of(op.axes.begin() + static_cast<std::ptrdiff_t>(first), op.axes.end(),
                  [](const IterVar& axis) { return IsNumber(axis.extent); });
  const bool is_written_out = is_number && extent <= lanes * most;
  if (differ && !(is_written_out && state.accesses.BoundAlong(stage, inner.var))) return;
  auto [blocks, lane] = stage.Split(inner, lanes);
  if (is_written_out) {
    stage.Unroll(blocks);
    stage.Vectorize(lane);
    return;
  }
  const auto streams = [&](const Stage& result) {
    return IsStreamed(result, state.accesses, first == 0 ? 0 : extent);
  };
  // A line of any length ends anywhere. Its vectors are one loop and one vector under a mask, a
  // third of the code of blocks of vectors with their rests.
  const std::int64_t vectors = is_number ? VectorsOfStep(state, stage, extent / lanes) : 1;
  if (vectors > 1) {
    const auto [steps, step] = stage.Split(blocks, vectors);
    stage.Unroll(step);
    if (written != nullptr && streams(*written)) written = nullptr;
    // While one line is computed, the next one comes from memory.
    if (from > 0 && is_one_axis && extent <= kMaxFetched)
      FetchNextLine(state, stage, steps, CeilDiv(extent, lanes * vectors), written);
  }
  stage.Vectorize(lane);
  if (streams(stage)) stage.StreamStores();
}

}  // namespace tenon::strategies
