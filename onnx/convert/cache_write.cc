// Each element of the result is read from the update where its distance from the begin lies in it,
// else from the cache. So this is one pass over the result, which fuses with what reads it.
#include "tenon/onnx/convert/cache_write.h"

#include <algorithm>

#include "tenon/ir/parse_extents.h"
#include "tenon/onnx/convert/count_within.h"
#include "tenon/onnx/convert/symbolic_shapes.h"
#include "tenon/onnx/convert/take_of_each.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/known_ops.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::onnx_import {

Expr WrittenAt(const Node& node, const Expr& cache, const Expr& update, const Expr& begins,
               const CacheWrite& how) {
  const std::vector<Dim> whole = DimsOf(cache), part = DimsOf(update);
  const auto at = static_cast<std::size_t>(how.axis);
  std::vector<Dim> expected = whole;
  bool fits = whole.size() == part.size() && at > 0 && at < whole.size();
  if (fits) {
    expected[at] = part[at];
    const bool is_longer =
        part[at].is_static() && whole[at].is_static() && part[at].value() > whole[at].value();
    fits = expected == part && !is_longer;
  }
  if (!fits)
    throw InvalidArgument(StrCat("an update of the shape ", ir::ToText(part),
                                 " does not fit a cache of ", ir::ToText(whole), ", along axis ",
                                 how.axis, " of which it is written; it may be shorter there"));
  if (DimsOf(begins) != std::vector<Dim>{whole[0]})
    throw InvalidArgument(StrCat("there must be one place for each of the ", whole[0].ToString(),
                                 " sequences, not ", ir::ToText(DimsOf(begins))));
  const bool is_empty = std::ranges::any_of(whole, [](const Dim& dim) { return dim == Dim(0); });
  if (part[at] == Dim(0) || is_empty) return cache;
  const auto& known = ops::Known();
  const Expr zero = ops::Scalar(0, Int64);
  const bool always_fits = Max(part[at], whole[at]) == whole[at];
  const Expr length =
      always_fits ? node.Typed(ExtentValue(update, at)) : CountWithin(node, part[at], whole[at]);
  const Expr first = node.Typed(ops::ExpandDims(node.Typed(ops::Cast(begins, Int64)), 1));
  // [batch, places of the cache]
  Expr distance = node.Typed(ops::Subtract(PlacesAlong(node, 2, 1, whole[at]), first));
  if (how.circular)
    distance =
        node.Typed(ir::Call::Make(known.floor_mod, {distance, node.Typed(ExtentValue(cache, at))}));
  const Expr is_new = node.Typed(
      ir::Call::Make(known.logical_and, {ir::Call::Make(known.greater_equal, {distance, zero}),
                                         ir::Call::Make(known.less, {distance, length})}));
  Expr last = node.Typed(ops::Subtract(length, ops::Scalar(1, Int64)));
  Expr taken = update;
  if (part[at].LowerBound().value_or(0) < 1) {
    // From an update without elements none can be taken, so it gets one, which nobody reads.
    std::vector<Ints> widths(part.size(), Ints{0, 0});
    widths[at][1] = 1;
    taken = node.Typed(ops::Pad(update, widths, 0, DataTypeOf(update)));
    last = node.Typed(ops::Maximum(last, zero));
  }
  const Expr inside = node.Typed(ops::Minimum(ops::Maximum(distance, zero), last));
  std::vector<Dim> by_axis(whole.size(), 1);
  by_axis[0] = whole[0];
  by_axis[at] = whole[at];
  return node.Typed(ops::Where(node.Typed(ReshapeTo(node.extents(), is_new, by_axis)),
                               TakenOfEach(node, taken, inside, how.axis), cache));
}

}  // namespace tenon::onnx_import
