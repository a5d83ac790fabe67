#include "tenon/passes/quantize/qnn_operands.h"

#include "tenon/ops/builders.h"

namespace tenon::passes {

using ir::Expr;

namespace {

bool IsByte(DataType type) { return type == Int8 || type == UInt8; }

}  // namespace

QnnTensor OperandAt(const QnnCall& call, std::size_t i, std::int64_t axis) {
  return {.data = call.arg(i),
          .scale = {},
          .zero_point = AlongAxis(call, i + 2, i, axis),
          .dtype = call.type(i).dtype,
          .scale_dtype = DataType::Void(),
          .zero_point_dtype = call.type(i + 2).dtype};
}

QnnOperands CenteredOperands(const QnnTensor& data, const QnnTensor& weight) {
  if (data.dtype == weight.dtype && IsZero(data.zero_point) && IsZero(weight.zero_point))
    return {data.data, weight.data};
  const DataType type = FitsInt16(data) && FitsInt16(weight) ? Int16 : Int32;
  return {Centered(data, type), Centered(weight, type)};
}

bool AreBytes(const QnnCall& call) {
  return IsByte(call.type(0).dtype) && IsByte(call.type(1).dtype);
}

QnnTensor AsBytes(const QnnTensor& tensor, DataType to) {
  QnnTensor moved = tensor;
  moved.zero_point = As(tensor.zero_point, tensor.zero_point_dtype, Int32);
  moved.zero_point_dtype = Int32;
  if (tensor.dtype == to) return moved;
  const double by = to == UInt8 ? 128 : -128;
  moved.data = ops::Cast(ops::Add(ops::Cast(tensor.data, Int16), ops::Scalar(by, Int16)), to);
  moved.dtype = to;
  const auto* constant = moved.zero_point.As<ir::ConstantNode>();
  const bool is_number = constant != nullptr && constant->data.shape().empty();
  moved.zero_point =
      is_number ? ops::Scalar(static_cast<double>(Integers(moved.zero_point)->front()) + by, Int32)
                : ops::Add(moved.zero_point, ops::Scalar(by, Int32));
  return moved;
}

}  // namespace tenon::passes
