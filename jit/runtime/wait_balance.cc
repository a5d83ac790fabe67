#include "tenon/jit/runtime/wait_balance.h"

#include <algorithm>

namespace tenon::jit {
namespace {

using Duration = WaitBalance::Clock::duration;

// What a trial may lose. That is time for enough loops to tell, and small ones may come first.
// Making the pool of threads costs less, too.
constexpr std::chrono::microseconds kTrial(500);
// Loops long ago do not make up for the losses of today.
constexpr std::chrono::milliseconds kMaxSaved(20);
constexpr int kGrowth = 4;
constexpr std::chrono::seconds kMaxAlone(1);

}  // namespace

void WaitBalance::Note(Clock::time_point now, Duration alone, Duration taken) {
  saved_ = std::min<Duration>(saved_ + alone - taken, kMaxSaved);
  const Duration lost = -saved_;
  if (lost <= kTrial) return;
  saved_ = Duration::zero();
  const bool is_soon = now - lost < alone_until_ + time_alone_;
  time_alone_ = std::clamp<Duration>(is_soon ? kGrowth * time_alone_ : lost, lost,
                                     std::max<Duration>(lost, kMaxAlone));
  alone_until_ = now + time_alone_;
}

}  // namespace tenon::jit
