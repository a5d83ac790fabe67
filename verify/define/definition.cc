#include "tenon/verify/define/definition.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

#include "tenon/verify/array_values.h"

namespace tenon::verify {
namespace {

// Significant bits and the largest exponent of a floating type.
std::pair<int, int> FormatOf(DataType type) {
  if (type == Float64) return {53, 1023};
  if (type == Float32) return {24, 127};
  return type == BFloat16 ? std::pair(8, 127) : std::pair(11, 15);
}

Whole Least(DataType type) { return type.is_int() ? -(Whole{1} << (type.bits() - 1)) : 0; }
Whole Most(DataType type) {
  if (type.is_bool()) return 1;
  return (Whole{1} << (type.is_int() ? type.bits() - 1 : type.bits())) - 1;
}

}  // namespace

Number ElementAt(const NDArray& array, std::int64_t i) {
  const DataType type = array.dtype();
  const std::size_t bytes = type.bytes();
  const char* from = static_cast<const char*>(array.raw()) + static_cast<std::size_t>(i) * bytes;
  std::uint64_t bits = 0;
  std::memcpy(&bits, from, bytes);
  if (!type.is_float()) {
    if (!type.is_int()) return {.whole = static_cast<Whole>(bits)};
    const int unused = 64 - 8 * static_cast<int>(bytes);
    return {.whole = static_cast<std::int64_t>(bits << unused) >> unused};
  }
  Real value = 0;
  if (type == Float64) {
    value = std::bit_cast<double>(bits);
  } else if (type == Float16) {
    value = static_cast<Real>(std::bit_cast<_Float16>(static_cast<std::uint16_t>(bits)));
  } else {
    const auto word = static_cast<std::uint32_t>(type == BFloat16 ? bits << 16 : bits);
    value = static_cast<Real>(std::bit_cast<float>(word));
  }
  // As kernels take denormals.
  if (type != Float16 && std::abs(value) < static_cast<Real>(LeastNormal(type)))
    value = std::copysign(Real{0}, value);
  return {.real = value};
}

Real RealAt(const NDArray& array, std::int64_t i) {
  const Number number = ElementAt(array, i);
  return array.dtype().is_float() ? number.real : static_cast<Real>(number.whole);
}

std::int64_t IndexAt(const NDArray& array, std::int64_t i) {
  return static_cast<std::int64_t>(ElementAt(array, i).whole);
}

Real Rounded(Real value, DataType type) {
  if (!std::isfinite(value) || value == 0) return value;
  const auto [bits, highest] = FormatOf(type);
  int exponent = 0;
  std::frexp(value, &exponent);
  const int unit = std::max(exponent - bits, 2 - highest - bits);
  const Real rounded = std::ldexp(std::nearbyint(std::ldexp(value, -unit)), unit);
  const Real limit = std::ldexp(Real{1}, highest + 1);
  return std::abs(rounded) < limit ? rounded : std::copysign(HUGE_VALL, rounded);
}

Whole Wrapped(Whole value, DataType type) {
  if (type.is_bool()) return value != 0 ? 1 : 0;
  const Whole size = Whole{1} << type.bits(), low = value % size;
  const Whole least = low < 0 ? low + size : low;
  return least > Most(type) ? least - size : least;
}
Real Within(Real value, DataType type) {
  return std::min(std::max(value, static_cast<Real>(Least(type))), static_cast<Real>(Most(type)));
}
Whole Saturated(Real value, DataType type) {
  if (type.is_bool()) return value != 0 ? 1 : 0;
  if (std::isnan(value)) return 0;
  return static_cast<Whole>(Within(std::trunc(value), type));
}

Number Converted(const Number& value, DataType from, DataType to) {
  if (from.is_float())
    return to.is_float() ? Number{.real = value.real} : Number{.whole = Saturated(value.real, to)};
  if (to.is_float()) return {.real = static_cast<Real>(value.whole)};
  return {.whole = Wrapped(value.whole, to)};
}

void AddConverted(Real value, Real tolerance, DataType type, Definition* to) {
  const Real near = std::round(value);
  const bool is_exact = tolerance == 0 || std::abs(value - near) > tolerance;
  if (type.is_float()) {
    to->Add({.real = value}, tolerance);
  } else if (type.is_bool()) {
    // All but 0 are true.
    to->Add({.whole = value != 0 ? 1 : 0}, is_exact || near != 0 ? 0 : HUGE_VALL);
  } else if (is_exact || near == 0) {
    to->Add({.whole = Saturated(value, type), .real = std::trunc(value)},
            std::isinf(tolerance) ? tolerance : 0);
  } else {
    to->Add({.real = near - std::copysign(Real{0.5}, near)}, tolerance);
  }
}

}  // namespace tenon::verify
