#include "tenon/strategies/candidate.h"

#include <cstdint>

#include "tenon/support/strings.h"

namespace tenon::strategies {

std::optional<std::size_t> BestOf(const std::vector<Candidate>& rows) {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].refusal) continue;
    const Candidate* leader = best ? &rows[*best] : nullptr;
    const bool is_better = leader == nullptr || rows[i].priority > leader->priority ||
                           (rows[i].priority == leader->priority && rows[i].cycles &&
                            leader->cycles && *rows[i].cycles < *leader->cycles);
    if (is_better) best = i;
  }
  return best;
}

std::string ToText(const std::vector<Candidate>& rows, std::optional<std::size_t> chosen) {
  std::string text;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Candidate& row = rows[i];
    StrAppend(&text, "  ", row.name, " (priority ", row.priority);
    if (row.cycles) StrAppend(&text, ", ", static_cast<std::int64_t>(*row.cycles), " cycles");
    StrAppend(&text, "): ",
              row.refusal    ? StrCat("no, ", *row.refusal)
              : chosen != i  ? "not needed"
              : row.measured ? StrCat("chosen, measured: ", *row.measured)
                             : "chosen, the best whose condition holds",
              "\n");
  }
  return text;
}

}  // namespace tenon::strategies
