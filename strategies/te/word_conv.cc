// Convolutions of uint8 by int8 in int32, and of bfloat16 in float32. One instruction adds four or
// two products in each lane (Intel SDM volume 2, VPDPBUSD and VDPBF16PS): lanes are filters, and as
// many channels of a pixel meet them as one word. The image is packed into such words, channel
// block by channel block, which takes whole vectors of pixels: a word is made of elements of as
// many planes. A register tile is a few pixels, counted row by row, by a few vectors of filters.
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

// Pixels of a tile, whose sums hide the latency of an instruction: as many as lanes, so that
// results leave in transposed squares.
constexpr std::int64_t kPixels = kConvLanes;
// Pixels below which tiles are mostly waste, and below which packing the weights at each run costs
// more than it saves. An instruction fills whole vectors: there are filters for one.
constexpr std::int64_t kLeastPixels = 4;
constexpr std::int64_t kLeastPixelsToPack = 64;

// Channels of a word that the host multiplies by one instruction; 1 where there is none.
std::int64_t GroupOf(const Conv& conv, const TeCall& call) {
  const DataType image = call.input(0).dtype(), weight = conv.weight.dtype();
  const jit::CpuFeatures host = jit::CpuFeatures::Host();
  if (image == UInt8 && weight == Int8 && conv.dtype == Int32 && host.Has("avx512vnni")) return 4;
  if (image == BFloat16 && weight == BFloat16 && conv.dtype == Float32 && host.Has("avx512bf16"))
    return 2;
  return 1;
}

// The padded image in words, at (n, block of channels, y, x); blocks do not reach into the next
// group.
Tensor Words(const Conv& conv, const Tensor& x, std::int64_t group) {
  const std::int64_t blocks = CeilDiv(conv.group_inputs, group);
  const auto extent = [&](std::size_t axis) { return ExtentOf(x, conv.data[axis]); };
  const bool padded =
      std::any_of(conv.padding.begin(), conv.padding.end(), [](auto p) { return p != 0; });
  const Tensor words = te::Compute(
      ToExprs(Shape{extent(0), conv.groups * blocks, extent(2), extent(3)}),
      [&](const Var& n, const Var& block, const Var& y, const Var& column) {
        std::vector<Expr> elements;
        for (std::int64_t j = 0; j < group; ++j) {
          const Expr inside = te::FloorMod(block, blocks) * group + j;
          std::vector<Expr> at(conv.data.size());
          at[conv.data[0]] = n;
          at[conv.data[1]] = te::FloorDiv(block, blocks) * conv.group_inputs + inside;
          at[conv.data[2]] = y;
          at[conv.data[3]] = column;
          const bool may_be_last = j >= conv.group_inputs % group;
          elements.push_back(
              conv.group_inputs % group > 0 && may_be_last
                  ? te::IfThenElse(inside < Expr(conv.group_inputs), x[at], te::Cast(x.dtype(), 0))
                  : x[at]);
        }
        return te::WordOf(elements);
      },
      "words", padded ? "injective" : kPacked);
  return PadImage(words, 2, 3, conv.padding, kPacked);
}

// The weights a vector of filters after the other; past the last filter and channel zeros.
Tensor PackedWeights(const Conv& conv, std::int64_t vectors, std::int64_t group) {
  const std::int64_t filters = conv.groups * conv.group_outputs;
  const bool ragged = conv.group_inputs % group != 0 || filters % kConvLanes != 0;
  return te::Compute(
      {vectors, CeilDiv(conv.group_inputs, group), conv.taps[0], conv.taps[1], kConvLanes, group},
      [&](const std::vector<Var>& i) {
        const Expr filter = i[0] * kConvLanes + i[4];
        const Expr channel = i[1] * group + i[5];
        std::vector<Expr> at(4);
        at[conv.kernel[0]] = filter;
        at[conv.kernel[1]] = channel;
        at[conv.kernel[2]] = i[2];
        at[conv.kernel[3]] = i[3];
        const Expr value = conv.weight[at];
        if (!ragged) return value;
        return te::IfThenElse(filter < Expr(filters) && channel < Expr(conv.group_inputs), value,
                              te::Cast(value.dtype(), 0));
      },
      "packed", kPacked);
}

}  // namespace

bool TakesWords(const Conv& conv, const TeCall& call) {
  const Shape shape = call.shape();
  const std::int64_t group = GroupOf(conv, call);
  if (group == 1 || NumElements(shape) == 0 || conv.group_inputs == 0 ||
      conv.group_outputs < kConvLanes)
    return false;
  // Words of one group that are not filled.
  if (conv.groups > 1 && (conv.group_outputs % kConvLanes != 0 || conv.group_inputs < group))
    return false;
  const std::int64_t pixels = shape[conv.out[2]] * shape[conv.out[3]];
  return pixels >= (call.IsConstant(1) ? kLeastPixels : kLeastPixelsToPack);
}

Tensor WordConv(const Conv& conv, const TeCall& call) {
  const std::int64_t group = GroupOf(conv, call);
  const Shape shape = call.shape();
  const std::int64_t vectors = CeilDiv(shape[conv.out[1]], kConvLanes);
  const std::int64_t width = shape[conv.out[3]];
  const std::int64_t pixels = shape[conv.out[2]] * width;
  const std::int64_t blocks = CeilDiv(conv.group_inputs, group);
  const Tensor words = Words(conv, call.input(0), group);
  const Tensor packed = call.Prepared(PackedWeights(conv, vectors, group));
  std::vector<IterVar> axes = {te::ReduceAxis(0, blocks, "rcb")};
  Expr tap_y = 0, tap_x = 0;
  if (conv.taps[0] * conv.taps[1] > 1) {
    axes.push_back(te::ReduceAxis(0, conv.taps[0], "ry"));
    axes.push_back(te::ReduceAxis(0, conv.taps[1], "rx"));
    tap_y = axes[1].var;
    tap_x = axes[2].var;
  }
  axes.push_back(te::ReduceAxis(0, group, "g"));
  const Expr block = axes.front().var;
  const Expr element = axes.back().var;
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
        const Expr word = words(i[0], channels, y, x);
        const Expr pixel_element = group == 4 ? te::ByteOfWord(word, element)
                                              : te::Cast(Float32, te::BFloatOfWord(word, element));
        return te::Sum(
            pixel_element * te::Cast(conv.dtype, packed(i[1], block, tap_y, tap_x, i[5], element)),
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
