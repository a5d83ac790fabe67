// Whether a tensor has no elements, where its extents may be expressions.
#ifndef TENON_STRATEGIES_TE_EMPTY_H_
#define TENON_STRATEGIES_TE_EMPTY_H_

#include <algorithm>
#include <vector>

#include "tenon/te/tensor.h"

namespace tenon::strategies {

// Whether an extent is the number 0. What is computed with expressions that may be 0 must be right
// for 0 as well (lower_outputs.cc says which operations are not).
inline bool IsEmpty(const std::vector<te::Expr>& extents) {
  return std::ranges::any_of(extents,
                             [](const te::Expr& extent) { return loop::IsConstInt(extent, 0); });
}

}  // namespace tenon::strategies

#endif  // TENON_STRATEGIES_TE_EMPTY_H_
