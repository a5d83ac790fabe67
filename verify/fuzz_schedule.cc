#include "tenon/verify/fuzz_schedule.h"

#include "tenon/loop/visit.h"
#include "tenon/strategies/auto_schedule.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/verify/array_values.h"
#include "tenon/verify/check/check_constants.h"
#include "tenon/verify/schedule_checker.h"
#include "tenon/verify/smaller_schedule.h"

namespace tenon::verify {
namespace {

using schedule::Schedule;
using te::Tensor;
using Kind = ScheduleFinding::Kind;

std::string MessageOf(const absl::Status& status) { return FromStatus(status).message(); }

std::string Describe(const RandomGraph& graph, const ScheduleCalls& calls,
                     const ScheduleFinding& finding, std::uint64_t seed) {
  Schedule s(graph.outputs);
  for (const ScheduleCall& call : calls) CatchErrors([&] { Apply(call, s); }).IgnoreError();
  const absl::StatusOr<std::string> record = CatchErrors([&] { return schedule::PrintRecord(s); });
  std::string sizes;
  for (const auto& [var, size] : graph.sizes) sizes += StrCat(var.name(), " = ", size, "\n");
  return StrCat("finding of seed ", seed, ": ", finding.words, "\n", te::Print(graph.outputs),
                sizes, record.ok() ? *record : MessageOf(record.status()), "\n");
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
  if (!status.ok()) finding = MessageOf(status);
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
  ScheduleCalls calls = RandomCalls(random);
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
  const absl::Status defined =
      CatchErrors([&] { ScheduleChecker(graph, seed, statistics).Expected(); });
  if (defined.code() == absl::StatusCode::kOutOfRange) {
    ++statistics->undefined;
    return std::nullopt;
  }
  const absl::Status automatic = CatchErrors([&] { strategies::AutoSchedule(graph.outputs); });
  if (!automatic.ok())
    return StrCat("finding of seed ", seed, ": the automatic schedule: ", MessageOf(automatic),
                  "\n", te::Print(graph.outputs));
  if (auto finding = CheckSchedule(graph, strategies::AutoSchedule(graph.outputs), seed))
    return StrCat("of the automatic schedule, seed ", seed, ": ", *finding);
  if (auto finding = CheckRandomChoices(graph, seed)) return finding;
  Random random(seed);
  ScheduleCalls calls = RandomCalls(random);
  auto finding = CheckCase(graph, seed, &calls, statistics);
  if (!finding) return std::nullopt;
  while (DropCalls(graph, seed, &calls, &*finding)) {
  }
  return Describe(graph, calls, *finding, seed);
}

std::optional<std::string> CheckSchedule(const RandomGraph& graph,
                                         const schedule::Schedule& schedule, std::uint64_t seed) {
  FuzzStatistics ignored;
  std::optional<ScheduleFinding> finding;
  const absl::Status status = CatchErrors(
      [&] { finding = ScheduleChecker(graph, seed, &ignored).CheckSchedule(schedule); });
  if (!status.ok()) finding = ScheduleFinding{Kind::kInternalError, MessageOf(status)};
  if (!finding) return std::nullopt;
  return StrCat("finding: ", finding->words, "\n", te::Print(graph.outputs),
                schedule::PrintRecord(schedule), "\n");
}

}  // namespace tenon::verify
