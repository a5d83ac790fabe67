// nn.conv2d as a direct sum over input channels and kernel taps, for any order of the axes. Large
// ones are summed up in register tiles. The padded image is a stage of its own, so that the sum
// reads without conditions.
#include "tenon/ops/nn_attrs.h"
#include "tenon/ops/shape_rules.h"
#include "tenon/strategies/register_tile.h"
#include "tenon/strategies/te_compute.h"
#include "tenon/support/arithmetic.h"
#include "tenon/te/math.h"
#include "tenon/te/reduce.h"

namespace tenon::strategies {
namespace {

using te::Expr;
using te::IterVar;
using te::Tensor;
using te::Var;

// Elements of a vector of float32 or int32.
constexpr std::int64_t kLanes = VectorLanes(4);
// Results of one filter below which tiles are mostly waste, and below which packing the weights at
// each run costs more than it saves.
constexpr std::int64_t kLeastPixels = 4;
constexpr std::int64_t kLeastPixelsToPack = 64;
// Of a depthwise convolution: vectors of sums, and results of one channel.
constexpr std::int64_t kMostVectors = 8;
constexpr std::int64_t kMostPixels = 1 << 16;

// What both forms of the sum have in common. All positions are those of N, C, H, W or O, I, H, W.
struct Conv {
  std::vector<std::size_t> data, kernel, out;
  std::array<std::int64_t, 2> strides, dilation;
  std::int64_t groups, group_inputs, group_outputs;
  std::array<std::int64_t, 2> taps;
  Tensor image, weight;
  DataType dtype;

  Expr Pixel(const Expr& n, const Expr& channel, const Expr& y, const Expr& x) const {
    return Element(image, data, {n, channel, y, x});
  }
  Expr Weight(const Expr& filter, const Expr& channel, const Expr& y, const Expr& x) const {
    return Element(weight, kernel, {filter, channel, y, x});
  }
  std::vector<IterVar> ReduceAxes() const {
    return {te::ReduceAxis(0, group_inputs, "rc"), te::ReduceAxis(0, taps[0], "ry"),
            te::ReduceAxis(0, taps[1], "rx")};
  }

 private:
  Expr Element(const Tensor& tensor, const std::vector<std::size_t>& positions,
               const std::array<Expr, 4>& coordinates) const {
    std::vector<Expr> at(4);
    for (std::size_t d = 0; d < 4; ++d) at[positions[d]] = coordinates[d];
    return te::Cast(dtype, tensor[at]);
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
  const std::int64_t vectors = CeilDiv(filters, kLanes);
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
      {shape[conv.out[0]], vectors / blocks, CeilDiv(pixels, tall), blocks, tall, kLanes},
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

// One kernel a channel: lanes are pixels of the padded image taken as one long row, so that every
// tap reads whole vectors whatever the width; what falls on the margins is dropped.
Tensor DepthwiseConv(const Conv& plain, const TeCall& call,
                     const std::array<std::int64_t, 4>& padding) {
  const Shape shape = call.shape();
  const Tensor& x = call.input(0);
  const std::int64_t pitch = ExtentOf(x, 3) + padding[1] + padding[3];
  const std::int64_t pixels = (shape[2] - 1) * pitch + shape[3];
  std::int64_t vectors = kMostVectors;
  const auto covered = [&](std::int64_t v) { return CeilDiv(pixels, v * kLanes) * v; };
  for (std::int64_t v = kMostVectors - 1; v >= kMostVectors / 2; --v) {
    if (covered(v) < covered(vectors)) vectors = v;
  }
  const std::int64_t last = covered(vectors) * kLanes - 1 +
                            ((plain.taps[0] - 1) * plain.dilation[0]) * pitch +
                            (plain.taps[1] - 1) * plain.dilation[1];
  // The last tile reads past the image: rows of zeros lie there.
  const std::int64_t rows = ExtentOf(x, 2) + padding[0] + padding[2];
  const std::int64_t more = std::max<std::int64_t>(1, last / pitch + 1 - rows);
  Conv conv = plain;
  conv.image =
      PadImage(x, 2, 3, {padding[0], padding[1], padding[2] + more, padding[3]}, kTileInput);
  const std::vector<IterVar> k = {te::ReduceAxis(0, conv.taps[0], "ry"),
                                  te::ReduceAxis(0, conv.taps[1], "rx")};
  const Tensor sums = te::Compute(
      {shape[0], shape[1], covered(vectors) / vectors, 1, vectors, kLanes},
      [&](const std::vector<Var>& i) {
        const Expr at = (i[2] * vectors + i[4]) * kLanes + i[5] +
                        k[0].var * (conv.dilation[0] * pitch) + k[1].var * conv.dilation[1];
        return te::Sum(conv.Pixel(i[0], te::FloorDiv(i[1], conv.group_outputs),
                                  te::FloorDiv(at, pitch), te::FloorMod(at, pitch)) *
                           conv.Weight(i[1], 0, k[0].var, k[1].var),
                       k);
      },
      "conv2d", kRegisterTile);
  return te::Compute(
      ToExprs(shape),
      [&](const Var& n, const Var& c, const Var& y, const Var& column) {
        const Expr pixel = y * pitch + column;
        return sums(n, c, te::FloorDiv(pixel, vectors * kLanes), 0,
                    te::FloorMod(te::FloorDiv(pixel, kLanes), vectors),
                    te::FloorMod(pixel, kLanes));
      },
      "conv2d", "injective");
}

// A kernel for each channel, with stride 1, on images whose rows follow each other, do not fill
// vectors, and of which one channel stays in cache.
bool IsDepthwise(const Conv& conv, const TeCall& call) {
  const std::vector<std::size_t> nchw = {0, 1, 2, 3};
  const Shape shape = call.shape();
  return conv.groups > 1 && conv.group_inputs == 1 && conv.data == nchw && conv.out == nchw &&
         conv.strides == std::array<std::int64_t, 2>{1, 1} && conv.dtype.bytes() == 4 &&
         shape[3] % kLanes != 0 && shape[0] > 0 && shape[2] * shape[3] >= kLanes &&
         shape[2] * shape[3] <= kMostPixels;
}

// Enough results to fill tiles and to pay for packing the weights, and no depthwise convolution,
// whose lanes share nothing.
bool PaysToTile(const Conv& conv, const TeCall& call) {
  const Shape shape = call.shape();
  const std::int64_t filters = shape[conv.out[1]];
  const std::int64_t pixels = shape[conv.out[2]] * shape[conv.out[3]];
  if (conv.dtype.bytes() != 4 || shape[conv.out[0]] == 0 || filters < kLanes / 2) return false;
  // Few filters leave lanes empty that whole vectors of a row fill.
  if (filters < kLanes && shape[conv.out[3]] % kLanes == 0) return false;
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
  if (IsDepthwise(conv, call)) return {DepthwiseConv(conv, call, ops::FourPaddings(attrs.padding))};
  return {PaysToTile(conv, call) ? TiledConv(conv, call) : PlainConv(conv, call.te_shape())};
}

}  // namespace

void AttachConvComputes(ops::OpRegistry& registry) {
  registry.Definition("nn.conv2d").SetColumn(TeCompute{Conv2D});
}

}  // namespace tenon::strategies
