// The default CPU schedule of a fused function: what runs inside what, in parallel and in vectors.
//
//   Schedule s = AutoSchedule(function.outputs);
#ifndef TENON_STRATEGIES_AUTO_SCHEDULE_H_
#define TENON_STRATEGIES_AUTO_SCHEDULE_H_

#include <vector>

#include "tenon/schedule/schedule.h"

namespace tenon::strategies {

struct AutoScheduleOptions {
  bool reassociate_sums = true;  // of floats, whose bits depend on the order
  // Whether loops over a row that do not call mathematics ask memory for the next row. Those that
  // do always ask.
  bool fetch_rows = true;
};

// The extents must be constant.
schedule::Schedule AutoSchedule(const std::vector<te::Tensor>& outputs,
                                const AutoScheduleOptions& options = {});

}  // namespace tenon::strategies

#endif  // TENON_STRATEGIES_AUTO_SCHEDULE_H_
