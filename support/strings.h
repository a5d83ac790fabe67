// String building over std::string_view.
//
// A thin layer on Abseil's strings for builds of Abseil whose string_view is its own type.
//
//   StrCat("axis ", 3, " of ", name);  StrJoin({1, 2}, ", ") == "1, 2";
#ifndef TENON_SUPPORT_STRINGS_H_
#define TENON_SUPPORT_STRINGS_H_

#include <charconv>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <vector>

#include "absl/strings/str_cat.h"

namespace tenon {
namespace strings_internal {

template <typename T>
decltype(auto) Piece(const T& value) {
  if constexpr (std::is_convertible_v<const T&, std::string_view>) {
    const std::string_view view = value;
    return absl::string_view(view.data(), view.size());
  } else {
    return value;
  }
}

}  // namespace strings_internal

template <typename... Args>
void StrAppend(std::string* text, const Args&... args) {
  (absl::StrAppend(text, strings_internal::Piece(args)), ...);
}

template <typename... Args>
std::string StrCat(const Args&... args) {
  std::string text;
  tenon::StrAppend(&text, args...);
  return text;
}

// Joins the elements of a range; `format(std::string*, element)` appends one.
template <typename Range, typename Format>
std::string StrJoin(const Range& range, std::string_view separator, Format format) {
  std::string text;
  bool first = true;
  for (const auto& element : range) {
    if (!first) text += separator;
    first = false;
    format(&text, element);
  }
  return text;
}

template <typename Range>
std::string StrJoin(const Range& range, std::string_view separator) {
  return StrJoin(range, separator,
                 [](std::string* text, const auto& element) { tenon::StrAppend(text, element); });
}

template <typename T>
std::string StrJoin(std::initializer_list<T> range, std::string_view separator) {
  return StrJoin<std::initializer_list<T>>(range, separator);
}

std::vector<std::string> StrSplit(std::string_view text, char separator);

// The number that the whole of `text` spells, when T can hold it; nothing for any other text.
template <typename T>
std::optional<T> ParseNumber(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// The shortest text that reads back as the same value ("0.1", "1e-05", "inf", "nan").
std::string FormatShortest(double value);
std::string FormatShortest(float value);

// The entry of `candidates` nearest to `name` in edit distance, when it is near enough to be a
// typing mistake. Upper and lower case count as equal. A name that ends in .`name` is the nearest.
std::optional<std::string> NearestName(std::string_view name,
                                       const std::vector<std::string>& candidates);
// `lead` and "did you mean X?", where X is the nearest candidate after its `sigil`, or several
// candidates that begin with `name` when none is one typing mistake away. Empty when none is near.
std::string DidYouMean(std::string_view lead, std::string_view name,
                       const std::vector<std::string>& candidates, std::string_view sigil = "");

}  // namespace tenon

#endif  // TENON_SUPPORT_STRINGS_H_
