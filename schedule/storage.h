// How the result of a stage lies in memory. Only files inside schedule/ include this header.
#ifndef TENON_SCHEDULE_STORAGE_H_
#define TENON_SCHEDULE_STORAGE_H_

#include <vector>

#include "tenon/schedule/region.h"
#include "tenon/schedule/schedule.h"

namespace tenon::schedule {

// The most that a stage may ask to have on the stack.
inline constexpr std::int64_t kMostStackBytes = 256 * 1024;

// `stmt`, in which the box `region` of `buffer`, an output of `stage`, is written and read, with
// the memory for that box around it. Throws InvalidArgument for a box that the stage's scope cannot
// hold.
loop::Stmt AllocateBox(const Stage& stage, const loop::Buffer& buffer,
                       const std::vector<Range>& region, const loop::Stmt& stmt);

}  // namespace tenon::schedule

#endif  // TENON_SCHEDULE_STORAGE_H_
