// What the calls Prefetch and PrefetchNextBlock turn a loop into. Only files inside schedule/
// include this header.
#ifndef TENON_SCHEDULE_FETCHES_H_
#define TENON_SCHEDULE_FETCHES_H_

#include "tenon/schedule/region.h"
#include "tenon/schedule/schedule.h"

namespace tenon::schedule {

// `inside`, the body of the loop over `axis` of `stage`, after the fetches that are marked there.
// Throws InvalidArgument for one that the loop cannot make.
loop::Stmt AddPrefetches(const Schedule& schedule, const loop::Bounds& bounds, const Stage& stage,
                         const IterVar& axis, const loop::Expr& extent, loop::Stmt inside);

}  // namespace tenon::schedule

#endif  // TENON_SCHEDULE_FETCHES_H_
