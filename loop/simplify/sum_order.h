// Which of two sums is larger. Their difference and the loops around them tell.
//
//   sums.order().Holds(BinaryOp::kLT, sums.LinearOf(i), sums.LinearOf(i + 1))  ==  true
#ifndef TENON_LOOP_SIMPLIFY_SUM_ORDER_H_
#define TENON_LOOP_SIMPLIFY_SUM_ORDER_H_

#include <optional>

#include "tenon/loop/simplify/simplify.h"
#include "tenon/loop/simplify/symbolic_ranges.h"

namespace tenon::loop {

class Sums;

class SumOrder {
 public:
  explicit SumOrder(Sums& sums);

  // Whether the comparison holds. Nothing if it is not known.
  std::optional<bool> Holds(BinaryOp op, const Linear& a, const Linear& b);
  // The sum that is never above the other. Null if neither is known to be.
  const Linear* Lesser(const Linear& a, const Linear& b);

  // The loops around whose extents are variables.
  SymbolicRanges& loops() { return loops_; }

 private:
  Interval Difference(const Linear& a, const Linear& b);
  bool CancelsData(const Linear& a, const Linear& b, const Linear& d);
  bool IsBelowByLoops(const Linear& a, const Linear& b, std::int64_t most);
  bool HoldsByLoops(BinaryOp op, const Linear& a, const Linear& b);
  Linear Unwrapped(const Expr& e);

  Sums& sums_;
  SymbolicRanges loops_;
};

}  // namespace tenon::loop

#endif  // TENON_LOOP_SIMPLIFY_SUM_ORDER_H_
