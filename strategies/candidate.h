// The rule by which one of several ways to make a kernel is chosen.
//
// Each way is a row of a table. It is weighed for the kernel at hand: it is refused in words, or it
// holds, maybe with an estimate of its time. A measurement (measured.h) beats priority and
// estimate.
//
//   std::vector<Candidate> rows = {{.name = "row_tiled", .refusal = "..."}, {.name = "tiled"}};
//   BestOf(rows) == 1;
#ifndef TENON_STRATEGIES_CANDIDATE_H_
#define TENON_STRATEGIES_CANDIDATE_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace tenon::strategies {

// Ranks the rows whose times nobody can estimate yet. A row's condition says where it is better
// than those of lower priority.
enum Priority : int {
  kGenerated = 0,
  kLibrary = 10,
  // Takes fewer operations than the plain sum of any library.
  kFewerOperations = 20,
  // Matrix instructions, which save more than that.
  kMatrixInstructions = 30,
  // The code generator of this composite.
  kCodeGenerator = 1000,
};

struct Candidate {
  std::string name;
  int priority = kGenerated;
  std::optional<double> cycles;        // estimated, of one core of the target
  std::optional<std::string> refusal;  // why it is not taken
  // How it was measured to be the best, if it is taken for that. At most one row has this.
  std::optional<std::string> measured = std::nullopt;
};

// The row of the highest priority that is not refused. Among equals it is the first one, unless a
// later one has fewer cycles than it. Nothing where all are refused.
std::optional<std::size_t> BestOf(const std::vector<Candidate>& rows);

// One line per row: " NAME (priority P, C cycles): ", then that it is chosen, why it is refused, or
// that it is not needed.
std::string ToText(const std::vector<Candidate>& rows, std::optional<std::size_t> chosen);

}  // namespace tenon::strategies

#endif  // TENON_STRATEGIES_CANDIDATE_H_
