// Whether the tails of splits (schedule/relation.h) are legal where they are. Only files inside
// schedule/ include this header.
#ifndef TENON_SCHEDULE_TAILS_H_
#define TENON_SCHEDULE_TAILS_H_

#include "tenon/schedule/stage.h"

namespace tenon::schedule {

// Throws InvalidArgument, naming stage, axis and tail: for kShiftInwards inside a reduce loop, or
// with a parallel or vectorised loop over blocks; for kRoundUp of anything except an axis of an
// operation at the root whose memory the caller does not give. What depends on the region that is
// computed is checked when its loops are made.
void CheckTails(const Stage& stage);

}  // namespace tenon::schedule

#endif  // TENON_SCHEDULE_TAILS_H_
