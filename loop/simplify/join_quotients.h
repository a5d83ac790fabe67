// Quotients and remainders that join again.
//
//   JoinQuotients(sums, &sum);  // 8 * (i / 8) + i mod 8: i
#ifndef TENON_LOOP_SIMPLIFY_JOIN_QUOTIENTS_H_
#define TENON_LOOP_SIMPLIFY_JOIN_QUOTIENTS_H_

#include "tenon/loop/simplify/simplify.h"

namespace tenon::loop {

class Sums;

// k * c * (x / c) + k * (x mod c) = k * x, and k * c * ((x / c + n) mod d) + k * (x mod c) = k *
// ((x + n * c) mod (c * d)). Returns whether nothing wrapped around.
bool JoinQuotients(Sums& sums, Linear* l);

}  // namespace tenon::loop

#endif  // TENON_LOOP_SIMPLIFY_JOIN_QUOTIENTS_H_
