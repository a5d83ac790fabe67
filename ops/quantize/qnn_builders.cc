#include "tenon/ops/quantize/qnn_builders.h"

#include "tenon/ops/builders.h"
#include "tenon/ops/shape/transform_attrs.h"

namespace tenon::ops {
namespace {

using attrs::Attrs;

Expr Binary(const char* name, const Expr& a, const Expr& b, const QnnParameters& of_a,
            const QnnParameters& of_b, const QnnParameters& result, QnnBinaryAttrs attrs) {
  return CallOp(name,
                {a, b, of_a.scale, of_a.zero_point, of_b.scale, of_b.zero_point, result.scale,
                 result.zero_point},
                Attrs::Make(attrs));
}

}  // namespace

Expr QnnQuantize(const Expr& x, const Expr& scale, const Expr& zero_point, QuantizeAttrs attrs) {
  return CallOp("qnn.quantize", {x, scale, zero_point}, Attrs::Make(attrs));
}
Expr QnnDequantize(const Expr& x, const Expr& scale, const Expr& zero_point,
                   DequantizeAttrs attrs) {
  return CallOp("qnn.dequantize", {x, scale, zero_point}, Attrs::Make(attrs));
}
Expr QnnRequantize(const Expr& x, const Expr& input_scale, const Expr& input_zero_point,
                   const Expr& output_scale, const Expr& output_zero_point, RequantizeAttrs attrs) {
  return CallOp("qnn.requantize",
                {x, input_scale, input_zero_point, output_scale, output_zero_point},
                Attrs::Make(std::move(attrs)));
}
Expr QnnConv2D(const Expr& data, const Expr& weight, const Expr& input_zero_point,
               const Expr& kernel_zero_point, const Expr& input_scale, const Expr& kernel_scale,
               const Conv2DAttrs& attrs) {
  // The plain builder extends the attributes to their full lengths.
  const Expr plain = Conv2D(data, weight, attrs);
  return CallOp("qnn.conv2d",
                {data, weight, input_zero_point, kernel_zero_point, input_scale, kernel_scale},
                plain.As<ir::CallNode>()->attrs);
}
Expr QnnDense(const Expr& data, const Expr& weight, const Expr& input_zero_point,
              const Expr& kernel_zero_point, const Expr& input_scale, const Expr& kernel_scale,
              DenseAttrs attrs) {
  return CallOp("qnn.dense",
                {data, weight, input_zero_point, kernel_zero_point, input_scale, kernel_scale},
                Attrs::Make(attrs));
}
Expr QnnBatchMatmul(const Expr& a, const Expr& b, const Expr& a_zero_point,
                    const Expr& b_zero_point, const Expr& a_scale, const Expr& b_scale,
                    BatchMatmulAttrs attrs) {
  return CallOp("qnn.batch_matmul", {a, b, a_zero_point, b_zero_point, a_scale, b_scale},
                Attrs::Make(attrs));
}
Expr QnnAdd(const Expr& a, const Expr& b, const QnnParameters& of_a, const QnnParameters& of_b,
            const QnnParameters& result, QnnBinaryAttrs attrs) {
  return Binary("qnn.add", a, b, of_a, of_b, result, attrs);
}
Expr QnnSubtract(const Expr& a, const Expr& b, const QnnParameters& of_a, const QnnParameters& of_b,
                 const QnnParameters& result, QnnBinaryAttrs attrs) {
  return Binary("qnn.subtract", a, b, of_a, of_b, result, attrs);
}
Expr QnnMul(const Expr& a, const Expr& b, const QnnParameters& of_a, const QnnParameters& of_b,
            const QnnParameters& result, QnnBinaryAttrs attrs) {
  return Binary("qnn.mul", a, b, of_a, of_b, result, attrs);
}
Expr QnnConcatenate(std::vector<Expr> fields, const std::vector<QnnParameters>& of_fields,
                    const QnnParameters& result, std::int64_t axis) {
  std::vector<Expr> scales;
  std::vector<Expr> zero_points;
  for (const QnnParameters& parameters : of_fields) {
    scales.push_back(parameters.scale);
    zero_points.push_back(parameters.zero_point);
  }
  return CallOp("qnn.concatenate",
                {ir::Tuple::Make(std::move(fields)), ir::Tuple::Make(std::move(scales)),
                 ir::Tuple::Make(std::move(zero_points)), result.scale, result.zero_point},
                Attrs::Make(ConcatenateAttrs{axis}));
}

}  // namespace tenon::ops
