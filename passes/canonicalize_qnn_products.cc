// Convolutions and matrix products of quantised operands: zero points are taken from the operands
// before they meet, so that padding by zero is padding by the zero point, whatever the strides,
// dilation and groups. Differences of 8-bit numbers are kept in int16. Sums are in int32. A dense
// layer with a constant weight takes its bytes as they are.
#include "tenon/ops/builders.h"
#include "tenon/ops/known_ops.h"
#include "tenon/ops/nn_attrs.h"
#include "tenon/passes/qnn_arithmetic.h"

namespace tenon::passes {
namespace {

using ir::Expr;

// Zero points at the arguments 2 and 3. That of the weight may be one a channel of its axis `axis`.
struct Operands {
  Expr data, weight;
};
Operands CenteredOperands(const QnnCall& call, std::size_t axis) {
  const auto operand = [&](std::size_t i, std::int64_t along) {
    return QnnTensor{.data = call.arg(i),
                     .scale = {},
                     .zero_point = AlongAxis(call.arg(i + 2), call.type(i + 2), along,
                                             call.type(i).shape.size()),
                     .dtype = call.type(i).dtype,
                     .scale_dtype = DataType::Void(),
                     .zero_point_dtype = call.type(i + 2).dtype};
  };
  const QnnTensor data = operand(0, -1);
  const QnnTensor weight = operand(1, static_cast<std::int64_t>(axis));
  if (data.dtype == weight.dtype && IsZero(data.zero_point) && IsZero(weight.zero_point))
    return {data.data, weight.data};
  const DataType type = FitsInt16(data) && FitsInt16(weight) ? Int16 : Int32;
  return {Centered(data, type), Centered(weight, type)};
}

Expr Conv2D(const QnnCall& call) {
  auto attrs = call.now.attrs.As<ops::Conv2DAttrs>();
  const Operands operands = CenteredOperands(call, attrs.kernel_layout.find('O'));
  attrs.out_dtype = Int32;
  return ops::Conv2D(operands.data, operands.weight, attrs);
}

// For a constant weight of int8 without a zero point the data stay bytes, unsigned as the
// instructions have them: what their zero point adds to the sums is known once, the zero point
// times the weight's row.
Expr DenseOfBytes(const QnnCall& call) {
  Expr data = call.arg(0);
  Expr zero_point = As(call.arg(2), call.type(2).dtype, Int32);
  if (call.type(0).dtype == Int8) {
    const Expr shifted = ops::Add(ops::Cast(data, Int16), ops::Scalar(128, Int16));
    data = ops::Cast(shifted, UInt8);
    zero_point = ops::Add(zero_point, ops::Scalar(128, Int32));
  }
  const Expr sums = ops::Dense(
      data, call.arg(1), {.units = call.now.attrs.As<ops::DenseAttrs>().units, .out_dtype = Int32});
  if (IsZero(zero_point)) return sums;
  const Expr rows = ops::Sum(ops::Cast(call.arg(1), Int32), {.axis = ops::Ints{1}});
  return ops::Subtract(sums, ops::Multiply(zero_point, rows));
}

Expr Dense(const QnnCall& call) {
  if (call.arg(1).kind() == ir::ExprKind::kConstant && call.type(1).dtype == Int8 &&
      IsZero(call.arg(3)))
    return DenseOfBytes(call);
  const Operands operands = CenteredOperands(call, 0);
  return ops::Dense(operands.data, operands.weight,
                    {.units = call.now.attrs.As<ops::DenseAttrs>().units, .out_dtype = Int32});
}

Expr BatchMatmul(const QnnCall& call) {
  auto attrs = call.now.attrs.As<ops::BatchMatmulAttrs>();
  const Operands operands = CenteredOperands(call, 0);
  attrs.out_dtype = Int32;
  return ops::BatchMatmul(operands.data, operands.weight, attrs);
}

}  // namespace

void AddQnnProducts(QnnRules* rules) {
  const ops::OpRegistry& registry = ops::OpRegistry::Global();
  rules->emplace(registry.Get("qnn.batch_matmul"), BatchMatmul);
  rules->emplace(registry.Get("qnn.conv2d"), Conv2D);
  rules->emplace(registry.Get("qnn.dense"), Dense);
}

}  // namespace tenon::passes
