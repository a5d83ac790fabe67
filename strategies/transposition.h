// Copies whose input lies along another axis than their result.
#ifndef TENON_STRATEGIES_TRANSPOSITION_H_
#define TENON_STRATEGIES_TRANSPOSITION_H_

#include "tenon/schedule/schedule.h"
#include "tenon/strategies/accesses.h"

namespace tenon::strategies {

// Schedules `stage`, which is no reduction, in tiles that TransposeTiles then reads and writes in
// whole vectors: square ones, or fewer rows of many narrow numbers. Answers false and changes
// nothing where it is no transposition, or one of few rows or columns.
// Threads share its loops where `parallel` says so.
bool ScheduleTransposition(schedule::Stage& stage, Accesses& accesses, bool parallel = true);

}  // namespace tenon::strategies

#endif  // TENON_STRATEGIES_TRANSPOSITION_H_
