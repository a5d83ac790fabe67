// The loop nest of one stage. Only files inside schedule/ include this header.
#ifndef TENON_SCHEDULE_NEST_H_
#define TENON_SCHEDULE_NEST_H_

#include <functional>
#include <vector>

#include "tenon/loop/simplify/simplify.h"
#include "tenon/schedule/region.h"
#include "tenon/schedule/schedule.h"

namespace tenon::schedule {

// Called with each loop's axis and extent, from the innermost loop outwards.
struct LoopHooks {
  loop::Bounds* ranges;  // has those of the loops around, and gets those of constant extents
  using Hook = std::function<loop::Stmt(const IterVar& axis, const loop::Expr& extent,
                                        const loop::Stmt& stmt)>;
  Hook inside;  // takes the loop's body, gives what to put there instead
  Hook around;  // takes the loop itself, likewise
};

// What an operation computes with (te::OperationNode), as it should be in the loops.
struct NestBody {
  std::vector<loop::Expr> values, initial;
  loop::Expr condition = {};
  std::vector<loop::Expr> target = {};
};

// Computes the elements of `region` (one range per data axis, in the coordinates of the tensor) of
// the stage. What lies outside the tensor's shape or past a split axis's end is guarded. The first
// `outer` loops, over elements, are left to the caller.
loop::Stmt MakeNest(const Stage& stage, const NestBody& body, const std::vector<Range>& region,
                    const LoopHooks& hooks, std::size_t outer = 0);

// The loop over time of a scan, as it is scheduled, around `step`, which uses the scan's time
// variable.
loop::Stmt MakeTimeNest(const Stage& scan, const loop::Stmt& step, const LoopHooks& hooks);

}  // namespace tenon::schedule

#endif  // TENON_SCHEDULE_NEST_H_
