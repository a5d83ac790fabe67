#include "tenon/onnx/convert/rms_norm.h"

#include "tenon/onnx/convert/stash_type.h"
#include "tenon/ops/builders.h"

namespace tenon::onnx_import {

Expr ScaledByRms(const Node& node, const Expr& x, const Expr& scale, const Ints& axes,
                 double epsilon, DataType middle) {
  const DataType type = DataTypeOf(scale);
  const DataType wide_type = DataTypeOf(x) == Float64 ? Float64 : middle;
  const Expr wide = InType(node, x, wide_type);
  const Expr mean = ops::Mean(ops::Multiply(wide, wide), {.axis = axes, .keepdims = true});
  const Expr root = ops::Sqrt(ops::Add(mean, ops::Scalar(epsilon, wide_type)));
  const Expr y = InType(node, node.Typed(ops::Divide(wide, root)), type);
  return node.Typed(ops::Multiply(y, scale));
}

}  // namespace tenon::onnx_import
