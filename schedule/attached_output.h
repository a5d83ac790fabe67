// Outputs that are computed in a loop of a stage that reads them. Only files inside schedule/
// include this header.
#ifndef TENON_SCHEDULE_ATTACHED_OUTPUT_H_
#define TENON_SCHEDULE_ATTACHED_OUTPUT_H_

#include <vector>

#include "tenon/loop/simplify/simplify.h"
#include "tenon/loop/stmt.h"
#include "tenon/schedule/region.h"
#include "tenon/schedule/schedule.h"

namespace tenon::schedule {

// What an iteration of the loop over `axis` of `host` computes of `output`. It is `needed`, which
// `inside`, the loop's body, reads. Dimensions in which iterations do not step through the output
// as they do through the host's own result are whole. Throws InvalidArgument unless all iterations
// together compute every element, and threads compute different ones. Requires that `host` is
// computed at the root, as a whole.
std::vector<Range> RegionOfOutput(const Stage& output, const Stage& host, const IterVar& axis,
                                  const std::vector<Range>& needed, const loop::Stmt& inside,
                                  const loop::Bounds& bounds);

}  // namespace tenon::schedule

#endif  // TENON_SCHEDULE_ATTACHED_OUTPUT_H_
