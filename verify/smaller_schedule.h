// Reduction of findings in schedules. Only files of verify/ include this header.
#ifndef TENON_VERIFY_SMALLER_SCHEDULE_H_
#define TENON_VERIFY_SMALLER_SCHEDULE_H_

#include <cstdint>

#include "tenon/verify/schedule_checker.h"

namespace tenon::verify {

// Leaves out calls that a finding of the same kind does not need. Gives whether it left out any;
// the finding is then that of the calls that are left.
bool DropCalls(const RandomGraph& graph, std::uint64_t seed, ScheduleCalls* calls,
               ScheduleFinding* finding);
// The same for stages of the graph, and then for calls that no longer fit.
bool DropStages(GraphPlan* plan, std::uint64_t seed, ScheduleCalls* calls,
                ScheduleFinding* finding);

}  // namespace tenon::verify

#endif  // TENON_VERIFY_SMALLER_SCHEDULE_H_
