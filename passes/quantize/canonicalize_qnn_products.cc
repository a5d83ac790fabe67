// Convolutions and matrix products of quantised operands, summed in int32.
//
// Bytes stay bytes wherever possible. The CPU's instructions want the left operand unsigned and the
// right one signed, so an operand of the other sign is moved by 128, together with its zero point.
// The wanted products are those of a - za and b - zb. Their sums are
//
//   sum (a - za) (b - zb) = sum a b - za sum b - zb sum a + depth za zb   (modulo 2^32),
//
// If the right operand is constant, all but the first term are known when kernels are made (Jacob
// et al., "Quantization and Training of Neural Networks for Efficient Integer-Arithmetic-Only
// Inference", CVPR 2018). A convolution takes its image padded with the zero point, and its weight
// minus its zero point where bytes hold that. Where they do not, zb sum a are sums of windows over
// all channels, which one filter of ones gives.
//
// In all other cases zero points are subtracted from the operands before they are multiplied, so
// that padding by zero is padding by the zero point. Differences of 8-bit numbers are kept in
// int16.
#include <algorithm>
#include <optional>

#include "tenon/ops/builders.h"
#include "tenon/ops/conv/conv2d_attrs.h"
#include "tenon/ops/conv/conv_rules.h"
#include "tenon/ops/known_ops.h"
#include "tenon/ops/matmul/matmul_attrs.h"
#include "tenon/ops/shape/transform_attrs.h"
#include "tenon/passes/quantize/qnn_arithmetic.h"

namespace tenon::passes {
namespace {

using ir::Expr;
using ops::Ints;

// Operand `i` and its zero point, which is argument i + 2 and may have one value per channel of
// `axis`.
QnnTensor OperandAt(const QnnCall& call, std::size_t i, std::int64_t axis) {
  return {
      .data = call.arg(i),
      .scale = {},
      .zero_point = AlongAxis(call.arg(i + 2), call.type(i + 2), axis, call.type(i).shape.size()),
      .dtype = call.type(i).dtype,
      .scale_dtype = DataType::Void(),
      .zero_point_dtype = call.type(i + 2).dtype};
}

struct Operands {
  Expr data, weight;
};
Operands CenteredOperands(const QnnTensor& data, const QnnTensor& weight) {
  if (data.dtype == weight.dtype && IsZero(data.zero_point) && IsZero(weight.zero_point))
    return {data.data, weight.data};
  const DataType type = FitsInt16(data) && FitsInt16(weight) ? Int16 : Int32;
  return {Centered(data, type), Centered(weight, type)};
}

bool IsByte(DataType type) { return type == Int8 || type == UInt8; }
bool AreBytes(const QnnCall& call) {
  return IsByte(call.type(0).dtype) && IsByte(call.type(1).dtype);
}

// The same numbers as bytes of type `to`, which may have the other sign; the zero point in int32.
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

// --- convolutions

// The weight minus its zero point, where int8 is known to hold it. `axis` is that of its filters.
std::optional<Expr> SignedWeight(const QnnCall& call, std::size_t axis) {
  if (call.type(1).dtype == Int8 && IsZero(call.arg(3))) return call.arg(1);
  const auto values = Integers(call.arg(1));
  const auto zero_points = Integers(call.arg(3));
  if (!values || !zero_points) return std::nullopt;
  const Shape shape = call.arg(1).As<ir::ConstantNode>()->data.shape();
  std::size_t inner = 1;
  for (std::size_t d = axis + 1; d < shape.size(); ++d) inner *= static_cast<std::size_t>(shape[d]);
  NDArray centered = NDArray::Empty(shape, Int8);
  for (std::size_t i = 0; i < values->size(); ++i) {
    const std::int64_t value = (*values)[i] - (*zero_points)[i / inner % zero_points->size()];
    if (value < -128 || value > 127) return std::nullopt;
    centered.data<std::int8_t>()[i] = static_cast<std::int8_t>(value);
  }
  return ir::Constant::Make(std::move(centered));
}

// Whether a byte of the data's type holds the zero point.
bool IsByteZeroPoint(const QnnTensor& data) {
  if (data.zero_point_dtype == data.dtype) return true;
  const auto values = Integers(data.zero_point);
  const std::int64_t low = data.dtype == Int8 ? -128 : 0;
  return values && values->front() >= low && values->front() <= low + 255;
}

bool Pads(const ops::ConvRules& rules) {
  const auto any = [](const Ints& sides) {
    return std::any_of(sides.begin(), sides.end(), [](std::int64_t p) { return p != 0; });
  };
  return any(rules.before) || any(rules.after);
}

// The image padded with `value`, an int32.
Expr PaddedWith(const Expr& image, const Expr& value, const ops::ConvRules& rules) {
  std::vector<Ints> width(4, Ints{0, 0});
  for (std::size_t d = 0; d < rules.dims; ++d)
    width[rules.data[d + 2]] = {rules.before[d], rules.after[d]};
  return ir::Call::Make(ops::Known().pad, {image, As(value, Int32, UInt8)},
                        attrs::Attrs::Make(ops::PadAttrs{.pad_width = std::move(width)}));
}

// An int8 weight and what must still be subtracted from it: an int32 for all filters or one per
// filter; null for 0.
struct ByteWeight {
  Expr data, zero_point;
};
std::optional<ByteWeight> WeightOfBytes(const QnnCall& call, std::int64_t groups,
                                        std::size_t filters) {
  if (auto centered = SignedWeight(call, filters)) return ByteWeight{*std::move(centered), {}};
  // Each group would need its own sums of windows.
  const auto is_known = [&](std::size_t i) {
    return call.arg(i).kind() == ir::ExprKind::kConstant;
  };
  if (groups != 1 || !is_known(1) || !is_known(3)) return std::nullopt;
  const QnnTensor moved = AsBytes({.data = call.arg(1),
                                   .scale = {},
                                   .zero_point = call.arg(3),
                                   .dtype = call.type(1).dtype,
                                   .scale_dtype = DataType::Void(),
                                   .zero_point_dtype = call.type(3).dtype},
                                  Int8);
  return ByteWeight{moved.data, moved.zero_point};
}

// The sum of all image elements that a filter reads, at each position of the result. `weight` is
// its shape.
Expr WindowSums(const Expr& image, ops::Conv2DAttrs attrs, const ops::ConvRules& rules,
                const Shape& weight) {
  const Expr plane =
      ops::Sum(ops::Cast(image, Int32),
               {.axis = Ints{static_cast<std::int64_t>(rules.data[1])}, .keepdims = true});
  Shape taps = weight;
  taps[rules.kernel[0]] = taps[rules.kernel[1]] = 1;
  NDArray ones = NDArray::Empty(taps, Int32);
  std::fill_n(ones.data<std::int32_t>(), ones.size(), 1);
  attrs.channels = 1;
  return ops::Conv2D(plane, ir::Constant::Make(std::move(ones)), attrs);
}

std::optional<Expr> ConvOfBytes(const QnnCall& call) {
  auto attrs = call.now.attrs.As<ops::Conv2DAttrs>();
  const ops::ConvRules rules = ops::ConvRulesOf(attrs);
  const QnnTensor given = OperandAt(call, 0, -1);
  if (!AreBytes(call) || !call.type(2).shape.empty() || (Pads(rules) && !IsByteZeroPoint(given)))
    return std::nullopt;
  const auto weight = WeightOfBytes(call, attrs.groups, rules.kernel[0]);
  if (!weight) return std::nullopt;
  QnnTensor data = AsBytes(given, UInt8);
  attrs.out_dtype = Int32;
  const bool is_centered = IsZero(data.zero_point);
  if (!is_centered && Pads(rules)) {
    data.data = PaddedWith(data.data, data.zero_point, rules);
    attrs.padding = {0, 0};
  }
  Expr sums = ops::Conv2D(data.data, weight->data, attrs);
  const auto by_channel = [&](const Expr& filters) {
    const auto trailing = static_cast<std::int64_t>(3 - rules.out[1]);
    return trailing == 0 ? filters : ops::ExpandDims(filters, 1, trailing);
  };
  if (!is_centered) {
    const Expr filters =
        ops::Sum(ops::Cast(weight->data, Int32),
                 {.axis = Ints{static_cast<std::int64_t>(rules.kernel[0])}, .exclude = true});
    sums = ops::Subtract(sums, ops::Multiply(data.zero_point, by_channel(filters)));
  }
  if (!weight->zero_point) return sums;
  const Shape shape = ir::StaticShape(call.typed.args[1].checked_type(), "the weight");
  Expr windows = WindowSums(data.data, attrs, rules, shape);
  if (!is_centered) {
    const auto depth = static_cast<double>(NumElements(shape) / shape[rules.kernel[0]]);
    windows = ops::Subtract(windows, ops::Multiply(data.zero_point, ops::Scalar(depth, Int32)));
  }
  const Expr zero_point =
      call.type(3).shape.empty() ? weight->zero_point : by_channel(weight->zero_point);
  return ops::Subtract(sums, ops::Multiply(zero_point, windows));
}

Expr Conv2D(const QnnCall& call) {
  if (const auto sums = ConvOfBytes(call)) return *sums;
  auto attrs = call.now.attrs.As<ops::Conv2DAttrs>();
  const auto filters = static_cast<std::int64_t>(attrs.kernel_layout.find('O'));
  const Operands operands = CenteredOperands(OperandAt(call, 0, -1), OperandAt(call, 1, filters));
  attrs.out_dtype = Int32;
  return ops::Conv2D(operands.data, operands.weight, attrs);
}

Expr Conv2DTranspose(const QnnCall& call) {
  auto attrs = call.now.attrs.As<ops::Conv2DTransposeAttrs>();
  const auto filters = static_cast<std::int64_t>(attrs.kernel_layout.find('O'));
  const Operands operands = CenteredOperands(OperandAt(call, 0, -1), OperandAt(call, 1, filters));
  attrs.out_dtype = Int32;
  return ops::Conv2DTranspose(operands.data, operands.weight, attrs);
}

// --- matrix products

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
  const Operands operands = CenteredOperands(a, b);
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
  const Operands operands = CenteredOperands(a, b);
  return ops::BatchMatmul(operands.data, operands.weight, attrs);
}

}  // namespace

void AddQnnProducts(QnnRules* rules) {
  const ops::OpRegistry& registry = ops::OpRegistry::Global();
  rules->emplace(registry.Get("qnn.batch_matmul"), BatchMatmul);
  rules->emplace(registry.Get("qnn.conv2d"), Conv2D);
  rules->emplace(registry.Get("qnn.conv2d_transpose"), Conv2DTranspose);
  rules->emplace(registry.Get("qnn.dense"), Dense);
}

}  // namespace tenon::passes
