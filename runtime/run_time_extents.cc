#include "tenon/runtime/run_time_extents.h"

#include <algorithm>

#include "tenon/support/part_along.h"

namespace tenon::runtime {
std::vector<NDArray> CutToExtents(std::vector<NDArray> results,
                                  const std::vector<RunTimeExtent>& extents) {
  for (const RunTimeExtent& extent : extents) {
    NDArray& whole = results[extent.result];
    const std::int64_t count = *results[extent.count].data<std::int64_t>();
    whole = PartAlong(whole, extent.axis, 0,
                      std::clamp<std::int64_t>(count, 0, whole.shape()[extent.axis]));
  }
  results.resize(results.size() - extents.size());
  return results;
}

}  // namespace tenon::runtime
