// A model by two sets of choices, timed by turns: kernel by kernel, and whole. Each round runs it
// on all of its shapes.
//
//   ModelRace race(by_records, by_default, shapes);
//   race.Run({.seconds = 5});
//   race.CandidateTimes(kernel.nodes);  // a sum for each round
#ifndef TENON_TUNE_MODEL_RACE_H_
#define TENON_TUNE_MODEL_RACE_H_

#include <map>
#include <string>
#include <vector>

#include "tenon/compiler/compile.h"
#include "tenon/tune/inputs.h"
#include "tenon/tune/race.h"

namespace tenon::tune {

// Limits of such a race: a run is long enough for a sample, and no ratio ends it early.
inline constexpr RaceLimits kModelRaceLimits = {
    .min_rounds = 16, .max_rounds = 400, .sample_s = 0, .hopeless = 1e9};

// Of executables of one module.
class ModelRace {
 public:
  ModelRace(const Executable& candidate, const Executable& standard, const Shapes& shapes);

  // With the time of every node taken.
  void RunProfiled(const RaceLimits& limits);
  // Of the profiled rounds, the sum over these nodes.
  std::vector<double> CandidateTimes(const std::vector<std::string>& nodes) const;
  std::vector<double> StandardTimes(const std::vector<std::string>& nodes) const;
  // Without.
  Race& whole() { return whole_; }

 private:
  using NodeTimes = std::map<std::string, double>;

  std::vector<runtime::Inputs> inputs_;  // by shape
  Session candidate_, standard_;
  std::vector<NodeTimes> candidate_times_, standard_times_;  // by round
  Race whole_;
};

}  // namespace tenon::tune

#endif  // TENON_TUNE_MODEL_RACE_H_
