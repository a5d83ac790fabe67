// Whether runs of a plan are faster on one thread, found by trying.
//
// A model of kernels of a few microseconds may lose more by starting threads than these save: by a
// factor of two and more, which depends on the machine and on what else runs there. So short runs
// are timed both ways, a few on the threads that are set, then a few whose parallel loops stay on
// the calling thread. The faster way is kept for about two seconds of runs, then both are tried
// again. Longer runs take the threads. Generated kernels give the same bits either way; kernels of
// libraries take their threads always. Not safe for concurrent use.
//
//   ThreadTrial trial;
//   trial.Run([&] { CallAllKernels(); });
#ifndef TENON_RUNTIME_THREAD_TRIAL_H_
#define TENON_RUNTIME_THREAD_TRIAL_H_

#include <chrono>
#include <cstdint>
#include <optional>

#include "tenon/jit/runtime/parallel_runtime.h"
#include "tenon/runtime/thread_choice.h"

namespace tenon::runtime {

class ThreadTrial {
 public:
  using Clock = std::chrono::steady_clock;

  // Whether the next run stays on one thread.
  bool works_alone() const { return works_alone_; }
  // What the last trial found; nothing before the first has ended.
  const std::optional<ThreadChoice>& choice() const { return choice_; }
  // Whether the next run is timed.
  bool is_trial() const { return runs_until_trial_ == 0; }

  template <typename Body>
  void Run(const Body& body) {
    const bool is_timed = is_trial();
    const Clock::time_point start = is_timed ? Clock::now() : Clock::time_point();
    Untimed(body);
    Note(is_timed ? Clock::now() - start : Clock::duration());
  }
  // A run that counts for nothing.
  template <typename Body>
  void Untimed(const Body& body) const {
    std::optional<jit::ScopedAlone> alone;
    if (works_alone_) alone.emplace();
    body();
  }

  // The next run took this long, which is looked at in trials alone.
  void Note(Clock::duration taken);

 private:
  void Keep(const ThreadChoice& choice);

  bool works_alone_ = false;
  std::int64_t runs_until_trial_ = 0;
  int runs_of_trial_ = 0;
  Clock::duration least_{};  // of the way that is tried
  Clock::duration least_on_threads_{};
  std::optional<ThreadChoice> choice_;
};

}  // namespace tenon::runtime

#endif  // TENON_RUNTIME_THREAD_TRIAL_H_
