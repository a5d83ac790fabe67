// Cuts results whose extents are known only at run time (runtime/plan.h).
#ifndef TENON_RUNTIME_RUN_TIME_EXTENTS_H_
#define TENON_RUNTIME_RUN_TIME_EXTENTS_H_

#include <vector>

#include "tenon/runtime/plan.h"
#include "tenon/support/ndarray.h"

namespace tenon::runtime {

// `results` are the results followed by the counts of `extents`. Returns the results, each cut to
// its count, without the counts.
std::vector<NDArray> CutToExtents(std::vector<NDArray> results,
                                  const std::vector<RunTimeExtent>& extents);

}  // namespace tenon::runtime

#endif  // TENON_RUNTIME_RUN_TIME_EXTENTS_H_
