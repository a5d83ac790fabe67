// Builds expressions of quantised operators, as ops/builders.h does. The parameters are scales and
// zero points.
//
//   Expr q = QnnQuantize(x, Scalar(0.5), Scalar(3, UInt8), {.out_dtype = UInt8});
#ifndef TENON_OPS_QUANTIZE_QNN_BUILDERS_H_
#define TENON_OPS_QUANTIZE_QNN_BUILDERS_H_

#include <vector>

#include "tenon/ir/expr.h"
#include "tenon/ops/conv/conv2d_attrs.h"
#include "tenon/ops/matmul/matmul_attrs.h"
#include "tenon/ops/quantize/qnn_attrs.h"

namespace tenon::ops {

using ir::Expr;

struct QnnParameters {
  Expr scale, zero_point;
};

Expr QnnQuantize(const Expr& x, const Expr& scale, const Expr& zero_point, QuantizeAttrs attrs);
Expr QnnDequantize(const Expr& x, const Expr& scale, const Expr& zero_point,
                   DequantizeAttrs attrs = {});
Expr QnnRequantize(const Expr& x, const Expr& input_scale, const Expr& input_zero_point,
                   const Expr& output_scale, const Expr& output_zero_point,
                   RequantizeAttrs attrs = {});

// Padding is stored as four values, strides and dilation as two.
Expr QnnConv2D(const Expr& data, const Expr& weight, const Expr& input_zero_point,
               const Expr& kernel_zero_point, const Expr& input_scale, const Expr& kernel_scale,
               const Conv2DAttrs& attrs = {});
Expr QnnDense(const Expr& data, const Expr& weight, const Expr& input_zero_point,
              const Expr& kernel_zero_point, const Expr& input_scale, const Expr& kernel_scale,
              DenseAttrs attrs = {});
Expr QnnBatchMatmul(const Expr& a, const Expr& b, const Expr& a_zero_point,
                    const Expr& b_zero_point, const Expr& a_scale, const Expr& b_scale,
                    BatchMatmulAttrs attrs = {});

Expr QnnAdd(const Expr& a, const Expr& b, const QnnParameters& of_a, const QnnParameters& of_b,
            const QnnParameters& result, QnnBinaryAttrs attrs = {});
Expr QnnSubtract(const Expr& a, const Expr& b, const QnnParameters& of_a, const QnnParameters& of_b,
                 const QnnParameters& result, QnnBinaryAttrs attrs = {});
Expr QnnMul(const Expr& a, const Expr& b, const QnnParameters& of_a, const QnnParameters& of_b,
            const QnnParameters& result, QnnBinaryAttrs attrs = {});
// There must be as many parameters as fields.
Expr QnnConcatenate(std::vector<Expr> fields, const std::vector<QnnParameters>& of_fields,
                    const QnnParameters& result, std::int64_t axis);

}  // namespace tenon::ops

#endif  // TENON_OPS_QUANTIZE_QNN_BUILDERS_H_
