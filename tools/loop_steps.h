// The steps of the loop pipeline, for --after and --dump-loops.
//
//   LoopSteps steps("HoistGuards", "dumps");
//   options.loop_observer = steps.Observer();
//   ...
//   steps.LoopsAfter("fused_nn_dense");  steps.WriteDumps();
#ifndef TENON_TOOLS_LOOP_STEPS_H_
#define TENON_TOOLS_LOOP_STEPS_H_

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "tenon/loop/pipeline_options.h"

namespace tenon::tools {

class LoopSteps {
 public:
  // `after` is the name of a step, `folder` one for dumps; empty: none. Makes the folder; throws
  // NotFound where it cannot.
  LoopSteps(std::string after, std::string folder);

  // Null where there is nothing to keep. Several threads may call it; this object must outlive it.
  loop::PipelineObserver Observer();
  bool ShowsAStep() const { return !after_.empty(); }
  // The loops of that function after the step; a comment for one whose loops are made without it,
  // as by hand.
  std::string LoopsAfter(const std::string& function) const;
  // Writes FOLDER/FUNCTION/NUMBER_STEP.txt for each step that changed a function, and
  // FOLDER/steps.txt: for each step how many functions it changed, and its time. No folder, no
  // files.
  void WriteDumps() const;

 private:
  struct Totals {
    std::string name;
    int changed = 0;
    std::int64_t nanoseconds = 0;
  };
  void Keep(const loop::PipelineStep& step);

  const std::string after_, folder_;
  std::mutex mutex_;
  std::map<std::string, std::string> loops_after_;                    // by function
  std::map<std::pair<std::string, std::string>, std::string> dumps_;  // by function and step
  std::map<int, Totals> totals_;                                      // by number
};

}  // namespace tenon::tools

#endif  // TENON_TOOLS_LOOP_STEPS_H_
