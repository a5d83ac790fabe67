// Results that the automatic schedule stores non-temporally (loop/transform/stream_results.h).
#ifndef TENON_STRATEGIES_SCHEDULE_STREAMED_RESULTS_H_
#define TENON_STRATEGIES_SCHEDULE_STREAMED_RESULTS_H_

#include <cstdint>

#include "tenon/schedule/schedule.h"
#include "tenon/strategies/schedule/accesses.h"

namespace tenon::strategies {

// Whether `stage` is such a result. Its vectors are written one after the other in runs that begin
// `distance` elements apart (0: one run). Runs must be lines or long, nothing in the schedule may
// read the stage, and its loop must wait for memory rather than for arithmetic.
bool IsStreamed(const schedule::Stage& stage, Accesses& accesses, std::int64_t distance);

}  // namespace tenon::strategies

#endif  // TENON_STRATEGIES_SCHEDULE_STREAMED_RESULTS_H_
