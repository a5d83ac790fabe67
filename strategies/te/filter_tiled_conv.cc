// A register tile is 8 pixels of the result, counted row by row, by two vectors of filters, or 16
// pixels by one. The weights are packed a vector of filters after the other.
#include "tenon/strategies/te/conv.h"
#include "tenon/support/arithmetic.h"
#include "tenon/te/math.h"
#include "tenon/te/reduce.h"

namespace tenon::strategies {

using te::Expr;
using te::IterVar;
using te::Tensor;
using te::Var;

namespace {

// Results of one filter below which tiles are mostly waste, and below which packing the weights at
// each run costs more than it saves.
constexpr std::int64_t kLeastPixels = 4;
constexpr std::int64_t kLeastPixelsToPack = 64;

// Enough results to fill tiles and to pay for packing the weights, and no depthwise convolution,
// whose lanes share nothing.
bool PaysToTile(const Conv& conv, const TeCall& call) {
  const Shape shape = call.shape();
  const std::int64_t filters = shape[conv.out[1]];
  const std::int64_t pixels = shape[conv.out[2]] * shape[conv.out[3]];
  if (!conv.FillsLanes(shape) || filters < kConvLanes / 2) return false;
  // Few filters leave lanes empty that whole vectors of a row fill.
  if (filters < kConvLanes && shape[conv.out[3]] % kConvLanes == 0) return false;
  if (conv.groups > 1 && conv.group_outputs % kConvLanes != 0) return false;
  return pixels >= (call.IsConstant(1) ? kLeastPixels : kLeastPixelsToPack);
}

}  // namespace

std::optional<Tensor> FilterTiledConv(const Conv& conv, const TeCall& call) {
  if (!PaysToTile(conv, call)) return std::nullopt;
  const Shape shape = call.shape();
  const std::int64_t filters = shape[conv.out[1]];
  const std::int64_t width = shape[conv.out[3]];
  const std::int64_t pixels = shape[conv.out[2]] * width;
  const std::int64_t vectors = CeilDiv(filters, kConvLanes);
  const std::int64_t blocks =
      conv.group_outputs % (2 * kConvLanes) == 0 || (conv.groups == 1 && vectors % 2 == 0) ? 2 : 1;
  const std::int64_t tall = blocks == 2 ? 8 : 16;
  const Tensor packed = call.Prepared(te::Compute(
      {vectors, conv.group_inputs, conv.taps[0], conv.taps[1], kConvLanes},
      [&](const Var& v, const Var& c, const Var& y, const Var& x, const Var& lane) {
        const Expr filter = v * kConvLanes + lane;
        const Expr value = conv.Weight(filter, c, y, x);
        if (filters % kConvLanes == 0) return value;
        return te::IfThenElse(filter < Expr(filters), value, te::Cast(conv.dtype, 0));
      },
      "packed", kPacked));
  const std::vector<IterVar> k = conv.ReduceAxes();
  const Tensor sums = te::Compute(
      {shape[conv.out[0]], vectors / blocks, CeilDiv(pixels, tall), blocks, tall, kConvLanes},
      [&](const std::vector<Var>& i) {
        Expr pixel = i[2] * tall + i[4];
        // Pixels past the last one are computed from it and dropped.
        if (pixels % tall != 0) pixel = te::Min(pixel, pixels - 1);
        const Expr y = te::FloorDiv(pixel, width) * conv.strides[0] + k[1].var * conv.dilation[0];
        const Expr x = te::FloorMod(pixel, width) * conv.strides[1] + k[2].var * conv.dilation[1];
        const Expr vector = i[1] * blocks + i[3];
        Expr channel = k[0].var;
        if (conv.groups > 1)
          channel =
              te::FloorDiv(i[1], conv.group_outputs / (kConvLanes * blocks)) * conv.group_inputs +
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
        return sums(i[conv.out[0]], te::FloorDiv(filter, blocks * kConvLanes),
                    te::FloorDiv(pixel, tall),
                    te::FloorMod(te::FloorDiv(filter, kConvLanes), blocks),
                    te::FloorMod(pixel, tall), te::FloorMod(filter, kConvLanes));
      },
      "conv2d", "injective");
}

}  // namespace tenon::strategies
