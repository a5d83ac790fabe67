// The operator that takes the first elements of a vector says that there must be so many.
#include "tenon/onnx/convert/count_within.h"

#include "tenon/onnx/convert/known_extents.h"
#include "tenon/onnx/convert/symbolic_shapes.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/index_builders.h"

namespace tenon::onnx_import {

Expr CountWithin(const Node& node, const Dim& count, const Dim& limit) {
  const Expr places = node.Typed(Places(node.extents(), limit));
  const Expr first = node.Typed(FirstOf(node.extents(), places, count, 0));
  if (!count.is_static()) return node.Typed(ExtentValue(first, 0));
  // The shape of the first ones is a number, and would be all that is left of them.
  const Expr one = ops::Scalar(1, Int64);
  const Expr last = ops::Scalar(static_cast<double>(count.value() - 1), Int64);
  return node.Typed(ops::Add(node.Typed(ops::Take(first, last, {.axis = 0})), one));
}

}  // namespace tenon::onnx_import
