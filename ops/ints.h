// Lists of integers, as attributes hold them: axes, extents, strides.
#ifndef TENON_OPS_INTS_H_
#define TENON_OPS_INTS_H_

#include <cstdint>
#include <vector>

namespace tenon::ops {

using Ints = std::vector<std::int64_t>;

}  // namespace tenon::ops

#endif  // TENON_OPS_INTS_H_
