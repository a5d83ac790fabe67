// Whether a thread's parallel loops pay: what threads save against what starting them and waiting
// for them costs.
//
// Threads may cost more than they save. A model of small kernels starts them for loops of a
// microsecond. Where other programs use the cores, the last thread of a loop may wait for its turn,
// milliseconds for a loop of microseconds. Losses are accepted as long as other loops make up for
// them. Beyond that, the thread that starts the loops works alone for a while, and for four times
// as long each time that this happens again soon, so that trials take a small part of the time. It
// is not safe for concurrent use: each thread has its own.
//
//   WaitBalance balance;
//   if (!balance.WorksAlone(now)) { ...; balance.Note(end, time_of_one_thread, end - start); }
#ifndef TENON_JIT_RUNTIME_WAIT_BALANCE_H_
#define TENON_JIT_RUNTIME_WAIT_BALANCE_H_

#include <chrono>

namespace tenon::jit {

class WaitBalance {
 public:
  using Clock = std::chrono::steady_clock;

  bool WorksAlone(Clock::time_point now) const { return now < alone_until_; }
  // Notes a loop that ended at `now` and took `taken`. One thread would need `alone` for it.
  void Note(Clock::time_point now, Clock::duration alone, Clock::duration taken);

 private:
  Clock::time_point alone_until_;
  Clock::duration time_alone_{};  // until then, in all
  Clock::duration saved_{};       // by loops, less what others have lost
};

}  // namespace tenon::jit

#endif  // TENON_JIT_RUNTIME_WAIT_BALANCE_H_
