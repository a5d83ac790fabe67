// Tells index arithmetic, which never wraps around, from arithmetic on a kernel's data.
//
// An int64 expression is data unless it is proved to be an index. What a kernel reads, and what it
// computes in another type, may be any number of that type, and sums and products of it wrap around
// at the ends of int64 unless the ranges of all terms and factors are known to fit. Variables are
// indices. If their range is not known, they are as small as memory is.
//
//   Bounds bounds;
//   IndexArithmetic index(bounds);
//   index.Proves(Cast(Int64, row) * 128 + column)  // row: int32 data, column: a variable; true
//   index.Proves(Cast(Int64, row) * column)        // false
#ifndef TENON_LOOP_INDEX_ARITHMETIC_H_
#define TENON_LOOP_INDEX_ARITHMETIC_H_

#include <unordered_map>

#include "tenon/loop/simplify/simplify.h"

namespace tenon::loop {

class IndexArithmetic {
 public:
  // `bounds` holds the known ranges of variables and must outlive this; call Forget when they
  // change.
  explicit IndexArithmetic(const Bounds& bounds) : bounds_(bounds) {}

  // Whether no operation of `expr`, down to what it reads, wraps around. `expr` is an int64.
  bool Proves(const Expr& expr) { return !ReachOf(expr).wraps; }
  // Whether the sum, computed term by term in any order, does not wrap around.
  bool Proves(const Linear& sum);
  // The range of the values of an int64 expression.
  Interval RangeOf(const Expr& expr);

  // Says that `var` stands for `value`. If it stands for others, too, it may be any number.
  void Define(const Var& var, const Expr& value);
  void Forget() { known_.clear(); }

 private:
  // The values are a sum of an index of unknown range, if there is one, and a number in `rest`.
  struct Reach {
    Interval rest;
    bool has_index = false;
    bool reads = false;  // data decides on it
    bool wraps = false;  // an operation on the way may wrap around
  };

  Reach ReachOf(const Expr& expr);
  Reach NewReachOf(const Expr& expr);
  Reach ReachOfVar(const Expr& var);
  Reach ReachOfBinary(const BinaryNode& node);
  static Reach Anything(bool wraps);
  static Reach Number(std::int64_t low, std::int64_t high) { return {.rest = {low, high}}; }
  static Reach Operation(const Reach& a, const Reach& b, Interval rest, bool overflows);
  static Reach Add(const Reach& a, const Reach& b);
  static Reach Subtract(const Reach& a, const Reach& b);
  static Reach Multiply(const Reach& a, const Reach& b);
  static Reach Divide(const Reach& a, const Reach& b);
  static Reach Remainder(const Reach& a, const Reach& b, bool floors);
  static Reach Extremum(const Reach& a, const Reach& b, bool is_min);
  static Reach Either(const Reach& a, const Reach& b);
  static Reach OfBits(const Reach& a, const Reach& b);

  const Bounds& bounds_;
  ExprMap values_;  // undefined: any
  std::unordered_map<Expr, Reach, ExprHash, ExprSame> known_;
};

}  // namespace tenon::loop

#endif  // TENON_LOOP_INDEX_ARITHMETIC_H_
