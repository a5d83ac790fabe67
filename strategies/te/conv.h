// The forms of the sum behind nn.conv2d that are better than the general one for some layers and
// answer nothing for others; conv.cc tries them in turn. Only files in strategies/te/ include this
// header.
//
//   if (const auto y = RowTiledConv(conv, call)) return {*y};
#ifndef TENON_STRATEGIES_TE_CONV_H_
#define TENON_STRATEGIES_TE_CONV_H_

#include <array>
#include <optional>
#include <vector>

#include "tenon/strategies/te/conv_sum.h"

namespace tenon::strategies {

// What all forms have in common. All positions are those of N, C, H, W or O, I, H, W.
struct Conv {
  std::vector<std::size_t> data, kernel, out;
  std::array<std::int64_t, 2> strides, dilation;
  std::array<std::int64_t, 4> padding;  // top, left, bottom, right
  std::int64_t groups, group_inputs, group_outputs;
  std::array<std::int64_t, 2> taps;
  te::Tensor image;  // padded
  te::Tensor weight;
  DataType dtype;
  const Target& target;

  std::int64_t lanes() const { return target.Lanes(4); }  // as in ConvSum
  bool IsNchw() const;
  bool IsPadded() const;
  // Sums of results that exist and that vectors of lanes() hold, which tiles ask for.
  bool FillsLanes(const Shape& shape) const;

  // Elements as the result's type.
  te::Expr Pixel(const te::Expr& n, const te::Expr& channel, const te::Expr& y,
                 const te::Expr& x) const;
  te::Expr Weight(const te::Expr& filter, const te::Expr& channel, const te::Expr& y,
                  const te::Expr& x) const;
  // Channels, rows and columns of the kernel.
  std::vector<te::IterVar> ReduceAxes() const;
};

// A pixel of the padded image, channels first, read from `x`, which is not padded.
te::Expr PaddedPixel(const Conv& conv, const te::Tensor& x, const te::Expr& n,
                     const te::Expr& channel, const te::Expr& row, const te::Expr& column);

// Lanes are pixels of a row: few filters or channels, channels first.
std::optional<te::Tensor> RowTiledConv(const Conv& conv, const TeCall& call);
// Fewer multiplications: 3 x 3 kernels with constant weights, channels first. Throws Unimplemented
// for others, and where it does not pay.
te::Tensor WinogradConv(const Conv& conv, const TeCall& call);
// Lanes are pixels of one channel: a kernel for each, channels first.
std::optional<te::Tensor> DepthwiseConv(const Conv& conv, const TeCall& call);
// The same of bytes or of bfloat16, several taps of a row by one instruction, where the host has
// it.
std::optional<te::Tensor> DepthwiseDotConv(const Conv& conv, const TeCall& call);
// Lanes are channels: a kernel for each, channels last.
std::optional<te::Tensor> DepthwiseChannelsLast(const Conv& conv, const TeCall& call);
// Sums of several products of bytes or of bfloat16 by one instruction, where the host has it. Lanes
// are filters: any order of the axes.
bool TakesWords(const Conv& conv, const TeCall& call);
// `plain` of words.
ConvSum InWords(const Conv& conv, const ConvSum& plain, const TeCall& call);

}  // namespace tenon::strategies

#endif  // TENON_STRATEGIES_TE_CONV_H_
