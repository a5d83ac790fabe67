// The extents of the loops of a split. Only files of schedule/ include this header.
#ifndef TENON_SCHEDULE_SPLIT_EXTENTS_H_
#define TENON_SCHEDULE_SPLIT_EXTENTS_H_

#include "tenon/loop/expr.h"

namespace tenon::schedule {

// A factor or a number of parts that is an extent counts as 1 where the extent is 0.
loop::Expr AtLeastOne(const loop::Expr& count);

// Whether a block of `width` iterations lies inside of `extent` ones (Tail::kShiftInwards). If
// there are no iterations, there is no block.
bool BlockFits(const loop::Expr& width, const loop::Expr& extent);

}  // namespace tenon::schedule

#endif  // TENON_SCHEDULE_SPLIT_EXTENTS_H_
