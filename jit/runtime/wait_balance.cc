#include "tenon/jit/runtime/wait_balance.h"

#include <algorithm>

namespace tenon::jit {
namespace {

using Duration = WaitBalance::Clock::duration;

// Waiting that shares of different work, or a thread that has to be woken, do not explain.
constexpr std::chrono::microseconds kLongWait(500);
constexpr int kMaxShare = 2;
// Loops long ago do not pay for waits of today.
constexpr std::chrono::milliseconds kMaxSaved(20);
constexpr int kGrowth = 4;
constexpr std::chrono::seconds kMaxAlone(1);

}  // namespace

void WaitBalance::Note(Clock::time_point now, Duration own_share, Duration wait) {
  if (wait <= kMaxShare * own_share + kLongWait) {
    saved_ = std::min<Duration>(saved_ + own_share, kMaxSaved);
    return;
  }
  saved_ -= wait;
  if (saved_ >= Duration::zero()) return;
  saved_ = Duration::zero();
  const bool is_soon = now - wait < alone_until_ + time_alone_;
  time_alone_ = std::clamp<Duration>(is_soon ? kGrowth * time_alone_ : wait, wait,
                                     std::max<Duration>(wait, kMaxAlone));
  alone_until_ = now + time_alone_;
}

}  // namespace tenon::jit
