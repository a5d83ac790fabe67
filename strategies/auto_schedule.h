// The default CPU schedule of a fused function: what runs inside what, in parallel and in vectors.
//
//   Schedule s = AutoSchedule(function.outputs);
#ifndef TENON_STRATEGIES_AUTO_SCHEDULE_H_
#define TENON_STRATEGIES_AUTO_SCHEDULE_H_

#include <vector>

#include "tenon/jit/host_target.h"
#include "tenon/schedule/lower.h"
#include "tenon/schedule/schedule.h"
#include "tenon/strategies/config.h"

namespace tenon::strategies {

struct AutoScheduleOptions {
  Target target = jit::HostTarget();
  bool reassociate_sums = true;  // of floats, whose bits depend on the order
  // Gives products of matrices blocks of sums even where nothing is chosen. This is for operators
  // without forms; with forms they would be tiles already.
  bool blocks_sums = false;
  // The variables of extents that are at least 1, as in the LowerOptions which the schedule is
  // lowered with.
  std::vector<loop::Var> positive;
  // What a tuner has chosen, and may choose (schedule/choices.h); null: the defaults.
  Config* config = nullptr;
};

// Extents may be expressions of variables; decisions are made for planned values of these
// (planned_extent.h). `used`: where to say by which rules stages are scheduled, in their order.
using RulesUsed = std::vector<schedule::RuleUse>;
schedule::Schedule AutoSchedule(const std::vector<te::Tensor>& outputs,
                                const AutoScheduleOptions& options = {}, RulesUsed* used = nullptr);

}  // namespace tenon::strategies

#endif  // TENON_STRATEGIES_AUTO_SCHEDULE_H_
