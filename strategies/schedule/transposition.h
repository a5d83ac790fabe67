// Copies whose input lies along another axis than their result.
#ifndef TENON_STRATEGIES_SCHEDULE_TRANSPOSITION_H_
#define TENON_STRATEGIES_SCHEDULE_TRANSPOSITION_H_

#include "tenon/schedule/schedule.h"
#include "tenon/strategies/schedule/rules.h"

namespace tenon::strategies {

// Schedules `stage`, which must not be a reduction, in tiles that TransposeTiles then reads and
// writes in whole vectors. Tiles are square, or have fewer rows of many narrow numbers. Answers
// false and changes nothing if it is not a transposition, or has few rows or columns. If it
// `is_alone`, in loops of its own, threads share them, and a tuner may choose the tiles.
bool ScheduleTransposition(SchedulingState& state, schedule::Stage& stage, bool is_alone = true);

}  // namespace tenon::strategies

#endif  // TENON_STRATEGIES_SCHEDULE_TRANSPOSITION_H_
