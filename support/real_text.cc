#include "tenon/support/real_text.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <system_error>

#include "tenon/support/strings.h"

namespace tenon {
namespace {

// Whether a number that is not 0 is less than 1, without its sign.
bool IsBelowOne(std::string_view text) {
  const std::size_t digits_end = std::min(text.find_first_of("eE"), text.size());
  const std::string_view digits = text.substr(0, digits_end);
  const std::size_t point = std::min(digits.find('.'), digits.size());
  const std::size_t first = digits.find_first_of("123456789");
  // Of the first digit that counts: 0 for tenths, 1 for ones.
  const auto order =
      static_cast<std::int64_t>(point) - static_cast<std::int64_t>(first) + (first > point ? 1 : 0);
  std::string_view exponent = text.substr(std::min(digits_end + 1, text.size()));
  if (exponent.starts_with('+')) exponent.remove_prefix(1);
  if (exponent.empty()) return order <= 0;
  const auto power = ParseNumber<std::int64_t>(exponent);
  // The sum cannot overflow: a text has far fewer digits than numbers there are.
  if (!power) return exponent.starts_with('-');
  return *power <= -order;
}

}  // namespace

template <typename T>
std::optional<T> ParseReal(std::string_view text) {
  if (text.find_first_of("0123456789") == std::string_view::npos) return std::nullopt;
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end != text.data() + text.size()) return std::nullopt;
  if (error == std::errc()) return value;
  if (error != std::errc::result_out_of_range) return std::nullopt;
  const T magnitude = IsBelowOne(text) ? T{0} : std::numeric_limits<T>::infinity();
  return text.starts_with('-') ? -magnitude : magnitude;
}

template std::optional<float> ParseReal(std::string_view text);
template std::optional<double> ParseReal(std::string_view text);

}  // namespace tenon
