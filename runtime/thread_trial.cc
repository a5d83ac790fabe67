#include "tenon/runtime/thread_trial.h"

#include <algorithm>

namespace tenon::runtime {
namespace {

// Longer runs gain by threads, and would pay for a trial.
constexpr std::chrono::milliseconds kLongest(2);
// Runs of each way. The first one finds its data in the caches of other cores.
constexpr int kRuns = 6;
constexpr std::chrono::seconds kKept(2);
// One thread must be this much faster: it also leaves the other cores to others.
constexpr double kMargin = 0.95;

}  // namespace

void ThreadTrial::Note(Clock::duration taken) {
  if (runs_until_trial_ > 0) {
    --runs_until_trial_;
    if (runs_until_trial_ == 0) works_alone_ = false;
    return;
  }
  ++runs_of_trial_;
  if (runs_of_trial_ == 1) return;
  least_ = runs_of_trial_ == 2 ? taken : std::min(least_, taken);
  if (!works_alone_ && least_ > kLongest) return Keep(false, least_);
  if (runs_of_trial_ < kRuns) return;
  if (works_alone_) {
    const bool is_faster = static_cast<double>(least_.count()) <
                           kMargin * static_cast<double>(least_on_threads_.count());
    return Keep(is_faster, is_faster ? least_ : least_on_threads_);
  }
  least_on_threads_ = least_;
  works_alone_ = true;
  runs_of_trial_ = 0;
}

void ThreadTrial::Keep(bool works_alone, Clock::duration of_run) {
  works_alone_ = works_alone;
  runs_of_trial_ = 0;
  runs_until_trial_ = std::max<std::int64_t>(
      kRuns, kKept / std::max<Clock::duration>(of_run, std::chrono::microseconds(1)));
}

}  // namespace tenon::runtime
