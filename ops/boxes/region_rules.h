// Which diagonals of a matrix an operator writes; for type relation and compute.
//
//   const Diagonals d = DiagonalsOf(attrs, 4, 5);
//   d.Length(1) == 4;  // of the diagonal above the main one
#ifndef TENON_OPS_BOXES_REGION_RULES_H_
#define TENON_OPS_BOXES_REGION_RULES_H_

#include <algorithm>

#include "tenon/ops/boxes/region_attrs.h"

namespace tenon::ops {

struct Diagonals {
  std::int64_t rows, columns;
  std::int64_t lowest, highest;

  std::int64_t Count() const { return highest - lowest + 1; }
  std::int64_t Length(std::int64_t k) const {
    return std::min(rows + std::min<std::int64_t>(k, 0), columns - std::max<std::int64_t>(k, 0));
  }
  // Elements in the row of values of each diagonal.
  std::int64_t Longest() const {
    return std::min(rows + std::min<std::int64_t>(highest, 0),
                    columns - std::max<std::int64_t>(lowest, 0));
  }
  bool AreWithin() const {
    return lowest <= highest && lowest > -std::max<std::int64_t>(rows, 1) &&
           highest < std::max<std::int64_t>(columns, 1);
  }
};

inline Diagonals DiagonalsOf(const MatrixSetDiagAttrs& attrs, std::int64_t rows,
                             std::int64_t columns) {
  return {.rows = rows, .columns = columns, .lowest = attrs.k1, .highest = attrs.k2};
}

}  // namespace tenon::ops

#endif  // TENON_OPS_BOXES_REGION_RULES_H_
