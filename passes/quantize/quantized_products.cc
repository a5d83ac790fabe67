#include "tenon/passes/quantize/quantized_products.h"

#include <algorithm>
#include <cmath>

#include "tenon/ops/builders.h"
#include "tenon/ops/conv/conv2d_attrs.h"
#include "tenon/ops/conv/conv_rules.h"
#include "tenon/ops/known_ops.h"
#include "tenon/ops/matmul/matmul_attrs.h"
#include "tenon/ops/quantize/qnn_builders.h"
#include "tenon/passes/quantize/qnn_arithmetic.h"

namespace tenon::passes {

using ir::CallNode;
using ir::Expr;

namespace {

Expr IntegerSums(const CallNode& call, const QuantizedForm& a, const QuantizedForm& b) {
  const auto& known = ops::Known();
  const auto [a_scale, a_zero] = a.Parameters();
  const auto [b_scale, b_zero] = b.Parameters();
  if (call.callee == known.conv2d) {
    auto attrs = call.attrs.As<ops::Conv2DAttrs>();
    attrs.out_dtype = Int32;
    return ops::QnnConv2D(a.data, b.data, a_zero, b_zero, a_scale, b_scale, attrs);
  }
  if (call.callee == known.batch_matmul) {
    auto attrs = call.attrs.As<ops::BatchMatmulAttrs>();
    attrs.out_dtype = Int32;
    return ops::QnnBatchMatmul(a.data, b.data, a_zero, b_zero, a_scale, b_scale, attrs);
  }
  return ops::QnnDense(a.data, b.data, a_zero, b_zero, a_scale, b_scale, {.out_dtype = Int32});
}

// The largest distance of the form's numbers from their zero points; of constant ones those that
// are there.
double MostOfBytes(const QuantizedForm& form) {
  std::int64_t low = form.dtype.is_int() ? -128 : 0, high = low + 255;
  if (const auto bytes = Integers(form.data); bytes && !bytes->empty()) {
    const auto [least, most] = std::minmax_element(bytes->begin(), bytes->end());
    low = *least;
    high = *most;
  }
  const auto [least, most] = std::minmax_element(form.zero_point.begin(), form.zero_point.end());
  return std::max(std::abs(static_cast<double>(high - *least)),
                  std::abs(static_cast<double>(low - *most)));
}

// The products that are added up in an element of the result.
std::int64_t DepthOf(const CallNode& call, const QuantizedForm& a, const QuantizedForm& b) {
  if (call.callee == ops::Known().conv2d) {
    const auto filters = call.attrs.As<ops::Conv2DAttrs>().kernel_layout.find('O');
    return NumElements(b.shape) / std::max<std::int64_t>(1, b.shape[filters]);
  }
  const bool transposes = call.callee == ops::Known().batch_matmul &&
                          call.attrs.As<ops::BatchMatmulAttrs>().transpose_a;
  return a.shape[a.shape.size() - (transposes ? 2 : 1)];
}

// The largest sum that the types allow, of either sign.
double MostOfSums(const CallNode& call, const QuantizedForm& a, const QuantizedForm& b) {
  return MostOfBytes(a) * MostOfBytes(b) * static_cast<double>(DepthOf(call, a, b));
}

}  // namespace

bool IsProduct(const Expr& op) {
  const auto& known = ops::Known();
  return op == known.conv2d || op == known.dense || op == known.matmul || op == known.batch_matmul;
}

std::optional<QuantizedForm> ProductForm(const CallNode& call, const QuantizedForm& a,
                                         const QuantizedForm& given, const Shape& shape) {
  const auto& known = ops::Known();
  const double most = MostOfSums(call, a, given);
  if (!a.is_single() || most >= QuantizedForm::kInt32End) return std::nullopt;
  QuantizedForm b = given;
  if (call.callee == known.matmul) {
    const auto& attrs = call.attrs.As<ops::MatmulAttrs>();
    if (attrs.transpose_a) return std::nullopt;
    if (!attrs.transpose_b) {
      b = b.With(ops::Transpose(b.data), {b.shape[1], b.shape[0]});
      b.axis = 1 - b.axis;
    }
  }
  std::size_t weight_axis = 0, result_axis = shape.size() - 1;
  if (call.callee == known.conv2d) {
    const auto& attrs = call.attrs.As<ops::Conv2DAttrs>();
    if (ops::HasBlocks(attrs)) return std::nullopt;
    weight_axis = attrs.kernel_layout.find('O');
    result_axis = (attrs.out_layout.empty() ? attrs.data_layout : attrs.out_layout).find('C');
  }
  if (!b.is_single() && (b.axis != weight_axis || call.callee == known.batch_matmul))
    return std::nullopt;
  QuantizedForm sums{.data = IntegerSums(call, a, b),
                     .dtype = Int32,
                     .shape = shape,
                     .scale = b.scale,
                     .zero_point = std::vector<std::int64_t>(b.scale.size(), 0),
                     .axis = result_axis,
                     .most = most};
  // Rounded as the factor of a float32 product is. The products of numbers may be normal where that
  // of their scales is not.
  for (double& scale : sums.scale) {
    const float product = static_cast<float>(scale) * static_cast<float>(a.scale[0]);
    if (!std::isnormal(product)) return std::nullopt;
    scale = product;
  }
  return sums;
}

}  // namespace tenon::passes
