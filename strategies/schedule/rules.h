// The rules of the automatic schedule (auto_schedule.h): which stages are scheduled how.
//
// A rule that applies to a stage schedules it, and maybe stages that the stage reads. Rules are
// tried in the order of their table, each on all stages that are still open, readers first.
#ifndef TENON_STRATEGIES_SCHEDULE_RULES_H_
#define TENON_STRATEGIES_SCHEDULE_RULES_H_

#include <unordered_set>
#include <vector>

#include "tenon/schedule/schedule.h"
#include "tenon/strategies/accesses.h"
#include "tenon/strategies/auto_schedule.h"

namespace tenon::strategies {

// What rules share. Which stages are inlined is decided.
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
  // Gives the stages that need nothing more. None where the rule does not fit after all: then
  // nothing has changed, and the next one is tried.
  std::vector<schedule::Stage*> (*schedule)(SchedulingState& state, schedule::Stage& stage);
};

// --- tile_rules.cc

// What a stored tensor reads of a register tile, block by block of it.
bool MayReadTile(SchedulingState& state, const schedule::Stage& stage);
std::vector<schedule::Stage*> ScheduleStoredTile(SchedulingState& state, schedule::Stage& stage);
// The one register tile, where the one result alone reads it; and what the tile reads.
bool IsOnlyResult(SchedulingState& state, const schedule::Stage& stage);
std::vector<schedule::Stage*> ScheduleTileUnderResult(SchedulingState& state,
                                                      schedule::Stage& stage);

// The indices of the one element of `producer` that `reader`, and nobody else, reads; null where
// there is no such element.
const std::vector<loop::Expr>* OnlyRead(SchedulingState& state, const schedule::Stage& producer,
                                        const schedule::Stage& reader);

// --- sum_block_rule.cc

// Sums of one result, with reuse along two axes, in blocks that registers hold.
bool MayBlockSums(SchedulingState& state, const schedule::Stage& stage);
std::vector<schedule::Stage*> ScheduleSumBlocks(SchedulingState& state, schedule::Stage& stage);

// --- producer_rule.cc

// Stages that `stage` reads at its own leading indices, inside its outer loop.
std::vector<schedule::Stage*> ScheduleWithProducers(SchedulingState& state, schedule::Stage& stage);

// --- alone_rule.cc

std::vector<schedule::Stage*> ScheduleAlone(SchedulingState& state, schedule::Stage& stage);
// Leading axes of `stage` that the result computes in its outer loop: all but the last, and for a
// reduction along memory all.
std::size_t MaxOuter(SchedulingState& state, const schedule::Stage& stage);

}  // namespace tenon::strategies

#endif  // TENON_STRATEGIES_SCHEDULE_RULES_H_
