// Arithmetic between constants, for rules that join two of them.
#ifndef TENON_PASSES_SIMPLIFY_CONSTANT_ARITHMETIC_H_
#define TENON_PASSES_SIMPLIFY_CONSTANT_ARITHMETIC_H_

#include <algorithm>
#include <cmath>
#include <optional>

#include "tenon/support/ndarray.h"

namespace tenon::passes {

enum class Arithmetic { kAdd, kSubtract, kMultiply };

// a op b, where one of the shapes broadcasts to the other. Integers wrap around; floats are
// calculated in double precision and rounded once. Nothing for other shapes and element types. Also
// nothing if a result is not finite (with inf the order counts: (x - 1) * inf is not x * inf -
// inf), if a constant or a result is denormal, if nonzero factors give 0, or if constants cancel
// (SumsOfConstants).
std::optional<NDArray> Calculate(Arithmetic op, const NDArray& a, const NDArray& b);

// Sums of floating constants that would turn x + a + b into x + (a + b), element by element. Adding
// a large number and subtracting it again rounds x to that number's steps; x + (a + b) does not.
// Adding a small number before a large one rounds their sum with x; a + b loses the small one
// first.
class SumsOfConstants {
 public:
  explicit SumsOfConstants(DataType dtype) : min_ratio_(dtype == Float64 ? 0x1p-26 : 0x1p-12) {}

  void Add(double a, double b) {
    const double larger = std::max(std::fabs(a), std::fabs(b));
    const double smaller = std::min(std::fabs(a), std::fabs(b));
    // The last digits of the larger one are all that it has in common with the smaller one.
    const bool is_lost = smaller > 0 && smaller < larger * min_ratio_ * min_ratio_ * 16;
    (is_lost || std::fabs(a + b) < larger * min_ratio_ ? some_cancel_ : some_stay_) |= larger > 0;
  }
  // Whether every sum of nonzero constants lost half of its digits, or nearly all of the smaller
  // one. Single channels may do so by chance.
  bool Cancel() const { return some_cancel_ && !some_stay_; }

 private:
  double min_ratio_;
  bool some_cancel_ = false, some_stay_ = false;
};

// Whether all elements equal the value (0.0 and -0.0 are told apart).
bool IsFilledWith(const NDArray& array, double value);
// A constant of rank 0; float16 and bfloat16 are not known.
std::optional<NDArray> ScalarOf(double value, DataType dtype);

}  // namespace tenon::passes

#endif  // TENON_PASSES_SIMPLIFY_CONSTANT_ARITHMETIC_H_
