// The numbers 0, 1, 2, ... in int64, as many as a value of a run says: what count_up gives.
#ifndef TENON_RUNTIME_COUNT_UP_H_
#define TENON_RUNTIME_COUNT_UP_H_

#include <cstdint>
#include <string>

#include "tenon/support/ndarray.h"

namespace tenon::runtime {

// The most numbers, which take a gigabyte.
inline constexpr std::int64_t kMaxCountUp = std::int64_t{1} << 27;

// Throws InvalidArgument for more, and for a count below 0 unless `is_clamped`, which gives none
// then. `needed_by` is named where it is not empty.
NDArray CountUp(std::int64_t count, bool is_clamped, const std::string& needed_by);

}  // namespace tenon::runtime

#endif  // TENON_RUNTIME_COUNT_UP_H_
