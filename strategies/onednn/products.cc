#include "tenon/strategies/onednn/products.h"

#include "tenon/ops/known_ops.h"
#include "tenon/ops/nn_attrs.h"

namespace tenon::strategies::onednn {

using ir::CallNode;

MatrixProduct DescribeProduct(const CallNode& anchor) {
  const auto& known = ops::Known();
  const Shape a = ir::StaticShape(anchor.args[0].checked_type(), "the first operand");
  const Shape b = ir::StaticShape(anchor.args[1].checked_type(), "the second operand");
  MatrixProduct product;
  if (anchor.callee == known.batch_matmul) {
    const auto& attrs = anchor.attrs.As<ops::BatchMatmulAttrs>();
    product.lhs_transposed = attrs.transpose_a;
    product.rhs_transposed = attrs.transpose_b;
    product.batch = a[0];
    product.rhs_batch = b[0];
    product.rows = a[attrs.transpose_a ? 2 : 1];
    product.depth = a[attrs.transpose_a ? 1 : 2];
    product.columns = b[attrs.transpose_b ? 1 : 2];
    return product;
  }
  if (anchor.callee == known.dense) {
    product.rhs_transposed = true;
  } else {
    const auto& attrs = anchor.attrs.As<ops::MatmulAttrs>();
    product.lhs_transposed = attrs.transpose_a;
    product.rhs_transposed = attrs.transpose_b;
  }
  const std::size_t rank = a.size();
  product.depth = a[product.lhs_transposed ? rank - 2 : rank - 1];
  product.columns = b[product.rhs_transposed ? 0 : 1];
  if (product.lhs_transposed) {
    product.rows = a[rank - 1];
    for (std::size_t i = 0; i + 2 < rank; ++i) product.batch *= a[i];
  } else {
    product.rows = 1;
    for (std::size_t i = 0; i + 1 < rank; ++i) product.rows *= a[i];
  }
  return product;
}

std::optional<std::string> RefuseExtents(const MatrixProduct& product) {
  if (product.depth == 0) return "the sum has no terms";
  if (product.batch == 1 && product.rhs_batch > 1) return "the first operand is shared by a batch";
  return std::nullopt;
}

}  // namespace tenon::strategies::onednn
