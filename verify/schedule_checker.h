// One case of the fuzzer of schedules: random calls on a computation, whose loops are compiled and
// run on guarded arrays. Only files of verify/ include this header.
#ifndef TENON_VERIFY_SCHEDULE_CHECKER_H_
#define TENON_VERIFY_SCHEDULE_CHECKER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tenon/loop/function.h"
#include "tenon/schedule/schedule.h"
#include "tenon/verify/fuzz_schedule.h"

namespace tenon::verify {

using ScheduleCalls = std::vector<ScheduleCall>;

struct ScheduleFinding {
  enum class Kind { kInternalError, kRecord, kCompile, kMemory, kWrong };
  Kind kind;
  std::string words;
};

class ScheduleChecker {
 public:
  // Keeps references to both. The inputs follow from the seed.
  ScheduleChecker(const RandomGraph& graph, std::uint64_t seed, FuzzStatistics* statistics);

  // Makes the calls, and removes those that are refused from the list.
  std::optional<ScheduleFinding> Check(ScheduleCalls* calls);
  std::optional<ScheduleFinding> CheckSchedule(const schedule::Schedule& s);
  // The results of the interpreter.
  const std::vector<NDArray>& Expected();

 private:
  std::optional<ScheduleFinding> Make(ScheduleCalls* calls, schedule::Schedule* s) const;
  absl::StatusOr<loop::Function> LoopsOf(const schedule::Schedule& s) const;
  std::optional<ScheduleFinding> CheckLoops(const schedule::Schedule& s,
                                            const loop::Function& loops);
  std::optional<ScheduleFinding> CheckRun(const loop::Function& loops);
  std::optional<ScheduleFinding> CheckResults(const std::vector<NDArray>& arrays);

  const RandomGraph& graph_;
  FuzzStatistics* statistics_;
  std::vector<te::Tensor> args_;
  std::vector<NDArray> inputs_, expected_;
  double relative_ = 0;
};

// Checks a case in which anything may be thrown.
std::optional<ScheduleFinding> CheckCase(const RandomGraph& graph, std::uint64_t seed,
                                         ScheduleCalls* calls, FuzzStatistics* statistics);

}  // namespace tenon::verify

#endif  // TENON_VERIFY_SCHEDULE_CHECKER_H_
