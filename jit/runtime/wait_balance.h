// Whether a thread's parallel loops are worth their waits for other threads.
//
// Where other programs use the cores, the last thread of a loop may wait for its turn, milliseconds
// for a loop of microseconds. As long as what threads save outweighs these waits, they are borne.
// Beyond that the thread that starts the loops works alone, for as long as it has waited in vain,
// and for four times as long each time that this happens again soon, so that on a busy machine
// waiting takes a small part of the time. Not safe for concurrent use: a thread has its own.
//
//   WaitBalance balance;
//   if (!balance.WorksAlone(now)) { ...; balance.Note(end, own_share, end - start - own_share); }
#ifndef TENON_JIT_RUNTIME_WAIT_BALANCE_H_
#define TENON_JIT_RUNTIME_WAIT_BALANCE_H_

#include <chrono>

namespace tenon::jit {

class WaitBalance {
 public:
  using Clock = std::chrono::steady_clock;

  bool WorksAlone(Clock::time_point now) const { return now < alone_until_; }
  // A loop that ended at `now`, in which this thread worked for `own_share` and waited for `wait`.
  void Note(Clock::time_point now, Clock::duration own_share, Clock::duration wait);

 private:
  Clock::time_point alone_until_;
  Clock::duration time_alone_{};  // until then, in all
  Clock::duration saved_{};       // by loops, less what waits have cost
};

}  // namespace tenon::jit

#endif  // TENON_JIT_RUNTIME_WAIT_BALANCE_H_
