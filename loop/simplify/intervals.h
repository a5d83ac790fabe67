// Arithmetic on intervals. Open ends stay open. A result beyond int64 may have wrapped around to
// any value, so that nothing is known of it.
//
//   Sum({0, 9}, Scale({0, 3}, 10))  ==  {0, 39}
#ifndef TENON_LOOP_SIMPLIFY_INTERVALS_H_
#define TENON_LOOP_SIMPLIFY_INTERVALS_H_

#include <cstdint>

#include "tenon/loop/simplify/simplify.h"

namespace tenon::loop {

inline bool HasLow(Interval r) { return r.low != Interval::kLowest; }
inline bool HasHigh(Interval r) { return r.high != Interval::kHighest; }

// Requires b other than 0, and a quotient that fits.
std::int64_t FloorDivide(std::int64_t a, std::int64_t b);

Interval Scale(Interval r, std::int64_t k);
Interval Sum(Interval a, Interval b);
// Requires ranges without negative numbers.
Interval Product(Interval a, Interval b);
// Rounded down. Requires c > 0.
Interval Quotient(Interval a, std::int64_t c);

}  // namespace tenon::loop

#endif  // TENON_LOOP_SIMPLIFY_INTERVALS_H_
