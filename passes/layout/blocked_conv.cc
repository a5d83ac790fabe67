#include "tenon/passes/layout/blocked_conv.h"

#include "tenon/ops/nn_attrs.h"
#include "tenon/ops/registry.h"
#include "tenon/ops/shape_rules.h"
#include "tenon/support/strings.h"

namespace tenon::passes {
namespace {

struct Channels {
  std::int64_t in = 0, out = 0, in_of_group = 0, groups = 1;
  bool is_depthwise() const { return groups > 1 && groups == in && in == out && in_of_group == 1; }
};

Channels ChannelsOf(const ir::CallNode& call) {
  const auto& attrs = call.attrs.As<ops::Conv2DAttrs>();
  const Shape data = ir::StaticShape(call.args[0].checked_type(), "data");
  const Shape weight = ir::StaticShape(call.args[1].checked_type(), "weight");
  const auto of_data = ops::LayoutPositions(attrs.data_layout, "NCHW", "data_layout");
  const auto of_weight = ops::LayoutPositions(attrs.kernel_layout, "OIHW", "kernel_layout");
  return {data[of_data[1]], weight[of_weight[0]], weight[of_weight[1]], attrs.groups};
}

}  // namespace

bool IsDepthwise(const ir::CallNode& conv2d) {
  return !ops::HasBlocks(conv2d.attrs.As<ops::Conv2DAttrs>()) &&
         ir::IsStaticTensor(conv2d.args[0].checked_type()) &&
         ir::IsStaticTensor(conv2d.args[1].checked_type()) && ChannelsOf(conv2d).is_depthwise();
}

std::optional<LayoutAlteration> BlockedConv2D(const ir::CallNode& call,
                                              const ops::ChannelBlocks& blocks) {
  const ir::Type& data = call.args[0].checked_type();
  const ir::Type& weight = call.args[1].checked_type();
  if (!ir::IsStaticTensor(data) || !ir::IsStaticTensor(weight) ||
      ops::HasBlocks(call.attrs.As<ops::Conv2DAttrs>()))
    return std::nullopt;
  if (data.As<ir::TensorTypeNode>()->dtype != weight.As<ir::TensorTypeNode>()->dtype)
    return std::nullopt;
  const Channels channels = ChannelsOf(call);
  const bool depthwise = channels.is_depthwise();
  if (blocks.in < 1 || blocks.out < 1 || channels.in == 0 || channels.out == 0) return std::nullopt;
  if (depthwise) {
    if (blocks.in != blocks.out || channels.in % blocks.in != 0) return std::nullopt;
  } else if (channels.in_of_group % blocks.in != 0 ||
             channels.out / channels.groups % blocks.out != 0) {
    return std::nullopt;
  }
  auto attrs = call.attrs.As<ops::Conv2DAttrs>();
  attrs.meta_schedule_original_shape = ir::StaticShape(weight, "weight");
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

}  // namespace tenon::passes
