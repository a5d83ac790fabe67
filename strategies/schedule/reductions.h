// How reductions other than register tiles run: which of their axes are one loop, what is kept in
// registers, and which parts threads share.
#ifndef TENON_STRATEGIES_SCHEDULE_REDUCTIONS_H_
#define TENON_STRATEGIES_SCHEDULE_REDUCTIONS_H_

#include <cstddef>

#include "tenon/schedule/schedule.h"
#include "tenon/strategies/schedule/accesses.h"
#include "tenon/strategies/schedule/rules.h"

namespace tenon::strategies {

// Whether neighbours in memory are terms of one result rather than of several.
bool ReducesAlongMemory(const schedule::Stage& stage, Accesses& accesses);

// How many leading axes have loops around those of the terms: all axes of a reduction along memory,
// and all except the last of other reductions.
std::size_t AxesAroundReduction(const schedule::Stage& stage, Accesses& accesses);

// Orders the loops of a reduction that has nothing scheduled yet.
void ScheduleReduction(SchedulingState& state, schedule::Stage& stage);

// Splits reductions of many terms to few results into two stages. The first has a result for each
// piece of the terms, so that threads can share the pieces. The pieces depend on the extents alone,
// unless a tuner has chosen others, and so do the bits of the results. Sums of floats are left
// alone unless they may be reassociated. Products are always left alone, since their parts may
// overflow. Which stages are inlined must be decided.
void SplitLongReductions(SchedulingState& state);

}  // namespace tenon::strategies

#endif  // TENON_STRATEGIES_SCHEDULE_REDUCTIONS_H_
