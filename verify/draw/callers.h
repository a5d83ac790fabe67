// Runs of one executable by several callers at once, or by one whose team has one thread. Only
// files inside verify/ include this header.
//
//   Callers callers(executable, inputs, 2);
//   for (const std::vector<NDArray>& results : callers.InARegion()) ...
#ifndef TENON_VERIFY_DRAW_CALLERS_H_
#define TENON_VERIFY_DRAW_CALLERS_H_

#include <vector>

#include "tenon/compiler/compile.h"

namespace tenon::verify {

// All throw what the runs return. Results stay until the next runs.
class Callers {
 public:
  // Both must outlive it. `threads` are those of each session. There are more callers than cores.
  Callers(const Executable& executable, const runtime::Inputs& inputs, int threads);

  std::vector<std::vector<NDArray>> OnThreads();
  // No team has more than one thread, whatever the kernels were made for.
  std::vector<std::vector<NDArray>> InATeamOfOne();
  // Iterations of a parallel region run it.
  std::vector<std::vector<NDArray>> InARegion();

 private:
  int callers() const { return static_cast<int>(results_.size()); }
  void Run(int caller);
  std::vector<std::vector<NDArray>> Take() const;

  const Executable& executable_;
  const runtime::Inputs& inputs_;
  const int threads_;
  std::vector<absl::StatusOr<std::vector<NDArray>>> results_;  // of each caller
};

}  // namespace tenon::verify

#endif  // TENON_VERIFY_DRAW_CALLERS_H_
