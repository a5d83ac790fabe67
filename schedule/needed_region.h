// Which part of a stage is computed where it is placed. Only files inside schedule/ include this
// header.
#ifndef TENON_SCHEDULE_NEEDED_REGION_H_
#define TENON_SCHEDULE_NEEDED_REGION_H_

#include <vector>

#include "tenon/schedule/region.h"
#include "tenon/schedule/stage.h"

namespace tenon::schedule {

std::vector<Range> WholeRegion(const loop::Buffer& buffer);
bool SameRegion(const std::vector<Range>& a, const std::vector<Range>& b);

// What `inside` reads of the producer's outputs, which are computed together; whole where it reads
// different parts of them. Throws InvalidArgument when it reads nothing.
std::vector<Range> RegionNeeded(const Stage& producer, const loop::Stmt& inside,
                                const loop::Bounds& bounds);

// What the stage computes of its result when that is the whole of it: more than that where a split
// rounds an axis up.
std::vector<Range> RegionComputed(const Stage& stage);

// An axis that is a tensor intrinsic's is computed whole, and so is a vectorised one of which more
// than half is needed where that makes it a whole vector: 14 lanes cost as much as 16, and LLVM
// keeps whole vectors alone in registers.
void WidenLanes(const Stage& producer, std::vector<Range>& region);

}  // namespace tenon::schedule

#endif  // TENON_SCHEDULE_NEEDED_REGION_H_
