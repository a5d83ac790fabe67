#include "tenon/relax/scalar_text.h"

#include <bit>
#include <cmath>
#include <cstdint>

#include "tenon/support/bfloat16.h"
#include "tenon/support/real_text.h"
#include "tenon/support/strings.h"

namespace tenon::relax {
namespace {

// Calls `visit` with a value of the C++ type of an integer type.
template <typename Visit>
auto WithInteger(DataType dtype, Visit visit) -> decltype(visit(std::int64_t{})) {
  if (dtype == Int8) return visit(std::int8_t{});
  if (dtype == Int16) return visit(std::int16_t{});
  if (dtype == Int32) return visit(std::int32_t{});
  if (dtype == Int64) return visit(std::int64_t{});
  if (dtype == UInt8) return visit(std::uint8_t{});
  if (dtype == UInt16) return visit(std::uint16_t{});
  if (dtype == UInt32) return visit(std::uint32_t{});
  if (dtype == UInt64) return visit(std::uint64_t{});
  return std::nullopt;
}

// To the nearest, ties to even. The float before it is rounded to odd, so that rounding twice gives
// what rounding once would (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums:
// proved algorithms using rounding to odd", 2008).
std::uint16_t ToBFloat16(double value) {
  const auto nearest = static_cast<float>(value);
  auto bits = std::bit_cast<std::uint32_t>(nearest);
  if (std::isfinite(nearest) && static_cast<double>(nearest) != value) {
    if (std::fabs(static_cast<double>(nearest)) > std::fabs(value)) --bits;  // toward zero
    bits |= 1U;
  }
  return static_cast<std::uint16_t>((bits + 0x7FFFU + (bits >> 16U & 1U)) >> 16U);
}

// A number of 16 bits.
NDArray HalfScalar(double value, DataType dtype) {
  NDArray array = NDArray::Empty({}, dtype);
  if (dtype == Float16) {
    *static_cast<_Float16*>(array.raw()) = static_cast<_Float16>(value);
  } else {
    *static_cast<std::uint16_t*>(array.raw()) = ToBFloat16(value);
  }
  return array;
}
double HalfValue(const NDArray& half) {
  if (half.dtype() == Float16)
    return static_cast<double>(*static_cast<const _Float16*>(half.raw()));
  return FromBFloat16(*static_cast<const std::uint16_t*>(half.raw()));
}

// Of floating types only.
std::optional<NDArray> NotFiniteScalar(double value, DataType dtype) {
  if (dtype == Float64) return NDArray::Scalar(value);
  if (dtype == Float32) return NDArray::Scalar(static_cast<float>(value));
  return dtype.is_float() ? std::optional(HalfScalar(value, dtype)) : std::nullopt;
}

template <typename T>
std::optional<std::string> RealText(T value) {
  if (!std::isfinite(value)) return std::nullopt;
  std::string text = FormatShortest(value);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

std::optional<std::string> NumberText(const NDArray& data) {
  const DataType t = data.dtype();
  if (t.is_bool()) return *data.data<bool>() ? "True" : "False";
  if (t == Float32) return RealText(*data.data<float>());
  if (t == Float64) return RealText(*data.data<double>());
  if (t == Float16) return RealText(static_cast<float>(*static_cast<const _Float16*>(data.raw())));
  if (t == BFloat16) return RealText(FromBFloat16(*static_cast<const std::uint16_t*>(data.raw())));
  return WithInteger(
      t, [&](auto of_type) { return std::optional(StrCat(*data.data<decltype(of_type)>())); });
}

}  // namespace

std::optional<std::string> ScalarText(const NDArray& data) {
  if (!data.shape().empty()) return std::nullopt;
  const auto number = NumberText(data);
  if (!number) return std::nullopt;
  return StrCat("R.const(", *number, ", \"", data.dtype().ToString(), "\")");
}

std::optional<double> ParseNotFinite(std::string_view text) {
  if (text == "inf") return HUGE_VAL;
  if (text == "-inf") return -HUGE_VAL;
  if (text == "nan") return std::nan("");
  return std::nullopt;
}

std::optional<NDArray> ParseScalar(std::string_view text, DataType dtype) {
  if (const auto value = ParseNotFinite(text)) return NotFiniteScalar(*value, dtype);
  if (text == "True" || text == "False") {
    if (dtype.is_bool()) return NDArray::Scalar<bool>(text == "True");
    text = text == "True" ? "1" : "0";
  }
  if (dtype == Float64) {
    const auto real = ParseReal<double>(text);
    return real && std::isfinite(*real) ? std::optional(NDArray::Scalar(*real)) : std::nullopt;
  }
  if (dtype == Float32) {
    // Read from the digits: going through a double would round twice.
    const auto real = ParseReal<float>(text);
    return real && std::isfinite(*real) ? std::optional(NDArray::Scalar(*real)) : std::nullopt;
  }
  if (dtype.is_float()) {
    const auto real = ParseReal<double>(text);
    if (!real) return std::nullopt;
    const NDArray half = HalfScalar(*real, dtype);
    return std::isfinite(HalfValue(half)) ? std::optional(half) : std::nullopt;
  }
  if (dtype.is_bool()) {
    if (text != "0" && text != "1") return std::nullopt;
    return NDArray::Scalar<bool>(text == "1");
  }
  return WithInteger(dtype, [&](auto of_type) -> std::optional<NDArray> {
    const auto value = ParseNumber<decltype(of_type)>(text);
    return value ? std::optional(NDArray::Scalar(*value)) : std::nullopt;
  });
}

}  // namespace tenon::relax
