// Bounds of sums in which loops run to extents of variables.
//
// A loop's variable is at most its last value, a remainder is less than its divisor, and a quotient
// is at most that of the largest dividend. Once the loops' variables are gone, what is left of a
// sum tells its sign if the other variables cancel: i / w < h for i in [0, h * w).
//
//   ranges.Enter(i, {.min = 0, .last = h * w - 1});
//   ranges.Upper(i / w - h)  ==  -1
#ifndef TENON_LOOP_SIMPLIFY_SYMBOLIC_RANGES_H_
#define TENON_LOOP_SIMPLIFY_SYMBOLIC_RANGES_H_

#include <functional>
#include <optional>
#include <unordered_map>

#include "tenon/loop/simplify/simplify.h"

namespace tenon::loop {

// The extent of a loop where the loop runs, so where it is at least 1: x for max(x, 0).
Expr ExtentWhereItRuns(const Expr& extent);

class SymbolicRanges {
 public:
  // How the simplifier that it belongs to sees expressions. A sum that may wrap around is an atom;
  // `Proves` tells whether no operation of an expression does.
  using LinearOf = std::function<Linear(const Expr&)>;
  using RangeOf = std::function<Interval(const Linear&)>;
  using Proves = std::function<bool(const Expr&)>;

  SymbolicRanges(LinearOf linear_of, RangeOf range_of, Proves proves)
      : linear_of_(std::move(linear_of)),
        range_of_(std::move(range_of)),
        proves_(std::move(proves)) {}

  struct Values {
    Linear min, last;
  };
  void Enter(const Var& var, Values values) { loops_.insert_or_assign(var, std::move(values)); }
  void Leave(const Var& var) { loops_.erase(var); }
  bool empty() const { return loops_.empty(); }

  // A number that the sum is never above. Nothing if none is known.
  std::optional<std::int64_t> Upper(const Linear& sum);

 private:
  enum class Side { kUpper, kLower };

  Linear Bound(const Linear& sum, Side side, int depth);
  bool AddUnfolded(const Expr& atom, std::int64_t coefficient, Side side, int depth, Linear* bound);
  Linear BoundOfAtom(const Expr& atom, Side side, int depth);
  Linear BoundOfProduct(const Expr& atom, Side side, int depth);
  Linear BoundOfQuotient(const BinaryNode& quotient, const Expr& atom, Side side, int depth);
  bool IsPositive(const Expr& e) { return range_of_(linear_of_(e)).low >= 1; }

  const LinearOf linear_of_;
  const RangeOf range_of_;
  const Proves proves_;
  std::unordered_map<Expr, Values, ExprHash, ExprSame> loops_;
  bool unfolds_ = false;  // whether a quotient's multiple is bounded by its dividend
};

}  // namespace tenon::loop

#endif  // TENON_LOOP_SIMPLIFY_SYMBOLIC_RANGES_H_
