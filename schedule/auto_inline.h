// Inlining of whole classes of stages, by what their bodies show.
//
//   AutoInlineInjective(s);
#ifndef TENON_SCHEDULE_AUTO_INLINE_H_
#define TENON_SCHEDULE_AUTO_INLINE_H_

#include "tenon/schedule/schedule.h"

namespace tenon::schedule {

// Each class holds the one before it.
enum class Dataflow {
  kElementwise,  // reads every tensor at exactly its own index
  kBroadcast,    // reads at some of its own indices, in their order
  kInjective,    // any operation that is not a reduction
  kReduction,
};
Dataflow DataflowOf(const te::OperationNode& op);

// Inline every computed stage of that class that has one output, is not an output of the schedule,
// and is not computed at a loop.
void AutoInlineElemWise(Schedule& schedule);
void AutoInlineBroadcast(Schedule& schedule);
void AutoInlineInjective(Schedule& schedule);

}  // namespace tenon::schedule

#endif  // TENON_SCHEDULE_AUTO_INLINE_H_
