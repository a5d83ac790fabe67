// Schedules for a CPU of which nothing is known: one for each kind of computation, without register
// tiles and without a look at caches.
//
// The tag of a stage picks its schedule from a table. A stage of any other tag gets the schedule of
// a reduction if it is one, or else that of an elementwise stage. What is not reduced is computed
// where it is read, unless a sum over windows reads it again and again.
//
//   Schedule s = GenericSchedule(function.outputs);
//   GenericScheduleName("conv2d_nhwc", /*is_reduction=*/true) == "conv2d_nhwc"
//
// The extents must be constant. Results are those of AutoSchedule up to the order of sums.
#ifndef TENON_STRATEGIES_GENERIC_SCHEDULE_H_
#define TENON_STRATEGIES_GENERIC_SCHEDULE_H_

#include <string>
#include <vector>

#include "tenon/schedule/schedule.h"

namespace tenon::strategies {

// Elements of the inner loop that the last axis is split into.
inline constexpr std::int64_t kGenericVector = 16;

schedule::Schedule GenericSchedule(const std::vector<te::Tensor>& outputs);
// The row of the table that a stage of the tag takes.
std::string GenericScheduleName(const std::string& tag, bool is_reduction);

}  // namespace tenon::strategies

#endif  // TENON_STRATEGIES_GENERIC_SCHEDULE_H_
