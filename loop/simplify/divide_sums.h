// Quotients and remainders of sums, taken apart.
//
//   LinearOfQuotient(sums, *FloorDiv(8 * i + 3, 8).As<BinaryNode>());  // i
#ifndef TENON_LOOP_SIMPLIFY_DIVIDE_SUMS_H_
#define TENON_LOOP_SIMPLIFY_DIVIDE_SUMS_H_

#include "tenon/loop/simplify/simplify.h"

namespace tenon::loop {

class Sums;

// Requires a division or a remainder, with either rounding.
Linear LinearOfQuotient(Sums& sums, const BinaryNode& n);

}  // namespace tenon::loop

#endif  // TENON_LOOP_SIMPLIFY_DIVIDE_SUMS_H_
