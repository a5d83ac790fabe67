// Races the candidates for one kernel against its default, on this machine.
//
// A candidate must give the default's results before it races. A win is raced once more, and only
// the second race counts, as the first one was picked for its luck.
//
//   Contest contest(kernel, options, run);
//   auto contender = MakeContender(kernel, Always("te.dense.tiled", {{"rows", 6}}), options);
//   Outcome outcome = contest.Race(std::move(contender), stopped);
#ifndef TENON_TUNE_CONTEST_H_
#define TENON_TUNE_CONTEST_H_

#include <functional>
#include <string>
#include <vector>

#include "tenon/tune/kernel.h"
#include "tenon/tune/outcome.h"

namespace tenon::tune {

class Contest {
 public:
  // Makes the default. Throws what compiling and running it throw. `run` is that of the records.
  Contest(const ModelKernel& kernel, const CompileOptions& options, std::string run);

  // An error of `contender` says why it is refused.
  Outcome Race(absl::StatusOr<Contender> contender, const std::function<bool()>& stopped);

 private:
  void RaceWith(Contender& contender, const std::function<bool()>& stopped, Outcome* outcome);

  const ModelKernel* kernel_;
  CompileOptions options_;
  std::string run_;
  Contender standard_;
  std::vector<std::vector<NDArray>> expected_;  // by shape
};

// A record of now for the kernel, without a choice and times.
Record MakeRecord(const ModelKernel& kernel, const CompileOptions& options, const std::string& run);
// Of rounds, in their order.
void SetTimes(const std::vector<double>& times, const std::vector<double>& default_times,
              Record* record);

}  // namespace tenon::tune

#endif  // TENON_TUNE_CONTEST_H_
