// Random arrays, and where two arrays differ.
//
//   NDArray a = RandomArray({3, 5}, Float32, random);
//   std::optional<Difference> d = FirstDifference(actual, expected, 1e-5);
#ifndef TENON_VERIFY_ARRAY_VALUES_H_
#define TENON_VERIFY_ARRAY_VALUES_H_

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "tenon/support/ndarray.h"

namespace tenon::verify {

// Draws whose sequence is the same on every system.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  std::uint64_t Next() { return engine_(); }
  // From 0 to n - 1; n is at least 1.
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

// The largest relative error of one rounding to the type; 0 for integers.
double RoundingError(DataType type);
// Values in steps of 1/4 from -2 to 2, of integers whole ones (of unsigned ones without sign): sums
// and products of a few of them are exact in every floating type.
NDArray RandomArray(Shape shape, DataType type, Random& random);
// Some elements of a floating array replaced by NaN and infinities.
NDArray WithSpecialValues(const NDArray& array, Random& random);
// Values that a model's input may have: floating ones uniform in [-1, 1], integers of 8 bits (bytes
// of pictures, quantised values) any, and 0 or 1 of wider integers and of bool, which are indices
// into every axis longer than one, identifiers, lengths and masks.
NDArray TypicalArray(Shape shape, DataType type, Random& random);
// Bytes that no kernel is likely to write; of floating types NaN.
NDArray Unwritten(Shape shape, DataType type);

struct Difference {
  Shape index;
  std::string actual, expected;
};
// The first element, in row-major order, that differs by more than `tolerance`. NaN equals NaN, an
// infinity itself alone; integers must be equal. Both have one shape and type.
std::optional<Difference> FirstDifference(const NDArray& actual, const NDArray& expected,
                                          double tolerance);
// Of floating arrays, infinities and NaN left out; 0 of integers.
double LargestMagnitude(const NDArray& array);
double LargestDifference(const NDArray& actual, const NDArray& expected);
// No element is NaN or infinite.
bool IsFinite(const NDArray& array);
// The floating elements changed by up to `relative` of their magnitude; others as they are.
NDArray Nudged(const NDArray& array, double relative, Random& random);
// The floating elements rounded to the nearest of so many significant bits, ties to even.
NDArray RoundedTo(const NDArray& array, int bits);

}  // namespace tenon::verify

#endif  // TENON_VERIFY_ARRAY_VALUES_H_
