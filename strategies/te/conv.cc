// nn.conv2d as a direct sum over input channels and kernel taps, for any order of the axes. The
// padded image is a stage of its own, so that the sum reads without conditions.
#include "tenon/strategies/te/conv.h"

#include "tenon/ops/nn_attrs.h"
#include "tenon/ops/shape_rules.h"
#include "tenon/support/error.h"
#include "tenon/te/math.h"
#include "tenon/te/reduce.h"

namespace tenon::strategies {

using te::Expr;
using te::IterVar;
using te::Tensor;

namespace {

Expr Element(const Tensor& tensor, const std::vector<std::size_t>& positions,
             const std::array<Expr, 4>& coordinates, DataType dtype) {
  std::vector<Expr> at(4);
  for (std::size_t d = 0; d < 4; ++d) at[positions[d]] = coordinates[d];
  return te::Cast(dtype, tensor[at]);
}

// The general form.
ConvSum SumOf(const Conv& conv, const TeCall& call) {
  return {.data = conv.data,
          .out = conv.out,
          .strides = {conv.strides.begin(), conv.strides.end()},
          .dilation = {conv.dilation.begin(), conv.dilation.end()},
          .groups = conv.groups,
          .group_inputs = conv.group_inputs,
          .group_outputs = conv.group_outputs,
          .taps = {conv.taps.begin(), conv.taps.end()},
          .image = conv.image,
          .weight =
              [&conv](const Expr& filter, const Expr& channel, const std::vector<Expr>& taps) {
                return conv.Weight(filter, channel, taps[0], taps[1]);
              },
          .weight_is_constant = call.IsConstant(1),
          .dtype = conv.dtype,
          .shape = call.shape(),
          .target = call.target};
}

Conv ConvOf(const TeCall& call) {
  const auto& attrs = call.attrs.As<ops::Conv2DAttrs>();
  const std::string& out_layout = attrs.out_layout.empty() ? attrs.data_layout : attrs.out_layout;
  const auto data = ops::LayoutPositions(attrs.data_layout, "NCHW", "data_layout");
  const auto kernel = ops::LayoutPositions(attrs.kernel_layout, "OIHW", "kernel_layout");
  const Tensor& weight = call.input(1);
  const auto padding = ops::FourPaddings(attrs.padding);
  return {.data = data,
          .kernel = kernel,
          .out = ops::LayoutPositions(out_layout, "NCHW", "out_layout"),
          .strides = ops::Pair(attrs.strides, "strides"),
          .dilation = ops::Pair(attrs.dilation, "dilation"),
          .padding = padding,
          .groups = attrs.groups,
          .group_inputs = ExtentOf(weight, kernel[1]),
          .group_outputs = ExtentOf(weight, kernel[0]) / attrs.groups,
          .taps = {ExtentOf(weight, kernel[2]), ExtentOf(weight, kernel[3])},
          .image = PadImage(call.input(0), data[2], data[3], padding),
          .weight = weight,
          .dtype = call.dtype(),
          .target = call.target};
}

// The inputs with an image of halves in float32, if that is the type of the sum. What reads it tap
// by tap finds a copy, be it the padded one.
std::vector<Tensor> WithWideImage(const Conv& conv, const TeCall& call) {
  const Tensor& x = call.input(0);
  if (SumType(x.dtype()) != call.dtype() || x.dtype() == call.dtype()) return call.inputs;
  const bool is_read_by_taps = !conv.IsPadded() && conv.group_inputs > 1;
  return {AsType(x, call.dtype(), is_read_by_taps ? kPacked : "elemwise"), call.input(1)};
}

std::vector<Tensor> Conv2D(const TeCall& call) {
  const Conv given = ConvOf(call);
  if (TakesWords(given, call))
    return {SumOverTaps(InWords(given, SumOf(given, call), call), call, "conv2d")};
  if (const auto result = DepthwiseDotConv(given, call)) return {*result};
  if (const auto result = DepthwiseConv(given, call)) return {*result};
  if (const auto result = DepthwiseChannelsLast(given, call)) return {*result};
  const std::vector<Tensor> inputs = WithWideImage(given, call);
  const TeCall wide{call.attrs, inputs, call.result, call.target, call.preparer};
  const Conv conv = ConvOf(wide);
  if (const auto result = RowTiledConv(conv, wide)) return {*result};
  return {SumOverTaps(SumOf(conv, wide), wide, "conv2d")};
}

std::vector<Tensor> Conv2DByWinograd(const TeCall& call) {
  const Conv given = ConvOf(call);
  if (TakesWords(given, call))
    throw Unimplemented("the host adds up several products by one instruction");
  const std::vector<Tensor> inputs = WithWideImage(given, call);
  const TeCall wide{call.attrs, inputs, call.result, call.target, call.preparer};
  return {WinogradConv(ConvOf(wide), wide)};
}

}  // namespace

bool Conv::IsNchw() const {
  const std::vector<std::size_t> nchw = {0, 1, 2, 3};
  return data == nchw && out == nchw;
}

bool Conv::IsPadded() const { return padding != std::array<std::int64_t, 4>{}; }

bool Conv::FillsLanes(const Shape& shape) const {
  return dtype.bytes() == 4 && NumElements(shape) > 0;
}

Expr Conv::Pixel(const Expr& n, const Expr& channel, const Expr& y, const Expr& x) const {
  return Element(image, data, {n, channel, y, x}, dtype);
}

Expr Conv::Weight(const Expr& filter, const Expr& channel, const Expr& y, const Expr& x) const {
  return Element(weight, kernel, {filter, channel, y, x}, dtype);
}

std::vector<IterVar> Conv::ReduceAxes() const {
  return {te::ReduceAxis(0, group_inputs, "rc"), te::ReduceAxis(0, taps[0], "ry"),
          te::ReduceAxis(0, taps[1], "rx")};
}

Expr PaddedPixel(const Conv& conv, const Tensor& x, const Expr& n, const Expr& channel,
                 const Expr& row, const Expr& column) {
  return ReadPadded(x, {n, channel, row - conv.padding[0], column - conv.padding[1]}, {2, 3},
                    te::Cast(x.dtype(), 0));
}

void AttachConvComputes(ops::OpRegistry& registry) {
  registry.Definition("nn.conv2d")
      .SetColumn(TeCompute{.make = Conv2D, .make_by_winograd = Conv2DByWinograd});
}

}  // namespace tenon::strategies
