#include "tenon/support/part_along.h"

#include <cstring>

namespace tenon {

NDArray PartAlong(const NDArray& array, std::size_t axis, std::int64_t begin, std::int64_t count) {
  Shape shape = array.shape();
  std::size_t inner = array.dtype().bytes();
  for (std::size_t d = axis + 1; d < shape.size(); ++d) inner *= static_cast<std::size_t>(shape[d]);
  const std::size_t from_row = inner * static_cast<std::size_t>(shape[axis]);
  const std::size_t to_row = inner * static_cast<std::size_t>(count);
  shape[axis] = count;
  NDArray part = NDArray::Empty(shape, array.dtype());
  const char* first =
      static_cast<const char*>(array.raw()) + inner * static_cast<std::size_t>(begin);
  const std::size_t rows = to_row == 0 ? 0 : part.bytes() / to_row;
  for (std::size_t row = 0; row < rows; ++row)
    std::memcpy(static_cast<char*>(part.raw()) + row * to_row, first + row * from_row, to_row);
  return part;
}

}  // namespace tenon
