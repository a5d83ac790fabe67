// Matrix products of quantised operands, summed in int32.
//
// The wanted products are those of a - za and b - zb. Their sums are
//
//   sum (a - za) (b - zb) = sum a b - za sum b - zb sum a + depth za zb   (modulo 2^32),
//
// If the right operand is constant, all but the first term are known when kernels are made (Jacob
// et al., "Quantization and Training of Neural Networks for Efficient Integer-Arithmetic-Only
// Inference", CVPR 2018). Operands other than bytes lose their zero points before they are
// multiplied. Differences of 8-bit numbers are kept in int16.
#include <functional>
#include <optional>

#include "tenon/ops/builders.h"
#include "tenon/ops/matmul/matmul_attrs.h"
#include "tenon/ops/registry.h"
#include "tenon/passes/quantize/qnn_operands.h"

namespace tenon::passes {
namespace {

using ir::Expr;
using ops::Ints;

// Adds the three other terms of the sum where they are not zero. `left` and `right` are the axes
// along which the products run. Sums along these keep the axis, and `column` turns those of the
// right operand into a row.
struct ProductAxes {
  std::int64_t left, right;
  std::function<Expr(const Expr&)> column;
};
Expr WithZeroPoints(Expr sums, const QnnTensor& a, const QnnTensor& b, const ProductAxes& axes,
                    std::int64_t depth) {
  const auto along = [](const Expr& e, std::int64_t axis) {
    return ops::Sum(ops::Cast(e, Int32), {.axis = Ints{axis}, .keepdims = true});
  };
  if (!IsZero(a.zero_point)) {
    const Expr columns = axes.column(along(b.data, axes.right));
    sums = ops::Subtract(sums, ops::Multiply(a.zero_point, columns));
  }
  if (!IsZero(b.zero_point)) {
    Expr rows = along(a.data, axes.left);
    if (!IsZero(a.zero_point))
      rows = ops::Subtract(
          rows, ops::Multiply(a.zero_point, ops::Scalar(static_cast<double>(depth), Int32)));
    sums = ops::Subtract(sums, ops::Multiply(axes.column(b.zero_point), rows));
  }
  return sums;
}

// The extent of axis `axis` of operand `i`, where it is known.
std::optional<std::int64_t> DepthOf(const QnnCall& call, std::size_t i, std::size_t axis) {
  const ir::Dim& depth = call.type(i).shape[axis];
  return depth.is_static() ? std::optional(depth.value()) : std::nullopt;
}

Expr Dense(const QnnCall& call) {
  const auto units = call.now.attrs.As<ops::DenseAttrs>().units;
  const std::size_t rank = call.type(0).shape.size();
  const QnnTensor a = OperandAt(call, 0, -1);
  const QnnTensor b = OperandAt(call, 1, 0);
  const auto depth = DepthOf(call, 1, 1);
  if (AreBytes(call) && call.type(2).shape.empty() && depth && rank >= 2) {
    const QnnTensor left = AsBytes(a, UInt8);
    const QnnTensor right = AsBytes(b, Int8);
    const Expr sums = ops::Dense(left.data, right.data, {.units = units, .out_dtype = Int32});
    // One value per row of the weight, as (columns, 1) or (columns), or one for all.
    const bool single = call.type(3).shape.empty();
    const auto column = [&](const Expr& e) { return ops::Reshape(e, {-1}); };
    const ProductAxes axes{
        .left = static_cast<std::int64_t>(rank) - 1, .right = 1, .column = [&](const Expr& e) {
          return single && e == right.zero_point ? e : column(e);
        }};
    return WithZeroPoints(sums, left, right, axes, *depth);
  }
  const QnnOperands operands = CenteredOperands(a, b);
  return ops::Dense(operands.data, operands.weight, {.units = units, .out_dtype = Int32});
}

Expr BatchMatmul(const QnnCall& call) {
  auto attrs = call.now.attrs.As<ops::BatchMatmulAttrs>();
  attrs.out_dtype = Int32;
  const QnnTensor a = OperandAt(call, 0, -1);
  const QnnTensor b = OperandAt(call, 1, 0);
  const auto depth = DepthOf(call, 0, attrs.transpose_a ? 1 : 2);
  if (AreBytes(call) && call.type(2).shape.empty() && call.type(3).shape.empty() && depth) {
    const QnnTensor left = AsBytes(a, UInt8);
    const QnnTensor right = AsBytes(b, Int8);
    const auto transposed = [](const Expr& e) { return ops::Transpose(e, Ints{0, 2, 1}); };
    QnnTensor rows = left;
    if (attrs.transpose_a) rows.data = transposed(rows.data);
    const ProductAxes axes{
        .left = 2, .right = attrs.transpose_b ? 2 : 1, .column = [&](const Expr& e) {
          return attrs.transpose_b && !(e == right.zero_point) ? transposed(e) : e;
        }};
    return WithZeroPoints(ops::BatchMatmul(left.data, right.data, attrs), rows, right, axes,
                          *depth);
  }
  const QnnOperands operands = CenteredOperands(a, b);
  return ops::BatchMatmul(operands.data, operands.weight, attrs);
}

}  // namespace

void AddQnnProducts(QnnRules* rules) {
  const ops::OpRegistry& registry = ops::OpRegistry::Global();
  rules->emplace(registry.Get("qnn.batch_matmul"), BatchMatmul);
  rules->emplace(registry.Get("qnn.dense"), Dense);
}

}  // namespace tenon::passes
