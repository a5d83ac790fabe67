// Convolutions of uint8 by int8 in int32. One instruction adds four products in each lane (Intel
// SDM volume 2, VPDPBUSD): lanes are filters, and four channels of a pixel meet them as one word.
// The image is packed into such words, channel block by channel block, which takes whole vectors of
// pixels: a word is made of bytes of four planes. A register tile is a few pixels, counted row by
// row, by a few vectors of filters.
#include <algorithm>

#include "tenon/jit/cpu_features.h"
#include "tenon/strategies/te/conv.h"
#include "tenon/support/arithmetic.h"
#include "tenon/te/math.h"
#include "tenon/te/reduce.h"

namespace tenon::strategies {
namespace {

using te::Expr;
using te::IterVar;
using te::Tensor;
using te::Var;

// Channels of a word.
constexpr std::int64_t kGroup = 4;
// Pixels of a tile, whose sums hide the latency of an instruction: as many as lanes, so that
// results leave in transposed squares.
constexpr std::int64_t kPixels = kConvLanes;
// Pixels below which tiles are mostly waste, and below which packing the weights at each run costs
// more than it saves. An instruction fills whole vectors: there are filters for one.
constexpr std::int64_t kLeastPixels = 4;
constexpr std::int64_t kLeastPixelsToPack = 64;

bool Suits(const Conv& conv, const TeCall& call) {
  const Shape shape = call.shape();
  if (call.input(0).dtype() != UInt8 || conv.weight.dtype() != Int8 || conv.dtype != Int32 ||
      NumElements(shape) == 0 || conv.group_inputs == 0 || conv.group_outputs < kConvLanes)
    return false;
  // A channel alone fills a quarter of a word.
  if (conv.groups > 1 && (conv.group_outputs % kConvLanes != 0 || conv.group_inputs < kGroup))
    return false;
  const std::int64_t pixels = shape[conv.out[2]] * shape[conv.out[3]];
  return pixels >= (call.IsConstant(1) ? kLeastPixels : kLeastPixelsToPack) &&
         jit::CpuFeatures::Host().Has("avx512vnni");
}

// The padded image in words, at (n, block of channels, y, x); blocks do not reach into the next
// group.
Tensor Words(const Conv& conv, const Tensor& x) {
  const std::int64_t blocks = CeilDiv(conv.group_inputs, kGroup);
  const auto extent = [&](std::size_t axis) { return ExtentOf(x, conv.data[axis]); };
  const bool padded =
      std::any_of(conv.padding.begin(), conv.padding.end(), [](auto p) { return p != 0; });
  const Tensor words = te::Compute(
      ToExprs(Shape{extent(0), conv.groups * blocks, extent(2), extent(3)}),
      [&](const Var& n, const Var& block, const Var& y, const Var& column) {
        std::array<Expr, kGroup> bytes;
        for (std::int64_t j = 0; j < kGroup; ++j) {
          const Expr inside = te::FloorMod(block, blocks) * kGroup + j;
          std::vector<Expr> at(kGroup);
          at[conv.data[0]] = n;
          at[conv.data[1]] = te::FloorDiv(block, blocks) * conv.group_inputs + inside;
          at[conv.data[2]] = y;
          at[conv.data[3]] = column;
          Expr byte = te::Cast(Int32, x[at]);
          if (conv.group_inputs % kGroup > 0 && j >= conv.group_inputs % kGroup)
            byte = te::IfThenElse(inside < Expr(conv.group_inputs), byte, te::Cast(Int32, 0));
          bytes[static_cast<std::size_t>(j)] = byte;
        }
        return te::WordOfBytes(bytes);
      },
      "words", padded ? "injective" : kPacked);
  return PadImage(words, 2, 3, conv.padding, kPacked);
}

// The weights a vector of filters after the other; past the last filter and channel zeros.
Tensor PackedWeights(const Conv& conv, std::int64_t vectors) {
  const std::int64_t filters = conv.groups * conv.group_outputs;
  const bool ragged = conv.group_inputs % kGroup != 0 || filters % kConvLanes != 0;
  return te::Compute(
      {vectors, CeilDiv(conv.group_inputs, kGroup), conv.taps[0], conv.taps[1], kConvLanes, kGroup},
      [&](const std::vector<Var>& i) {
        const Expr filter = i[0] * kConvLanes + i[4];
        const Expr channel = i[1] * kGroup + i[5];
        std::vector<Expr> at(4);
        at[conv.kernel[0]] = filter;
        at[conv.kernel[1]] = channel;
        at[conv.kernel[2]] = i[2];
        at[conv.kernel[3]] = i[3];
        const Expr value = conv.weight[at];
        if (!ragged) return value;
        return te::IfThenElse(filter < Expr(filters) && channel < Expr(conv.group_inputs), value,
                              te::Cast(Int8, 0));
      },
      "packed", kPacked);
}

}  // namespace

std::optional<Tensor> ByteConv(const Conv& conv, const TeCall& call) {
  if (!Suits(conv, call)) return std::nullopt;
  const Shape shape = call.shape();
  const std::int64_t vectors = CeilDiv(shape[conv.out[1]], kConvLanes);
  const std::int64_t width = shape[conv.out[3]];
  const std::int64_t pixels = shape[conv.out[2]] * width;
  const std::int64_t blocks = CeilDiv(conv.group_inputs, kGroup);
  const Tensor words = Words(conv, call.input(0));
  const Tensor packed = call.Prepared(PackedWeights(conv, vectors));
  std::vector<IterVar> axes = {te::ReduceAxis(0, blocks, "rcb")};
  Expr tap_y = 0, tap_x = 0;
  if (conv.taps[0] * conv.taps[1] > 1) {
    axes.push_back(te::ReduceAxis(0, conv.taps[0], "ry"));
    axes.push_back(te::ReduceAxis(0, conv.taps[1], "rx"));
    tap_y = axes[1].var;
    tap_x = axes[2].var;
  }
  axes.push_back(te::ReduceAxis(0, kGroup, "g"));
  const Expr block = axes.front().var;
  const Expr byte = axes.back().var;
  const Tensor sums = te::Compute(
      {shape[conv.out[0]], vectors, CeilDiv(pixels, kPixels), 1, kPixels, kConvLanes},
      [&](const std::vector<Var>& i) {
        Expr pixel = i[2] * kPixels + i[4];
        // Pixels past the last one are computed from it and dropped.
        if (pixels % kPixels != 0) pixel = te::Min(pixel, pixels - 1);
        const Expr y = te::FloorDiv(pixel, width) * conv.strides[0] + tap_y * conv.dilation[0];
        const Expr x = te::FloorMod(pixel, width) * conv.strides[1] + tap_x * conv.dilation[1];
        Expr channels = block;
        if (conv.groups > 1)
          channels = te::FloorDiv(i[1], conv.group_outputs / kConvLanes) * blocks + block;
        return te::Sum(te::ByteOfWord(words(i[0], channels, y, x), byte) *
                           te::Cast(Int32, packed(i[1], block, tap_y, tap_x, i[5], byte)),
                       axes);
      },
      "conv2d", kWordDotTile);
  return te::Compute(
      ToExprs(shape),
      [&](const std::vector<Var>& i) {
        const Var& filter = i[conv.out[1]];
        const Expr pixel = i[conv.out[2]] * width + i[conv.out[3]];
        return sums(i[conv.out[0]], te::FloorDiv(filter, kConvLanes), te::FloorDiv(pixel, kPixels),
                    0, te::FloorMod(pixel, kPixels), te::FloorMod(filter, kConvLanes));
      },
      "conv2d", "injective");
}

}  // namespace tenon::strategies
