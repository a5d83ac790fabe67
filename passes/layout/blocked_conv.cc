#include "tenon/passes/layout/blocked_conv.h"

#include <unordered_map>

#include "tenon/ops/conv/conv2d_attrs.h"
#include "tenon/ops/conv/conv_rules.h"
#include "tenon/ops/known_ops.h"
#include "tenon/ops/registry.h"
#include "tenon/ops/shape_rules.h"
#include "tenon/support/strings.h"

namespace tenon::passes {
namespace {

using ir::CallNode;
using ops::ChannelBlocks;

struct Channels {
  std::int64_t in = 0, out = 0, in_of_group = 0, out_of_group = 0, groups = 1;
  bool is_depthwise() const { return groups > 1 && groups == in && in == out && in_of_group == 1; }
  bool AreWholeBlocks(const ChannelBlocks& blocks) const {
    return in_of_group % blocks.in == 0 && out_of_group % blocks.out == 0;
  }
};

// Where the weight has the channels: all filters by the inputs of a group or, in a transposed
// convolution, all inputs by the filters of a group.
template <typename AttrsType>
Channels ChannelsOf(const CallNode& call) {
  const auto& attrs = call.attrs.As<AttrsType>();
  const ops::ConvRules rules = ops::ConvRulesOf(attrs);
  const Shape data = ir::StaticShape(call.args[0].checked_type(), "data");
  const Shape weight = ir::StaticShape(call.args[1].checked_type(), "weight");
  const std::int64_t in = data[rules.data[1]], out = weight[rules.kernel[0]];
  const std::int64_t groups = attrs.groups;
  if (rules.transposed) return {in, out * groups, in / groups, out, groups};
  return {in, out, weight[rules.kernel[1]], out / groups, groups};
}

bool AreStatic(const CallNode& call) {
  return ir::IsStaticTensor(call.args[0].checked_type()) &&
         ir::IsStaticTensor(call.args[1].checked_type());
}

bool AreOfOneType(const CallNode& call) {
  const auto type = [&](std::size_t i) {
    return call.args[i].checked_type().As<ir::TensorTypeNode>()->dtype;
  };
  return type(0) == type(1);
}

// Whether the call can have blocks of so many channels.
template <typename AttrsType>
bool MayTakeBlocks(const CallNode& call, const ChannelBlocks& blocks) {
  if (!AreStatic(call) || !AreOfOneType(call) || ops::HasBlocks(call.attrs.As<AttrsType>()))
    return false;
  const Channels channels = ChannelsOf<AttrsType>(call);
  return blocks.in >= 1 && blocks.out >= 1 && channels.in > 0 && channels.out > 0;
}

std::optional<LayoutAlteration> BlockedConv2D(const CallNode& call, const ChannelBlocks& blocks) {
  if (!MayTakeBlocks<ops::Conv2DAttrs>(call, blocks)) return std::nullopt;
  const auto channels = ChannelsOf<ops::Conv2DAttrs>(call);
  const bool depthwise = channels.is_depthwise();
  if (depthwise) {
    if (blocks.in != blocks.out || channels.in % blocks.in != 0) return std::nullopt;
  } else if (!channels.AreWholeBlocks(blocks)) {
    return std::nullopt;
  }
  auto attrs = call.attrs.As<ops::Conv2DAttrs>();
  attrs.meta_schedule_original_shape = ir::StaticShape(call.args[1].checked_type(), "weight");
  attrs.data_layout = StrCat("NCHW", blocks.in, "c");
  attrs.kernel_layout = StrCat("OIHW", depthwise ? 1 : blocks.in, "i", blocks.out, "o");
  attrs.out_layout = StrCat("NCHW", blocks.out, "c");
  attrs.auto_scheduler_rewritten_layout = attrs.kernel_layout;
  const std::string out_layout = attrs.out_layout;
  return LayoutAlteration{
      ops::OpRegistry::Global().Get(depthwise ? "nn.contrib_depthwise_conv2d_NCHWc"
                                              : "nn.contrib_conv2d_NCHWc"),
      {{attrs.data_layout, attrs.kernel_layout}, out_layout, attrs::Attrs::Make(std::move(attrs))}};
}

template <typename AttrsType>
std::optional<LayoutAlteration> InBlocks(const CallNode& call, const ChannelBlocks& blocks) {
  if (!MayTakeBlocks<AttrsType>(call, blocks) ||
      !ChannelsOf<AttrsType>(call).AreWholeBlocks(blocks))
    return std::nullopt;
  const AttrsType defaults;
  auto attrs = call.attrs.As<AttrsType>();
  attrs.data_layout = StrCat(defaults.data_layout, blocks.in, "c");
  attrs.kernel_layout = StrCat(defaults.kernel_layout, blocks.in, "i", blocks.out, "o");
  attrs.out_layout = StrCat(defaults.data_layout, blocks.out, "c");
  const std::string out_layout = attrs.out_layout;
  return LayoutAlteration{
      call.callee,
      {{attrs.data_layout, attrs.kernel_layout}, out_layout, attrs::Attrs::Make(std::move(attrs))}};
}

using ToBlocks = std::optional<LayoutAlteration> (*)(const CallNode&, const ChannelBlocks&);

const std::unordered_map<ir::Expr, ToBlocks, ir::ExprHash>& Table() {
  const auto& known = ops::Known();
  static const auto& table = *new std::unordered_map<ir::Expr, ToBlocks, ir::ExprHash>{
      {known.conv2d, BlockedConv2D},
      {known.conv1d, InBlocks<ops::Conv1DAttrs>},
      {known.conv3d, InBlocks<ops::Conv3DAttrs>},
      {known.conv2d_transpose, InBlocks<ops::Conv2DTransposeAttrs>},
      {known.conv3d_transpose, InBlocks<ops::Conv3DTransposeAttrs>},
  };
  return table;
}

}  // namespace

bool IsDepthwise(const CallNode& conv2d) {
  return !ops::HasBlocks(conv2d.attrs.As<ops::Conv2DAttrs>()) && AreStatic(conv2d) &&
         ChannelsOf<ops::Conv2DAttrs>(conv2d).is_depthwise();
}

std::optional<LayoutAlteration> BlockedConvolution(const CallNode& call,
                                                   const ChannelBlocks& blocks) {
  const auto found = Table().find(call.callee);
  return found == Table().end() ? std::nullopt : found->second(call, blocks);
}

}  // namespace tenon::passes
