#include "tenon/support/strings.h"

#include <algorithm>
#include <cctype>
#include <numeric>

namespace tenon {
namespace {

template <typename T>
std::string Shortest(T value) {
  char buffer[64];
  const auto result = std::to_chars(buffer, buffer + sizeof(buffer), value);
  return std::string(buffer, result.ptr);
}

std::string InSmallLetters(std::string_view text) {
  std::string small(text);
  std::transform(small.begin(), small.end(), small.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return small;
}

// Levenshtein distance with one row of state (Wagner & Fischer, 1974).
std::size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({substituted, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::vector<std::string> StrSplit(std::string_view text, char separator) {
  std::vector<std::string> pieces;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    pieces.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return pieces;
}

std::string FormatShortest(double value) { return Shortest(value); }
std::string FormatShortest(float value) { return Shortest(value); }

std::optional<std::string> NearestName(std::string_view name,
                                       const std::vector<std::string>& candidates) {
  std::optional<std::string> nearest;
  const std::string typed = InSmallLetters(name);
  std::size_t best = std::max<std::size_t>(2, name.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    const std::string known = InSmallLetters(candidate);
    const std::size_t distance =
        !typed.empty() && known.ends_with("." + typed) ? 0 : EditDistance(typed, known);
    if (distance < best) {
      best = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

std::string DidYouMean(std::string_view lead, std::string_view name,
                       const std::vector<std::string>& candidates, std::string_view sigil) {
  const std::optional<std::string> nearest = NearestName(name, candidates);
  // When a name was typed in part, names that continue it are more likely than one that looks
  // alike.
  constexpr std::size_t kMinTyped = 3;
  constexpr std::size_t kMaxNames = 6;
  std::vector<std::string> longer;
  for (const std::string& candidate : candidates) {
    if (name.size() >= kMinTyped && candidate.starts_with(name))
      longer.push_back(StrCat(sigil, candidate));
  }
  const bool is_slip = nearest && EditDistance(name, *nearest) <= 1;
  if (longer.size() > 1 && !is_slip) {
    const bool are_all = longer.size() <= kMaxNames;
    longer.resize(std::min(longer.size(), kMaxNames));
    return StrCat(lead, "did you mean ", StrJoin(longer, ", "), are_all ? "?" : ", ...?");
  }
  return nearest ? StrCat(lead, "did you mean ", sigil, *nearest, "?") : std::string();
}

}  // namespace tenon
