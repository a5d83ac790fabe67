#include "tenon/verify/array_values.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <limits>

#include "tenon/support/bfloat16.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::verify {
namespace {

double FloatAt(const NDArray& array, std::int64_t i) {
  const auto at = static_cast<std::size_t>(i);
  if (array.dtype() == Float64) return static_cast<const double*>(array.raw())[at];
  if (array.dtype() == Float32) {
    return static_cast<double>(static_cast<const float*>(array.raw())[at]);
  }
  if (array.dtype() == Float16) {
    return static_cast<double>(static_cast<const _Float16*>(array.raw())[at]);
  }
  CheckInvariant(array.dtype() == BFloat16, "there are four floating types");
  return static_cast<double>(FromBFloat16(static_cast<const std::uint16_t*>(array.raw())[at]));
}

void SetFloat(const NDArray& array, std::int64_t i, double value) {
  const auto at = static_cast<std::size_t>(i);
  if (array.dtype() == Float64) {
    static_cast<double*>(array.raw())[at] = value;
  } else if (array.dtype() == Float32) {
    static_cast<float*>(array.raw())[at] = static_cast<float>(value);
  } else if (array.dtype() == Float16) {
    static_cast<_Float16*>(array.raw())[at] = static_cast<_Float16>(value);
  } else {
    static_cast<std::uint16_t*>(array.raw())[at] =
        static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(static_cast<float>(value)) >> 16);
  }
}

void SetInt(const NDArray& array, std::int64_t i, std::int64_t value) {
  const std::size_t bytes = array.dtype().bytes();
  std::memcpy(static_cast<char*>(array.raw()) + static_cast<std::size_t>(i) * bytes, &value, bytes);
}

// The low bytes of a little-endian number, with its sign where the type has one.
std::int64_t IntAt(const NDArray& array, std::int64_t i) {
  const std::size_t bytes = array.dtype().bytes();
  std::uint64_t value = 0;
  std::memcpy(&value, static_cast<const char*>(array.raw()) + static_cast<std::size_t>(i) * bytes,
              bytes);
  if (!array.dtype().is_int()) return static_cast<std::int64_t>(value);
  const auto shift = static_cast<int>(64 - 8 * bytes);
  return static_cast<std::int64_t>(value << shift) >> shift;
}

std::string TextAt(const NDArray& array, std::int64_t i) {
  if (!array.dtype().is_float()) {
    const std::int64_t value = IntAt(array, i);
    return array.dtype() == UInt64 ? std::to_string(static_cast<std::uint64_t>(value))
                                   : std::to_string(value);
  }
  char text[40];
  std::snprintf(text, sizeof text, "%.9g", FloatAt(array, i));
  return text;
}

bool IsSame(const NDArray& actual, const NDArray& expected, std::int64_t i, double tolerance) {
  if (!actual.dtype().is_float()) return IntAt(actual, i) == IntAt(expected, i);
  const double a = FloatAt(actual, i), e = FloatAt(expected, i);
  if (std::isnan(e)) return std::isnan(a);
  if (std::isinf(e) || std::isinf(a)) return a == e;
  return std::abs(a - e) <= tolerance;
}

template <typename Value>
double LargestFinite(const NDArray& array, const Value& value_at) {
  double largest = 0;
  if (!array.dtype().is_float()) return largest;
  for (std::int64_t i = 0; i < array.size(); ++i) {
    const double value = std::abs(value_at(i));
    if (std::isfinite(value)) largest = std::max(largest, value);
  }
  return largest;
}

}  // namespace

NDArray ArrayOf(Shape shape, DataType type, const std::function<double(std::int64_t)>& number) {
  NDArray array = NDArray::Zeros(std::move(shape), type);
  for (std::int64_t i = 0; i < array.size(); ++i) {
    if (type.is_float()) {
      SetFloat(array, i, number(i));
    } else {
      SetInt(array, i, static_cast<std::int64_t>(number(i)));
    }
  }
  return array;
}

double RoundingError(DataType type) {
  if (!type.is_float()) return 0;
  if (type == BFloat16) return std::ldexp(1, -8);
  return std::ldexp(1, type == Float16 ? -11 : type == Float32 ? -24 : -53);
}

NDArray RandomArray(Shape shape, DataType type, Random& random) {
  NDArray array = NDArray::Zeros(std::move(shape), type);
  for (std::int64_t i = 0; i < array.size(); ++i) {
    const std::int64_t draw = random.Below(17);
    if (type.is_float()) {
      SetFloat(array, i, static_cast<double>(draw - 8) / 4);
    } else {
      SetInt(array, i, type.is_bool() ? draw % 2 : type.is_uint() ? draw : draw - 8);
    }
  }
  return array;
}

double LeastNormal(DataType type) {
  if (type == Float64) return std::numeric_limits<double>::min();
  return std::ldexp(1, type == Float16 ? -14 : -126);
}

NDArray WithSpecialValues(const NDArray& array, Random& random) {
  static constexpr double kSpecial[] = {NAN, HUGE_VAL, -HUGE_VAL};
  NDArray special = NDArray::Empty(array.shape(), array.dtype());
  for (std::int64_t i = 0; i < array.size(); ++i)
    SetFloat(special, i, random.Chance(12) ? kSpecial[random.Below(3)] : FloatAt(array, i));
  return special;
}

NDArray WithTinyValues(const NDArray& array, Random& random) {
  if (!array.dtype().is_float()) return array;
  const double least = LeastNormal(array.dtype());
  const double tiny[] = {0.0,       least,     least * 1.5,
                         least / 2, least / 4, least * RoundingError(array.dtype()) * 2};
  NDArray changed = NDArray::Empty(array.shape(), array.dtype());
  for (std::int64_t i = 0; i < array.size(); ++i) {
    double value = FloatAt(array, i);
    if (random.Chance(40)) {
      value = tiny[random.Below(std::size(tiny))];
      if (random.Chance(50)) value = -value;
    }
    SetFloat(changed, i, value);
  }
  return changed;
}

NDArray WithEnds(const NDArray& array, Random& random) {
  const DataType type = array.dtype();
  if (type.is_float() || type.is_bool()) return array;
  const int bits = 8 * type.bytes();
  // As the bytes of signed and unsigned types have them.
  const auto highest =
      static_cast<std::int64_t>(~std::uint64_t{0} >> (64 - bits + (type.is_uint() ? 0 : 1)));
  const std::int64_t lowest = type.is_uint() ? 0 : -highest - 1;
  const std::int64_t ends[] = {
      lowest, lowest + 1, highest, highest - 1, 0, 1, type.is_uint() ? 2 : -1};
  NDArray changed = NDArray::Empty(array.shape(), type);
  for (std::int64_t i = 0; i < array.size(); ++i)
    SetInt(changed, i, random.Chance(50) ? ends[random.Below(std::size(ends))] : IntAt(array, i));
  return changed;
}

NDArray WithTies(const NDArray& array, Random& random) {
  const DataType type = array.dtype();
  const int own = !type.is_float()  ? type.bits() - (type.is_int() ? 1 : 0)
                  : type == Float64 ? 53
                  : type == Float32 ? 24
                  : type == Float16 ? 11
                                    : 8;
  NDArray changed = array.Clone();
  for (std::int64_t i = 0; i < array.size(); ++i) {
    const int bits = random.Of(std::vector<int>{8, 8, 11, 24, 53});
    if (!random.Chance(60) || bits + 1 >= own) continue;
    // 1xxxxxx1 with as many bits as the narrower type has and one more, then zeros, then 0 or 1.
    std::uint64_t value = (std::uint64_t{1} << bits) | 1 | (random.Next() >> (64 - bits) << 1);
    const int zeros = 1 + static_cast<int>(random.Below(own - bits - 1));
    const std::int64_t beside = random.Below(3) - 1;
    value = (value << zeros) + static_cast<std::uint64_t>(beside);
    if (type.is_float()) {
      const int exponent = static_cast<int>(random.Below(12)) - bits - zeros - 2;
      const double number = std::ldexp(static_cast<double>(value), exponent);
      SetFloat(changed, i, random.Chance(50) ? number : -number);
    } else {
      const auto number = static_cast<std::int64_t>(value);
      SetInt(changed, i, type.is_int() && random.Chance(50) ? -number : number);
    }
  }
  return changed;
}

NDArray TypicalArray(Shape shape, DataType type, Random& random) {
  NDArray array = NDArray::Empty(std::move(shape), type);
  const bool is_byte = !type.is_bool() && type.bytes() == 1;
  for (std::int64_t i = 0; i < array.size(); ++i) {
    // 53 bits, as many as a double's significand holds.
    const std::uint64_t draw = random.Next() >> 11;
    if (type.is_float()) {
      SetFloat(array, i, std::ldexp(static_cast<double>(draw), -52) - 1);
    } else {
      SetInt(array, i, static_cast<std::int64_t>(is_byte ? draw : draw % 2));
    }
  }
  return array;
}

NDArray Unwritten(Shape shape, DataType type) {
  NDArray array = NDArray::Empty(std::move(shape), type);
  if (array.bytes() > 0) std::memset(array.raw(), type.is_float() ? 0xFF : 0xA5, array.bytes());
  return array;
}

std::optional<Difference> FirstDifference(const NDArray& actual, const NDArray& expected,
                                          double tolerance) {
  CheckInvariant(actual.dtype() == expected.dtype() && actual.shape() == expected.shape(),
                 "arrays that are compared have one shape and type");
  for (std::int64_t i = 0; i < expected.size(); ++i) {
    if (IsSame(actual, expected, i, tolerance)) continue;
    Shape index(expected.shape().size());
    std::int64_t rest = i;
    for (std::size_t d = index.size(); d-- > 0;) {
      index[d] = rest % expected.shape()[d];
      rest /= expected.shape()[d];
    }
    return Difference{std::move(index), TextAt(actual, i), TextAt(expected, i)};
  }
  return std::nullopt;
}

bool IsZeroOrDenormal(const NDArray& array, std::int64_t element) {
  const double value = FloatAt(array, element);
  if (array.dtype() == Float16) return value == 0;
  return std::abs(value) < LeastNormal(array.dtype());
}

double LargestMagnitude(const NDArray& array) {
  return LargestFinite(array, [&](std::int64_t i) { return FloatAt(array, i); });
}

double LeastMagnitude(const NDArray& array) {
  if (!array.dtype().is_float() || array.size() == 0) return 0;
  double least = HUGE_VAL;
  for (std::int64_t i = 0; i < array.size(); ++i) {
    const double value = std::abs(FloatAt(array, i));
    if (!(value >= least)) least = std::isnan(value) ? 0 : value;
  }
  return least;
}

double LargestDifference(const NDArray& actual, const NDArray& expected) {
  return LargestFinite(expected,
                       [&](std::int64_t i) { return FloatAt(actual, i) - FloatAt(expected, i); });
}

bool IsFinite(const NDArray& array) {
  if (!array.dtype().is_float()) return true;
  for (std::int64_t i = 0; i < array.size(); ++i) {
    if (!std::isfinite(FloatAt(array, i))) return false;
  }
  return true;
}

NDArray Nudged(const NDArray& array, double relative, Random& random) {
  if (!array.dtype().is_float()) return array;
  NDArray nudged = NDArray::Empty(array.shape(), array.dtype());
  for (std::int64_t i = 0; i < array.size(); ++i) {
    const double part = static_cast<double>(random.Below(2001) - 1000) / 1000;
    SetFloat(nudged, i, FloatAt(array, i) * (1 + relative * part));
  }
  return nudged;
}

NDArray WithOtherSigns(const NDArray& array, Random& random) {
  if (!array.dtype().is_float()) return array;
  NDArray changed = array.Clone();
  for (std::int64_t i = 0; i < array.size(); ++i) {
    const double value = FloatAt(array, i);
    if (value == 0 && random.Chance(50)) SetFloat(changed, i, -value);
  }
  return changed;
}

NDArray WithoutTinyValues(const NDArray& array, Random& random) {
  // Halves are computed in float32, which holds their denormals.
  if (!array.dtype().is_float() || array.dtype() == Float16) return array;
  const double limit = LeastNormal(array.dtype()) * 0x1p12;
  NDArray changed = array.Clone();
  for (std::int64_t i = 0; i < array.size(); ++i) {
    const double value = FloatAt(array, i);
    if (std::abs(value) < limit && random.Chance(50)) SetFloat(changed, i, std::copysign(0, value));
  }
  return changed;
}

NDArray RoundedTo(const NDArray& array, int bits) {
  if (!array.dtype().is_float()) return array;
  NDArray rounded = NDArray::Empty(array.shape(), array.dtype());
  for (std::int64_t i = 0; i < array.size(); ++i) {
    int exponent = 0;
    const double significand = std::frexp(FloatAt(array, i), &exponent);
    SetFloat(rounded, i,
             std::ldexp(std::nearbyint(std::ldexp(significand, bits)), exponent - bits));
  }
  return rounded;
}

}  // namespace tenon::verify
