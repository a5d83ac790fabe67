// What the numbers of a call choose among what a schedule has at that time (random_schedule.h).
// Only what makes such calls includes this header.
//
//   class Caller : public CallOperands { ... stage.Split(Pick(stage.leaves()), Factor()); ... };
#ifndef TENON_VERIFY_DRAW_CALL_OPERANDS_H_
#define TENON_VERIFY_DRAW_CALL_OPERANDS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "tenon/schedule/schedule.h"
#include "tenon/verify/draw/random_schedule.h"

namespace tenon::verify {

class CallOperands {
 public:
  // Both must outlive this.
  CallOperands(const ScheduleCall& call, schedule::Schedule& schedule)
      : call_(call), s_(schedule) {}

 protected:
  // The numbers in turn, from the first again after the last.
  std::uint32_t Next() { return call_.choices[next_++ % call_.choices.size()]; }
  template <typename T>
  const T& Pick(const std::vector<T>& list) {
    return list[Next() % list.size()];
  }
  loop::Expr Factor();
  // Mostly that which is always legal.
  schedule::Tail RandomTail();

  std::vector<schedule::Stage*> ReadersOf(const te::Tensor& tensor);
  // The last leaf axis that runs over elements of the result.
  static std::optional<te::IterVar> InnermostSpace(const schedule::Stage& stage);

  const ScheduleCall& call_;
  schedule::Schedule& s_;

 private:
  std::size_t next_ = 0;
};

}  // namespace tenon::verify

#endif  // TENON_VERIFY_DRAW_CALL_OPERANDS_H_
