#include "tenon/onnx/convert/take_of_each.h"

#include "tenon/ops/builders.h"
#include "tenon/ops/index_builders.h"

namespace tenon::onnx_import {

Expr TakenOfEach(const Node& node, const Expr& x, const Expr& places, std::int64_t axis) {
  if (DimsOf(x)[0] == Dim(1))
    return node.Typed(ops::Take(x, node.Typed(ops::Squeeze(places, Ints{0})), {.axis = axis}));
  // The axis comes after the batch, and goes back.
  const std::int64_t rank = RankOf(x);
  Ints order = {0, axis}, back(static_cast<std::size_t>(rank));
  for (std::int64_t d = 1; d < rank; ++d) {
    if (d != axis) order.push_back(d);
  }
  for (std::size_t d = 0; d < order.size(); ++d)
    back[static_cast<std::size_t>(order[d])] = static_cast<std::int64_t>(d);
  const Expr moved = axis == 1 ? x : node.Typed(ops::Transpose(x, order));
  const Expr tuples = node.Typed(ops::ExpandDims(places, 0));
  const Expr taken = node.Typed(ops::GatherND(moved, tuples, {.batch_dims = 1}));
  return axis == 1 ? taken : node.Typed(ops::Transpose(taken, back));
}

}  // namespace tenon::onnx_import
