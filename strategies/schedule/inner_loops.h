// The innermost loops of a stage: along memory, in vectors, with fetches of what comes next.
#ifndef TENON_STRATEGIES_SCHEDULE_INNER_LOOPS_H_
#define TENON_STRATEGIES_SCHEDULE_INNER_LOOPS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tenon/strategies/schedule/rules.h"

namespace tenon::strategies {

// Vectors of an elementwise loop that one iteration computes.
inline constexpr std::int64_t kUnroll = 4;

// The first of the trailing axes that can be one loop: every access moves through memory as the
// result does, or not at all.
std::size_t FirstInner(SchedulingState& state, const schedule::Stage& stage, std::size_t from);

// Schedules the loops of the stage from axis `from` on, and its reduction. Lines of `written`,
// which is the stage itself or a result of its shape, are fetched before they are written. Without
// it, those of a stage that is a result are.
void ScheduleInner(SchedulingState& state, schedule::Stage& stage, std::size_t from,
                   const schedule::Stage* written);
void ScheduleInner(SchedulingState& state, schedule::Stage& stage, std::size_t from);

bool SameIndices(const std::vector<loop::Expr>& a, const std::vector<loop::Expr>& b);
inline std::span<const te::IterVar> OuterAxes(const schedule::Stage& stage, std::size_t outer) {
  return std::span(stage.op()->axes).first(outer);
}
inline std::int64_t OuterExtent(const schedule::Stage& stage, std::size_t outer) {
  return ProductOfExtents(OuterAxes(stage, outer));
}

}  // namespace tenon::strategies

#endif  // TENON_STRATEGIES_SCHEDULE_INNER_LOOPS_H_
