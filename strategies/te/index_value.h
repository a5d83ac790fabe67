// Integers of data as indices, lengths and bounds.
#ifndef TENON_STRATEGIES_TE_INDEX_VALUE_H_
#define TENON_STRATEGIES_TE_INDEX_VALUE_H_

#include <cstdint>
#include <limits>

#include "tenon/te/math.h"

namespace tenon::strategies {

// In int64. Of uint64, numbers that int64 does not hold become its largest one, which lies after
// the end of every axis: taken for negative ones they would count from the end.
inline loop::Expr IndexValue(const loop::Expr& integer) {
  if (integer.dtype() != UInt64) return te::Cast(Int64, integer);
  const loop::Expr most = loop::IntImm(UInt64, std::numeric_limits<std::int64_t>::max());
  return te::Cast(Int64, te::Min(integer, most));
}

}  // namespace tenon::strategies

#endif  // TENON_STRATEGIES_TE_INDEX_VALUE_H_
