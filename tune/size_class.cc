#include "tenon/tune/size_class.h"

#include <bit>
#include <cctype>
#include <cstddef>
#include <cstdint>

#include "tenon/support/strings.h"

namespace tenon::tune {

std::string SizeClassOf(const std::string& shapes) {
  std::string classes;
  std::size_t at = 0;
  const auto is_digit = [&](std::size_t i) {
    return i < shapes.size() && std::isdigit(static_cast<unsigned char>(shapes[i])) != 0;
  };
  while (at < shapes.size()) {
    const char before = at == 0 ? ' ' : shapes[at - 1];
    const bool is_extent = is_digit(at) && (before == '=' || before == '.');
    if (!is_extent) {
      classes += shapes[at++];
      continue;
    }
    std::size_t end = at;
    while (is_digit(end)) ++end;
    const auto extent = ParseNumber<std::uint64_t>(shapes.substr(at, end - at));
    StrAppend(&classes, extent ? std::bit_width(*extent) : 64);
    at = end;
  }
  return classes;
}

}  // namespace tenon::tune
