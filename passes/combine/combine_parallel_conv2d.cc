#include "tenon/passes/combine/combine_parallel_conv2d.h"

#include "tenon/ops/builders.h"
#include "tenon/ops/conv/conv_rules.h"
#include "tenon/ops/known_ops.h"
#include "tenon/ops/shape_rules.h"
#include "tenon/passes/combine/combine_branches.h"

namespace tenon::passes {
namespace {

using ir::CallNode;
using ir::Expr;

std::size_t OutputAxis(const CallNode& conv) {
  return ops::LayoutPositions(conv.attrs.As<ops::Conv2DAttrs>().kernel_layout, "OIHW",
                              "kernel_layout")[0];
}

bool AreAlike(const CallNode& a, const CallNode& b) {
  const auto& attrs = a.attrs.As<ops::Conv2DAttrs>();
  auto others = b.attrs.As<ops::Conv2DAttrs>();
  // The weights give the number of channels.
  others.channels = attrs.channels;
  others.kernel_size = attrs.kernel_size;
  Shape shape = WeightShape(a);
  Shape other = WeightShape(b);
  shape[OutputAxis(a)] = other[OutputAxis(b)] = 0;
  return a.attrs == attrs::Attrs::Make(others) && shape == other && HaveOneWeightType(a, b);
}

Expr Combined(const std::vector<const CallNode*>& branches, const Expr& data) {
  const CallNode& first = *branches[0];
  const std::size_t output_axis = OutputAxis(first);
  std::vector<Expr> weights;
  std::int64_t channels = 0;
  for (const CallNode* branch : branches) {
    weights.push_back(branch->args[1]);
    channels += WeightShape(*branch)[output_axis];
  }
  auto attrs = first.attrs.As<ops::Conv2DAttrs>();
  attrs.channels = channels;
  const Expr weight = ops::Concatenate(std::move(weights), static_cast<std::int64_t>(output_axis));
  return ir::Call::Make(first.callee, {data, weight}, attrs::Attrs::Make(attrs));
}

std::optional<std::size_t> ChannelAxis(const CallNode& conv) {
  const auto& attrs = conv.attrs.As<ops::Conv2DAttrs>();
  const std::string& layout = attrs.out_layout.empty() ? attrs.data_layout : attrs.out_layout;
  return ops::LayoutPositions(layout, "NCHW", "out_layout")[1];
}

}  // namespace

ir::Module CombineParallelConv2D(const ir::Module& module, int min_num_branches) {
  return CombineBranches(module,
                         {.op = ops::Known().conv2d,
                          .is_supported =
                              [](const CallNode& call) {
                                const auto& attrs = call.attrs.As<ops::Conv2DAttrs>();
                                return attrs.groups == 1 && !ops::HasBlocks(attrs) &&
                                       IsStaticWeight(call);
                              },
                          .are_alike = AreAlike,
                          .combine = Combined,
                          .axis = ChannelAxis},
                         min_num_branches);
}

}  // namespace tenon::passes
