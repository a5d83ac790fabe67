#include "tenon/ir/scalar_text.h"

#include <cmath>
#include <limits>

#include "tenon/support/real_text.h"
#include "tenon/support/strings.h"

namespace tenon::ir {
namespace {

template <typename T>
std::optional<NDArray> IntegerScalar(const NumberText& number) {
  if (!number.integer || *number.integer < std::numeric_limits<T>::min() ||
      *number.integer > std::numeric_limits<T>::max())
    return std::nullopt;
  return NDArray::Scalar<T>(static_cast<T>(*number.integer));
}

// Nothing for a value beyond the type.
template <typename T>
std::optional<NDArray> RealScalar(T value) {
  if (!std::isfinite(value)) return std::nullopt;
  return NDArray::Scalar<T>(value);
}

std::optional<NDArray> HalfScalar(double value) {
  const auto half = static_cast<_Float16>(value);
  if (!std::isfinite(static_cast<float>(half))) return std::nullopt;
  NDArray array = NDArray::Empty({}, Float16);
  *static_cast<_Float16*>(array.raw()) = half;
  return array;
}

template <typename T>
std::optional<std::string> RealText(T value, const char* suffix) {
  if (!std::isfinite(value)) return std::nullopt;
  return FormatShortest(value) + suffix;
}

}  // namespace

std::optional<NumberText> ParseNumberText(std::string_view text) {
  // "i64", "f64" and "f" are suffixes; "1e5" has none.
  std::size_t suffix = text.find_first_of("fiu");
  if (suffix == std::string_view::npos) suffix = text.size();
  NumberText number;
  number.digits = text.substr(0, suffix);
  number.suffix = text.substr(suffix);
  number.integer = ParseNumber<std::int64_t>(number.digits);
  number.is_fraction = number.digits.find_first_of(".e") != std::string::npos;
  const auto real = ParseReal<double>(number.digits);
  if (!real) return std::nullopt;
  number.real = *real;
  return number;
}

std::optional<DataType> TypeOfNumber(const NumberText& number) {
  const std::string& suffix = number.suffix;
  if (suffix.empty()) return number.is_fraction ? Float64 : Int32;
  if (suffix == "f") return Float32;
  if (suffix == "f64") return Float64;
  if (suffix == "f16") return Float16;
  if (suffix == "i64") return Int64;
  if (suffix == "i16") return Int16;
  return std::nullopt;
}

std::optional<NDArray> ParseScalar(const NumberText& number) {
  const auto type = TypeOfNumber(number);
  if (!type) return std::nullopt;
  if (*type == Float32) {
    // Read from the digits: going through a double would round twice.
    const auto real = ParseReal<float>(number.digits);
    return real ? RealScalar(*real) : std::nullopt;
  }
  if (*type == Float64) return RealScalar(number.real);
  if (*type == Float16) return HalfScalar(number.real);
  if (*type == Int64) return IntegerScalar<std::int64_t>(number);
  if (*type == Int16) return IntegerScalar<std::int16_t>(number);
  return IntegerScalar<std::int32_t>(number);
}

std::optional<std::string> ScalarText(const NDArray& data) {
  if (!data.shape().empty()) return std::nullopt;
  const DataType t = data.dtype();
  if (t.is_bool()) return *data.data<bool>() ? "True" : "False";
  if (t == Int16) return StrCat(*data.data<std::int16_t>(), "i16");
  if (t == Int32) return StrCat(*data.data<std::int32_t>());
  if (t == Int64) return StrCat(*data.data<std::int64_t>(), "i64");
  if (t == Float16)
    return RealText(static_cast<float>(*static_cast<const _Float16*>(data.raw())), "f16");
  if (t == Float32) return RealText(*data.data<float>(), "f");
  if (t == Float64) return RealText(*data.data<double>(), "f64");
  return std::nullopt;
}

}  // namespace tenon::ir
