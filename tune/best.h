// Which records count: the rule by which measurements decide.
//
// Of each choice for a kernel the record of the widest scope counts, and of those the latest. The
// best choice is the one of the least ratio, if it beats the default by more than noise and by a
// part that matters. Where a kernel was raced inside a model, only choices raced there count. Of a
// kernel of variable extents, only races over sizes of the class of the latest one do. The
// rule reads nothing but the set of records; so files that are merged in any order decide alike.
//
//   std::map<std::string, Record> best = BestOf(records);  // by content
#ifndef TENON_TUNE_BEST_H_
#define TENON_TUNE_BEST_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tenon/strategies/choice/measured.h"
#include "tenon/tune/records.h"

namespace tenon::tune {

// A gain below a hundredth is not worth another kernel.
inline constexpr double kMinGain = 0.01;

// Whether the choice is faster than the default, whatever the noise says.
bool IsWin(const Record& record);

// The record that counts, of each choice. All must be of one target and number of threads.
std::vector<Record> Counting(const std::vector<Record>& records);
// kUnconfirmed: choices that have won alone count even where the kernel was raced inside a model by
// other choices only. A search asks for these, to race them next.
enum class Wins : std::uint8_t { kConfirmed, kUnconfirmed };
// The records that count and are wins.
std::vector<Record> Winning(const std::vector<Record>& records, Wins wins = Wins::kConfirmed);
// The best of these, by content.
std::map<std::string, Record> BestOf(const std::vector<Record>& records,
                                     Wins wins = Wins::kConfirmed);

// What is known of a kernel: the best of all choices raced for it, the default (ratio 1) among
// them.
struct KnownBest {
  std::string choice;
  double ratio = 1;
  std::size_t raced = 0;  // choices, without the default
};
std::map<std::string, KnownBest> KnownBestOf(const std::vector<Record>& records);  // by content

// "te.dense.tiled rows=6 vectors=3" and back.
std::string ChoiceText(const std::string& row, const strategies::ConfigValues& config);
std::string RowOf(const std::string& choice);
// Throws InvalidArgument for a text that is not a choice.
strategies::MeasuredChoice ChoiceOf(const Record& record);

// "0.93 x of default, 40 rounds, 2026-11-25, this CPU"; with its shapes before the date, if the
// record has some.
std::string EvidenceText(const Record& record);

// Those of the files for this target and number of threads; 0: all cores.
absl::StatusOr<std::vector<Record>> RecordsFor(std::span<const Records> files, const Target& target,
                                               int threads = 0);

// What the records say about kernels for this target and number of threads; 0: all cores. The files
// are read now, and not again; records of several count as those of one.
absl::StatusOr<strategies::MeasuredChoices> ChoicesFor(std::span<const Records> files,
                                                       const Target& target, int threads = 0,
                                                       Wins wins = Wins::kConfirmed);
absl::StatusOr<strategies::MeasuredChoices> ChoicesFor(const Records& records, const Target& target,
                                                       int threads = 0,
                                                       Wins wins = Wins::kConfirmed);

}  // namespace tenon::tune

#endif  // TENON_TUNE_BEST_H_
