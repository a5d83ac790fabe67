// Convolutions as a direct sum over input channels and kernel taps. Depthwise ones over two axes
// have tiles of their own.
#include "tenon/ops/conv_rules.h"
#include "tenon/strategies/register_tile.h"
#include "tenon/strategies/te/conv_sum.h"
#include "tenon/te/math.h"
#include "tenon/te/reduce.h"

namespace tenon::strategies {
namespace {

using te::Expr;
using te::IterVar;
using te::Tensor;
using te::Var;

constexpr std::int64_t kLanes = kConvLanes;
// Vectors of sums, and results of one channel.
constexpr std::int64_t kMostVectors = 8;
constexpr std::int64_t kMostPixels = 1 << 16;

// One kernel a channel: lanes are pixels of the padded image taken as one long row, so that every
// tap reads whole vectors whatever the width; what falls on the margins is dropped.
Tensor DepthwiseConv(const ConvSum& plain, const TeCall& call, const ops::ConvRules& rules) {
  const Shape shape = call.shape();
  const Tensor& x = call.input(0);
  const std::int64_t pitch = ExtentOf(x, 3) + rules.before[1] + rules.after[1];
  const std::int64_t pixels = (shape[2] - 1) * pitch + shape[3];
  std::int64_t vectors = kMostVectors;
  const auto covered = [&](std::int64_t v) { return (pixels + v * kLanes - 1) / (v * kLanes) * v; };
  for (std::int64_t v = kMostVectors - 1; v >= kMostVectors / 2; --v) {
    if (covered(v) < covered(vectors)) vectors = v;
  }
  const std::int64_t last = covered(vectors) * kLanes - 1 +
                            ((plain.taps[0] - 1) * plain.dilation[0]) * pitch +
                            (plain.taps[1] - 1) * plain.dilation[1];
  // The last tile reads past the image: rows of zeros lie there.
  const std::int64_t rows = ExtentOf(x, 2) + rules.before[0] + rules.after[0];
  const std::int64_t more = std::max<std::int64_t>(1, last / pitch + 1 - rows);
  ConvSum conv = plain;
  conv.image =
      PadImage(x, {2, 3}, rules.before, {rules.after[0] + more, rules.after[1]}, kTileInput);
  const std::vector<IterVar> k = conv.TapAxes();
  const Tensor sums = te::Compute(
      {shape[0], shape[1], covered(vectors) / vectors, 1, vectors, kLanes},
      [&](const std::vector<Var>& i) {
        const Expr at = (i[2] * vectors + i[4]) * kLanes + i[5] +
                        k[0].var * (conv.dilation[0] * pitch) + k[1].var * conv.dilation[1];
        return te::Sum(conv.Pixel(i[0], te::FloorDiv(i[1], conv.group_outputs),
                                  {te::FloorDiv(at, pitch), te::FloorMod(at, pitch)}) *
                           conv.weight(i[1], 0, {k[0].var, k[1].var}),
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
bool IsDepthwise(const ConvSum& conv) {
  const std::vector<std::size_t> nchw = {0, 1, 2, 3};
  const Shape& shape = conv.shape;
  return conv.groups > 1 && conv.group_inputs == 1 && conv.data == nchw && conv.out == nchw &&
         conv.strides == ops::Ints{1, 1} && conv.dtype.bytes() == 4 && shape[3] % kLanes != 0 &&
         shape[0] > 0 && shape[2] * shape[3] >= kLanes && shape[2] * shape[3] <= kMostPixels;
}

template <typename AttrsType>
std::vector<Tensor> Convolution(const TeCall& call, const char* name) {
  const ops::ConvRules rules = ops::ConvRulesOf(call.attrs.As<AttrsType>());
  const Tensor& weight = call.input(1);
  const DataType dtype = call.dtype();
  ConvSum conv{.data = rules.data,
               .out = rules.out,
               .strides = rules.strides,
               .dilation = rules.dilation,
               .groups = rules.groups,
               .group_inputs = ExtentOf(weight, rules.kernel[1]),
               .group_outputs = ExtentOf(weight, rules.kernel[0]) / rules.groups,
               .taps = {},
               .image = {},
               .weight = {},
               .weight_is_constant = call.IsConstant(1),
               .dtype = dtype,
               .shape = call.shape()};
  for (std::size_t d = 0; d < rules.dims; ++d)
    conv.taps.push_back(ExtentOf(weight, rules.kernel[d + 2]));
  conv.weight = [weight, dtype, kernel = rules.kernel](const Expr& filter, const Expr& channel,
                                                       const std::vector<Expr>& taps) {
    std::vector<Expr> at(kernel.size());
    at[kernel[0]] = filter;
    at[kernel[1]] = channel;
    for (std::size_t d = 0; d < taps.size(); ++d) at[kernel[d + 2]] = taps[d];
    return te::Cast(dtype, weight[at]);
  };
  if (IsDepthwise(conv)) return {DepthwiseConv(conv, call, rules)};
  const std::vector<std::size_t> spatial(rules.data.begin() + 2, rules.data.end());
  conv.image = PadImage(call.input(0), spatial, rules.before, rules.after);
  return {SumOverTaps(conv, call, name)};
}

template <typename AttrsType>
TeCompute Named(const char* name) {
  return {[name](const TeCall& call) { return Convolution<AttrsType>(call, name); }};
}

}  // namespace

void AttachConvComputes(ops::OpRegistry& registry) {
  registry.Definition("nn.conv1d").SetColumn(Named<ops::Conv1DAttrs>("conv1d"));
  registry.Definition("nn.conv2d").SetColumn(Named<ops::Conv2DAttrs>("conv2d"));
  registry.Definition("nn.conv3d").SetColumn(Named<ops::Conv3DAttrs>("conv3d"));
}

}  // namespace tenon::strategies
