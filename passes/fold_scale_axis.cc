#include "tenon/passes/fold_scale_axis.h"

#include <optional>
#include <unordered_map>

#include "tenon/ir/visit.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/known_ops.h"
#include "tenon/ops/shape_rules.h"
#include "tenon/passes/infer_type.h"

namespace tenon::passes {
namespace {

using ir::CallNode;
using ir::Expr;

class Folder {
 public:
  explicit Folder(const Expr& function) {
    ir::VisitPostOrder(function, [&](const Expr& e) {
      for (const Expr& child : ir::Children(e)) ++uses_[child];
    });
  }

  Expr Fold(const Expr& original, const Expr& rebuilt) {
    const auto* call = rebuilt.As<CallNode>();
    if (call == nullptr || !(call->callee == ops::Known().multiply)) return rebuilt;
    const auto& before = *original.As<CallNode>();
    for (std::size_t i = 0; i < 2; ++i) {
      if (uses_[before.args[i]] != 1) continue;
      if (const auto folded = Scaled(before.args[i], call->args[i], call->args[1 - i]))
        return *folded;
    }
    return rebuilt;
  }

 private:
  // `e` times `scale`, when the scale goes into a convolution's weight. `typed` is `e` before
  // rewriting.
  std::optional<Expr> Scaled(const Expr& typed, const Expr& e, const Expr& scale) {
    const auto* call = e.As<CallNode>();
    const auto* typed_call = typed.As<CallNode>();
    if (call == nullptr || typed_call == nullptr || scale.kind() != ir::ExprKind::kConstant)
      return std::nullopt;
    if (call->callee == ops::Known().conv2d) return ScaledConv(typed, *call, scale);
    if (call->callee == ops::Known().add) {
      for (std::size_t i = 0; i < 2; ++i) {
        const Expr& bias = call->args[1 - i];
        if (bias.kind() != ir::ExprKind::kConstant || uses_[typed_call->args[i]] != 1) continue;
        if (const auto inner = Scaled(typed_call->args[i], call->args[i], scale))
          return ops::Add(*inner, ops::Multiply(bias, scale));
      }
    }
    return std::nullopt;
  }

  static std::optional<Expr> ScaledConv(const Expr& typed, const CallNode& conv,
                                        const Expr& scale) {
    if (conv.args[1].kind() != ir::ExprKind::kConstant) return std::nullopt;
    const auto& attrs = conv.attrs.As<ops::Conv2DAttrs>();
    const std::string& layout = attrs.out_layout.empty() ? attrs.data_layout : attrs.out_layout;
    const auto& result = *typed.checked_type().As<ir::TensorTypeNode>();
    const std::size_t rank = result.shape.size();
    const std::size_t channel = ops::LayoutPositions(layout, "NCHW", "out_layout")[1];
    const NDArray& values = scale.As<ir::ConstantNode>()->data;
    // The scale of a result of another element type is no factor of the weight's, and a scale of
    // more axes than the result gives it its rank.
    if (values.dtype() != conv.args[1].As<ir::ConstantNode>()->data.dtype() ||
        values.shape().size() > rank)
      return std::nullopt;
    // Aligned at the last axis, only the channel axis may have more than one element.
    const std::size_t missing = rank - values.shape().size();
    for (std::size_t i = 0; i < values.shape().size(); ++i) {
      if (values.shape()[i] != 1 && i + missing != channel) return std::nullopt;
    }
    const auto count = static_cast<std::int64_t>(values.size());
    if (count != 1 && !(result.shape[channel] == ir::Dim(count))) return std::nullopt;
    const std::size_t o = ops::LayoutPositions(attrs.kernel_layout, "OIHW", "kernel_layout")[0];
    Shape along_weight(4, 1);
    along_weight[o] = values.size();
    const Expr weight_scale = ir::Constant::Make(values.Reshape(along_weight));
    return ir::Call::Make(conv.callee, {conv.args[0], ops::Multiply(conv.args[1], weight_scale)},
                          conv.attrs, conv.span);
  }

  std::unordered_map<Expr, int, ir::ExprHash> uses_;
};

}  // namespace

ir::Module FoldScaleAxis(const ir::Module& module) {
  ir::Module result = module;
  for (const auto& [name, function] : module.functions()) {
    Folder folder(function);
    const Expr folded = ir::RewritePostOrder(
        function,
        [&](const Expr& original, const Expr& rebuilt) { return folder.Fold(original, rebuilt); });
    if (!(folded == function)) result = result.With(name, folded);
  }
  return result == module ? result : InferType(result);
}

}  // namespace tenon::passes
