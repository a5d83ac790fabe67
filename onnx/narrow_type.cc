// The floats are those of the standard's documents float8.md and float4.md: a sign, an exponent and
// a fraction. Only kinds differ in what they give up for infinities and NaN.
#include "tenon/onnx/narrow_type.h"

#include <array>
#include <cmath>
#include <limits>

namespace tenon::onnx_import {
namespace {

constexpr NarrowType kNarrowTypes[] = {
    {"float8e4m3fn", 17, 8, Float32, 3, 7, NoNumbers::kTopIsNan},
    {"float8e4m3fnuz", 18, 8, Float32, 3, 8, NoNumbers::kNegativeZero},
    {"float8e5m2", 19, 8, Float32, 2, 15, NoNumbers::kIeee},
    {"float8e5m2fnuz", 20, 8, Float32, 2, 16, NoNumbers::kNegativeZero},
    {"uint4", 21, 4, UInt8},
    {"int4", 22, 4, Int8},
    {"float4e2m1", 23, 4, Float32, 1, 1, NoNumbers::kNone},
    {"float8e8m0", 24, 8, Float32, 0, 127, NoNumbers::kExponentsOnly},
    {"uint2", 25, 2, UInt8},
    {"int2", 26, 2, Int8},
};

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

template <typename T>
void Unpack(const NarrowType& type, std::string_view bytes, NDArray* array) {
  const unsigned mask = (1U << type.bits) - 1;
  std::array<T, 256> values{};
  for (unsigned pattern = 0; pattern <= mask; ++pattern)
    values[pattern] = static_cast<T>(type.Value(pattern));
  const auto per_byte = static_cast<std::int64_t>(8 / type.bits);
  T* out = array->data<T>();
  for (std::int64_t i = 0; i < array->size(); ++i) {
    const auto byte = static_cast<unsigned char>(bytes[static_cast<std::size_t>(i / per_byte)]);
    out[i] = values[byte >> (i % per_byte * type.bits) & mask];
  }
}

}  // namespace

double NarrowType::Value(unsigned pattern) const {
  const unsigned sign = 1U << (bits - 1);
  if (carrier == UInt8) return pattern;
  if (carrier == Int8)
    return static_cast<double>(pattern) - ((pattern & sign) != 0 ? 2.0 * sign : 0.0);
  const unsigned all = (1U << bits) - 1;
  if (none == NoNumbers::kExponentsOnly)
    return pattern == all ? kNan : std::ldexp(1, static_cast<int>(pattern) - bias);
  if (none == NoNumbers::kNegativeZero && pattern == sign) return kNan;
  const unsigned magnitude = pattern & ~sign;
  if (none == NoNumbers::kTopIsNan && magnitude == (all & ~sign)) return kNan;
  const int exponent = static_cast<int>(magnitude >> mantissa);
  const auto fraction = static_cast<double>(magnitude & ((1U << mantissa) - 1));
  const double one = std::ldexp(1, mantissa);
  double value = exponent == 0 ? std::ldexp(fraction, 1 - bias - mantissa)
                               : std::ldexp(one + fraction, exponent - bias - mantissa);
  const int greatest = (1 << (bits - 1 - mantissa)) - 1;
  if (none == NoNumbers::kIeee && exponent == greatest)
    value = fraction == 0 ? std::numeric_limits<double>::infinity() : kNan;
  return (pattern & sign) != 0 ? -value : value;
}

double NarrowType::highest() const {
  double most = 0;
  for (unsigned pattern = 0; pattern < 1U << bits; ++pattern) {
    if (const double value = Value(pattern); std::isfinite(value)) most = std::max(most, value);
  }
  return most;
}

double NarrowType::lowest() const {
  double least = highest();
  for (unsigned pattern = 0; pattern < 1U << bits; ++pattern) {
    if (const double value = Value(pattern); std::isfinite(value)) least = std::min(least, value);
  }
  return least;
}

const NarrowType* FindNarrowType(int onnx_type) {
  for (const NarrowType& type : kNarrowTypes) {
    if (type.onnx == onnx_type) return &type;
  }
  return nullptr;
}

NDArray Unpacked(const NarrowType& type, std::string_view bytes, const Shape& shape) {
  NDArray array = NDArray::Empty(shape, type.carrier);
  if (type.carrier == Float32) {
    Unpack<float>(type, bytes, &array);
  } else if (type.carrier == Int8) {
    Unpack<std::int8_t>(type, bytes, &array);
  } else {
    Unpack<std::uint8_t>(type, bytes, &array);
  }
  return array;
}

}  // namespace tenon::onnx_import
