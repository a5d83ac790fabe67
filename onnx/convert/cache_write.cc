// Each element of the result is read from the update where its distance from the begin lies in it,
// else from the cache. So this is one pass over the result, which fuses with what reads it.
#include "tenon/onnx/convert/cache_write.h"

#include "tenon/onnx/convert/take_of_each.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/known_ops.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::onnx_import {

Expr WrittenAt(const Node& node, const Expr& cache, const Expr& update, const Expr& begins,
               const CacheWrite& how) {
  const Shape whole = ShapeOf(cache), part = ShapeOf(update);
  const auto at = static_cast<std::size_t>(how.axis);
  Shape expected = whole;
  bool fits = whole.size() == part.size() && at > 0 && at < whole.size();
  if (fits) {
    expected[at] = part[at];
    fits = expected == part && part[at] <= whole[at];
  }
  if (!fits)
    throw InvalidArgument(StrCat("an update of the shape (", StrJoin(part, ", "),
                                 ") does not fit a cache of (", StrJoin(whole, ", "),
                                 "), along axis ", how.axis,
                                 " of which it is written; it may be shorter there"));
  if (ShapeOf(begins) != Shape{whole[0]})
    throw InvalidArgument(StrCat("there must be one place for each of the ", whole[0],
                                 " sequences, not (", StrJoin(ShapeOf(begins), ", "), ")"));
  if (part[at] == 0 || NumElements(whole) == 0) return cache;
  const auto& known = ops::Known();
  const auto number = [](std::int64_t n) { return ops::Scalar(static_cast<double>(n), Int64); };
  const Expr first = node.Typed(ops::ExpandDims(node.Typed(ops::Cast(begins, Int64)), 1));
  // [batch, places of the cache]
  Expr distance = node.Typed(ops::Subtract(PlacesAlong(2, 1, whole[at]), first));
  if (how.circular)
    distance = node.Typed(ir::Call::Make(known.floor_mod, {distance, number(whole[at])}));
  const Expr is_new = node.Typed(ir::Call::Make(
      known.logical_and, {ir::Call::Make(known.greater_equal, {distance, number(0)}),
                          ir::Call::Make(known.less, {distance, number(part[at])})}));
  const Expr inside =
      node.Typed(ops::Minimum(ops::Maximum(distance, number(0)), number(part[at] - 1)));
  Ints by_axis(whole.size(), 1);
  by_axis[0] = whole[0];
  by_axis[at] = whole[at];
  return node.Typed(ops::Where(node.Typed(ops::ReshapeToExtents(is_new, by_axis)),
                               TakenOfEach(node, update, inside, how.axis), cache));
}

}  // namespace tenon::onnx_import
