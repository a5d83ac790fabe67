#include "tenon/onnx/convert/known_extents.h"

#include <algorithm>

#include "tenon/onnx/convert/symbolic_shapes.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/index_builders.h"
#include "tenon/ops/shape/transform_attrs.h"

namespace tenon::onnx_import {

using ir::Expr;
using Dims = std::vector<Dim>;

Expr BroadcastTo(const KnownExtents& extents, const Expr& x, const Dims& target) {
  const Dims from = DimsOf(x);
  Dims full(std::max(from.size(), target.size()), 1);
  std::copy_backward(target.begin(), target.end(), full.end());
  for (std::size_t i = 0; i < from.size(); ++i) {
    Dim& extent = full[full.size() - from.size() + i];
    if (extent == Dim(1)) extent = from[i];
  }
  if (full == from) return x;
  if (IsStatic(full)) return ops::BroadcastTo(x, NumbersOf(full));
  auto named = extents.NamesIn(full);
  return ops::BroadcastToExtents(x, std::move(named.others), std::move(named.text));
}

Expr Places(const KnownExtents& extents, const Dim& count) {
  const Expr one = ir::Constant::Make(NDArray::Scalar<bool>(false));
  return ops::IndexAlong(BroadcastTo(extents, one, {count}));
}

Expr FirstOf(const KnownExtents& extents, const Expr& x, const Dim& count, std::size_t axis) {
  Dims as_many(axis + 1, 1);
  as_many.back() = count;
  const Expr one = ir::Constant::Make(NDArray::Scalar<bool>(false));
  return ops::CallOp(
      "slice_like", {x, BroadcastTo(extents, one, as_many)},
      attrs::Attrs::Make(ops::SliceLikeAttrs{.axes = ops::Ints{static_cast<std::int64_t>(axis)}}));
}

}  // namespace tenon::onnx_import
