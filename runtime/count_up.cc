#include "tenon/runtime/count_up.h"

#include <algorithm>
#include <numeric>

#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::runtime {

NDArray CountUp(std::int64_t count, bool is_clamped, const std::string& needed_by) {
  if (is_clamped) count = std::max<std::int64_t>(count, 0);
  if (count < 0 || count > kMaxCountUp)
    throw InvalidArgument(StrCat(needed_by.empty() ? "count_up" : needed_by,
                                 ": values of the run ask for an extent of ", count,
                                 "; it must be at least 0 and at most ", kMaxCountUp));
  NDArray numbers = NDArray::Empty({count}, Int64);
  std::iota(numbers.data<std::int64_t>(), numbers.data<std::int64_t>() + count, std::int64_t{0});
  return numbers;
}

}  // namespace tenon::runtime
