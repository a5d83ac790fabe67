// What a model needs of extents where that does not hold for all values of their variables.
//
//   const ExtentCondition condition = {3, ExtentCondition::Kind::kAtMost, w + 2, "nn.conv2d"};
//   condition.Holds({{"w", 1}});  // true
//   condition.ToString();         // "3 <= w + 2, for nn.conv2d"
#ifndef TENON_SUPPORT_EXTENT_CONDITION_H_
#define TENON_SUPPORT_EXTENT_CONDITION_H_

#include <cstdint>
#include <string>

#include "tenon/support/dim.h"

namespace tenon {

struct ExtentCondition {
  enum class Kind : std::uint8_t { kEqual, kAtMost };

  Dim a;
  Kind kind = Kind::kEqual;
  Dim b;
  std::string needed_by;  // the operator

  // False, too, where a variable has no value or a side does not fit 64 bits.
  bool Holds(const Dim::Values& values) const;
  std::string ToString() const;
  friend bool operator==(const ExtentCondition&, const ExtentCondition&) = default;
};

}  // namespace tenon

#endif  // TENON_SUPPORT_EXTENT_CONDITION_H_
