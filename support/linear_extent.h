// Extents that show the value of their variable: 8*k + 3 is 27 where k is 3, and nowhere else.
#ifndef TENON_SUPPORT_LINEAR_EXTENT_H_
#define TENON_SUPPORT_LINEAR_EXTENT_H_

#include <cstdint>
#include <optional>
#include <string>

#include "tenon/support/dim.h"

namespace tenon {

// factor * symbol + offset, with a factor of at least 1.
struct LinearExtent {
  std::string symbol;
  std::int64_t factor = 1, offset = 0;

  // Where the extent has such a value: that of the variable, if it is whole.
  std::optional<std::int64_t> ValueAt(std::int64_t extent) const;
};

// Nothing for an extent of another form.
std::optional<LinearExtent> AsLinear(const Dim& dim);

}  // namespace tenon

#endif  // TENON_SUPPORT_LINEAR_EXTENT_H_
