// What lowering checks of a whole schedule before it makes loops. Only files inside schedule/
// include this header.
#ifndef TENON_SCHEDULE_CHECK_STAGES_H_
#define TENON_SCHEDULE_CHECK_STAGES_H_

#include <string>
#include <vector>

#include "tenon/loop/simplify/simplify.h"
#include "tenon/schedule/nest.h"
#include "tenon/schedule/schedule.h"

namespace tenon::schedule {

// Throws InvalidArgument for: a body, an extent or a split factor with a variable that neither the
// stage nor the shapes of the arguments, whose variables are `scalars`, give; a stage that is
// computed inside a reduce loop whose axis is also one of its own; a vectorised loop around a
// vectorised or parallel one of the same stage; double_buffer and rolling_buffer of a stage that is
// not at a loop; storage_align of an inlined one; shared loops and storage that CheckPlace refuses;
// tails of splits that are not legal where they are; and more than 4096 stages with memory of their
// own. `function` is named in the message.
void CheckStages(const Schedule& schedule, const std::vector<loop::Var>& scalars,
                 const std::string& function);

// Throws InvalidArgument if what computes the elements of the stage, all of which it stores, is
// known to read outside a tensor. That is known for reads without a condition, if index and extent
// are known. `ranges` has the axes whose ranges are not their extents.
void CheckReads(const Stage& stage, const NestBody& body, const loop::Bounds& ranges,
                const std::string& function);

// Throws InvalidArgument if the elements of `region`, some of which are past the end of the stage
// (Tail::kRoundUp), may read outside a tensor. `bounds` has the ranges of symbolic extents.
void CheckRoundedReads(const Stage& stage, const NestBody& body, const std::vector<Range>& region,
                       const loop::Bounds& bounds, const std::string& function);

}  // namespace tenon::schedule

#endif  // TENON_SCHEDULE_CHECK_STAGES_H_
