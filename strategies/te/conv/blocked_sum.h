// The sum of a convolution over blocks of channels, over any number of spatial axes. Only files in
// strategies/te/ include this header.
//
//   y = SumOfBlocks({.strides = {1, 1, 1}, ..., .shape = call.shape(), ...}, "conv3d");
#ifndef TENON_STRATEGIES_TE_CONV_BLOCKED_SUM_H_
#define TENON_STRATEGIES_TE_CONV_BLOCKED_SUM_H_

#include <optional>
#include <string>
#include <vector>

#include "tenon/ops/conv/conv_rules.h"
#include "tenon/ops/layout/layout.h"
#include "tenon/strategies/te/shape/layout.h"
#include "tenon/strategies/te_compute.h"

namespace tenon::strategies {

struct BlockedSum {
  ops::Ints strides, dilation;  // of each spatial axis
  std::int64_t groups = 1;
  bool is_depthwise = false;  // a kernel for each channel; the weight has one channel
  te::Tensor image;           // padded: N, blocks of channels, spatial axes, channels of a block
  // Blocks of filters, blocks of a group's channels, taps, channels of a block, filters of a block.
  te::Tensor weight;
  DataType dtype;
  Shape shape;  // of the result: as that of the image
  const Target& target;

  std::size_t dims() const { return strides.size(); }
  Shape Taps() const;
};

te::Tensor SumOfBlocks(const BlockedSum& sum, const std::string& name, const te::Label& label = {});

struct BlockLayouts {
  std::string data, kernel, out;
};

// What forms of whole axes say when they refuse blocks.
inline constexpr const char* kHasBlocks = "its layouts have blocks";

// Why these are not the layouts of such a sum, or nothing. Its layouts are `whole` with channels in
// blocks, and the weight's last axes are those of the channels and of the filters of a block.
std::optional<std::string> RefuseBlockLayouts(const BlockLayouts& given, const BlockLayouts& whole);

// Why the call, which has such layouts, is not such a sum, or nothing. The weight must have whole
// blocks of filters of all groups, and whole blocks of their channels.
std::optional<std::string> RefuseBlockedSum(const TeCall& call, std::int64_t groups,
                                            std::int64_t filters, std::int64_t channels);

template <typename AttrsType>
std::optional<std::string> RefuseBlockLayouts(const AttrsType& attrs) {
  if (!ops::HasBlocks(attrs)) return "its layouts have no blocks";
  const AttrsType defaults;
  return RefuseBlockLayouts({attrs.data_layout, attrs.kernel_layout, attrs.out_layout},
                            {defaults.data_layout, defaults.kernel_layout, ""});
}

// The attributes with the default layouts.
template <typename AttrsType>
AttrsType OfWholeAxes(AttrsType attrs) {
  const AttrsType defaults;
  attrs.data_layout = attrs.out_layout = defaults.data_layout;
  attrs.kernel_layout = defaults.kernel_layout;
  return attrs;
}

// `make` for any layouts: operands are brought into the default ones, and the result back.
template <typename AttrsType>
std::vector<te::Tensor> OverWholeAxes(const TeCall& call, const TeMake& make) {
  const auto& attrs = call.attrs.As<AttrsType>();
  const AttrsType defaults;
  const std::string& out = attrs.out_layout.empty() ? attrs.data_layout : attrs.out_layout;
  const auto whole = [](const Shape& shape, const std::string& layout, const std::string& letters) {
    const ops::Layout parsed = ops::Layout::Parse(layout, "layout");
    Shape extents;
    for (const char letter : letters)
      extents.push_back(shape[parsed.PositionOf(letter)] * parsed.BlockOf(letter));
    return extents;
  };
  const auto operand = [&](std::size_t i, const std::string& from, const std::string& to) {
    return InLayout(call.input(i), from, to, ToExprs(whole(ShapeOf(call.input(i)), from, to)));
  };
  const std::vector<te::Tensor> inputs = {operand(0, attrs.data_layout, defaults.data_layout),
                                          operand(1, attrs.kernel_layout, defaults.kernel_layout)};
  const attrs::Attrs plain = attrs::Attrs::Make(OfWholeAxes(attrs));
  const ir::Type type =
      ir::TensorTypeOf(whole(call.shape(), out, defaults.data_layout), call.dtype());
  const TeCall inner{plain, inputs, type, call.target};
  return {InLayout(make(inner)[0], defaults.data_layout, out, call.te_shape())};
}

}  // namespace tenon::strategies

#endif  // TENON_STRATEGIES_TE_CONV_BLOCKED_SUM_H_
