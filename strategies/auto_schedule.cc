// 1. Stages are inlined or not (inline_stages.h), and long reductions taken apart (reductions.h).
// 2. Rules schedule the other stages (schedule/rules.h), in the order of the table below.
// 3. The outer axes become one parallel loop when there is enough work to share.
// 4. The innermost loop runs along memory in explicit vectors, of which the last may be masked. A
//    sum along memory is left to LLVM, or to VectorizeReductions; other sums keep vectors of
//    results in registers while they run.
// 5. Large results are stored non-temporally (streamed_results.h).
#include "tenon/strategies/auto_schedule.h"

#include <algorithm>
#include <span>
#include <unordered_set>
#include <variant>

#include "tenon/strategies/schedule/inline_stages.h"
#include "tenon/strategies/schedule/reductions.h"
#include "tenon/strategies/schedule/register_tile.h"
#include "tenon/strategies/schedule/rules.h"
#include "tenon/strategies/te/conv/winograd_schedule.h"
#include "tenon/te/scan.h"

namespace tenon::strategies {
namespace {

using schedule::Schedule;
using schedule::Stage;
using te::Operation;
using te::OperationNode;

// The stages that ScheduleWinograd starts from.
bool IsWinograd(SchedulingState& /*state*/, const Stage& stage) {
  const auto* hint = std::get_if<te::WinogradStage>(&stage.op()->label.hint);
  return hint != nullptr &&
         (hint->part == te::WinogradPart::kWeights || hint->part == te::WinogradPart::kResults);
}
std::vector<Stage*> ScheduleAsWinograd(SchedulingState& state, Stage& /*stage*/) {
  return ScheduleWinograd(state.schedule, state.accesses);
}

// If there are several results, the last one may read the others.
bool IsLastResult(SchedulingState& state, const Stage& stage) {
  const auto& stages = state.schedule.stages();
  const auto last = std::find_if(stages.rbegin(), stages.rend(),
                                 [](const auto& other) { return other->is_output(); });
  return last != stages.rend() && last->get() == &stage;
}

bool IsResult(SchedulingState& /*state*/, const Stage& stage) { return stage.is_output(); }

bool IsLongRow(SchedulingState& state, const Stage& stage) {
  return stage.op()->is_reduction() && !ReadsRepeatedly(*stage.op()) &&
         ReducesAlongMemory(stage, state.accesses);
}

bool IsAny(SchedulingState& /*state*/, const Stage& /*stage*/) { return true; }

constexpr const char* kTurned = "it is read along another axis: tiles are turned in registers";
constexpr ScheduleRule kTransposed = {"transposed", kTurned, IsAny, ScheduleTransposed};

constexpr ScheduleRule kRules[] = {
    {"stored tiles", "each block of a stored tensor is summed up in registers where it is written",
     MayReadTile, ScheduleStoredTile},
    {"Winograd", "transformed tiles stay in cache while a block of filters is multiplied",
     IsWinograd, ScheduleAsWinograd},
    {"tile under the result", "each block of the result is summed up in registers, then written",
     IsOnlyResult, ScheduleTileUnderResult},
    {"sum blocks", "blocks of sums stay in registers while the terms go by", MayBlockSums,
     ScheduleSumBlocks},
    {"result with producers", "what it reads at its own leading indices stays in cache",
     IsLastResult, ScheduleWithProducers},
    {"transposed result", kTurned, IsResult, ScheduleTransposed},
    {"result alone", "it has loops of its own", IsResult, ScheduleAlone},
    {"row sums with producers", "what a row's sum reads stays in cache", IsLongRow,
     ScheduleWithProducers},
    kTransposed,
    {"alone", "others read it at other indices than their own", IsAny, ScheduleAlone},
};

// The rules of schedules with external operations and scans.
constexpr ScheduleRule kAroundOpaqueStages[] = {
    kTransposed,
    {"alone", "external operations and scans are among the stages", IsAny, ScheduleAlone},
};

// Whether a reduction says more than its terms. It then reads more than these, and its terms may
// collide. The schedule of a register tile knows a condition.
bool IsSpecialReduction(const OperationNode& op) {
  return !op.initial.empty() || (op.condition.defined() && !IsRegisterTile(op)) ||
         !op.target.empty();
}

bool IsOpaque(const OperationNode& op) {
  return (!op.is_compute() && !op.is_placeholder()) || IsSpecialReduction(op);
}

// Stages whose loops are left as they are: special reductions and computes of a scan's steps.
std::unordered_set<const Stage*> StagesLeft(const Schedule& schedule) {
  std::unordered_set<const Stage*> steps;
  for (const auto& stage : schedule.stages()) {
    if (IsSpecialReduction(*stage->op())) steps.insert(stage.get());
    if (stage->op()->kind != te::OperationKind::kScan) continue;
    for (const Operation& step : te::StepOperations(*stage->op()))
      steps.insert(schedule.Find(step.get()));
  }
  return steps;
}

void Apply(std::span<const ScheduleRule> rules, SchedulingState& state, RulesUsed* used) {
  for (const ScheduleRule& rule : rules) {
    std::vector<Stage*> stages;  // a rule may add some
    for (const auto& stage : state.schedule.stages()) stages.push_back(stage.get());
    for (auto it = stages.rbegin(); it != stages.rend(); ++it) {
      Stage& stage = **it;
      const bool is_open = stage.op()->is_compute() && !state.done.contains(&stage) &&
                           stage.placement() == Stage::Placement::kRoot;
      if (!is_open || !rule.applies(state, stage)) continue;
      const std::vector<Stage*> scheduled = rule.schedule(state, stage);
      state.done.insert(scheduled.begin(), scheduled.end());
      if (scheduled.empty() || used == nullptr) continue;
      schedule::RuleUse& use = used->emplace_back(schedule::RuleUse{rule.name, rule.reason, {}});
      for (const Stage* one : scheduled) use.stages.push_back(one->op()->name);
    }
  }
}

}  // namespace

Schedule AutoSchedule(const std::vector<te::Tensor>& outputs, const AutoScheduleOptions& options,
                      RulesUsed* used) {
  Schedule schedule(outputs);
  SchedulingState state{options, schedule, Accesses(schedule, options.target), {}};
  const auto& stages = schedule.stages();
  if (std::any_of(stages.begin(), stages.end(),
                  [](const auto& stage) { return IsOpaque(*stage->op()); })) {
    state.done = StagesLeft(schedule);
    Apply(kAroundOpaqueStages, state, used);
    return schedule;
  }
  InlineStages(schedule);
  SplitLongReductions(state);
  Apply(kRules, state, used);
  return schedule;
}

}  // namespace tenon::strategies
