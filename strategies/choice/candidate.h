// The rule by which one of several ways to make a kernel is chosen.
//
// Each way is a row of a table. It is weighed for the kernel at hand: it is refused in words, or it
// holds, maybe with an estimate of its time. The least estimate wins. A row that nobody can
// estimate yet stands in the table before those that it beats wherever its condition holds. A
// measurement (measured.h) beats all of this.
//
//   std::vector<Candidate> rows = {{.name = "row_tiled", .refusal = "..."}, {.name = "tiled"}};
//   BestOf(rows) == 1;
#ifndef TENON_STRATEGIES_CHOICE_CANDIDATE_H_
#define TENON_STRATEGIES_CHOICE_CANDIDATE_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace tenon::strategies {

// That of a composite's code generator, which is asked for.
inline constexpr int kCodeGenerator = 1000;

struct Candidate {
  std::string name;
  // What the author of a row says. The rows that Tenon has all have 0.
  int priority = 0;
  std::optional<double> cycles;        // estimated, of one core of the target
  std::optional<std::string> refusal;  // why it is not taken
  // How it was measured to be the best, if it is taken for that. At most one row has this.
  std::optional<std::string> measured = std::nullopt;
};

// Of the rows that are not refused, those of the highest priority stay. Of these it is the one of
// the fewest cycles, the first among equals; rows after the first one without an estimate do not
// count, and that one is taken if none before it has an estimate. Nothing where all are refused.
std::optional<std::size_t> BestOf(const std::vector<Candidate>& rows);

// One line per row: "  NAME (priority P, C cycles): ", without what it does not have, then that it
// is chosen, why it is refused, or that it is not needed.
std::string ToText(const std::vector<Candidate>& rows, std::optional<std::size_t> chosen);

}  // namespace tenon::strategies

#endif  // TENON_STRATEGIES_CHOICE_CANDIDATE_H_
