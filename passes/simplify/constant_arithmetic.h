// Arithmetic between constants, for rules that join two of them.
#ifndef TENON_PASSES_SIMPLIFY_CONSTANT_ARITHMETIC_H_
#define TENON_PASSES_SIMPLIFY_CONSTANT_ARITHMETIC_H_

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>

#include "tenon/support/ndarray.h"

namespace tenon::passes {

enum class Arithmetic { kAdd, kSubtract, kMultiply };

// a op b, where one of the shapes broadcasts to the other. Integers wrap around; floats are
// calculated in double precision and rounded once. Nothing for other shapes and element types. Also
// nothing if a result is not finite (with inf the order counts: (x - 1) * inf is not x * inf -
// inf), if a constant or a result is denormal, if nonzero factors give 0, or if constants cancel
// (SumsOfConstants) or are added to one that rounds sums, and rounded by it.
std::optional<NDArray> Calculate(Arithmetic op, const NDArray& a, const NDArray& b);

// Sums of floating constants that would turn x + a + b into x + (a + b), element by element. Adding
// a large number and subtracting it again rounds x to that number's steps; x + (a + b) does not.
// Adding a small number before a large one rounds their sum with x; a + b loses the small one
// first.
class SumsOfConstants {
 public:
  explicit SumsOfConstants(DataType dtype) : is_double_(dtype == Float64) {}

  void Add(double a, double b) {
    const double larger = std::fabs(a) < std::fabs(b) ? b : a;
    const double smaller = std::fabs(a) < std::fabs(b) ? a : b;
    const double least = std::fabs(larger) * (is_double_ ? 0x1p-26 : 0x1p-12);
    const double sum = is_double_ ? a + b : static_cast<double>(static_cast<float>(a + b));
    const bool is_far = smaller != 0 && std::fabs(smaller) < least;
    const bool is_lost = is_far && sum - larger != smaller;
    is_exact_ &= sum - larger == smaller;
    if (is_lost || std::fabs(a + b) < least) {
      some_cancel_ |= larger != 0;
    } else {
      some_stay_ |= larger != 0 && !is_far;
    }
  }
  // Whether every sum of nonzero constants lost half of its digits, or some of those of a much
  // smaller one. Single channels may do so by chance.
  bool Cancel() const { return some_cancel_ && !some_stay_; }
  bool is_exact() const { return is_exact_; }

 private:
  bool is_double_, is_exact_ = true;
  bool some_cancel_ = false, some_stay_ = false;
};

// A number of this magnitude and more rounds what it is added to to halves or whole numbers. That
// is often what it is for, so it is not multiplied, nor moved past products.
inline double LeastRounding(DataType dtype) { return dtype == Float64 ? 0x1p51 : 0x1p22; }
// Whether all numbers but zeros do so, of which there are some.
template <typename T>
bool RoundsSums(std::span<const T> numbers, DataType dtype) {
  const double least = LeastRounding(dtype);
  const auto magnitude = [](T number) { return std::fabs(static_cast<double>(number)); };
  return std::ranges::any_of(numbers, [&](T v) { return magnitude(v) >= least; }) &&
         std::ranges::none_of(numbers, [&](T v) { return v != 0 && magnitude(v) < least; });
}
// The same of a constant. False of other types than float32 and float64.
bool RoundsSums(const NDArray& constant);

// Whether all elements equal the value (0.0 and -0.0 are told apart).
bool IsFilledWith(const NDArray& array, double value);
// A constant of rank 0; float16 and bfloat16 are not known.
std::optional<NDArray> ScalarOf(double value, DataType dtype);

}  // namespace tenon::passes

#endif  // TENON_PASSES_SIMPLIFY_CONSTANT_ARITHMETIC_H_
