#include "tenon/onnx/convert/quantize.h"

#include "tenon/onnx/convert/matmul.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/known_ops.h"
#include "tenon/ops/quantize/qnn_builders.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::onnx_import {

Expr ParameterAt(const Node& node, std::size_t i) {
  const Expr& e = node.input(i);
  const bool single = DimsOf(e) == std::vector<Dim>{1};
  return single ? node.Typed(ops::Squeeze(e, Ints{0})) : e;
}

Expr ZeroPointAt(const Node& node, std::size_t i, DataType otherwise) {
  return node.has_input(i) ? ParameterAt(node, i) : node.Typed(ops::Scalar(0, otherwise));
}

Expr SingleZeroPointAt(const Node& node, std::size_t i, DataType otherwise) {
  Expr zero_point = ZeroPointAt(node, i, otherwise);
  if (RankOf(zero_point) != 0)
    throw Unimplemented(StrCat("input ", i, " has a zero point for each row; one is supported"));
  return zero_point;
}

namespace {

// With a zero point z for each row of a, (a - z) b is a b less z times the sums of the columns of
// b.
Expr ProductOfRows(const Node& node, const QuantizedOperand& a, const QuantizedOperand& b) {
  if (RankOf(a.data) < 2 || RankOf(b.data) < 2)
    throw Unimplemented("a zero point for each row is supported where both operands are matrices");
  const Expr none = node.Typed(ops::Scalar(0, DataTypeOf(a.data)));
  const Expr product = IntegerProduct(node, {a.data, none}, b);
  const Expr columns =
      ops::Sum(ops::Subtract(ops::Cast(b.data, Int32), ops::Cast(b.zero_point, Int32)),
               {.axis = ops::Ints{-2}, .keepdims = true});
  // (rows), or (..., rows, 1).
  const Expr rows = RankOf(a.zero_point) == 1 ? ops::ExpandDims(a.zero_point, 1) : a.zero_point;
  return node.Typed(ops::Subtract(product, ops::Multiply(ops::Cast(rows, Int32), columns)));
}

}  // namespace

Expr IntegerProduct(const Node& node, const QuantizedOperand& a, const QuantizedOperand& b) {
  if (RankOf(a.zero_point) != 0) return ProductOfRows(node, a, b);
  const Expr one = ops::Scalar(1);
  return ProductOfAnyRank(
      node, a.data, b.data,
      [&](const Expr& rows, const Expr& matrix) {
        return ops::QnnDense(rows, ops::Transpose(matrix), a.zero_point, b.zero_point, one, one);
      },
      [&](const Expr& left, const Expr& right) {
        if (RankOf(b.zero_point) != 0)
          throw Unimplemented(
              "a zero point for each column of a batch of matrices is not supported");
        return ops::QnnBatchMatmul(left, right, a.zero_point, b.zero_point, one, one);
      });
}

Expr Widened(const Node& node, const Expr& scale) {
  return DataTypeOf(scale).is_half() ? node.Typed(ops::Cast(scale, Float32)) : scale;
}

Expr ScaledProduct(const Node& node, const Expr& product, const Expr& a_scale, const Expr& b_scale,
                   const Expr& bias) {
  const Expr scale = node.Typed(ops::Multiply(Widened(node, a_scale), Widened(node, b_scale)));
  Expr y = ops::Multiply(ops::Cast(product, DataTypeOf(scale)), scale);
  if (bias) y = ops::Add(y, Widened(node, bias));
  y = node.Typed(y);
  const DataType type = DataTypeOf(a_scale);
  return DataTypeOf(y) == type ? y : node.Typed(ops::Cast(y, type));
}

DynamicallyQuantized QuantizeDynamically(const Node& node, const Expr& x) {
  const Expr zero = ops::Scalar(0);
  const Expr highest = ops::Maximum(ops::Max(x), zero);
  const Expr lowest = ops::Minimum(ops::Min(x), zero);
  const Expr range = ops::Subtract(highest, lowest);
  const Expr empty = ir::Call::Make(ops::Known().equal, {range, zero});
  const Expr scale =
      node.Typed(ops::Where(empty, ops::Scalar(1), ops::Divide(range, ops::Scalar(255))));
  const Expr exact = ops::Clip(ops::Subtract(zero, ops::Divide(lowest, scale)), 0, 255);
  const Expr zero_point =
      node.Typed(ops::Cast(ir::Call::Make(ops::Known().nearbyint, {exact}), UInt8));
  return {node.Typed(ops::QnnQuantize(x, scale, zero_point, {.out_dtype = UInt8})), scale,
          zero_point};
}

}  // namespace tenon::onnx_import
