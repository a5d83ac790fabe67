// The races that decide inside of the model what won alone.
//
// First each kernel that records decide is timed within the model, then the whole by those that
// win. Where one wins nothing there, the next best choice for it has its turn. If the whole is
// slower, nothing is kept.
//
//   Decision decision = Decide({.wins = wins, .seconds = 20}, {lowered, standard, kernels, shapes},
//                              options, run);
#ifndef TENON_TUNE_DECIDE_H_
#define TENON_TUNE_DECIDE_H_

#include <string>
#include <vector>

#include "tenon/compiler/compile.h"
#include "tenon/tune/jobs.h"
#include "tenon/tune/kernel.h"

namespace tenon::tune {

// A model that is lowered and linked by default.
struct DefaultModel {
  const Lowered& lowered;
  const Executable& executable;
  const std::vector<ModelKernel>& kernels;
  const Shapes& shapes;
};

// Throws what compiling and running throw.
Decision Decide(const DecideJob& job, const DefaultModel& model, const CompileOptions& options,
                const std::string& run);

}  // namespace tenon::tune

#endif  // TENON_TUNE_DECIDE_H_
