// Records of races: which choice for which kernel on which machine, and how long it took.
//
// A record never changes, so that files of records are sets: merging is their union, and any number
// of processes may add to one file at once. What Add has returned from is on disk. docs/tuning.md
// describes the file, which any program that reads SQLite can query.
//
//   Records records = Records::Open("records.sqlite", Access::kWrite).value();
//   absl::Status status = records.Add(record, text);
//   CompileOptions options{.measured = ChoicesFor(records, target, threads).value()};  // best.h
#ifndef TENON_TUNE_RECORDS_H_
#define TENON_TUNE_RECORDS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tenon/support/target.h"
#include "tenon/tune/database.h"

namespace tenon::tune {

// Where a race was run: the kernel alone, the kernel within a model, or a whole model with this and
// other choices.
enum class Scope : std::uint8_t { kKernel, kModel, kWhole };
const char* ToString(Scope scope);

struct Record {
  std::string content;  // strategies/choice/content.h
  std::string target;   // TargetText
  std::int64_t threads = 0;
  std::string choice;  // "te.dense.tiled rows=6 vectors=3"
  std::string over;    // the default, as such a text
  Scope scope = Scope::kKernel;
  // Times of the choice as parts of those of the default in the same round: their median, and by
  // how much it may differ.
  double ratio = 1, noise = 0;
  std::int64_t rounds = 0;
  double least_s = 0, median_s = 0, default_least_s = 0, default_median_s = 0;
  std::string versions;  // "tenon 0.1.0, LLVM 19.1.7, oneDNN 2.6.3"
  std::string date;      // "2026-11-25T19:43:01Z"
  std::string run;       // of the process that measured it
  std::string shapes;    // "d0=1..128": values of the content's variables; empty: it has none
  // The least time that the machine needs for the arithmetic and the bytes of what `least_s` is of
  // (floors.h); 0: not known.
  double floor_s = 0;

  friend bool operator==(const Record&, const Record&) = default;
};

// All that makes two machines differ for a kernel: the line for people, and a hash of the features.
std::string TargetText(const Target& target);
// How many threads run there where `threads` may be 0, which stands for all cores.
inline int ThreadsOn(const Target& target, int threads) {
  return threads == 0 ? target.cores : threads;
}
// Of this program and the libraries that it runs with.
std::string VersionsText();
// The time now, as records have it.
std::string DateText();

struct RecordWithText {
  Record record;
  std::string text;  // what `record.content` is the key of
};

struct RecordFilter {
  std::optional<std::string> content = std::nullopt;  // or the first digits of it
  std::optional<std::string> target = std::nullopt;
  std::optional<std::int64_t> threads = std::nullopt;
};

// Use it from one thread at a time; several processes may use one file at once.
class Records {
 public:
  // A file of an earlier version of Tenon becomes one of this version when it is opened to write.
  // Errors: those of Database; FailedPrecondition for a file of a later version. A file that is
  // damaged stays as it is.
  static absl::StatusOr<Records> Open(const std::string& path, Access access);

  // `text` is what `record.content` is the key of. A record that is there already stays.
  absl::Status Add(const Record& record, const std::string& text);
  // All of them, or none.
  absl::Status Add(const std::vector<RecordWithText>& records);
  // By content, target, threads, choice and date.
  absl::StatusOr<std::vector<Record>> Find(const RecordFilter& filter = {}) const;
  absl::StatusOr<std::string> TextOf(const std::string& content) const;
  // Adds all of the other file's. Answers how many are new.
  absl::StatusOr<std::int64_t> Merge(const Records& from);
  // Removes these. Answers how many there were.
  absl::StatusOr<std::int64_t> Remove(const std::vector<Record>& records);
  const std::string& path() const { return database_->path(); }

 private:
  explicit Records(std::unique_ptr<Database> database) : database_(std::move(database)) {}
  std::unique_ptr<Database> database_;
};

}  // namespace tenon::tune

#endif  // TENON_TUNE_RECORDS_H_
