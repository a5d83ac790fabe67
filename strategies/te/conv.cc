// nn.conv2d as a direct sum over input channels and kernel taps, for any order of the axes. Large
// ones are summed up in register tiles. The padded image is a stage of its own, so that the sum
// reads without conditions.
#include "tenon/ops/nn_attrs.h"
#include "tenon/ops/shape_rules.h"
#include "tenon/strategies/register_tile.h"
#include "tenon/strategies/te_compute.h"
#include "tenon/te/math.h"
#include "tenon/te/reduce.h"

namespace tenon::strategies {
namespace {

using te::Expr;
using te::IterVar;
using te::Tensor;
using te::Var;

constexpr std::int64_t kLanes = 16;
// Results of one filter below which tiles are mostly waste, and below which packing the weights at
// each run costs more than it saves.
constexpr std::int64_t kLeastPixels = 4;
constexpr std::int64_t kLeastPixelsToPack = 64;

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

// What both forms of the sum have in common. All positions are those of N, C, H, W or O, I, H, W.
struct Conv {
  std::vector<std::size_t> data, kernel, out;
  std::array<std::int64_t, 2> strides, dilation;
  std::int64_t groups, group_inputs, group_outputs;
  std::array<std::int64_t, 2> taps;
  Tensor image, weight;
  DataType dtype;

  Expr Pixel(const Expr& n, const Expr& channel, const Expr& y, const Expr& x) const {
    std::vector<Expr> at(4);
    at[data[0]] = n;
    at[data[1]] = channel;
    at[data[2]] = y;
    at[data[3]] = x;
    return te::Cast(dtype, image[at]);
  }
  Expr Weight(const Expr& filter, const Expr& channel, const Expr& y, const Expr& x) const {
    std::vector<Expr> at(4);
    at[kernel[0]] = filter;
    at[kernel[1]] = channel;
    at[kernel[2]] = y;
    at[kernel[3]] = x;
    return te::Cast(dtype, weight[at]);
  }
  std::vector<IterVar> ReduceAxes() const {
    return {te::ReduceAxis(0, group_inputs, "rc"), te::ReduceAxis(0, taps[0], "ry"),
            te::ReduceAxis(0, taps[1], "rx")};
  }
};

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

// Lanes are filters, and a register tile is 8 pixels of the result, counted row by row, by two
// vectors of filters. The weights are packed a vector of filters after the other.
Tensor TiledConv(const Conv& conv, const TeCall& call) {
  const Shape shape = call.shape();
  const std::int64_t filters = shape[conv.out[1]];
  const std::int64_t width = shape[conv.out[3]];
  const std::int64_t pixels = shape[conv.out[2]] * width;
  const std::int64_t vectors = (filters + kLanes - 1) / kLanes;
  const std::int64_t blocks =
      conv.group_outputs % (2 * kLanes) == 0 || (conv.groups == 1 && vectors % 2 == 0) ? 2 : 1;
  const std::int64_t tall = blocks == 2 ? 8 : 16;
  const Tensor packed = call.Prepared(te::Compute(
      {vectors, conv.group_inputs, conv.taps[0], conv.taps[1], kLanes},
      [&](const Var& v, const Var& c, const Var& y, const Var& x, const Var& lane) {
        const Expr filter = v * kLanes + lane;
        const Expr value = conv.Weight(filter, c, y, x);
        if (filters % kLanes == 0) return value;
        return te::IfThenElse(filter < Expr(filters), value, te::Cast(conv.dtype, 0));
      },
      "packed", kPacked));
  const std::vector<IterVar> k = conv.ReduceAxes();
  const Tensor sums = te::Compute(
      {shape[conv.out[0]], vectors / blocks, (pixels + tall - 1) / tall, blocks, tall, kLanes},
      [&](const std::vector<Var>& i) {
        Expr pixel = i[2] * tall + i[4];
        // Pixels past the last one are computed from it and dropped.
        if (pixels % tall != 0) pixel = te::Min(pixel, pixels - 1);
        const Expr y = te::FloorDiv(pixel, width) * conv.strides[0] + k[1].var * conv.dilation[0];
        const Expr x = te::FloorMod(pixel, width) * conv.strides[1] + k[2].var * conv.dilation[1];
        const Expr vector = i[1] * blocks + i[3];
        Expr channel = k[0].var;
        if (conv.groups > 1)
          channel = te::FloorDiv(i[1], conv.group_outputs / (kLanes * blocks)) * conv.group_inputs +
                    k[0].var;
        return te::Sum(
            conv.Pixel(i[0], channel, y, x) * packed(vector, k[0].var, k[1].var, k[2].var, i[5]),
            k);
      },
      "conv2d", kRegisterTile);
  return te::Compute(
      ToExprs(shape),
      [&](const std::vector<Var>& i) {
        const Var& filter = i[conv.out[1]];
        const Expr pixel = i[conv.out[2]] * width + i[conv.out[3]];
        return sums(i[conv.out[0]], te::FloorDiv(filter, blocks * kLanes),
                    te::FloorDiv(pixel, tall), te::FloorMod(te::FloorDiv(filter, kLanes), blocks),
                    te::FloorMod(pixel, tall), te::FloorMod(filter, kLanes));
      },
      "conv2d", "injective");
}

// Enough results to fill tiles and to pay for packing the weights, and no depthwise convolution,
// whose lanes share nothing.
bool PaysToTile(const Conv& conv, const TeCall& call) {
  const Shape shape = call.shape();
  const std::int64_t filters = shape[conv.out[1]];
  const std::int64_t pixels = shape[conv.out[2]] * shape[conv.out[3]];
  if (conv.dtype.bytes() != 4 || shape[conv.out[0]] == 0 || filters < kLanes / 2) return false;
  if (conv.groups > 1 && conv.group_outputs % kLanes != 0) return false;
  return pixels >= (call.IsConstant(1) ? kLeastPixels : kLeastPixelsToPack);
}

std::vector<Tensor> Conv2D(const TeCall& call) {
  const auto& attrs = call.attrs.As<ops::Conv2DAttrs>();
  const std::string& out_layout = attrs.out_layout.empty() ? attrs.data_layout : attrs.out_layout;
  const auto data = ops::LayoutPositions(attrs.data_layout, "NCHW", "data_layout");
  const auto kernel = ops::LayoutPositions(attrs.kernel_layout, "OIHW", "kernel_layout");
  const Tensor& weight = call.input(1);
  const Conv conv{
      .data = data,
      .kernel = kernel,
      .out = ops::LayoutPositions(out_layout, "NCHW", "out_layout"),
      .strides = ops::Pair(attrs.strides, "strides"),
      .dilation = ops::Pair(attrs.dilation, "dilation"),
      .groups = attrs.groups,
      .group_inputs = ExtentOf(weight, kernel[1]),
      .group_outputs = ExtentOf(weight, kernel[0]) / attrs.groups,
      .taps = {ExtentOf(weight, kernel[2]), ExtentOf(weight, kernel[3])},
      .image = PadImage(call.input(0), data[2], data[3], ops::FourPaddings(attrs.padding)),
      .weight = weight,
      .dtype = call.dtype()};
  return {PaysToTile(conv, call) ? TiledConv(conv, call) : PlainConv(conv, call.te_shape())};
}

}  // namespace

void AttachConvComputes(ops::OpRegistry& registry) {
  registry.Definition("nn.conv2d").SetColumn(TeCompute{Conv2D});
}

}  // namespace tenon::strategies
