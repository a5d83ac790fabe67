// The size of arrays in memory.
//
//   ByteSize(Shape{2, 3}, Float32) == 24;
#ifndef TENON_SUPPORT_BYTE_SIZE_H_
#define TENON_SUPPORT_BYTE_SIZE_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "tenon/support/data_type.h"

namespace tenon {

// Bytes of an array; at most 2^63 - 1. Throws InvalidArgument when no array can have this shape and
// element type.
std::size_t ByteSize(std::span<const std::int64_t> shape, DataType dtype);

}  // namespace tenon

#endif  // TENON_SUPPORT_BYTE_SIZE_H_
