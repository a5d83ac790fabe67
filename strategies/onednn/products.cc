#include "tenon/strategies/onednn/products.h"

#include "tenon/ops/known_ops.h"
#include "tenon/ops/matmul/matmul_attrs.h"

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

namespace {

// Products that generated code computes faster. The figures are the library's time divided by that
// of generated code: oneDNN 2.6, table "choice" of scripts/bench, on Zen 5 unless something else is
// said.
struct Slower {
  bool (*holds)(const MatrixProduct& product, bool is_constant);
  const char* why;
};
constexpr std::int64_t kMinRowsToPack = 12, kMinColumns = 16;
constexpr Slower kSlower[] = {
    // These are bound by reading the second operand: 25088 x 4096 takes 11 ms, and 20 to 41 ms with
    // brgemm.
    {[](const MatrixProduct& p, bool) { return p.batch == 1 && p.rows == 1; },
     "one row by a matrix reads the matrix once, which generated code does faster"},
    // 2.8 with 4 rows, 1.4 to 1.6 with 16, 1.02 to 1.28 with 64 to 1024.
    {[](const MatrixProduct&, bool is_constant) { return is_constant; },
     "the second operand is constant: generated code packs it at compile time and is faster"},
    // 1.1 to 1.6 for heads of attention.
    {[](const MatrixProduct& p, bool) { return p.rhs_batch > 1; },
     "each matrix of a batch has a second operand of its own, which generated code packs in cache"},
    // 1.08 to 1.35 on two threads and 0.88 to 1.15 on one; on Zen 3 0.98 to 1.9 on either. With 4
    // rows 0.9 and 0.65 to 0.75.
    {[](const MatrixProduct& p, bool) { return p.rows >= kMinRowsToPack; },
     "so many rows pay for packing the second operand, and generated code is as fast"},
    // 1.3 to 1.45.
    {[](const MatrixProduct& p, bool) { return p.columns < kMinColumns; },
     "the few columns do not fill its blocks"},
};

}  // namespace

std::optional<std::string> RefuseSlower(const MatrixProduct& product, bool is_constant) {
  for (const Slower& row : kSlower) {
    if (row.holds(product, is_constant)) return row.why;
  }
  return std::nullopt;
}

std::optional<std::string> RefuseExtents(const MatrixProduct& product) {
  if (product.depth == 0) return "the sum has no terms";
  if (product.batch == 1 && product.rhs_batch > 1) return "the first operand is shared by a batch";
  return std::nullopt;
}

}  // namespace tenon::strategies::onednn
