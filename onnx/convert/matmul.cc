#include "tenon/onnx/convert/matmul.h"

#include <algorithm>

#include "tenon/ops/builders.h"
#include "tenon/ops/known_ops.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::onnx_import {
namespace {

Shape BroadcastBatches(const Shape& a, const Shape& b) {
  const std::size_t rank = std::max(a.size(), b.size());
  Shape batch(rank - 2, 1);
  for (const Shape* shape : {&a, &b}) {
    for (std::size_t i = 0; i + 2 < shape->size(); ++i) {
      std::int64_t& extent = batch[rank - shape->size() + i];
      const std::int64_t other = (*shape)[i];
      if (extent != 1 && other != 1 && extent != other)
        throw InvalidArgument(StrCat("the batches ", ShapeToString(a), " and ", ShapeToString(b),
                                     " do not broadcast"));
      if (extent == 1) extent = other;
    }
  }
  return batch;
}

// The operand as one batch of matrices.
Expr Flattened(const Expr& e, const Shape& batch) {
  const Shape shape = ShapeOf(e);
  Shape full = batch;
  full.insert(full.end(), shape.end() - 2, shape.end());
  Expr value = e;
  if (NumElements(shape) != NumElements(full))
    value = ir::Call::Make(ops::Known().broadcast_to, {e},
                           attrs::Attrs::Make(ops::InitOpAttrs{.shape = full}));
  return ops::Reshape(value, {NumElements(batch), full[full.size() - 2], full.back()});
}

}  // namespace

Expr ProductOfAnyRank(const Node& node, Expr a, Expr b, const Product& by_matrix,
                      const Product& by_batch) {
  if (RankOf(a) == 0 || RankOf(b) == 0) throw InvalidArgument("an operand has rank 0");
  Ints added;
  if (RankOf(a) == 1) {
    a = node.Typed(ops::ExpandDims(a, 0));
    added.push_back(-2);
  }
  if (RankOf(b) == 1) {
    b = node.Typed(ops::ExpandDims(b, 1));
    added.push_back(-1);
  }
  Expr y;
  if (RankOf(b) == 2) {
    y = by_matrix(a, b);
  } else {
    const Shape batch = BroadcastBatches(ShapeOf(a), ShapeOf(b));
    Shape shape = batch;
    shape.push_back(ShapeOf(a)[RankOf(a) - 2]);
    shape.push_back(ShapeOf(b).back());
    y = ops::Reshape(by_batch(Flattened(a, batch), Flattened(b, batch)), shape);
  }
  y = node.Typed(y);
  return added.empty() ? y : node.Typed(ops::Squeeze(y, added));
}

Expr ProductOfAnyRank(const Node& node, const Expr& a, const Expr& b) {
  return ProductOfAnyRank(
      node, a, b, [](const Expr& x, const Expr& y) { return ops::Matmul(x, y); },
      [](const Expr& x, const Expr& y) { return ops::BatchMatmul(x, y); });
}

}  // namespace tenon::onnx_import
