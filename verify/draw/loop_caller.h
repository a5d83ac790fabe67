// Makes calls on the loops of a stage (random_schedule.h).
//
//   class Caller : public LoopCaller { ... return CallOnLoop(stage); ... };
#ifndef TENON_VERIFY_DRAW_LOOP_CALLER_H_
#define TENON_VERIFY_DRAW_LOOP_CALLER_H_

#include <vector>

#include "tenon/verify/draw/call_operands.h"

namespace tenon::verify {

class LoopCaller : public CallOperands {
 public:
  using CallOperands::CallOperands;

 protected:
  // Makes the call, of a primitive that takes a loop; false when the stage lacks what it needs. The
  // stage must have loops.
  bool CallOnLoop(schedule::Stage& stage);
  bool VectorizeSpace(schedule::Stage& stage);

 private:
  void Reorder(schedule::Stage& stage);
  bool RFactor(schedule::Stage& stage);
  void Pragma(schedule::Stage& stage, const te::IterVar& axis);
  void Prefetch(schedule::Stage& stage, const te::IterVar& axis);
};

}  // namespace tenon::verify

#endif  // TENON_VERIFY_DRAW_LOOP_CALLER_H_
