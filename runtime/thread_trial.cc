#include "tenon/runtime/thread_trial.h"

#include <algorithm>

#include "tenon/support/strings.h"

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
  if (!works_alone_ && least_ > kLongest) return Keep({.on_threads = least_});
  if (runs_of_trial_ < kRuns) return;
  if (works_alone_) {
    const bool is_faster = static_cast<double>(least_.count()) <
                           kMargin * static_cast<double>(least_on_threads_.count());
    return Keep({.works_alone = is_faster, .on_threads = least_on_threads_, .alone = least_});
  }
  least_on_threads_ = least_;
  works_alone_ = true;
  runs_of_trial_ = 0;
}

void ThreadTrial::Keep(const ThreadChoice& choice) {
  choice_ = choice;
  works_alone_ = choice.works_alone;
  runs_of_trial_ = 0;
  const Clock::duration of_run = works_alone_ ? choice.alone : choice.on_threads;
  runs_until_trial_ = std::max<std::int64_t>(
      kRuns, kKept / std::max<Clock::duration>(of_run, std::chrono::microseconds(1)));
}

std::string ToText(const ThreadChoice& choice) {
  const auto ms = [](std::chrono::nanoseconds time) {
    return StrCat(std::chrono::duration<double, std::milli>(time).count(), " ms");
  };
  if (choice.works_alone)
    return StrCat("one, which takes ", ms(choice.alone), "; all that are set take ",
                  ms(choice.on_threads));
  if (choice.alone == std::chrono::nanoseconds::zero())
    return StrCat("all that are set; ", ms(choice.on_threads), " is too long to try one");
  return StrCat("all that are set, which take ", ms(choice.on_threads), "; one takes ",
                ms(choice.alone));
}

}  // namespace tenon::runtime
