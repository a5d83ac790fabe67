// Random arrays, and the differences of two arrays.
//
//   NDArray a = RandomArray({3, 5}, Float32, random);
//   std::optional<Difference> d = FirstDifference(actual, expected, 1e-5);
#ifndef TENON_VERIFY_ARRAY_VALUES_H_
#define TENON_VERIFY_ARRAY_VALUES_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "tenon/support/ndarray.h"

namespace tenon::verify {

inline std::size_t At(std::int64_t i) { return static_cast<std::size_t>(i); }

// Random numbers whose sequence is the same on every system.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  std::uint64_t Next() { return engine_(); }
  // From 0 to n - 1; n must be at least 1.
  std::int64_t Below(std::int64_t n) {
    return static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(n));
  }
  bool Chance(int percent) { return Below(100) < percent; }
  template <typename T>
  const T& Of(const std::vector<T>& list) {
    return list[static_cast<std::size_t>(Below(static_cast<std::int64_t>(list.size())))];
  }

 private:
  std::mt19937_64 engine_;
};

// An array of numbers by element; integers must fit the type.
NDArray ArrayOf(Shape shape, DataType type, const std::function<double(std::int64_t)>& number);
// The maximum relative error of one rounding to the type; 0 for integers.
double RoundingError(DataType type);
// Values in steps of 1/4 from -2 to 2; whole numbers for integers, without sign for unsigned ones.
// Sums and products of a few of them are exact in every floating type.
NDArray RandomArray(Shape shape, DataType type, Random& random);
// A floating array with some elements replaced by NaN and infinities.
NDArray WithSpecialValues(const NDArray& array, Random& random);
// The least normal number of a floating type.
double LeastNormal(DataType type);
// A floating array with some elements replaced by zeros of both signs, denormal numbers and normal
// ones next to these; other arrays stay.
NDArray WithTinyValues(const NDArray& array, Random& random);
// An array of integers with some elements replaced by the ends of the type, and by values next to
// these and to zero.
NDArray WithEnds(const NDArray& array, Random& random);
// An array with some elements replaced by numbers halfway between two neighbours in a narrower
// floating type, and by numbers next to these: where a conversion that rounds twice is wrong. Of
// types of 8 bits, and where a number would not fit, elements stay.
NDArray WithTies(const NDArray& array, Random& random);
// Values that a model's input may have: floating ones are uniform in [-1, 1], 8-bit integers (bytes
// of pictures, quantised values) are arbitrary. Wider integers and bools are 0 or 1, which are
// valid as indices into every axis longer than one, identifiers, lengths and masks.
NDArray TypicalArray(Shape shape, DataType type, Random& random);
// Bytes that a kernel is unlikely to write; NaN for floating types.
NDArray Unwritten(Shape shape, DataType type);

struct Difference {
  Shape index;
  std::string actual, expected;
};
// The first element, in row-major order, that differs by more than `tolerance`. NaN equals NaN, an
// infinity equals only itself; integers must be equal. Both arrays must have one shape and type.
std::optional<Difference> FirstDifference(const NDArray& actual, const NDArray& expected,
                                          double tolerance);
// Whether kernels take the floating element for zero.
bool IsZeroOrDenormal(const NDArray& array, std::int64_t element);
// The largest magnitude in a floating array, without infinities and NaN; 0 for integers.
double LargestMagnitude(const NDArray& array);
// The least magnitude; 0 for integers and for no elements.
double LeastMagnitude(const NDArray& array);
double LargestDifference(const NDArray& actual, const NDArray& expected);
// Whether no element is NaN or infinite.
bool IsFinite(const NDArray& array);
// The array with floating elements changed by up to `relative` of their magnitude; others stay.
NDArray Nudged(const NDArray& array, double relative, Random& random);
// The array with other signs of floating zeros.
NDArray WithOtherSigns(const NDArray& array, Random& random);
// The array with some floating elements that are barely normal replaced by zeros, as if a factor
// had made them denormal before.
NDArray WithoutTinyValues(const NDArray& array, Random& random);
// The array with floating elements rounded to the nearest number of `bits` significant bits, ties
// to even.
NDArray RoundedTo(const NDArray& array, int bits);

}  // namespace tenon::verify

#endif  // TENON_VERIFY_ARRAY_VALUES_H_
