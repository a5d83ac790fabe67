// What a stage with a circular buffer computes. Along the dimension in which its reader's window
// slides, every iteration computes the elements that the one before has not. Only files inside
// schedule/ include this header.
//
//   const RollingRegion rolling = FindRolling(producer, region, axis);
#ifndef TENON_SCHEDULE_ROLLING_H_
#define TENON_SCHEDULE_ROLLING_H_

#include <cstddef>
#include <optional>
#include <vector>

#include "tenon/schedule/region.h"
#include "tenon/schedule/stage.h"

namespace tenon::schedule {

struct RollingRegion {
  std::size_t dimension;     // along which the window slides
  std::vector<Range> first;  // what iteration 0 computes besides
  std::vector<Range> next;   // what every iteration computes
};

// `region` is what an iteration of `axis` reads of `producer`. Throws InvalidArgument unless all
// iterations read parts of one size, which overlap and move along one dimension by a constant
// number of elements.
RollingRegion FindRolling(const Stage& producer, const std::vector<Range>& region,
                          const IterVar& axis);
// The same, but nothing where that throws.
std::optional<RollingRegion> WindowOf(const std::vector<Range>& region, const IterVar& axis);

}  // namespace tenon::schedule

#endif  // TENON_SCHEDULE_ROLLING_H_
