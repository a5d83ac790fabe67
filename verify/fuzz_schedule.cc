// A finding is reduced greedily: calls are left out from the last to the first, then stages of the
// graph, as long as a finding of the same kind remains.
#include "tenon/verify/fuzz_schedule.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <unordered_map>

#include "tenon/compiler/build.h"
#include "tenon/jit/runtime/parallel_runtime.h"
#include "tenon/loop/print.h"
#include "tenon/loop/simplify/simplify.h"
#include "tenon/loop/visit.h"
#include "tenon/strategies/auto_schedule.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/te/interpret.h"
#include "tenon/verify/array_values.h"
#include "tenon/verify/check/check_constants.h"
#include "tenon/verify/verify_schedule.h"

namespace tenon::verify {
namespace {

using schedule::Schedule;
using te::Tensor;

// The length of loops as text that LLVM compiles in a fraction of a second.
constexpr std::size_t kMaxLoopsText = 40000;
constexpr std::int64_t kGuard = 256;  // bytes on both sides of an array

enum class Kind { kInternalError, kRecord, kCompile, kMemory, kWrong };

struct Finding {
  Kind kind;
  std::string words;
};

using Calls = std::vector<ScheduleCall>;

Error AsError(const absl::Status& status) { return FromStatus(status); }

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

class Checker {
 public:
  Checker(const RandomGraph& graph, std::uint64_t seed, FuzzStatistics* statistics)
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

  // Makes the calls, and removes those that are refused from the list.
  std::optional<Finding> Check(Calls* calls) {
    for (bool lowers = false; !lowers; lowers = true) {
      Schedule s(graph_.outputs);
      if (auto finding = Make(calls, &s)) return finding;
      const absl::StatusOr<loop::Function> loops = LoopsOf(s);
      if (loops.ok()) return CheckLoops(s, *loops);
      if (IsInternal(loops.status())) return Internal("lower", loops.status());
    }
    // Makes one call after the other, to find those that the lowering refuses.
    Calls kept;
    for (const ScheduleCall& call : *calls) {
      kept.push_back(call);
      Schedule s(graph_.outputs);
      if (auto finding = Make(&kept, &s)) return finding;
      const absl::StatusOr<loop::Function> loops = LoopsOf(s);
      if (loops.ok()) continue;
      if (IsInternal(loops.status())) return Internal("lower", loops.status());
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

  std::optional<Finding> CheckSchedule(const Schedule& s) {
    const absl::StatusOr<loop::Function> loops = LoopsOf(s);
    if (!loops.ok()) return Internal("lower", loops.status());
    return CheckLoops(s, *loops);
  }

  // The results of the interpreter.
  const std::vector<NDArray>& Expected() {
    if (expected_.empty()) {
      std::vector<std::pair<Tensor, NDArray>> given;
      for (std::size_t i = 0; i < inputs_.size(); ++i)
        given.emplace_back(graph_.inputs[i], inputs_[i]);
      const jit::ScopedFlushDenormals flush;  // as kernels do
      expected_ = te::Interpret(graph_.outputs, given);
    }
    return expected_;
  }

 private:
  static bool IsInternal(const absl::Status& status) {
    return status.code() == absl::StatusCode::kInternal ||
           status.code() == absl::StatusCode::kUnknown;
  }
  static Finding Internal(const std::string& where, const absl::Status& status) {
    return {Kind::kInternalError, StrCat(where, ": ", AsError(status).message())};
  }

  std::optional<Finding> Make(Calls* calls, Schedule* s) const {
    Calls kept;
    for (const ScheduleCall& call : *calls) {
      const std::size_t before = s->record().size();
      bool made = false;
      const absl::Status status = CatchErrors([&] { made = Apply(call, *s); });
      if (IsInternal(status)) return Internal("a call", status);
      if (status.ok()) {
        if (made) kept.push_back(call);
        continue;
      }
      ++statistics_->refusals;
      // In a call with several steps, the later ones may be refused.
      if (HasSeveralSteps(call.primitive)) {
        kept.push_back(call);
      } else if (s->record().size() != before) {
        return Finding{Kind::kRecord, "a call that is refused leaves a step in the record"};
      }
    }
    *calls = std::move(kept);
    return std::nullopt;
  }

  absl::StatusOr<loop::Function> LoopsOf(const Schedule& s) const {
    return CatchErrors(
        [&] { return schedule::Lower(s, args_, "fuzzed", {.pipeline = {.verify = true}}); });
  }

  std::optional<Finding> CheckLoops(const Schedule& s, const loop::Function& loops) {
    const std::string text = loop::Print(loops);
    std::string again;
    const absl::Status status = CatchErrors([&] {
      Schedule copy(graph_.outputs);
      schedule::Replay(s.record(), copy);
      again = loop::Print(schedule::Lower(copy, args_, "fuzzed"));
      schedule::PrintRecord(s);
    });
    if (!status.ok()) return Finding{Kind::kRecord, StrCat("replay: ", AsError(status).message())};
    if (again != text) return Finding{Kind::kRecord, "the record gives other loops when replayed"};
    statistics_->calls += static_cast<std::int64_t>(s.record().size());
    if (text.size() > kMaxLoopsText) {
      ++statistics_->too_large;
      return std::nullopt;
    }
    return CheckRun(loops);
  }

  std::optional<Finding> CheckRun(const loop::Function& loops) {
    const absl::StatusOr<jit::Kernel> kernel =
        jit::Compile(loops, {.check_bounds = true, .pipeline = {.verify = true}});
    if (!kernel.ok())
      return Finding{Kind::kCompile, StrCat("compile: ", AsError(kernel.status()).message())};
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
      return Finding{is_outside ? Kind::kMemory : Kind::kCompile,
                     StrCat("run: ", AsError(status).message())};
    }
    for (std::size_t i = 0; i < arrays.size(); ++i) {
      if (!guarded[i].IsIntact())
        return Finding{Kind::kMemory, StrCat("a write outside ", args_[i].name())};
      if (i < inputs_.size() && !arrays[i].SameBytes(inputs_[i]))
        return Finding{Kind::kMemory, StrCat("a write to the input ", args_[i].name())};
    }
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const double tolerance = graph_.tolerances.empty()
                                   ? relative_ * std::max(1.0, LargestMagnitude(expected[i]))
                                   : graph_.tolerances[i];
      const NDArray& actual = arrays[inputs_.size() + i];
      const auto d = FirstDifference(actual, expected[i], tolerance);
      if (!d) continue;
      // Where floats become an integer, rounding may decide between two values.
      if (graph_.tolerances.empty() && TruncatesFloats(graph_.outputs[i]) &&
          LargestDifference(actual, expected[i]) <= 1)
        continue;
      return Finding{Kind::kWrong, StrCat("wrong result: ", graph_.outputs[i].name(), "(",
                                          StrJoin(d->index, ", "), ") is ", d->actual,
                                          "; it must be ", d->expected, " within ", tolerance)};
    }
    return std::nullopt;
  }

  const RandomGraph& graph_;
  FuzzStatistics* statistics_;
  std::vector<Tensor> args_;
  std::vector<NDArray> inputs_, expected_;
  double relative_ = 0;
};

// ---- Reduction.

std::optional<Finding> CheckCase(const RandomGraph& graph, std::uint64_t seed, Calls* calls,
                                 FuzzStatistics* statistics) {
  std::optional<Finding> finding;
  const absl::Status status =
      CatchErrors([&] { finding = Checker(graph, seed, statistics).Check(calls); });
  if (!status.ok()) return Finding{Kind::kInternalError, AsError(status).message()};
  return finding;
}

// Leaves out calls that the finding does not need; true when it left out any.
bool DropCalls(const RandomGraph& graph, std::uint64_t seed, Calls* calls, Finding* finding) {
  bool dropped = false;
  FuzzStatistics ignored;
  for (std::size_t i = calls->size(); i-- > 0;) {
    if (i >= calls->size()) continue;
    Calls fewer = *calls;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
    const auto remains = CheckCase(graph, seed, &fewer, &ignored);
    if (!remains || remains->kind != finding->kind) continue;
    *calls = std::move(fewer);
    *finding = *remains;
    dropped = true;
  }
  return dropped;
}

bool DropStages(GraphPlan* plan, std::uint64_t seed, Calls* calls, Finding* finding) {
  bool dropped = false;
  FuzzStatistics ignored;
  for (std::size_t i = plan->stages.size(); i-- > 0;) {
    if (plan->stages.size() == 1) break;
    GraphPlan fewer = *plan;
    fewer.stages.erase(fewer.stages.begin() + static_cast<std::ptrdiff_t>(i));
    Calls same = *calls;
    const auto remains = CheckCase(MakeRandomGraph(fewer), seed, &same, &ignored);
    if (!remains || remains->kind != finding->kind) continue;
    *plan = std::move(fewer);
    *calls = std::move(same);
    *finding = *remains;
    dropped = true;
  }
  return dropped;
}

std::string Describe(const RandomGraph& graph, const Calls& calls, const Finding& finding,
                     std::uint64_t seed) {
  Schedule s(graph.outputs);
  for (const ScheduleCall& call : calls) CatchErrors([&] { Apply(call, s); }).IgnoreError();
  const absl::StatusOr<std::string> record = CatchErrors([&] { return schedule::PrintRecord(s); });
  std::string sizes;
  for (const auto& [var, size] : graph.sizes) sizes += StrCat(var.name(), " = ", size, "\n");
  return StrCat("finding of seed ", seed, ": ", finding.words, "\n", te::Print(graph.outputs),
                sizes, record.ok() ? *record : AsError(record.status()).message(), "\n");
}

}  // namespace

bool TruncatesFloats(const Tensor& tensor) {
  if (tensor.dtype().is_float() || tensor.dtype().is_bool()) return false;
  bool truncates = false;
  for (const loop::Expr& body : tensor.op()->body) {
    loop::VisitExpr(body, [&](const loop::Expr& e) {
      const auto* cast = e.As<loop::CastNode>();
      truncates = truncates || (cast != nullptr && cast->type == tensor.dtype() &&
                                cast->value.dtype().is_float());
    });
  }
  return truncates;
}

void FuzzStatistics::Add(const FuzzStatistics& other) {
  cases += other.cases;
  calls += other.calls;
  refusals += other.refusals;
  too_large += other.too_large;
  undefined += other.undefined;
  uncalled += other.uncalled;
  near += other.near;
  misfits += other.misfits;
}

std::string FuzzStatistics::ToString() const {
  return StrCat(cases, " cases, ", calls, " steps of schedules, ", refusals, " calls refused, ",
                too_large, " cases too large to compile",
                undefined == 0 ? "" : StrCat(", ", undefined, " not defined for their inputs"),
                uncalled == 0 ? "" : StrCat(", ", uncalled, " without a call that fits"),
                near + misfits == 0 ? ""
                                    : StrCat(", ", near, " calls with one change that ran, and ",
                                             misfits, " that did not fit"));
}

namespace {

// The automatic schedule with random values of the choices that a tuner has; nothing where it has
// none, or where two values do not go together.
std::optional<schedule::Schedule> WithRandomChoices(const RandomGraph& graph, Random& random) {
  strategies::ConfigValues values;
  // The values of some decide what others there are.
  constexpr int kRounds = 2;
  for (int round = 0; round <= kRounds; ++round) {
    strategies::Config config(values);
    try {
      schedule::Schedule schedule = strategies::AutoSchedule(graph.outputs, {.config = &config});
      if (config.choices().empty()) return std::nullopt;
      if (round == kRounds) return schedule;
    } catch (const Error& error) {
      if (error.code() != absl::StatusCode::kInvalidArgument) throw;
      return std::nullopt;
    }
    for (const strategies::Config::Choice& choice : config.choices()) {
      values.try_emplace(choice.name, random.Of(choice.values));
    }
  }
  return std::nullopt;
}

std::optional<std::string> CheckRandomChoices(const RandomGraph& graph, std::uint64_t seed) {
  Random random(seed);
  std::optional<std::string> finding;
  const absl::Status status = CatchErrors([&] {
    if (const auto schedule = WithRandomChoices(graph, random))
      finding = CheckSchedule(graph, *schedule, seed);
  });
  if (!status.ok()) finding = AsError(status).message();
  if (!finding) return std::nullopt;
  return StrCat("of the automatic schedule with random choices, seed ", seed, ": ", *finding, "\n",
                te::Print(graph.outputs));
}

}  // namespace

std::optional<std::string> FuzzRandomGraph(std::uint64_t seed, FuzzStatistics* statistics) {
  ++statistics->cases;
  // Of its own, so that seeds of earlier findings still make their graphs.
  constexpr std::uint64_t kConstants = 0xC0257A27;
  constexpr int kExpressions = 20;
  Random expressions(seed ^ kConstants);
  for (int i = 0; i < kExpressions; ++i) {
    if (const auto finding = CheckConstant(expressions))
      return StrCat("finding of seed ", seed, ": ", *finding);
  }
  Random random(seed);
  GraphPlan plan = PlanRandomGraph(random.Next());
  constexpr std::uint64_t kChosen = 4;  // one of so many
  if (seed % kChosen == 0) return CheckRandomChoices(MakeRandomGraph(plan), seed);
  Calls calls = RandomCalls(random);
  auto finding = CheckCase(MakeRandomGraph(plan), seed, &calls, statistics);
  if (!finding) return std::nullopt;
  for (bool changed = true; changed;) {
    changed = DropCalls(MakeRandomGraph(plan), seed, &calls, &*finding);
    changed = DropStages(&plan, seed, &calls, &*finding) || changed;
  }
  return Describe(MakeRandomGraph(plan), calls, *finding, seed);
}

std::optional<std::string> FuzzSchedule(const RandomGraph& graph, std::uint64_t seed,
                                        FuzzStatistics* statistics) {
  ++statistics->cases;
  // For instance, a gather may have an index outside.
  const absl::Status defined = CatchErrors([&] { Checker(graph, seed, statistics).Expected(); });
  if (defined.code() == absl::StatusCode::kOutOfRange) {
    ++statistics->undefined;
    return std::nullopt;
  }
  const absl::Status automatic = CatchErrors([&] { strategies::AutoSchedule(graph.outputs); });
  if (!automatic.ok())
    return StrCat("finding of seed ", seed,
                  ": the automatic schedule: ", AsError(automatic).message(), "\n",
                  te::Print(graph.outputs));
  if (auto finding = CheckSchedule(graph, strategies::AutoSchedule(graph.outputs), seed))
    return StrCat("of the automatic schedule, seed ", seed, ": ", *finding);
  if (auto finding = CheckRandomChoices(graph, seed)) return finding;
  Random random(seed);
  Calls calls = RandomCalls(random);
  auto finding = CheckCase(graph, seed, &calls, statistics);
  if (!finding) return std::nullopt;
  while (DropCalls(graph, seed, &calls, &*finding)) {
  }
  return Describe(graph, calls, *finding, seed);
}

std::optional<std::string> CheckSchedule(const RandomGraph& graph,
                                         const schedule::Schedule& schedule, std::uint64_t seed) {
  FuzzStatistics ignored;
  std::optional<Finding> finding;
  const absl::Status status =
      CatchErrors([&] { finding = Checker(graph, seed, &ignored).CheckSchedule(schedule); });
  if (!status.ok()) finding = Finding{Kind::kInternalError, AsError(status).message()};
  if (!finding) return std::nullopt;
  return StrCat("finding: ", finding->words, "\n", te::Print(graph.outputs),
                schedule::PrintRecord(schedule), "\n");
}

}  // namespace tenon::verify
