#include "tenon/ir/scalar_text.h"

#include <cmath>
#include <limits>

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

NDArray HalfScalar(double value) {
  NDArray array = NDArray::Empty({}, Float16);
  *static_cast<_Float16*>(array.raw()) = static_cast<_Float16>(value);
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
  const auto real = ParseNumber<double>(number.digits);
  if (!real) return std::nullopt;
  number.real = *real;
  return number;
}

std::optional<NDArray> ParseScalar(const NumberText& number) {
  const std::string& suffix = number.suffix;
  if (suffix == "f") {
    // Read from the digits: going through a double would round twice.
    const auto real = ParseNumber<float>(number.digits);
    if (!real) return std::nullopt;
    return NDArray::Scalar<float>(*real);
  }
  if (suffix == "f64" || (suffix.empty() && number.is_fraction))
    return NDArray::Scalar<double>(number.real);
  if (suffix == "f16") return HalfScalar(number.real);
  if (suffix == "i64") return IntegerScalar<std::int64_t>(number);
  if (suffix == "i16") return IntegerScalar<std::int16_t>(number);
  if (suffix.empty()) return IntegerScalar<std::int32_t>(number);
  return std::nullopt;
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
