// Convolutions of quantised operands, summed in int32: terms as those of matrix products
// (canonicalize_qnn_products.cc).
//
// A convolution of bytes takes its image padded with the zero point, and its weight minus its zero
// point where bytes hold that. Where they do not, zb sum a are sums of windows over all channels,
// which one filter of ones gives.
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
#include "tenon/ops/shape/transform_attrs.h"
#include "tenon/passes/quantize/qnn_operands.h"

namespace tenon::passes {
namespace {

using ir::Expr;
using ops::Ints;

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

// The convolution of operands without zero points. `convolve` takes these and the attributes.
template <typename Attrs>
Expr OfCentered(const QnnCall& call, const auto& convolve) {
  auto attrs = call.now.attrs.As<Attrs>();
  const auto filters = static_cast<std::int64_t>(attrs.kernel_layout.find('O'));
  const QnnOperands operands =
      CenteredOperands(OperandAt(call, 0, -1), OperandAt(call, 1, filters));
  attrs.out_dtype = Int32;
  return convolve(operands.data, operands.weight, attrs);
}

Expr Conv2D(const QnnCall& call) {
  if (const auto sums = ConvOfBytes(call)) return *sums;
  return OfCentered<ops::Conv2DAttrs>(call, ops::Conv2D);
}

Expr Conv2DTranspose(const QnnCall& call) {
  return OfCentered<ops::Conv2DTransposeAttrs>(call, ops::Conv2DTranspose);
}

}  // namespace

void AddQnnConvolutions(QnnRules* rules) {
  const ops::OpRegistry& registry = ops::OpRegistry::Global();
  rules->emplace(registry.Get("qnn.conv2d"), Conv2D);
  rules->emplace(registry.Get("qnn.conv2d_transpose"), Conv2DTranspose);
}

}  // namespace tenon::passes
