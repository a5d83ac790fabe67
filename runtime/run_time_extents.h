// Results whose extents only a run knows (runtime/plan.h), cut from the whole.
#ifndef TENON_RUNTIME_RUN_TIME_EXTENTS_H_
#define TENON_RUNTIME_RUN_TIME_EXTENTS_H_

#include <vector>

#include "tenon/runtime/plan.h"
#include "tenon/support/ndarray.h"

namespace tenon::runtime {

// The results, which the counts of `extents` follow, each cut to its count; the counts are no
// results.
std::vector<NDArray> CutToExtents(std::vector<NDArray> results,
                                  const std::vector<RunTimeExtent>& extents);

}  // namespace tenon::runtime

#endif  // TENON_RUNTIME_RUN_TIME_EXTENTS_H_
