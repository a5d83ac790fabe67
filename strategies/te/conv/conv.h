// The forms of nn.conv2d, which conv.cc lists in a table. Only files in strategies/te/ include this
// header.
//
//   if (!RefuseRowTiled(conv, call)) return {RowTiledConv(conv, call)};
#ifndef TENON_STRATEGIES_TE_CONV_CONV_H_
#define TENON_STRATEGIES_TE_CONV_CONV_H_

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "tenon/ops/conv/conv2d_attrs.h"
#include "tenon/strategies/te/conv/conv_sum.h"

namespace tenon::strategies {

// What all forms have in common. All positions are those of N, C, H, W or O, I, H, W.
struct Conv {
  std::string name;  // ConvName
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
  // Why there are no sums, or why vectors of lanes() do not hold them. Tiles ask for both.
  std::optional<std::string> RefuseLanes(const Sizes& shape) const;

  // Elements, converted to the result's type.
  te::Expr Pixel(const te::Expr& n, const te::Expr& channel, const te::Expr& y,
                 const te::Expr& x) const;
  te::Expr Weight(const te::Expr& filter, const te::Expr& channel, const te::Expr& y,
                  const te::Expr& x) const;
  // Channels, rows and columns of the kernel.
  std::vector<te::IterVar> ReduceAxes() const;
};

// The name of the computation, and of the plain form's tag: "conv2d_" and the layout of the data in
// lower case, after "group_" where there are several groups.
std::string ConvName(const ops::Conv2DAttrs& attrs);

// A pixel of the padded image, channels first, read from `x`, which is not padded.
te::Expr PaddedPixel(const Conv& conv, const te::Tensor& x, const te::Expr& n,
                     const te::Expr& channel, const te::Expr& row, const te::Expr& column);

// The axes of the taps. Column by column, the rows of a tile share what they read; sums that keep
// their order go row by row.
struct TapAxesOfTile {
  te::IterVar row, column;
  std::vector<te::IterVar> order;
};
TapAxesOfTile TapsByColumn(const Conv& conv, const TeCall& call);

// --- Forms of nn.conv2d: each says why it does not suit a convolution, and computes one that it
// does. Conditions do not read `image`.

using Refusal = std::optional<std::string>;

inline constexpr const char* kNotDepthwise = "channels do not have kernels of their own";

// Lanes are pixels of a row. For few filters or channels, channels first.
Refusal RefuseRowTiled(const Conv& conv, const TeCall& call);
te::Tensor RowTiledConv(const Conv& conv, const TeCall& call);
// Takes fewer multiplications. For 3 x 3 kernels with constant weights, channels first.
Refusal RefuseWinograd(const Conv& conv, const TeCall& call);
double WinogradCycles(const Conv& conv, const TeCall& call);
te::Tensor WinogradConv(const Conv& conv, const TeCall& call);
// A kernel for each channel, channels first; lanes are pixels of one. The window covers all rows of
// the image.
Refusal RefuseCovering(const Conv& conv, const TeCall& call);
te::Tensor CoveringConv(const Conv& conv, const TeCall& call);
// The same; registers hold the result of a channel.
Refusal RefuseSmallImage(const Conv& conv, const TeCall& call);
te::Tensor SmallImageConv(const Conv& conv, const TeCall& call);
// The same; tiles are several rows by one vector.
Refusal RefuseTall(const Conv& conv, const TeCall& call);
te::Tensor TallConv(const Conv& conv, const TeCall& call);
// The same for extents that are expressions, windows that step, and large images. A channel is
// copied with its padding.
Refusal RefusePadded(const Conv& conv, const TeCall& call);
te::Tensor PaddedConv(const Conv& conv, const TeCall& call);
// The same; the image is taken as one long row.
Refusal RefuseFlat(const Conv& conv, const TeCall& call);
te::Tensor FlatConv(const Conv& conv, const TeCall& call);
// The same for bytes or bfloat16. One instruction of the target multiplies several taps of a row.
Refusal RefuseDepthwiseDot(const Conv& conv, const TeCall& call);
te::Tensor DepthwiseDotConv(const Conv& conv, const TeCall& call);
// Lanes are channels: a kernel for each, channels last.
Refusal RefuseDepthwiseChannelsLast(const Conv& conv, const TeCall& call);
te::Tensor DepthwiseChannelsLast(const Conv& conv, const TeCall& call);
// One instruction of the target sums several products of bytes or bfloat16. Lanes are filters, and
// axes may have any order.
Refusal RefuseWords(const Conv& conv, const TeCall& call);
// `plain`, with its elements in words.
ConvSum InWords(const Conv& conv, const ConvSum& plain, const TeCall& call);

// --- Layouts with blocks of channels

// Refuses layouts other than NCHW{n}c by OIHW{n}i{m}o or, where each channel has a kernel of its
// own, OIHW1i{n}o.
Refusal RefuseBlocks(const TeCall& call);
// Lanes are the filters of a block. A register tile is a few of a row's results by a few blocks.
std::vector<te::Tensor> BlockedConv2D(const TeCall& call, bool depthwise);
// Whether each channel has a kernel of its own.
bool IsBlockedDepthwise(const TeCall& call);

// What forms with a kernel for each channel, channels first, have in common: their condition, that
// of forms whose taps are written out, and the image, whose halves are widened once.
Refusal RefuseDepthwise(const Conv& conv, const TeCall& call);
Refusal RefuseManyTaps(const Conv& conv);
te::Tensor WithWidePixels(const Conv& conv, const TeCall& call);
// Whether a channel of the image leaves the second-level cache while it is padded and read.
bool IsLargeImage(const TeCall& call);
// Whether taps may read the image itself where it lies. Loads under masks are as fast as others
// only with AVX-512. Masks of more columns leave too few registers for them. Pixels of bfloat16
// would be widened at each tap.
bool ReadsUnderMasks(const Conv& conv, std::int64_t max_columns = 3);
// The extents of the result. All except the number of images must be numbers; for that one the
// planned value is taken. Throws Unimplemented as TeCall::shape does.
Shape ShapeOfImages(const TeCall& call);
}  // namespace tenon::strategies

#endif  // TENON_STRATEGIES_TE_CONV_CONV_H_
