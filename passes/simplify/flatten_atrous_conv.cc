// Let the blocks have size b. Before the crop, result y of the phases' convolution is the sum over
// taps k of padded element y + b * (k * dilation - own padding). This is a convolution with
// dilation b * dilation. In terms of the data, its first window begins at -(before + b * own) +
// crop.
#include "tenon/passes/simplify/flatten_atrous_conv.h"

#include <array>
#include <optional>

#include "tenon/ir/visit.h"
#include "tenon/ops/conv/conv2d_attrs.h"
#include "tenon/ops/conv/conv_attrs.h"
#include "tenon/ops/conv/conv_rules.h"
#include "tenon/ops/known_ops.h"
#include "tenon/ops/registry.h"
#include "tenon/ops/shape/batch_space_attrs.h"
#include "tenon/ops/shape_rules.h"

namespace tenon::passes {
namespace {

using ir::CallNode;
using ir::Expr;

struct BatchSpaceOps {
  Expr to_batch = ops::OpRegistry::Global().Get("nn.space_to_batch_nd");
  Expr to_space = ops::OpRegistry::Global().Get("nn.batch_to_space_nd");
};
const BatchSpaceOps& Known() {
  static const auto& known = *new BatchSpaceOps();
  return known;
}

const CallNode* CallOf(const Expr& e, const Expr& op) {
  const auto* call = e.As<CallNode>();
  return call != nullptr && call->callee == op ? call : nullptr;
}

std::optional<Expr> Flattened(const Expr& e, const Expr& original,
                              const ir::ReaderCounts& readers) {
  const CallNode* back = CallOf(e, Known().to_space);
  if (back == nullptr) return std::nullopt;
  const CallNode* conv = CallOf(back->args[0], ops::Known().conv2d);
  if (conv == nullptr || readers.at(original.As<CallNode>()->args[0]) != 1) return std::nullopt;
  const CallNode* to_batch = CallOf(conv->args[0], Known().to_batch);
  if (to_batch == nullptr) return std::nullopt;
  const auto& before = to_batch->attrs.As<ops::SpaceToBatchNDAttrs>();
  const auto& after = back->attrs.As<ops::BatchToSpaceNDAttrs>();
  auto attrs = conv->attrs.As<ops::Conv2DAttrs>();
  if (before.block_shape != after.block_shape || before.block_shape.size() != 2 ||
      before.pad_value != 0 || attrs.data_layout != "NHWC" || ops::HasBlocks(attrs) ||
      !(attrs.out_layout.empty() || attrs.out_layout == "NHWC") ||
      ops::Pair(attrs.strides, "strides") != std::array<std::int64_t, 2>{1, 1})
    return std::nullopt;
  // Types come from the original graph: rewritten nodes below have none.
  const auto& typed = *original.As<CallNode>()->args[0].As<CallNode>();
  const ir::Type& data_type = typed.args[0].As<CallNode>()->args[0].checked_type();
  const ir::Type& weight_type = typed.args[1].checked_type();
  const ir::Type& result_type = original.checked_type();
  if (!ir::IsStaticTensor(data_type) || !ir::IsStaticTensor(weight_type) ||
      !ir::IsStaticTensor(result_type))
    return std::nullopt;
  const Shape data = ir::StaticShape(data_type, "the data");
  const Shape weight = ir::StaticShape(weight_type, "the weight");
  const Shape result = ir::StaticShape(result_type, "the result");
  const auto at = ops::LayoutPositions(attrs.kernel_layout, "OIHW", "kernel_layout");
  const std::array<std::int64_t, 4> own = ops::FourPaddings(attrs.padding);
  const std::array<std::int64_t, 2> dilation = ops::Pair(attrs.dilation, "dilation");
  ops::Ints padding(4), dilated(2);
  for (std::size_t d = 0; d < 2; ++d) {
    const std::int64_t block = before.block_shape[d];
    dilated[d] = block * dilation[d];
    padding[d] = before.paddings[d][0] + block * own[d] - after.crops[d][0];
    padding[d + 2] = result[d + 1] - 1 + ops::WindowSpan(weight[at[d + 2]], dilated[d]) -
                     data[d + 1] - padding[d];
    if (result[d + 1] == 0 || padding[d] < 0 || padding[d + 2] < 0) return std::nullopt;
  }
  attrs.padding = padding;
  attrs.dilation = dilated;
  return ir::Call::Make(conv->callee, {to_batch->args[0], conv->args[1]},
                        attrs::Attrs::Make(std::move(attrs)), back->span);
}

}  // namespace

ir::Module FlattenAtrousConv(const ir::Module& module) {
  return module.Map([&](const Expr& function) {
    const ir::ReaderCounts readers = ir::CountReaders(function);
    return ir::RewritePostOrder(function, [&](const Expr& original, const Expr& rebuilt) {
      const auto flattened = Flattened(rebuilt, original, readers);
      return ir::KeepType(original, flattened.value_or(rebuilt));
    });
  });
}

}  // namespace tenon::passes
