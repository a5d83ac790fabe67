// 2-D convolutions over blocks of channels, and which blocks convolutions take.
#include "tenon/ops/conv/conv2d_attrs.h"
#include "tenon/ops/conv/conv_rules.h"
#include "tenon/ops/known_ops.h"
#include "tenon/ops/layout/alter_layout.h"
#include "tenon/ops/layout/layout.h"
#include "tenon/ops/shape_rules.h"
#include "tenon/strategies/te/conv/blocked_sum.h"
#include "tenon/strategies/te/conv/conv.h"
#include "tenon/strategies/te_compute.h"
#include "tenon/support/strings.h"

namespace tenon::strategies {
namespace {

using te::Tensor;

// Channels of the widest blocks, whatever the target: layouts are named after them.
constexpr std::int64_t kMaxBlock = 16;

}  // namespace

std::vector<Tensor> BlockedConv2D(const TeCall& call, bool depthwise) {
  const auto& attrs = call.attrs.As<ops::Conv2DAttrs>();
  return {SumOfBlocks(
      {.strides = ops::SpatialValues(attrs.strides, 2, "strides"),
       .dilation = ops::SpatialValues(attrs.dilation, 2, "dilation"),
       .groups = attrs.groups,
       .is_depthwise = depthwise,
       .image = PadImage(call.input(0), 2, 3, ops::FourPaddings(attrs.padding), te::Stored{}),
       .weight = call.input(1),
       .dtype = call.dtype(),
       .shape = call.shape(),
       .target = call.target},
      "conv2d_NCHWc")};
}

bool IsBlockedDepthwise(const TeCall& call) {
  const auto& attrs = call.attrs.As<ops::Conv2DAttrs>();
  const std::int64_t channels = ExtentOf(call.input(0), 1) * ExtentOf(call.input(0), 4);
  return attrs.groups == channels && channels > 1 && ExtentOf(call.input(1), 4) == 1;
}

Refusal RefuseBlocks(const TeCall& call) {
  const auto& attrs = call.attrs.As<ops::Conv2DAttrs>();
  if (auto refusal = RefuseBlockLayouts(attrs)) return refusal;
  const ops::Layout kernel = ops::Layout::Parse(attrs.kernel_layout, "kernel_layout");
  const std::int64_t in = ops::Layout::Parse(attrs.data_layout, "data_layout").BlockOf('C');
  const std::int64_t out = kernel.BlockOf('O'), weight_in = kernel.BlockOf('I');
  if (call.dtype().bytes() != 4)
    return StrCat("sums of ", call.dtype().ToString(), " are not 32 bits wide");
  if (NumElements(call.shape()) == 0) return "the result has no elements";
  const std::int64_t groups = attrs.groups, channels = ExtentOf(call.input(0), 1) * in;
  if (IsBlockedDepthwise(call)) {
    if (in == out && call.shape()[1] * out == channels) return std::nullopt;
    return "kernels of each channel take blocks of one size";
  }
  if (weight_in != in) return "blocks of the data and of the weight differ";
  if (channels % (groups * in) != 0 || call.shape()[1] % groups != 0)
    return "groups are no whole blocks";
  return std::nullopt;
}

namespace {

// The channels of a block: a vector of them or, if there are few, half or a quarter. Images of
// still fewer channels have one block.
std::int64_t BlockOf(std::int64_t channels) {
  for (std::int64_t block = kMaxBlock; block >= 4; block /= 2) {
    if (channels % block == 0) return block;
  }
  return channels <= 4 ? channels : 0;
}

// Nothing for layouts other than the default ones, for bytes, and for groups of more than one
// channel.
template <typename AttrsType>
std::optional<ops::ChannelBlocks> ChooseBlocks(const ir::CallNode& call) {
  const auto& attrs = call.attrs.As<AttrsType>();
  const AttrsType defaults;
  const auto* data = call.args[0].checked_type().As<ir::TensorTypeNode>();
  const auto* result = call.checked_type.As<ir::TensorTypeNode>();
  if (attrs.data_layout != defaults.data_layout || attrs.kernel_layout != defaults.kernel_layout ||
      data == nullptr || result == nullptr || data->dtype.bits() == 8 ||
      !data->shape[1].is_static() || !result->shape[1].is_static())
    return std::nullopt;
  const std::int64_t in = data->shape[1].value();
  const std::int64_t out = result->shape[1].value();
  const bool is_depthwise = attrs.groups == in && in == out && in > 1;
  if (is_depthwise) return ops::ChannelBlocks{BlockOf(in), BlockOf(in)};
  if (attrs.groups != 1) return std::nullopt;
  return ops::ChannelBlocks{BlockOf(in), BlockOf(out)};
}

// Whether no two taps reach the same result along any axis. Such sums are short beside their way to
// memory, which blocks do not shorten.
bool HasOneTapAPhase(const ops::ConvRules& rules, const ir::TensorTypeNode& weight) {
  for (std::size_t d = 0; d < rules.dims; ++d) {
    const ir::Dim& taps = weight.shape[rules.kernel[d + 2]];
    if (!taps.is_static() || ops::WindowSpan(taps.value(), rules.dilation[d]) > rules.strides[d])
      return false;
  }
  return true;
}

// Convolutions whose forms of whole axes fill vectors with any number of filters take only blocks
// of whole vectors. Blocks of 8 filters take twice the time, and blocks of 4 five times.
template <typename AttrsType>
std::optional<ops::ChannelBlocks> ChooseWholeVectors(const ir::CallNode& call) {
  const auto blocks = ChooseBlocks<AttrsType>(call);
  if (!blocks || blocks->out < kMaxBlock) return std::nullopt;
  const ops::ConvRules rules = ops::ConvRulesOf(call.attrs.As<AttrsType>());
  const auto* weight = call.args[1].checked_type().As<ir::TensorTypeNode>();
  if (weight == nullptr || (rules.transposed && HasOneTapAPhase(rules, *weight)))
    return std::nullopt;
  return blocks;
}

}  // namespace

void AttachBlockedConvComputes(ops::OpRegistry& registry) {
  registry.Definition(ops::OpOf(ops::Known().conv2d)->name)
      .SetColumn(ops::AlterLayout{ChooseBlocks<ops::Conv2DAttrs>});
  registry.Definition("nn.conv3d")
      .SetColumn(ops::AlterLayout{ChooseWholeVectors<ops::Conv3DAttrs>});
  registry.Definition("nn.conv2d_transpose")
      .SetColumn(ops::AlterLayout{ChooseWholeVectors<ops::Conv2DTransposeAttrs>});
  registry.Definition("nn.contrib_conv2d_NCHWc").SetColumn(TeCompute{[](const TeCall& call) {
    return BlockedConv2D(call, false);
  }});
  registry.Definition("nn.contrib_depthwise_conv2d_NCHWc")
      .SetColumn(TeCompute{[](const TeCall& call) { return BlockedConv2D(call, true); }});
}

}  // namespace tenon::strategies
