#include "tenon/onnx/convert/rms_norm.h"

#include "tenon/ops/builders.h"

namespace tenon::onnx_import {

Expr ScaledByRms(const Node& node, const Expr& x, const Expr& scale, const Ints& axes,
                 double epsilon) {
  const DataType type = DataTypeOf(x);
  const bool is_half = type.is_half();
  const DataType wide_type = is_half ? Float32 : type;
  const Expr wide = is_half ? node.Typed(ops::Cast(x, Float32)) : x;
  const Expr mean = ops::Mean(ops::Multiply(wide, wide), {.axis = axes, .keepdims = true});
  const Expr root = ops::Sqrt(ops::Add(mean, ops::Scalar(epsilon, wide_type)));
  Expr y = ops::Divide(wide, root);
  if (is_half) y = ops::Cast(y, type);
  return node.Typed(ops::Multiply(node.Typed(y), scale));
}

}  // namespace tenon::onnx_import
