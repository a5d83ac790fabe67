#include "tenon/verify/schedule_checker.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "tenon/compiler/build.h"
#include "tenon/jit/runtime/parallel_runtime.h"
#include "tenon/loop/print.h"
#include "tenon/loop/simplify/simplify.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/te/interpret.h"
#include "tenon/verify/array_values.h"
#include "tenon/verify/verify_schedule.h"

namespace tenon::verify {
namespace {

using schedule::Schedule;
using te::Tensor;
using Kind = ScheduleFinding::Kind;

// The length of loops as text that LLVM compiles in a fraction of a second.
constexpr std::size_t kMaxLoopsText = 40000;
constexpr std::int64_t kGuard = 256;  // bytes on both sides of an array

std::string MessageOf(const absl::Status& status) { return FromStatus(status).message(); }

// Memory with guards around it.
class GuardedArray {
 public:
  explicit GuardedArray(const NDArray& values)
      : memory_(std::make_shared<std::vector<char>>(values.bytes() + 2 * kGuard, kMark)) {
    char* data = memory_->data() + kGuard;
    if (values.bytes() > 0) std::memcpy(data, values.raw(), values.bytes());
    array_ = NDArray::View(values.shape(), values.dtype(), data, memory_);
  }
  const NDArray& array() const { return array_; }
  bool IsIntact() const {
    for (std::size_t i = 0; i < kGuard; ++i) {
      if ((*memory_)[i] != kMark || (*memory_)[memory_->size() - 1 - i] != kMark) return false;
    }
    return true;
  }

 private:
  static constexpr char kMark = 0x5A;
  std::shared_ptr<std::vector<char>> memory_;
  NDArray array_;
};

bool IsFault(const absl::Status& status) {
  return status.code() == absl::StatusCode::kInternal ||
         status.code() == absl::StatusCode::kUnknown;
}
ScheduleFinding Internal(const std::string& where, const absl::Status& status) {
  return {Kind::kInternalError, StrCat(where, ": ", MessageOf(status))};
}

}  // namespace

ScheduleChecker::ScheduleChecker(const RandomGraph& graph, std::uint64_t seed,
                                 FuzzStatistics* statistics)
    : graph_(graph), statistics_(statistics), args_(graph.inputs) {
  args_.insert(args_.end(), graph.outputs.begin(), graph.outputs.end());
  loop::ExprMap sizes;
  for (const auto& [var, size] : graph.sizes) sizes.emplace(var, loop::Expr(size));
  if (graph.tolerances.empty()) relative_ = jit::DefaultTolerance(graph.outputs, sizes);
  Random random(seed);
  for (const Tensor& input : graph.inputs) {
    if (inputs_.size() < graph.values.size() && graph.values[inputs_.size()].defined()) {
      inputs_.push_back(graph.values[inputs_.size()]);
      continue;
    }
    Shape shape;
    for (const loop::Expr& extent : input.shape())
      shape.push_back(
          loop::Simplify(loop::Substitute(extent, sizes)).As<loop::IntImmNode>()->value);
    inputs_.push_back(RandomArray(std::move(shape), input.dtype(), random));
    const std::size_t i = inputs_.size() - 1;
    if (i < graph.has_tiny_values.size() && graph.has_tiny_values[i])
      inputs_[i] = WithTinyValues(inputs_[i], random);
    if (i < graph.has_special_values.size() && graph.has_special_values[i])
      inputs_[i] = WithSpecialValues(inputs_[i], random);
  }
}

std::optional<ScheduleFinding> ScheduleChecker::Check(ScheduleCalls* calls) {
  for (bool lowers = false; !lowers; lowers = true) {
    Schedule s(graph_.outputs);
    if (auto finding = Make(calls, &s)) return finding;
    const absl::StatusOr<loop::Function> loops = LoopsOf(s);
    if (loops.ok()) return CheckLoops(s, *loops);
    if (IsFault(loops.status())) return Internal("lower", loops.status());
  }
  // Makes one call after the other, to find those that the lowering refuses.
  ScheduleCalls kept;
  for (const ScheduleCall& call : *calls) {
    kept.push_back(call);
    Schedule s(graph_.outputs);
    if (auto finding = Make(&kept, &s)) return finding;
    const absl::StatusOr<loop::Function> loops = LoopsOf(s);
    if (loops.ok()) continue;
    if (IsFault(loops.status())) return Internal("lower", loops.status());
    kept.pop_back();
    ++statistics_->refusals;
  }
  *calls = std::move(kept);
  Schedule s(graph_.outputs);
  if (auto finding = Make(calls, &s)) return finding;
  const absl::StatusOr<loop::Function> loops = LoopsOf(s);
  if (!loops.ok()) return Internal("lower without a call", loops.status());
  return CheckLoops(s, *loops);
}

std::optional<ScheduleFinding> ScheduleChecker::CheckSchedule(const Schedule& s) {
  const absl::StatusOr<loop::Function> loops = LoopsOf(s);
  if (!loops.ok()) return Internal("lower", loops.status());
  return CheckLoops(s, *loops);
}

const std::vector<NDArray>& ScheduleChecker::Expected() {
  if (expected_.empty()) {
    std::vector<std::pair<Tensor, NDArray>> given;
    for (std::size_t i = 0; i < inputs_.size(); ++i)
      given.emplace_back(graph_.inputs[i], inputs_[i]);
    const jit::ScopedFlushDenormals flush;  // as kernels do
    expected_ = te::Interpret(graph_.outputs, given);
  }
  return expected_;
}

std::optional<ScheduleFinding> ScheduleChecker::Make(ScheduleCalls* calls, Schedule* s) const {
  ScheduleCalls kept;
  for (const ScheduleCall& call : *calls) {
    const std::size_t before = s->record().size();
    bool made = false;
    const absl::Status status = CatchErrors([&] { made = Apply(call, *s); });
    if (IsFault(status)) return Internal("a call", status);
    if (status.ok()) {
      if (made) kept.push_back(call);
      continue;
    }
    ++statistics_->refusals;
    // In a call with several steps, the later ones may be refused.
    if (HasSeveralSteps(call.primitive)) {
      kept.push_back(call);
    } else if (s->record().size() != before) {
      return ScheduleFinding{Kind::kRecord, "a call that is refused leaves a step in the record"};
    }
  }
  *calls = std::move(kept);
  return std::nullopt;
}

absl::StatusOr<loop::Function> ScheduleChecker::LoopsOf(const Schedule& s) const {
  return CatchErrors(
      [&] { return schedule::Lower(s, args_, "fuzzed", {.pipeline = {.verify = true}}); });
}

std::optional<ScheduleFinding> ScheduleChecker::CheckLoops(const Schedule& s,
                                                           const loop::Function& loops) {
  const std::string text = loop::Print(loops);
  std::string again;
  const absl::Status status = CatchErrors([&] {
    Schedule copy(graph_.outputs);
    schedule::Replay(s.record(), copy);
    again = loop::Print(schedule::Lower(copy, args_, "fuzzed"));
    schedule::PrintRecord(s);
  });
  if (!status.ok()) return ScheduleFinding{Kind::kRecord, StrCat("replay: ", MessageOf(status))};
  if (again != text)
    return ScheduleFinding{Kind::kRecord, "the record gives other loops when replayed"};
  statistics_->calls += static_cast<std::int64_t>(s.record().size());
  if (text.size() > kMaxLoopsText) {
    ++statistics_->too_large;
    return std::nullopt;
  }
  return CheckRun(loops);
}

std::optional<ScheduleFinding> ScheduleChecker::CheckRun(const loop::Function& loops) {
  const absl::StatusOr<jit::Kernel> kernel =
      jit::Compile(loops, {.check_bounds = true, .pipeline = {.verify = true}});
  if (!kernel.ok())
    return ScheduleFinding{Kind::kCompile, StrCat("compile: ", MessageOf(kernel.status()))};
  const std::vector<NDArray>& expected = Expected();
  std::vector<GuardedArray> guarded;
  for (const NDArray& input : inputs_) guarded.emplace_back(input);
  for (const NDArray& output : expected)
    guarded.emplace_back(Unwritten(output.shape(), output.dtype()));
  std::vector<NDArray> arrays;
  for (const GuardedArray& array : guarded) arrays.push_back(array.array());
  const absl::Status status = kernel->Run(arrays);
  if (!status.ok()) {
    const bool is_outside = status.code() == absl::StatusCode::kOutOfRange;
    return ScheduleFinding{is_outside ? Kind::kMemory : Kind::kCompile,
                           StrCat("run: ", MessageOf(status))};
  }
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    if (!guarded[i].IsIntact())
      return ScheduleFinding{Kind::kMemory, StrCat("a write outside ", args_[i].name())};
    if (i < inputs_.size() && !arrays[i].SameBytes(inputs_[i]))
      return ScheduleFinding{Kind::kMemory, StrCat("a write to the input ", args_[i].name())};
  }
  return CheckResults({arrays.begin() + static_cast<std::ptrdiff_t>(inputs_.size()), arrays.end()});
}

std::optional<ScheduleFinding> ScheduleChecker::CheckResults(const std::vector<NDArray>& results) {
  const std::vector<NDArray>& expected = Expected();
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double tolerance = graph_.tolerances.empty()
                                 ? relative_ * std::max(1.0, LargestMagnitude(expected[i]))
                                 : graph_.tolerances[i];
    const NDArray& actual = results[i];
    const auto d = FirstDifference(actual, expected[i], tolerance);
    if (!d) continue;
    // Where floats become an integer, rounding may decide between two values.
    if (graph_.tolerances.empty() && TruncatesFloats(graph_.outputs[i]) &&
        LargestDifference(actual, expected[i]) <= 1)
      continue;
    return ScheduleFinding{
        Kind::kWrong,
        StrCat("wrong result: ", graph_.outputs[i].name(), "(", StrJoin(d->index, ", "), ") is ",
               d->actual, "; it must be ", d->expected, " within ", tolerance)};
  }
  return std::nullopt;
}

std::optional<ScheduleFinding> CheckCase(const RandomGraph& graph, std::uint64_t seed,
                                         ScheduleCalls* calls, FuzzStatistics* statistics) {
  std::optional<ScheduleFinding> finding;
  const absl::Status status =
      CatchErrors([&] { finding = ScheduleChecker(graph, seed, statistics).Check(calls); });
  if (!status.ok()) return ScheduleFinding{Kind::kInternalError, MessageOf(status)};
  return finding;
}

}  // namespace tenon::verify
