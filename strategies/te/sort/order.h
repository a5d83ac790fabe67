// The stable order of elements, found by a library function: what sort, unique and box operators
// have in common.
//
//   Tensor order = StableOrder(1, n, [&](const Expr&, const Expr& i) { return x(i); }, false);
//   order(0, rank)  // the place of the element of that rank
#ifndef TENON_STRATEGIES_TE_SORT_ORDER_H_
#define TENON_STRATEGIES_TE_SORT_ORDER_H_

#include <functional>
#include <optional>

#include "tenon/te/tensor.h"

namespace tenon::strategies {

// The map (row, rank) -> place, in int64, for the first `limit` ranks or for all. Equal keys stay
// in order; NaN is greater than every number. There must be elements.
te::Tensor StableOrder(const te::Expr& rows, const te::Expr& extent,
                       const std::function<te::Expr(const te::Expr& row, const te::Expr& at)>& key,
                       bool descends, const std::optional<te::Expr>& limit = std::nullopt);

// The elements of a tensor as keys of int64 or float64 that are ordered and equal as they are: a
// row for each slice along the first axis.
te::Tensor KeysOfSlices(const te::Tensor& x);
// The map (0, rank) -> row, in int64, in the order of the first keys that differ. Equal rows stay
// in order.
te::Tensor StableOrderOfRows(const te::Tensor& keys);

// Of the `extent` elements of a row, those that have a flag come first, in order.
struct Compacted {
  te::Tensor order;  // (row, place) -> which element stands there
  te::Tensor kept;   // row -> how many have a flag

  Compacted(std::int64_t rows, std::int64_t extent,
            const std::function<te::Expr(const te::Expr& row, const te::Expr& at)>& has_flag);
};

}  // namespace tenon::strategies

#endif  // TENON_STRATEGIES_TE_SORT_ORDER_H_
