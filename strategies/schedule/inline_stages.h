// Which stages of a schedule are computed where they are read, and which are stored.
#ifndef TENON_STRATEGIES_SCHEDULE_INLINE_STAGES_H_
#define TENON_STRATEGIES_SCHEDULE_INLINE_STAGES_H_

#include "tenon/schedule/schedule.h"

namespace tenon::strategies {

// Inlines every stage that is neither a reduction nor an output, except values that would be
// computed many times over. The extents must be constant. There must be no external operations and
// no scans.
void InlineStages(schedule::Schedule& schedule);

// Whether a reduction reads each input element many times.
bool ReadsRepeatedly(const te::OperationNode& op);

}  // namespace tenon::strategies

#endif  // TENON_STRATEGIES_SCHEDULE_INLINE_STAGES_H_
