// Convolutions of uint8 by int8 in int32, and of bfloat16 in float32. One instruction adds four or
// two products in each lane (Intel SDM volume 2, VPDPBUSD and VDPBF16PS). Lanes are filters, and as
// many channels of a pixel meet them as one word. The image is packed into such words, channel
// block by channel block. That takes whole vectors of pixels, since a word is made of elements of
// as many planes.
#include "tenon/strategies/te/conv/conv.h"
#include "tenon/strategies/te/matmul/product.h"
#include "tenon/support/arithmetic.h"
#include "tenon/support/strings.h"
#include "tenon/te/math.h"

namespace tenon::strategies {
namespace {

using te::Expr;
using te::Tensor;
using te::Var;

// With fewer pixels tiles are mostly waste. An instruction fills whole vectors, so there must be
// filters for one.
constexpr std::int64_t kMinPixels = 4;

// How many channels of a word the target multiplies by one instruction; 1 if it has no such
// instruction.
std::int64_t GroupOf(const Conv& conv, const TeCall& call) {
  return DotGroup(call.target, call.input(0).dtype(), conv.weight.dtype(), conv.dtype);
}

// The padded image in words, at (n, block of channels, y, x); blocks do not reach into the next
// group.
Tensor Words(const Conv& conv, const Tensor& x, std::int64_t group) {
  const std::int64_t blocks = CeilDiv(conv.group_inputs, group);
  const auto extent = [&](std::size_t axis) { return x.shape()[conv.data[axis]]; };
  Conv unpadded = conv;
  unpadded.image = x;
  unpadded.dtype = x.dtype();
  const Tensor words = te::Compute(
      {extent(0), conv.groups * blocks, extent(2), extent(3)},
      [&](const Var& n, const Var& block, const Var& y, const Var& column) {
        std::vector<Expr> elements;
        for (std::int64_t j = 0; j < group; ++j) {
          const Expr inside = te::FloorMod(block, blocks) * group + j;
          const Expr channel = te::FloorDiv(block, blocks) * conv.group_inputs + inside;
          const Expr pixel = unpadded.Pixel(n, channel, y, column);
          const std::int64_t rest = conv.group_inputs % group;
          elements.push_back(
              rest > 0 && j >= rest
                  ? te::IfThenElse(inside < Expr(conv.group_inputs), pixel, te::Cast(x.dtype(), 0))
                  : pixel);
        }
        return te::WordOf(elements);
      },
      "words", conv.IsPadded() ? te::Label() : te::Stored{});
  return PadImage(words, 2, 3, conv.padding, te::Stored{});
}

}  // namespace

Refusal RefuseWords(const Conv& conv, const TeCall& call) {
  const std::int64_t group = GroupOf(conv, call);
  if (group == 1) return kNoDots;
  const Sizes shape = call.sizes();
  if (ElementsOf(shape).planned == 0) return "the result has no elements";
  if (conv.group_inputs == 0) return "there are no channels";
  if (conv.group_outputs < conv.lanes())
    return StrCat(conv.group_outputs, " filters do not fill a vector of ", conv.lanes());
  if (conv.groups > 1 && conv.group_outputs % conv.lanes() != 0)
    return StrCat("the ", conv.group_outputs, " filters of a group do not fill vectors of ",
                  conv.lanes());
  if (conv.groups > 1 && conv.group_inputs < group)
    return StrCat("the ", conv.group_inputs, " channels of a group do not fill words of ", group);
  const std::int64_t pixels = shape[conv.out[2]].planned * shape[conv.out[3]].planned;
  const std::int64_t least = call.IsConstant(1) ? kMinPixels : kMinPixelsToPack;
  if (pixels < least)
    return StrCat(pixels, " pixels are fewer than ", least, ", which pay for packing the operands");
  return std::nullopt;
}

ConvSum InWords(const Conv& conv, const ConvSum& plain, const TeCall& call) {
  const std::int64_t group = GroupOf(conv, call);
  ConvSum sum = plain;
  sum.data = {0, 1, 2, 3};
  sum.image = Words(conv, call.input(0), group);
  sum.channels_of_word = group;
  sum.group_inputs = CeilDiv(conv.group_inputs, group);
  Conv stored = conv;
  stored.dtype = conv.weight.dtype();
  sum.weight = [stored, group](const Expr& filter, const Expr& channel,
                               const std::vector<Expr>& taps) {
    const Expr value = stored.Weight(filter, channel, taps[0], taps[1]);
    if (stored.group_inputs % group == 0) return value;
    return te::IfThenElse(channel < Expr(stored.group_inputs), value, te::Cast(value.dtype(), 0));
  };
  return sum;
}

}  // namespace tenon::strategies
