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

// Throws InvalidArgument for a body, an extent or a split factor with a variable that neither the
// stage nor the shapes of the arguments, whose variables are `scalars`, give; for a stage that is
// computed inside a reduce loop whose axis is one of its own, too; for a vectorised loop around a
// vectorised or parallel one of the same stage; for double_buffer and rolling_buffer of a stage at
// no loop; for storage_align of an inlined one; for shared loops and storage that CheckPlace
// refuses; for tails of splits that are not legal where they are; and for more than 4096 stages
// with memory of their own. `function` is named in the message.
void CheckStages(const Schedule& schedule, const std::vector<loop::Var>& scalars,
                 const std::string& function);

// Throws InvalidArgument where what computes the elements of the stage, all of which it stores, is
// known to read outside of a tensor: without a condition, by an index and from an extent that are
// known. `ranges` has the axes whose ranges are not their extents.
void CheckReads(const Stage& stage, const NestBody& body, const loop::Bounds& ranges,
                const std::string& function);

// Throws InvalidArgument where the elements of `region`, some of which are past the end of the
// stage (Tail::kRoundUp), may read outside of a tensor. `bounds` has the ranges of symbolic
// extents.
void CheckRoundedReads(const Stage& stage, const NestBody& body, const std::vector<Range>& region,
                       const loop::Bounds& bounds, const std::string& function);

}  // namespace tenon::schedule

#endif  // TENON_SCHEDULE_CHECK_STAGES_H_
