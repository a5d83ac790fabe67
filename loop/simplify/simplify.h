// Simplification of index arithmetic with known ranges of variables.
//
// Integer expressions become sums of multiples of distinct atoms, so that equal indices look equal;
// divisions, remainders, comparisons, minima and maxima that the ranges decide go away. Other
// expressions keep their shape. Results never change.
//
//   Bounds bounds;  bounds.Bind(i, {0, 9});
//   Simplify(FloorDiv(i + 10 * j, 10), bounds)  ==  j
#ifndef TENON_LOOP_SIMPLIFY_SIMPLIFY_H_
#define TENON_LOOP_SIMPLIFY_SIMPLIFY_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "tenon/loop/stmt.h"
#include "tenon/loop/visit.h"

namespace tenon::loop {

// A closed range of int64. The type's lowest number as `low` and its highest as `high` mean
// "unbounded", which is the same for them.
struct Interval {
  static constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min();
  static constexpr std::int64_t kHighest = std::numeric_limits<std::int64_t>::max();
  std::int64_t low = kLowest;
  std::int64_t high = kHighest;

  friend bool operator==(const Interval&, const Interval&) = default;
};

// The range of a symbolic extent. Sizes are not negative, and products of sizes are sizes; an upper
// end would let them overflow (loop/index_arithmetic.h).
inline constexpr Interval kExtents{.low = 0};

// Known ranges of variables.
class Bounds {
 public:
  void Bind(const Var& var, Interval interval) { ranges_[var] = interval; }
  void Forget(const Var& var) { ranges_.erase(var); }
  Interval Of(const Expr& var) const {
    const auto found = ranges_.find(var);
    return found == ranges_.end() ? Interval() : found->second;
  }

 private:
  std::unordered_map<Expr, Interval, ExprHash, ExprSame> ranges_;
};

// constant + sum of coefficient * atom; no two atoms are equal and no coefficient is 0.
struct Linear {
  std::int64_t constant = 0;
  std::vector<std::pair<Expr, std::int64_t>> terms;

  std::int64_t CoefficientOf(const Expr& atom) const;
  Expr ToExpr() const;
};

Linear ToLinear(const Expr& expr, const Bounds& bounds);
Interval RangeOf(const Expr& expr, const Bounds& bounds);
Expr Simplify(const Expr& expr, const Bounds& bounds = {});
// Also drops loops that run once or never and branches that are decided.
Stmt Simplify(const Stmt& stmt, const Bounds& bounds = {});

// Whether `condition` holds for all values in range.
bool CanProve(const Expr& condition, const Bounds& bounds);

}  // namespace tenon::loop

#endif  // TENON_LOOP_SIMPLIFY_SIMPLIFY_H_
