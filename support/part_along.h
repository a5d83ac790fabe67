// A part of an array along one axis.
//
//   PartAlong(x, 1, 2, 3);  // x[:, 2:5]
#ifndef TENON_SUPPORT_PART_ALONG_H_
#define TENON_SUPPORT_PART_ALONG_H_

#include <cstddef>
#include <cstdint>

#include "tenon/support/ndarray.h"

namespace tenon {

// A copy of the elements [begin, begin + count) along `axis`, which must exist.
NDArray PartAlong(const NDArray& array, std::size_t axis, std::int64_t begin, std::int64_t count);

}  // namespace tenon

#endif  // TENON_SUPPORT_PART_ALONG_H_
