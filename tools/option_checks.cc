#include "tenon/tools/option_checks.h"

#include <cmath>
#include <string>

#include "tenon/support/real_text.h"
#include "tenon/support/strings.h"
#include "tenon/tune/record_checks.h"

namespace tenon::tools {

CLI::Validator WholeNumber(std::uint64_t low, std::uint64_t high) {
  const bool is_bounded = high != std::numeric_limits<std::uint64_t>::max();
  const std::string range = is_bounded ? StrCat(low, " to ", high) : StrCat("from ", low, " on");
  const auto check = [low, high, range](std::string& text) -> std::string {
    const auto number = ParseNumber<std::uint64_t>(text);
    if (number && *number >= low && *number <= high) return "";
    return StrCat(text,
                  number || ParseNumber<double>(text) ? " is out of range" : " is not a number",
                  "; it may be a whole number ", range);
  };
  return CLI::Validator(check, StrCat("[", range, "]"));
}

CLI::Validator RealNumber(double low, double high) {
  const std::string range =
      StrCat("from ", low, std::isfinite(high) ? StrCat(" to ", high) : std::string(" on"));
  const auto check = [low, high, range](std::string& text) -> std::string {
    const auto number = ParseReal<double>(text);
    if (number && std::isfinite(*number) && *number >= low && *number <= high) return "";
    return StrCat(text, number ? " is out of range" : " is not a number", "; it may be a number ",
                  range);
  };
  return CLI::Validator(check, StrCat("[", range, "]"));
}

CLI::Validator Day() {
  const auto check = [](std::string& text) -> std::string {
    return tune::IsDay(text) ? "" : StrCat(text, " is no day; write it as 2026-11-25");
  };
  return CLI::Validator(check, "");
}

}  // namespace tenon::tools
