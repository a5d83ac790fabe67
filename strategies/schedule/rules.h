// The rules of the automatic schedule (auto_schedule.h): which stages are scheduled how.
//
// A rule that applies to a stage schedules it, and maybe stages that the stage reads. Rules are
// tried in the order of their table, each on all stages that are still open, readers first.
#ifndef TENON_STRATEGIES_SCHEDULE_RULES_H_
#define TENON_STRATEGIES_SCHEDULE_RULES_H_

#include <unordered_set>
#include <vector>

#include "tenon/schedule/schedule.h"
#include "tenon/strategies/auto_schedule.h"
#include "tenon/strategies/schedule/accesses.h"

namespace tenon::strategies {

// What rules share. Which stages are inlined is decided already.
struct SchedulingState {
  const AutoScheduleOptions& options;
  schedule::Schedule& schedule;
  Accesses accesses;
  std::unordered_set<const schedule::Stage*> done;  // stages that need nothing more
};

struct ScheduleRule {
  const char* name;
  const char* reason;  // what it does, and why
  bool (*applies)(SchedulingState& state, const schedule::Stage& stage);
  // Gives the stages that need nothing more, or none if the rule does not fit after all. Then
  // nothing has changed, and the next rule is tried.
  std::vector<schedule::Stage*> (*schedule)(SchedulingState& state, schedule::Stage& stage);
};

// --- tile_rules.cc

// A stored tensor reads a register tile, which is computed block by block of it.
bool MayReadTile(SchedulingState& state, const schedule::Stage& stage);
std::vector<schedule::Stage*> ScheduleStoredTile(SchedulingState& state, schedule::Stage& stage);
// The single register tile, where the single result alone reads it, and what the tile reads.
bool IsOnlyResult(SchedulingState& state, const schedule::Stage& stage);
std::vector<schedule::Stage*> ScheduleTileUnderResult(SchedulingState& state,
                                                      schedule::Stage& stage);

// The indices of the one element of `producer` that `reader` reads, if nobody else reads
// `producer`; null where there is no such element.
const std::vector<loop::Expr>* OnlyRead(SchedulingState& state, const schedule::Stage& producer,
                                        const schedule::Stage& reader);

// --- sum_block_rule.cc

// Sums of a single result with reuse along two axes, in blocks that registers hold.
bool MayBlockSums(SchedulingState& state, const schedule::Stage& stage);
std::vector<schedule::Stage*> ScheduleSumBlocks(SchedulingState& state, schedule::Stage& stage);

// --- producer_rule.cc

// Stages that `stage` reads at its own leading indices, inside its outer loop.
std::vector<schedule::Stage*> ScheduleWithProducers(SchedulingState& state, schedule::Stage& stage);

// --- alone_rule.cc

// A copy whose input lies along another axis than its result (transposition.h).
std::vector<schedule::Stage*> ScheduleTransposed(SchedulingState& state, schedule::Stage& stage);
std::vector<schedule::Stage*> ScheduleAlone(SchedulingState& state, schedule::Stage& stage);
// How many leading axes of `stage` the result computes in its outer loop: all axes of a reduction
// along memory, and all except the last of other stages.
std::size_t MaxOuter(SchedulingState& state, const schedule::Stage& stage);

}  // namespace tenon::strategies

#endif  // TENON_STRATEGIES_SCHEDULE_RULES_H_
