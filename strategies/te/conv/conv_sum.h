// The sum over channels and kernel taps of any convolution, over any number of spatial axes and for
// any order of the axes.
//
//   const ConvSum conv{...};
//   if (!RefuseTiledSum(conv)) y = TiledSum(conv, call, "conv3d");
#ifndef TENON_STRATEGIES_TE_CONV_CONV_SUM_H_
#define TENON_STRATEGIES_TE_CONV_CONV_SUM_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tenon/ops/ints.h"
#include "tenon/strategies/schedule/register_tile.h"
#include "tenon/strategies/te_compute.h"

namespace tenon::strategies {

// Results of one filter below which packing the weights at each run costs more than it saves.
inline constexpr std::int64_t kMinPixelsToPack = 64;

struct ConvSum {
  std::vector<std::size_t> data, out;  // positions of N, C and the spatial axes
  ops::Ints strides, dilation;
  std::int64_t groups, group_inputs, group_outputs;
  Shape taps;
  te::Tensor image;  // padded
  // The weight of a filter for a channel of its group and a tap along each spatial axis.
  std::function<te::Expr(const te::Expr& filter, const te::Expr& channel,
                         const std::vector<te::Expr>& taps)>
      weight;
  bool weight_is_constant;
  // If it is more than 1, the image has words of int32 with so many channels each, which one
  // instruction multiplies by as many weights, and `group_inputs` counts words. `weight` still
  // counts channels, is 0 past the last one, and keeps its type.
  std::int64_t channels_of_word = 1;
  // The weight is picked from another tensor, and the sum from this one's own order: both are
  // stored before they are read.
  bool is_stored = false;
  // Where the image lies along each spatial axis of the padded one. Tiles leave out the taps that
  // they meet only beside it. Empty: all taps are added.
  struct Inside {
    std::int64_t begin, end;
  };
  std::vector<Inside> inside = {};
  DataType dtype;
  Sizes shape;  // of the result
  const Target& target;

  std::size_t dims() const { return taps.size(); }
  // Elements of a vector of float32 or int32, the types that are summed up in register tiles.
  // Filters of a vector: as many as the target's vectors have lanes, or half of them where that is
  // all that a group has.
  std::int64_t lanes() const {
    const std::int64_t all = target.Lanes(4);
    const bool has_half = groups > 1 && 2 * group_outputs == all && group_outputs >= 4;
    return has_half && channels_of_word == 1 ? group_outputs : all;
  }
  Sizes Spatial() const;  // extents of the result's spatial axes
  // The pixel, converted to the result's type, or a word.
  te::Expr Pixel(const te::Expr& n, const te::Expr& channel, const std::vector<te::Expr>& at) const;
};

// The sum in register tiles, whose lanes are filters. Constant weights are packed when the kernel
// is made. Sums of words always take tiles, other sums where that pays.
std::optional<std::string> RefuseTiledSum(const ConvSum& conv);
double TiledSumCycles(const ConvSum& conv);  // of one core, estimated
te::Tensor TiledSum(const ConvSum& conv, const TeCall& call, const std::string& name);
// The same sum, which knows where the image `x` lies between these paddings, and when that saves
// much. Without padding, or where extents are not known, it knows no more than before.
ConvSum Skipping(ConvSum conv, const te::Tensor& x, const ops::Ints& before,
                 const ops::Ints& after);
std::optional<std::string> RefuseSkippingSum(const ConvSum& conv);
te::Tensor PlainSum(const ConvSum& conv, const TeCall& call, const std::string& name);

}  // namespace tenon::strategies

#endif  // TENON_STRATEGIES_TE_CONV_CONV_SUM_H_
