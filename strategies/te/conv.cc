// nn.conv2d as a direct sum over input channels and kernel taps, for any order of the axes. The
// padded image is a stage of its own, so that the sum reads without conditions.
#include "tenon/ops/nn_attrs.h"
#include "tenon/ops/shape_rules.h"
#include "tenon/strategies/te_compute.h"
#include "tenon/te/math.h"
#include "tenon/te/reduce.h"

namespace tenon::strategies {
namespace {

using te::Expr;
using te::IterVar;
using te::Tensor;
using te::Var;

Tensor PadImage(const Tensor& x, std::size_t height, std::size_t width,
                const std::array<std::int64_t, 4>& padding) {
  if (padding == std::array<std::int64_t, 4>{}) return x;
  Shape shape = ShapeOf(x);
  const std::int64_t rows = shape[height];
  const std::int64_t columns = shape[width];
  shape[height] += padding[0] + padding[2];
  shape[width] += padding[1] + padding[3];
  return te::Compute(
      ToExprs(shape),
      [&](const std::vector<Var>& i) {
        std::vector<Expr> from = ToExprs(i);
        from[height] = i[height] - padding[0];
        from[width] = i[width] - padding[1];
        const Expr inside = from[height] >= Expr(0) && from[height] < Expr(rows) &&
                            from[width] >= Expr(0) && from[width] < Expr(columns);
        return te::IfThenElse(inside, x[from], te::Cast(x.dtype(), 0));
      },
      "pad_image", "injective");
}

std::vector<Tensor> Conv2D(const TeCall& call) {
  const auto& attrs = call.attrs.As<ops::Conv2DAttrs>();
  const std::string& out_layout = attrs.out_layout.empty() ? attrs.data_layout : attrs.out_layout;
  const auto data = ops::LayoutPositions(attrs.data_layout, "NCHW", "data_layout");
  const auto kernel = ops::LayoutPositions(attrs.kernel_layout, "OIHW", "kernel_layout");
  const auto out = ops::LayoutPositions(out_layout, "NCHW", "out_layout");
  const auto strides = ops::Pair(attrs.strides, "strides");
  const auto dilation = ops::Pair(attrs.dilation, "dilation");
  const Tensor& weight = call.input(1);
  const Tensor image = PadImage(call.input(0), data[2], data[3], ops::FourPaddings(attrs.padding));
  const std::int64_t group_inputs = ExtentOf(weight, kernel[1]);
  const std::int64_t group_outputs = ExtentOf(weight, kernel[0]) / attrs.groups;
  const IterVar channel = te::ReduceAxis(0, group_inputs, "rc");
  const IterVar tap_y = te::ReduceAxis(0, ExtentOf(weight, kernel[2]), "ry");
  const IterVar tap_x = te::ReduceAxis(0, ExtentOf(weight, kernel[3]), "rx");
  const DataType dtype = call.dtype();
  return {te::Compute(
      call.te_shape(),
      [&](const std::vector<Var>& i) {
        const Var& filter = i[out[1]];
        Expr input_channel = channel.var;
        if (attrs.groups > 1)
          input_channel = te::FloorDiv(filter, group_outputs) * group_inputs + channel.var;
        std::vector<Expr> from(4), weight_at(4);
        from[data[0]] = i[out[0]];
        from[data[1]] = input_channel;
        from[data[2]] = i[out[2]] * strides[0] + tap_y.var * dilation[0];
        from[data[3]] = i[out[3]] * strides[1] + tap_x.var * dilation[1];
        weight_at[kernel[0]] = filter;
        weight_at[kernel[1]] = channel.var;
        weight_at[kernel[2]] = tap_y.var;
        weight_at[kernel[3]] = tap_x.var;
        return te::Sum(te::Cast(dtype, image[from]) * te::Cast(dtype, weight[weight_at]),
                       {channel, tap_y, tap_x});
      },
      "conv2d", "conv2d")};
}

}  // namespace

void AttachConvComputes(ops::OpRegistry& registry) {
  registry.Definition("nn.conv2d").SetColumn(TeCompute{Conv2D});
}

}  // namespace tenon::strategies
