// Results that are stored past the caches (Stage::StreamStores), since none holds them long enough.
//
// Of a large array a plain store first reads the line that it writes; a streaming one does not, so
// that copying takes two thirds of the time. What reads the array next finds no part of it in a
// cache then, which costs less from some size on.
#ifndef TENON_STRATEGIES_STREAMED_RESULTS_H_
#define TENON_STRATEGIES_STREAMED_RESULTS_H_

#include <cstdint>

#include "tenon/schedule/schedule.h"
#include "tenon/strategies/accesses.h"

namespace tenon::strategies {

// Whether `stage`, whose vectors are written one behind the other in runs that begin `distance`
// elements apart (0: one run), is such a result: runs are lines or long, nothing in the schedule
// reads it, and its loop waits for memory rather than for arithmetic.
bool IsStreamed(const schedule::Stage& stage, Accesses& accesses, std::int64_t distance);

}  // namespace tenon::strategies

#endif  // TENON_STRATEGIES_STREAMED_RESULTS_H_
