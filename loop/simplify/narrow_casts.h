// Minima and maxima of small integers that are computed in a wider type than their result.
#ifndef TENON_LOOP_SIMPLIFY_NARROW_CASTS_H_
#define TENON_LOOP_SIMPLIFY_NARROW_CASTS_H_

#include <optional>

#include "tenon/loop/expr.h"

namespace tenon::loop {

// The same value as a cast of a minimum or a maximum to an integer of 8 or 16 bits, computed in
// that type, so that a vector holds more of them. Nothing for other expressions. Sums that end at
// the greatest number and differences that end at 0 are among them:
//   uint8(min(int32(x) + int32(y), 255))  ==  x + min(y, 255 - x)
//   uint8(max(int32(x) - int32(y), 0))    ==  max(x, y) - y
std::optional<Expr> NarrowCast(const Expr& cast);

}  // namespace tenon::loop

#endif  // TENON_LOOP_SIMPLIFY_NARROW_CASTS_H_
