// nn.conv2d as a direct sum over input channels and kernel taps, for any order of the axes. Large
// ones are summed up in register tiles of one of four forms. The padded image is a stage of its
// own, so that the sum reads without conditions.
#include "tenon/strategies/te/conv.h"

#include "tenon/ops/nn_attrs.h"
#include "tenon/ops/shape_rules.h"
#include "tenon/te/math.h"
#include "tenon/te/reduce.h"

namespace tenon::strategies {

using te::Expr;
using te::IterVar;
using te::Tensor;
using te::Var;

namespace {

Expr Element(const Tensor& tensor, const std::vector<std::size_t>& positions,
             const std::array<Expr, 4>& coordinates, DataType dtype) {
  std::vector<Expr> at(4);
  for (std::size_t d = 0; d < 4; ++d) at[positions[d]] = coordinates[d];
  return te::Cast(dtype, tensor[at]);
}

Tensor PlainConv(const Conv& conv, const std::vector<Expr>& shape) {
  const std::vector<IterVar> k = conv.ReduceAxes();
  return te::Compute(
      shape,
      [&](const std::vector<Var>& i) {
        const Var& filter = i[conv.out[1]];
        Expr channel = k[0].var;
        if (conv.groups > 1)
          channel = te::FloorDiv(filter, conv.group_outputs) * conv.group_inputs + k[0].var;
        const Expr y = i[conv.out[2]] * conv.strides[0] + k[1].var * conv.dilation[0];
        const Expr x = i[conv.out[3]] * conv.strides[1] + k[2].var * conv.dilation[1];
        return te::Sum(conv.Pixel(i[conv.out[0]], channel, y, x) *
                           conv.Weight(filter, k[0].var, k[1].var, k[2].var),
                       k);
      },
      "conv2d", "conv2d");
}

std::vector<Tensor> Conv2D(const TeCall& call) {
  const auto& attrs = call.attrs.As<ops::Conv2DAttrs>();
  const std::string& out_layout = attrs.out_layout.empty() ? attrs.data_layout : attrs.out_layout;
  const auto data = ops::LayoutPositions(attrs.data_layout, "NCHW", "data_layout");
  const auto kernel = ops::LayoutPositions(attrs.kernel_layout, "OIHW", "kernel_layout");
  const Tensor& weight = call.input(1);
  const auto padding = ops::FourPaddings(attrs.padding);
  const Conv conv{.data = data,
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
                  .dtype = call.dtype()};
  for (const auto& form : {DepthwiseConv, ByteConv, RowTiledConv, FilterTiledConv}) {
    if (const std::optional<Tensor> result = form(conv, call)) return {*result};
  }
  return {PlainConv(conv, call.te_shape())};
}

}  // namespace

bool Conv::IsNchw() const {
  const std::vector<std::size_t> nchw = {0, 1, 2, 3};
  return data == nchw && out == nchw;
}

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

void AttachConvComputes(ops::OpRegistry& registry) {
  registry.Definition("nn.conv2d").SetColumn(TeCompute{Conv2D});
}

}  // namespace tenon::strategies
