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

// What `inside` reads of the producer's outputs, which are computed together. It is the whole if
// different parts of them are read. Throws InvalidArgument if nothing is read.
std::vector<Range> RegionNeeded(const Stage& producer, const loop::Stmt& inside,
                                const loop::Bounds& bounds);

// What the stage computes if all of its result is needed. It is more than the result if a split
// rounds an axis up.
std::vector<Range> RegionComputed(const Stage& stage);

// Makes an axis of a tensor intrinsic whole, and also a vectorised axis of which more than half is
// needed, if that makes it a whole vector: 14 lanes cost as much as 16, and LLVM keeps only whole
// vectors in registers.
void WidenLanes(const Stage& producer, std::vector<Range>& region);

}  // namespace tenon::schedule

#endif  // TENON_SCHEDULE_NEEDED_REGION_H_
