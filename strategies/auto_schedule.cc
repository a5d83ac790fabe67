// 1. Stages are inlined or not (inline_stages.h), and long reductions taken apart (reductions.h).
// 2. What the result reads at the same leading indices (a convolution under its epilogue, the sums
//    of a softmax) is computed inside the result's outer loop, so that it stays in cache.
// 3. The outer axes become one parallel loop when there is enough work to share.
// 4. The innermost loop runs along memory in explicit vectors, of which the last may be masked. A
//    sum along memory is left to LLVM, or to VectorizeReductions; other sums keep vectors of
//    results in registers while they run.
// 5. Large results are stored past the caches (streamed_results.h).
#include "tenon/strategies/auto_schedule.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <variant>

#include "tenon/loop/visit.h"
#include "tenon/strategies/accesses.h"
#include "tenon/strategies/inline_stages.h"
#include "tenon/strategies/operand_fetches.h"
#include "tenon/strategies/planned_extent.h"
#include "tenon/strategies/reductions.h"
#include "tenon/strategies/register_tile.h"
#include "tenon/strategies/streamed_results.h"
#include "tenon/strategies/te_compute.h"
#include "tenon/strategies/transposition.h"
#include "tenon/strategies/winograd.h"
#include "tenon/support/arithmetic.h"
#include "tenon/te/scan.h"

namespace tenon::strategies {
namespace {

using loop::Expr;
using schedule::Schedule;
using schedule::Stage;
using te::IterVar;
using te::Operation;
using te::OperationNode;

// Vectors of an elementwise loop that one iteration computes.
constexpr std::int64_t kUnroll = 4;
// Vectors of a line that are written out, and of one whose elements are chosen by their place.
constexpr std::int64_t kMaxUnrolled = 24;
constexpr std::int64_t kMaxChosen = 64;
// Elements of a line that stays in the first-level cache until it is read.
constexpr std::int64_t kMaxFetched = 8192;
// Terms of a row that is worth fetching.
constexpr std::int64_t kMinFetched = 256;
// Steps of a line, each of kUnroll vectors, that a line of results is fetched ahead.
constexpr std::int64_t kWrittenAhead = 8;
// Iterations that make an outer loop worth being one.
constexpr std::int64_t kMinOuter = 8;
// What a function of the vector math library costs in simple operations: a lane of a vector, and
// a call for one element alone.
constexpr std::int64_t kMathLane = 16;
constexpr std::int64_t kMathCall = 4000;
// Shares of a row's work that a call for one element may be: one in this many.
constexpr std::int64_t kSmallShare = 10;
// Iterations that any number of threads share evenly.
constexpr std::int64_t kMinOuterAlone = 128;

// The axes of a te::TileInput by role.
struct StepAxes {
  IterVar row_in_step, column_in_step, row, column;
};
StepAxes StepAxesOf(std::span<const IterVar> axes) {
  const auto own = axes.last(4);
  return {own[0], own[1], own[2], own[3]};
}
struct VectorAxes {
  IterVar row, group, lane;
};
VectorAxes VectorAxesOf(std::span<const IterVar> axes) {
  const auto own = axes.last(3);
  return {own[0], own[1], own[2]};
}

class Scheduler {
 public:
  Scheduler(const std::vector<te::Tensor>& outputs, const AutoScheduleOptions& options)
      : options_(options), schedule_(outputs), accesses_(schedule_, options_.target) {}

  Schedule Run() {
    if (HasOpaqueStages()) return RunAroundOpaqueStages();
    InlineStages(schedule_);
    SplitLongReductions(schedule_, options_.target, options_.reassociate_sums);
    ScheduleStoredTiles();
    for (Stage* stage : ScheduleWinograd(schedule_, accesses_)) done_.insert(stage);
    const std::vector<Stage*> outputs = OutputStages();
    // Of several, the last one may read the others.
    if (!done_.contains(outputs.back()) &&
        (outputs.size() > 1 || !ScheduleByTiles(*outputs.back())))
      ScheduleWithProducers(*outputs.back());
    for (Stage* output : outputs) {
      if (!done_.contains(output)) ScheduleRoot(*output, MaxOuter(*output));
    }
    const auto& stages = schedule_.stages();
    for (auto it = stages.rbegin(); it != stages.rend(); ++it) {
      Stage& stage = **it;
      if (done_.contains(&stage) || stage.op()->is_placeholder() ||
          stage.placement() != Stage::Placement::kRoot)
        continue;
      if (stage.op()->is_reduction() && !ReadsRepeatedly(*stage.op()) &&
          ReducesAlongMemory(stage, accesses_)) {
        ScheduleWithProducers(stage);
      } else {
        ScheduleRoot(stage, MaxOuter(stage));
      }
    }
    return std::move(schedule_);
  }

 private:
  // External operations and scans.
  bool HasOpaqueStages() const {
    const auto& stages = schedule_.stages();
    return std::any_of(stages.begin(), stages.end(), [](const auto& stage) {
      return !stage->op()->is_compute() && !stage->op()->is_placeholder();
    });
  }

  // Every compute has loops of its own; those of a scan's steps are left as they are.
  Schedule RunAroundOpaqueStages() {
    std::unordered_set<const OperationNode*> steps;
    for (const auto& stage : schedule_.stages()) {
      if (stage->op()->kind != te::OperationKind::kScan) continue;
      for (const Operation& step : te::StepOperations(*stage->op())) steps.insert(step.get());
    }
    for (const auto& stage : schedule_.stages()) {
      if (stage->op()->is_compute() && !steps.contains(stage->op().get()))
        ScheduleRoot(*stage, MaxOuter(*stage));
    }
    return std::move(schedule_);
  }

  std::vector<Stage*> OutputStages() {
    std::vector<Stage*> outputs;
    for (const auto& stage : schedule_.stages()) {
      if (stage->is_output()) outputs.push_back(stage.get());
    }
    return outputs;
  }

  // Leading axes of `stage` that the result computes in its outer loop: all but the last, and for a
  // reduction along memory all.
  std::size_t MaxOuter(const Stage& stage) {
    if (stage.op()->is_reduction()) return AxesAroundReduction(stage, accesses_);
    const std::size_t rank = stage.op()->axes.size();
    return rank == 0 ? 0 : rank - 1;
  }

  static bool SameIndices(const std::vector<Expr>& a, const std::vector<Expr>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), loop::StructuralEqual);
  }

  TileReaderTraits TraitsOf(const Stage& reader, const Stage& tile) {
    return {.target = options_.target,
            .parallel = WorkOf(tile) >= kParallelWork,
            .calls_math = accesses_.MathCallsOf(reader) > 0};
  }

  // What a stored tensor reads of a tile, block by block of it.
  void ScheduleStoredTiles() {
    for (const auto& stage : schedule_.stages()) {
      if (!std::holds_alternative<te::Stored>(stage->op()->label.hint) || stage->is_output())
        continue;
      for (const Access& access : accesses_.Of(*stage)) {
        const auto tile =
            std::find_if(schedule_.stages().begin(), schedule_.stages().end(),
                         [&](const auto& other) { return other->op().get() == access.producer; });
        if (tile == schedule_.stages().end() || !IsRegisterTile(*(*tile)->op())) continue;
        if (!strategies::ScheduleByTiles(*stage, **tile, access.indices, TraitsOf(*stage, **tile)))
          continue;
        done_.insert(stage.get());
        done_.insert(tile->get());
        break;
      }
    }
  }

  // The one register tile, where the result alone reads it.
  bool ScheduleByTiles(Stage& output) {
    Stage* tile = nullptr;
    for (const auto& stage : schedule_.stages()) {
      if (!IsRegisterTile(*stage->op())) continue;
      if (tile != nullptr || stage->is_output()) return false;
      tile = stage.get();
    }
    if (tile == nullptr) return false;
    const std::vector<Expr>* indices = nullptr;
    for (const auto& reader : schedule_.stages()) {
      if (reader->op()->is_placeholder() || reader->placement() == Stage::Placement::kInline)
        continue;
      for (const Access& access : accesses_.Of(*reader)) {
        if (access.producer != tile->op().get()) continue;
        if (reader.get() != &output) return false;
        if (indices != nullptr && !SameIndices(*indices, access.indices)) return false;
        indices = &access.indices;
      }
    }
    if (indices == nullptr) return false;
    if (!strategies::ScheduleByTiles(output, *tile, *indices, TraitsOf(output, *tile)))
      return false;
    FetchOperandsAhead(schedule_, accesses_, *tile);
    for (const auto& stage : schedule_.stages()) {
      const auto* input = std::get_if<te::TileInput>(&stage->op()->label.hint);
      if (input == nullptr || stage->placement() != Stage::Placement::kRoot) continue;
      ScheduleTileInput(*stage, input->form);
      stage->ComputeAt(output, output.leaves().front());
      done_.insert(stage.get());
    }
    done_.insert(&output);
    done_.insert(tile);
    return true;
  }

  void ScheduleTileInput(Stage& stage, te::TileInputForm form) {
    const std::vector<IterVar> axes = stage.op()->axes;
    const IterVar& last = axes.back();
    const std::int64_t lanes = options_.target.Lanes(stage.op()->outputs[0]->dtype.bytes());
    const auto in_vectors = [&] {
      const auto [vectors, lane] = stage.Split(last, lanes);
      stage.Vectorize(lane);
      if (CeilDiv(Extent(last), lanes) <= kUnroll) stage.Unroll(vectors);
      return std::pair(vectors, lane);
    };
    switch (form) {
      case te::TileInputForm::kLines:
        if (Extent(last) < lanes) return ScheduleInner(stage, 0);
        in_vectors();
        return;
      case te::TileInputForm::kSteps:
      case te::TileInputForm::kAlignedSteps: {
        const auto [vectors, lane] = in_vectors();
        const auto [row_in_step, column_in_step, row, column] = StepAxesOf(axes);
        // The rows of one step lie one behind the other: memory is read as it comes.
        if (form == te::TileInputForm::kAlignedSteps) stage.StorageAlign(row, lanes);
        stage.Reorder({row, row_in_step, column_in_step, vectors, lane});
        stage.Unroll(row_in_step);
        stage.Unroll(column_in_step);
        return;
      }
      case te::TileInputForm::kVectors: {
        const auto [row, group, lane] = VectorAxesOf(axes);
        stage.Vectorize(lane);
        stage.Unroll(row);
        return;
      }
    }
  }

  void ScheduleWithProducers(Stage& output) {
    // Consumers come before producers, so each stage's readers are decided before it.
    std::vector<std::pair<Stage*, std::size_t>> inside;
    std::unordered_map<const OperationNode*, const Stage*> hosts = {{output.op().get(), &output}};
    const auto& stages = schedule_.stages();
    const std::size_t most =
        ReadsOneSumAnElement(output) ? output.op()->axes.size() : MaxOuter(output);
    for (auto it = stages.rbegin(); it != stages.rend(); ++it) {
      Stage& stage = **it;
      if (stage.op()->is_placeholder() || stage.placement() == Stage::Placement::kInline ||
          done_.contains(&stage) || hosts.contains(stage.op().get()))
        continue;
      // Where no element is asked for, a result beside it would not be computed.
      if (stage.is_output() && InnerExtent(output.op()->axes, 0) == 0) continue;
      std::size_t common = CommonAxes(stage, hosts);
      if (stage.is_output()) common = std::min(common, EqualAxes(stage, output));
      // A stage that shares few axes would leave the outer loop with too little to share out.
      if (common < most && OuterExtent(output, common) < kMinOuter) continue;
      if (common == 0) continue;
      inside.emplace_back(&stage, common);
      hosts.emplace(stage.op().get(), &stage);
    }
    if (inside.empty()) {
      ScheduleRoot(output, MaxOuter(output));
      return;
    }
    std::size_t outer = most;
    for (const auto& [stage, common] : inside) outer = std::min(outer, common);
    if (outer == 0 || CallsMathForOneElement(output, outer, inside)) {
      ScheduleRoot(output, MaxOuter(output));
      return;
    }
    std::int64_t work = WorkOf(output);
    for (const auto& [stage, common] : inside) work += WorkOf(*stage);
    const IterVar loop = output.Fuse(OuterAxes(output, outer));
    const Stage* fetcher = FetcherOf(output, inside);
    ScheduleInner(output, outer, fetcher == nullptr ? &output : nullptr);
    if (work >= kParallelWork && OuterExtent(output, outer) > 1) output.Parallel(loop);
    done_.insert(&output);
    for (const auto& [stage, common] : inside) {
      ScheduleInner(*stage, std::min(outer, stage->op()->axes.size()),
                    stage == fetcher ? &output : nullptr);
      stage->ComputeAt(output, loop);
      done_.insert(stage);
    }
  }

  // The lanes of an extremum are joined in one chain at the end of a row, and loads of the next row
  // do not get far ahead of it.
  void FetchNextRow(const Stage& stage) {
    const OperationNode& op = *stage.op();
    if (options_.target.fetches_rows()) return;
    if (!op.is_reduction() || op.combiner->is_sum || !op.combiner->is_order_free ||
        !ReducesAlongMemory(stage, accesses_) || accesses_.AreConditional(stage))
      return;
    const std::vector<IterVar> leaves = stage.leaves();
    const auto runs = std::count_if(leaves.begin(), leaves.end(),
                                    [](const IterVar& leaf) { return leaf.is_reduce; });
    const std::int64_t count = ProductOfExtents(op.reduce_axes);
    if (runs > 1 || count < kMinFetched || count > kMaxFetched) return;
    for (const te::Tensor& input : te::InputsOf(op)) {
      if (input.op()->is_placeholder() && BytesOf(input) >= kFarBytes &&
          !accesses_.IsRead(*input.op(), &stage))
        schedule_.Prefetch(input, te::Tensor(stage.op(), 0), leaves.back(), count);
    }
  }

  // The stage of those inside that has the result's axes and computes long enough to fetch the
  // lines meanwhile that the result will be written to, or null.
  const Stage* FetcherOf(const Stage& output,
                         const std::vector<std::pair<Stage*, std::size_t>>& inside) {
    const std::size_t rank = output.op()->axes.size();
    for (const auto& [stage, common] : inside) {
      if (!stage->is_output() && !stage->op()->is_reduction() &&
          accesses_.MathCallsOf(*stage) > 0 && stage->op()->axes.size() == rank &&
          EqualAxes(*stage, output) == rank)
        return stage;
    }
    return nullptr;
  }

  // Whether an iteration would call mathematics for one element, at a price that a row beside it
  // does not hide; by itself the stage runs in vectors.
  bool CallsMathForOneElement(const Stage& stage, std::size_t outer,
                              const std::vector<std::pair<Stage*, std::size_t>>& inside) {
    const auto& axes = stage.op()->axes;
    if (stage.op()->is_reduction() || InnerExtent(axes, outer) != 1) return false;
    std::int64_t work = 0;
    for (const auto& [producer, common] : inside) {
      work += (accesses_.NodesOf(*producer) + kMathLane * accesses_.MathCallsOf(*producer)) *
              InnerExtent(producer->op()->axes, outer) *
              InnerExtent(producer->op()->reduce_axes, 0);
    }
    return accesses_.MathCallsOf(stage) * kMathCall * kSmallShare > work;
  }

  static std::int64_t InnerExtent(const std::vector<IterVar>& axes, std::size_t outer) {
    return ProductOfExtents(std::span(axes).subspan(outer));
  }

  // Whether each element of the stage takes a sum along memory at its own indices, beside which the
  // element's own work is nothing.
  bool ReadsOneSumAnElement(const Stage& stage) {
    if (stage.op()->is_reduction()) return false;
    const auto& axes = stage.op()->axes;
    for (const Access& access : accesses_.Of(stage)) {
      if (!access.producer->is_reduction() || access.indices.size() != axes.size()) continue;
      const bool same = std::equal(axes.begin(), axes.end(), access.indices.begin(),
                                   [](const IterVar& a, const Expr& i) { return IsAxis(i, a); });
      const Stage* sum = schedule_.Find(access.producer);
      if (same && sum != nullptr && ReducesAlongMemory(*sum, accesses_)) return true;
    }
    return false;
  }

  // How many leading axes all readers (which must be hosts) share with the stage, index for index.
  std::size_t CommonAxes(const Stage& stage,
                         const std::unordered_map<const OperationNode*, const Stage*>& hosts) {
    std::size_t common = stage.op()->axes.size();
    bool is_read = false;
    for (const auto& reader : schedule_.stages()) {
      if (reader->op()->is_placeholder() || reader->placement() == Stage::Placement::kInline)
        continue;
      for (const Access& access : accesses_.Of(*reader)) {
        if (access.producer != stage.op().get()) continue;
        if (!hosts.contains(reader->op().get())) return 0;
        is_read = true;
        std::size_t same = 0;
        while (same < access.indices.size() && same < reader->op()->axes.size() &&
               IsAxis(access.indices[same], reader->op()->axes[same]))
          ++same;
        common = std::min(common, same);
      }
    }
    return is_read ? common : 0;
  }

  // How many leading axes of both have the same extent.
  static std::size_t EqualAxes(const Stage& a, const Stage& b) {
    const auto& axes = a.op()->axes;
    const auto& others = b.op()->axes;
    std::size_t equal = 0;
    while (equal < std::min(axes.size(), others.size()) &&
           loop::StructuralEqual(axes[equal].extent, others[equal].extent))
      ++equal;
    return equal;
  }

  // An axis of one element is read at 0 as well as at its variable.
  static bool IsAxis(const Expr& index, const IterVar& axis) {
    return index.same_as(axis.var) || (IsOne(axis.extent) && loop::IsConstInt(index, 0));
  }

  static std::span<const IterVar> OuterAxes(const Stage& stage, std::size_t outer) {
    return std::span(stage.op()->axes).first(outer);
  }
  static std::int64_t OuterExtent(const Stage& stage, std::size_t outer) {
    return ProductOfExtents(OuterAxes(stage, outer));
  }

  void ScheduleRoot(Stage& stage, std::size_t outer) {
    done_.insert(&stage);
    if (IsRegisterTile(*stage.op())) {
      ScheduleTile(stage);
      return;
    }
    if (!stage.op()->is_reduction()) {
      if (ScheduleTransposition(stage, accesses_)) return;
      outer = std::min(outer, FirstInner(stage, 0));
    }
    if (outer == 0) {
      const bool one_axis = !stage.op()->axes.empty();
      ScheduleInner(stage, 0);
      // The remaining loop over blocks of vectors can still be shared.
      if (one_axis && WorkOf(stage) >= kParallelWork && !stage.op()->is_reduction())
        stage.Parallel(stage.leaves().front());
      return;
    }
    // Where many iterations are left, the last outer axis stays a loop of its own: indices are then
    // taken apart once a line rather than once a vector.
    if (outer > 1 && outer + 1 == stage.op()->axes.size() && !stage.op()->is_reduction() &&
        OuterExtent(stage, outer - 1) >= kMinOuterAlone)
      --outer;
    const IterVar loop = stage.Fuse(OuterAxes(stage, outer));
    ScheduleInner(stage, outer);
    if (WorkOf(stage) >= kParallelWork && OuterExtent(stage, outer) > 1) stage.Parallel(loop);
  }

  // The first of the trailing axes that can be one loop: every access moves through memory as the
  // result does, or not at all.
  std::size_t FirstInner(const Stage& stage, std::size_t from) {
    const auto& axes = stage.op()->axes;
    const std::vector<Access>& accesses = accesses_.Of(stage);
    std::size_t first = axes.size();
    std::int64_t stride = 1;
    std::vector<int> moves(accesses.size(), -1);  // -1: not known, 0: stays, 1: moves
    while (first > from) {
      const IterVar& axis = axes[first - 1];
      // Padding stays out of the loop along memory, where whole vectors are inside or outside.
      if (accesses_.DifferByLane(stage, axis.var))
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

  void ScheduleInner(Stage& stage, std::size_t from) {
    ScheduleInner(stage, from, stage.is_output() ? &stage : nullptr);
  }

  // Loops of the stage from axis `from` on, and its reduction. Lines of `written`, if any, which is
  // the stage itself or a result of its shape, are fetched before they are written.
  void ScheduleInner(Stage& stage, std::size_t from, const Stage* written) {
    const OperationNode& op = *stage.op();
    if (op.is_reduction()) {
      if (op.axes.size() > from || ReducesAlongMemory(stage, accesses_))
        ScheduleReduction(stage, accesses_);
      if (from > 0) FetchNextRow(stage);
      return;
    }
    if (op.axes.size() <= from) return;
    const std::size_t first = FirstInner(stage, from);
    IterVar inner = op.axes[first];
    std::int64_t extent = Extent(inner);
    // What one step of several axes reads would be taken for all of them.
    bool is_one_axis = true;
    for (std::size_t i = first + 1; i < op.axes.size(); ++i) {
      inner = stage.Fuse(inner, op.axes[i]);
      is_one_axis = is_one_axis && (extent == 1 || Extent(op.axes[i]) == 1);
      extent *= Extent(op.axes[i]);
    }
    const std::int64_t lanes = accesses_.LanesOf(op);
    if (extent < lanes) return;
    // Where elements are chosen by their place in a line, each vector that is written out knows its
    // choice; others are left to PartitionSelects.
    const bool differ = accesses_.DifferByLane(stage, inner.var);
    const std::int64_t most = differ                                                  ? kMaxChosen
                              : std::holds_alternative<te::WrittenOut>(op.label.hint) ? kMaxUnrolled
                                                                                      : 0;
    const bool is_number =
        std::all_of(op.axes.begin() + static_cast<std::ptrdiff_t>(first), op.axes.end(),
                    [](const IterVar& axis) { return IsNumber(axis.extent); });
    const bool is_written_out = is_number && extent <= lanes * most;
    if (differ && !(is_written_out && accesses_.BoundAlong(stage, inner.var))) return;
    auto [blocks, lane] = stage.Split(inner, lanes);
    if (is_written_out) {
      stage.Unroll(blocks);
      stage.Vectorize(lane);
      return;
    }
    const auto streams = [&](const Stage& result) {
      return IsStreamed(result, accesses_, first == 0 ? 0 : extent);
    };
    if (extent >= lanes * kUnroll) {
      const auto [steps, step] = stage.Split(blocks, kUnroll);
      stage.Unroll(step);
      if (written != nullptr && streams(*written)) written = nullptr;
      // While one line is computed, the next one comes from memory.
      if (from > 0 && is_one_axis && extent <= kMaxFetched)
        FetchNextLine(stage, steps, CeilDiv(extent, lanes * kUnroll), written);
    }
    stage.Vectorize(lane);
    if (streams(stage)) stage.StreamStores();
  }

  // What the iteration `count` steps later reads, which is one line on. A result that reads nothing
  // from memory fetches the line that it will write: a loop that fetched both would wait for them.
  // Of the parts of a concatenation only one is read, so that most of what it fetched would be
  // waste, and before and behind a part lies memory of others.
  void FetchNextLine(Stage& stage, const IterVar& steps, std::int64_t count, const Stage* written) {
    if (count < 2 || accesses_.AreConditional(stage)) return;
    if (options_.target.fetches_rows() && accesses_.MathCallsOf(stage) == 0) return;
    const te::Tensor reader(stage.op(), 0);
    bool fetches = false;
    for (const te::Tensor& input : te::InputsOf(*stage.op())) {
      if (!input.op()->is_placeholder() || input.ndim() < stage.op()->axes.size() ||
          !ReadsAtOnePlace(stage, *input.op()))
        continue;
      schedule_.Prefetch(input, reader, steps, count);
      fetches = true;
    }
    if (written == nullptr || (fetches && written == &stage)) return;
    // Another stage writes after all steps of this one. Fetched a few steps ahead, of which the
    // last are the next line's, its lines come in evenly while this one computes.
    const std::int64_t ahead = written == &stage ? count : std::min(count, kWrittenAhead);
    schedule_.Prefetch(te::Tensor(written->op(), 0), reader, steps, ahead);
  }

  // What is read at several places is no line: all between them would be fetched.
  bool ReadsAtOnePlace(const Stage& stage, const OperationNode& input) {
    const std::vector<Expr>* first = nullptr;
    for (const Access& access : accesses_.Of(stage)) {
      if (access.producer != &input) continue;
      if (first != nullptr && !SameIndices(*first, access.indices)) return false;
      first = &access.indices;
    }
    return true;
  }

  const AutoScheduleOptions options_;
  Schedule schedule_;
  Accesses accesses_;
  std::unordered_set<const Stage*> done_;
};

}  // namespace

Schedule AutoSchedule(const std::vector<te::Tensor>& outputs, const AutoScheduleOptions& options) {
  return Scheduler(outputs, options).Run();
}

}  // namespace tenon::strategies
