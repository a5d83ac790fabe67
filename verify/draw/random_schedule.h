// Random schedules: calls of all primitives with random operands.
//
// A call is stored as numbers that choose its operands among those that the schedule has at that
// time. So a list of calls with one left out is still a list of calls.
//
//   Schedule s(outputs);
//   for (const ScheduleCall& call : calls) Apply(call, s);
#ifndef TENON_VERIFY_DRAW_RANDOM_SCHEDULE_H_
#define TENON_VERIFY_DRAW_RANDOM_SCHEDULE_H_

#include <array>
#include <cstdint>
#include <vector>

#include "tenon/schedule/schedule.h"
#include "tenon/verify/array_values.h"

namespace tenon::verify {

enum class Primitive {
  kSplit,
  kSplitParts,
  kFuse,
  kFuseNothing,
  kReorder,
  kTile,
  kVectorize,
  kUnroll,
  kParallel,
  kComputeAt,
  kComputeWith,
  kStoreAt,  // or the root
  kComputeInline,
  kComputeRoot,
  kCacheRead,
  kCacheWrite,
  kRFactor,
  kSetScope,
  kDoubleBuffer,
  kRollingBuffer,
  kStorageAlign,
  kPragma,
  kStreamStores,
  kPrefetch,
  kTransformLayout,
  kTensorize,       // with the splits and the reorder that it needs
  kVectorizeSpace,  // the innermost spatial axis, possibly split, inside all reductions
  kBind,            // always refused
};

struct ScheduleCall {
  Primitive primitive;
  std::array<std::uint32_t, 6> choices;
};

// Whether a refused call may have made some steps already.
bool HasSeveralSteps(Primitive primitive);

std::vector<ScheduleCall> RandomCalls(Random& random);

// Makes the call; false when there is nothing to call it on. Throws what the primitive throws.
bool Apply(const ScheduleCall& call, schedule::Schedule& schedule);

}  // namespace tenon::verify

#endif  // TENON_VERIFY_DRAW_RANDOM_SCHEDULE_H_
