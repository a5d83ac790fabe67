#include "tenon/onnx/convert/equal_extents.h"

#include "tenon/ops/builders.h"
#include "tenon/ops/shape/transform_attrs.h"

namespace tenon::onnx_import {

Expr WithExtentOf(const Node& node, const Expr& x, std::size_t axis, const Expr& like,
                  std::size_t like_axis) {
  const auto at = [](std::size_t i) { return static_cast<std::int64_t>(i); };
  return node.Typed(
      ops::CallOp("reshape_like", {x, like},
                  attrs::Attrs::Make(ops::ReshapeLikeAttrs{.lhs_begin = at(axis),
                                                           .lhs_end = at(axis + 1),
                                                           .rhs_begin = at(like_axis),
                                                           .rhs_end = at(like_axis + 1)})));
}

}  // namespace tenon::onnx_import
