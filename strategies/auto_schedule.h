// The default CPU schedule of a fused function: what runs inside what, in parallel and in vectors.
//
//   Schedule s = AutoSchedule(function.outputs);
#ifndef TENON_STRATEGIES_AUTO_SCHEDULE_H_
#define TENON_STRATEGIES_AUTO_SCHEDULE_H_

#include <vector>

#include "tenon/schedule/schedule.h"

namespace tenon::strategies {

// The extents must be constant.
schedule::Schedule AutoSchedule(const std::vector<te::Tensor>& outputs);

}  // namespace tenon::strategies

#endif  // TENON_STRATEGIES_AUTO_SCHEDULE_H_
