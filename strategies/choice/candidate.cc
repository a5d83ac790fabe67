#include "tenon/strategies/choice/candidate.h"

#include <algorithm>
#include <cstdint>

#include "tenon/support/strings.h"

namespace tenon::strategies {
namespace {

// An author's estimate may be any number, or infinite.
std::string WholeOf(double cycles) {
  constexpr double kMost = 1e18;
  return cycles < kMost ? StrCat(static_cast<std::int64_t>(cycles)) : FormatShortest(cycles);
}

}  // namespace

std::optional<std::size_t> BestOf(const std::vector<Candidate>& rows) {
  std::optional<int> priority;
  for (const Candidate& row : rows) {
    if (!row.refusal) priority = std::max(row.priority, priority.value_or(row.priority));
  }
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].refusal || rows[i].priority != priority) continue;
    if (!rows[i].cycles) return best ? best : i;
    if (!best || *rows[i].cycles < *rows[*best].cycles) best = i;
  }
  return best;
}

std::string ToText(const std::vector<Candidate>& rows, std::optional<std::size_t> chosen) {
  std::string text;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Candidate& row = rows[i];
    std::vector<std::string> facts;
    if (row.priority != 0) facts.push_back(StrCat("priority ", row.priority));
    if (row.cycles) facts.push_back(StrCat(WholeOf(*row.cycles), " cycles"));
    StrAppend(&text, "  ", row.name);
    if (!facts.empty()) StrAppend(&text, " (", StrJoin(facts, ", "), ")");
    StrAppend(&text, ": ",
              row.refusal    ? StrCat("no, ", *row.refusal)
              : chosen != i  ? "not needed"
              : row.measured ? StrCat("chosen, measured: ", *row.measured)
                             : "chosen, the best whose condition holds",
              "\n");
  }
  return text;
}

}  // namespace tenon::strategies
