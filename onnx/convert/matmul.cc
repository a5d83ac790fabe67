#include "tenon/onnx/convert/matmul.h"

#include <algorithm>

#include "tenon/ir/parse_extents.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/type_relation.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::onnx_import {
namespace {

// The extent that both are broadcast to; of two variables the greater one, as of other operators
// that are broadcast. Nothing where they do not fit.
std::optional<Dim> BatchOf(const Dim& a, const Dim& b) {
  const bool are_variables = a.is_symbolic() && b.is_symbolic() && !(a == b);
  return are_variables ? Max(a, b) : ops::BroadcastDim(a, b);
}

std::vector<Dim> BroadcastBatches(const std::vector<Dim>& a, const std::vector<Dim>& b) {
  const std::size_t rank = std::max(a.size(), b.size());
  std::vector<Dim> batch(rank - 2, 1);
  for (const auto* shape : {&a, &b}) {
    for (std::size_t i = 0; i + 2 < shape->size(); ++i) {
      Dim& extent = batch[rank - shape->size() + i];
      const std::optional<Dim> both = BatchOf(extent, (*shape)[i]);
      if (!both)
        throw InvalidArgument(
            StrCat("the batches ", ir::ToText(a), " and ", ir::ToText(b), " do not broadcast"));
      extent = *both;
    }
  }
  return batch;
}

// Whether the operands are batches of as many matrices as two variables say: products of batches
// compare them at each run, and no copy is needed.
bool HaveBatchesOfTwoNames(const std::vector<Dim>& a, const std::vector<Dim>& b) {
  return a.size() == 3 && b.size() == 3 && a[0].is_symbolic() && b[0].is_symbolic() &&
         !(a[0] == b[0]);
}

// The operand as one batch of matrices.
Expr Flattened(const Node& node, const Expr& e, const std::vector<Dim>& batch) {
  const std::vector<Dim> shape = DimsOf(e);
  std::vector<Dim> full = batch;
  full.insert(full.end(), shape.end() - 2, shape.end());
  Expr value = e;
  if (!(ops::Product(shape) == ops::Product(full)))
    value = node.Typed(BroadcastTo(node.extents(), e, full));
  return node.Typed(
      ReshapeTo(node.extents(), value, {ops::Product(batch), full[full.size() - 2], full.back()}));
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
  } else if (HaveBatchesOfTwoNames(DimsOf(a), DimsOf(b))) {
    y = by_batch(a, b);
  } else {
    const std::vector<Dim> batch = BroadcastBatches(DimsOf(a), DimsOf(b));
    std::vector<Dim> shape = batch;
    shape.push_back(DimsOf(a)[static_cast<std::size_t>(RankOf(a) - 2)]);
    shape.push_back(DimsOf(b).back());
    y = node.Typed(by_batch(Flattened(node, a, batch), Flattened(node, b, batch)));
    y = ReshapeTo(node.extents(), y, shape);
  }
  y = node.Typed(y);
  return added.empty() ? y : node.Typed(ops::Squeeze(y, added));
}

Expr ProductOfAnyRank(const Node& node, const Expr& a, const Expr& b) {
  return ProductOfAnyRank(
      node, a, b, [](const Expr& x, const Expr& y) { return ops::Matmul(x, y); },
      [](const Expr& x, const Expr& y) { return ops::BatchMatmul(x, y, {.transpose_b = false}); });
}

}  // namespace tenon::onnx_import
