#include "tenon/runtime/run_time_extents.h"

#include <algorithm>
#include <cstring>

namespace tenon::runtime {
namespace {

// The first `count` elements of `whole` along `axis`.
NDArray FirstOf(const NDArray& whole, std::size_t axis, std::int64_t count) {
  Shape shape = whole.shape();
  std::size_t inner = whole.dtype().bytes();
  for (std::size_t d = axis + 1; d < shape.size(); ++d) inner *= static_cast<std::size_t>(shape[d]);
  const std::size_t from_row = inner * static_cast<std::size_t>(shape[axis]);
  const std::size_t to_row = inner * static_cast<std::size_t>(count);
  shape[axis] = count;
  NDArray cut = NDArray::Empty(shape, whole.dtype());
  const std::size_t rows = to_row == 0 ? 0 : cut.bytes() / to_row;
  for (std::size_t row = 0; row < rows; ++row)
    std::memcpy(static_cast<char*>(cut.raw()) + row * to_row,
                static_cast<const char*>(whole.raw()) + row * from_row, to_row);
  return cut;
}

}  // namespace

std::vector<NDArray> CutToExtents(std::vector<NDArray> results,
                                  const std::vector<RunTimeExtent>& extents) {
  for (const RunTimeExtent& extent : extents) {
    NDArray& whole = results[extent.result];
    const std::int64_t count = *results[extent.count].data<std::int64_t>();
    whole =
        FirstOf(whole, extent.axis, std::clamp<std::int64_t>(count, 0, whole.shape()[extent.axis]));
  }
  results.resize(results.size() - extents.size());
  return results;
}

}  // namespace tenon::runtime
