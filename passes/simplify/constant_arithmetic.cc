#include "tenon/passes/simplify/constant_arithmetic.h"

#include <cmath>
#include <limits>
#include <type_traits>

namespace tenon::passes {
namespace {

// Calls `body` with a null pointer of the element type. Returns false for types without arithmetic
// here.
template <typename Body>
bool WithType(DataType t, Body body) {
  const auto use = [&]<typename T>(const T* tag) {
    if (t != DataTypeOf<T>()) return false;
    body(tag);
    return true;
  };
  return use(static_cast<float*>(nullptr)) || use(static_cast<double*>(nullptr)) ||
         use(static_cast<std::int8_t*>(nullptr)) || use(static_cast<std::int16_t*>(nullptr)) ||
         use(static_cast<std::int32_t*>(nullptr)) || use(static_cast<std::int64_t*>(nullptr)) ||
         use(static_cast<std::uint8_t*>(nullptr)) || use(static_cast<std::uint16_t*>(nullptr)) ||
         use(static_cast<std::uint32_t*>(nullptr)) || use(static_cast<std::uint64_t*>(nullptr));
}

// The element of `from` that broadcasts to element `i` of `to`, or -1 when `from` does not
// broadcast to it.
std::int64_t ElementFor(const Shape& from, const Shape& to, std::int64_t i) {
  if (from.size() > to.size()) return -1;
  std::int64_t index = 0;
  std::int64_t stride = 1;
  for (std::size_t back = 1; back <= from.size(); ++back) {
    const std::int64_t extent = to[to.size() - back];
    const std::int64_t own = from[from.size() - back];
    if (own != 1 && own != extent) return -1;
    if (own != 1) index += i % extent * stride;
    stride *= own;
    i /= extent;
  }
  return index;
}
bool BroadcastsTo(const Shape& from, const Shape& to) { return ElementFor(from, to, 0) >= 0; }

template <typename T>
bool Apply(Arithmetic op, T a, T b, T* out) {
  if constexpr (std::is_floating_point_v<T>) {
    const double x = a;
    const double y = b;
    *out = static_cast<T>(op == Arithmetic::kAdd        ? x + y
                          : op == Arithmetic::kSubtract ? x - y
                                                        : x * y);
    if (!std::isfinite(*out)) return false;
    // Kernels take denormals for zero, operands and results alike.
    const auto is_denormal = [](T v) { return v != 0 && !std::isnormal(v); };
    if (is_denormal(a) || is_denormal(b) || is_denormal(*out)) return false;
    return op != Arithmetic::kMultiply || a == 0 || b == 0 || *out != 0;
  } else {
    const auto x = static_cast<std::uint64_t>(a);
    const auto y = static_cast<std::uint64_t>(b);
    *out = static_cast<T>(op == Arithmetic::kAdd        ? x + y
                          : op == Arithmetic::kSubtract ? x - y
                                                        : x * y);
    return true;
  }
}

}  // namespace

std::optional<NDArray> Calculate(Arithmetic op, const NDArray& a, const NDArray& b) {
  if (a.dtype() != b.dtype()) return std::nullopt;
  const bool to_a = a.size() != 0 && BroadcastsTo(b.shape(), a.shape());
  if (!to_a && (b.size() == 0 || !BroadcastsTo(a.shape(), b.shape()))) return std::nullopt;
  const Shape& shape = to_a ? a.shape() : b.shape();
  NDArray result = NDArray::Empty(shape, a.dtype());
  bool is_good = true;
  SumsOfConstants sums(a.dtype());
  const bool known = WithType(a.dtype(), [&]<typename T>(const T*) {
    for (std::int64_t i = 0; i < result.size() && is_good; ++i) {
      const T x = a.data<T>()[ElementFor(a.shape(), shape, i)];
      const T y = b.data<T>()[ElementFor(b.shape(), shape, i)];
      is_good = Apply(op, x, y, result.data<T>() + i);
      if constexpr (std::is_floating_point_v<T>) {
        if (op != Arithmetic::kMultiply) sums.Add(x, op == Arithmetic::kAdd ? y : -y);
      }
    }
  });
  if (!known || !is_good || sums.Cancel()) return std::nullopt;
  const bool rounds = !sums.is_exact() && (RoundsSums(a) || RoundsSums(b));
  return rounds ? std::nullopt : std::optional(result);
}

bool RoundsSums(const NDArray& constant) {
  const auto of = [&]<typename T>(const T* data) {
    return RoundsSums(std::span(data, static_cast<std::size_t>(constant.size())), constant.dtype());
  };
  if (constant.dtype() == Float32) return of(constant.data<float>());
  return constant.dtype() == Float64 && of(constant.data<double>());
}

bool IsFilledWith(const NDArray& array, double value) {
  bool is_filled = true;
  const bool known = WithType(array.dtype(), [&]<typename T>(const T*) {
    const T wanted = static_cast<T>(value);
    for (std::int64_t i = 0; i < array.size() && is_filled; ++i) {
      const T element = array.data<T>()[i];
      is_filled = element == wanted;
      if constexpr (std::is_floating_point_v<T>)
        is_filled = is_filled && std::signbit(element) == std::signbit(wanted);
    }
  });
  return known && is_filled;
}

std::optional<NDArray> ScalarOf(double value, DataType dtype) {
  std::optional<NDArray> scalar;
  WithType(dtype, [&]<typename T>(const T*) { scalar = NDArray::Scalar(static_cast<T>(value)); });
  return scalar;
}

}  // namespace tenon::passes
