// The rules are those of ONNX: the operators QuantizeLinear and DequantizeLinear for conversions,
// the reference implementations of QLinearConv and QLinearMatMul for requantisation.
#include "tenon/passes/quantize/qnn_arithmetic.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "tenon/ops/builders.h"
#include "tenon/ops/known_ops.h"
#include "tenon/ops/shape_rules.h"
#include "tenon/passes/simplify/channel_vector.h"
#include "tenon/support/error.h"

namespace tenon::passes {

using ir::Expr;
using ir::TensorTypeNode;

namespace {

bool Is8Bit(DataType type) { return type == Int8 || type == UInt8; }

double LowestOf(DataType type) { return type.is_int() ? -std::ldexp(1.0, type.bits() - 1) : 0; }
double HighestOf(DataType type) {
  return std::ldexp(1.0, type.is_int() ? type.bits() - 1 : type.bits()) - 1;
}

Expr NearbyInt(const Expr& x) { return ir::Call::Make(ops::Known().nearbyint, {x}); }

// `value`, which holds whole numbers, clamped to the range of `to`. Its floating type must hold the
// bounds.
Expr Saturated(const Expr& value, DataType to) {
  return ops::Cast(ops::Clip(value, LowestOf(to), HighestOf(to)), to);
}
DataType TypeToSaturateIn(DataType from, DataType to) { return to.bits() > 16 ? Float64 : from; }

}  // namespace

std::optional<std::vector<std::int64_t>> Integers(const Expr& e) {
  const auto* constant = e.As<ir::ConstantNode>();
  if (constant == nullptr) return std::nullopt;
  const NDArray& array = constant->data;
  const auto read = [&]<typename T>(T) {
    const T* first = static_cast<const T*>(array.raw());
    return std::vector<std::int64_t>(first, first + array.size());
  };
  if (array.dtype() == Int8) return read(std::int8_t{});
  if (array.dtype() == UInt8) return read(std::uint8_t{});
  if (array.dtype() == Int16) return read(std::int16_t{});
  if (array.dtype() == UInt16) return read(std::uint16_t{});
  if (array.dtype() == Int32) return read(std::int32_t{});
  return std::nullopt;
}

const TensorTypeNode& QnnCall::type(std::size_t i) const {
  return *typed.args[i].checked_type().As<TensorTypeNode>();
}
const TensorTypeNode& QnnCall::result() const { return *typed.checked_type.As<TensorTypeNode>(); }

bool IsZero(const Expr& zero_point) {
  const auto values = Integers(zero_point);
  return values && std::all_of(values->begin(), values->end(), [](auto v) { return v == 0; });
}

bool SameParameter(const Expr& a, const Expr& b) {
  const auto* x = a.As<ir::ConstantNode>();
  const auto* y = b.As<ir::ConstantNode>();
  return a == b || (x != nullptr && y != nullptr && x->data.SameBytes(y->data));
}

Expr As(const Expr& e, DataType from, DataType to) {
  if (from == to) return e;
  const auto values = Integers(e);
  if (values && e.As<ir::ConstantNode>()->data.shape().empty())
    return ops::Scalar(static_cast<double>(values->front()), to);
  return ops::Cast(e, to);
}

Expr AlongAxis(const QnnCall& call, std::size_t parameter, std::size_t data, std::int64_t axis) {
  if (call.type(parameter).shape.empty()) return call.arg(parameter);
  const std::size_t rank = call.type(data).shape.size();
  const std::int64_t normal = ops::NormalAxis(axis, rank);
  const Expr vector = ChannelVector(call.arg(parameter), call.typed.args[parameter], call.arg(data),
                                    call.typed.args[data], static_cast<int>(normal));
  const auto trailing = static_cast<std::int64_t>(rank) - 1 - normal;
  return trailing == 0 ? vector : ops::ExpandDims(vector, 1, trailing);
}

QnnTensor TensorAt(const QnnCall& call, std::size_t data, std::size_t scale, std::int64_t axis) {
  return {.data = call.arg(data),
          .scale = AlongAxis(call, scale, data, axis),
          .zero_point = AlongAxis(call, scale + 1, data, axis),
          .dtype = call.type(data).dtype,
          .scale_dtype = call.type(scale).dtype,
          .zero_point_dtype = call.type(scale + 1).dtype};
}

bool FitsInt16(const QnnTensor& tensor) {
  if (!Is8Bit(tensor.dtype)) return false;
  if (Is8Bit(tensor.zero_point_dtype)) return true;
  Expr zero_point = tensor.zero_point;
  while (const auto* call = zero_point.As<ir::CallNode>()) {
    const auto& known = ops::Known();
    if (!(call->callee == known.cast) && !(call->callee == known.expand_dims) &&
        !(call->callee == known.reshape))
      return false;
    if (call->callee == known.cast) {
      const auto* from = call->args[0].checked_type().As<TensorTypeNode>();
      return from != nullptr && Is8Bit(from->dtype);
    }
    zero_point = call->args[0];
  }
  const auto values = Integers(zero_point);
  return values &&
         std::all_of(values->begin(), values->end(), [](auto v) { return v >= -128 && v <= 255; });
}

Expr Centered(const QnnTensor& tensor, DataType to) {
  const Expr data = As(tensor.data, tensor.dtype, to);
  if (IsZero(tensor.zero_point)) return data;
  return ops::Subtract(data, As(tensor.zero_point, tensor.zero_point_dtype, to));
}

Expr Dequantized(const QnnTensor& tensor, DataType to) {
  // 16 bits do not hold every number, nor its product, whatever the scale's type and the result's.
  const DataType product = tensor.scale_dtype.is_half() ? Float32 : tensor.scale_dtype;
  const bool direct = IsZero(tensor.zero_point);
  const Expr centered =
      direct ? As(tensor.data, tensor.dtype, product) : ops::Cast(Centered(tensor, Int32), product);
  const Expr scale = As(tensor.scale, tensor.scale_dtype, product);
  return As(ops::Multiply(centered, scale), product, to);
}

Expr Quantized(const Expr& real, DataType real_dtype, const QnnTensor& parameters) {
  // Data of 16 bits may have a scale of 32, which they need not hold.
  const DataType type =
      parameters.scale_dtype.bits() > real_dtype.bits() ? parameters.scale_dtype : real_dtype;
  const Expr scaled =
      ops::Divide(As(real, real_dtype, type), As(parameters.scale, parameters.scale_dtype, type));
  // 16 bits cannot hold every sum with a zero point.
  const DataType wide = TypeToSaturateIn(type.is_half() ? Float32 : type, parameters.dtype);
  Expr whole = As(NearbyInt(scaled), type, wide);
  if (!IsZero(parameters.zero_point))
    whole = ops::Add(whole, As(parameters.zero_point, parameters.zero_point_dtype, wide));
  return Saturated(whole, parameters.dtype);
}

Expr Requantized(const QnnTensor& tensor, const QnnTensor& to, const QnnRounding& options) {
  const bool same_scale = SameParameter(tensor.scale, to.scale);
  if (same_scale && tensor.dtype == to.dtype && SameParameter(tensor.zero_point, to.zero_point))
    return tensor.data;
  const DataType type = options.compute_dtype == "float32" ? Float32 : Float64;
  const DataType wide = TypeToSaturateIn(type, to.dtype);
  Expr value = ops::Cast(Centered(tensor, Int32), type);
  if (!same_scale) {
    const Expr scale = As(tensor.scale, tensor.scale_dtype, Float32);
    const Expr factor = ops::Divide(scale, As(to.scale, to.scale_dtype, Float32));
    value = ops::Multiply(value, As(factor, Float32, type));
  }
  const auto shifted = [&](const Expr& e) {
    if (IsZero(to.zero_point)) return As(e, type, wide);
    return ops::Add(As(e, type, wide), As(to.zero_point, to.zero_point_dtype, wide));
  };
  if (same_scale) return Saturated(shifted(value), to.dtype);
  if (options.rounding == "None") return Saturated(NearbyInt(shifted(value)), to.dtype);
  const auto& known = ops::Known();
  if (options.rounding == "UPWARD") {
    value = ir::Call::Make(known.floor, {ops::Add(value, ops::Scalar(0.5, type))});
  } else {
    value = ir::Call::Make(known.round, {value});
  }
  return Saturated(shifted(value), to.dtype);
}

}  // namespace tenon::passes
