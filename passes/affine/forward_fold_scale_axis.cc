// Two walks. The first goes back from the result. Every value whose readers can all take a scale
// gets a message: along which axes, and what scales must satisfy. The second goes from the inputs.
// A multiplication with a message becomes its operand, and readers take the scale over or pass it
// on.
//
// The messages work as in Apache TVM's FoldScaleAxis (src/relay/transforms).
#include "tenon/passes/affine/forward_fold_scale_axis.h"

#include <unordered_map>

#include "tenon/ir/visit.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/known_ops.h"
#include "tenon/passes/affine/channel_axes.h"
#include "tenon/passes/affine/scale_axis.h"
#include "tenon/passes/infer_type.h"

namespace tenon::passes {
namespace {

using ir::CallNode;
using ir::Expr;
using ir::TensorTypeNode;

// The axes of the weight that a scale of the data goes to; empty when it cannot go there.
std::vector<std::size_t> WeightAxes(const CallNode& call, const ChannelAxes& axes) {
  const auto& weight = TensorOf(call.args[1])->shape;
  if (axes.groups == 1) return axes.inputs;
  // Each group has one input and one output channel.
  const bool is_depthwise =
      axes.inputs.size() == 1 && axes.outputs.size() == 1 &&
      weight[axes.inputs[0]] == ir::Dim(axes.is_transposed ? axes.groups : 1) &&
      weight[axes.outputs[0]] == ir::Dim(axes.is_transposed ? 1 : axes.groups);
  if (!is_depthwise) return {};
  return axes.is_transposed ? axes.inputs : axes.outputs;
}

class Folder {
 public:
  explicit Folder(const Expr& function) {
    std::vector<Expr> order;
    ir::VisitPostOrder(function, [&](const Expr& e) { order.push_back(e); });
    for (std::size_t i = order.size(); i-- > 0;) AskOperands(order[i]);
  }

  Expr Fold(const Expr& original, const Expr& rebuilt) {
    const auto* before = original.As<CallNode>();
    if (before == nullptr || before->op() == nullptr) return rebuilt;
    const auto& known = ops::Known();
    const auto* call = rebuilt.As<CallNode>();
    if (before->callee == known.multiply) {
      const auto side = ScaledSide(original, *before);
      if (side) return Unscaled(original, *before, *call, *side);
      // A scale that does not meet what readers require stays; a scale that comes from below goes
      // on.
      for (const Expr& arg : before->args) {
        const auto below = scales_.find(arg);
        if (below != scales_.end()) scales_.emplace(original, AxisScale(below->second));
      }
      return rebuilt;
    }
    for (std::size_t i = 0; i < before->args.size(); ++i) {
      const auto scale = scales_.find(before->args[i]);
      if (scale != scales_.end()) return Take(original, *before, *call, i, scale->second);
    }
    return rebuilt;
  }

 private:
  const ScaleMessage* Of(const Expr& e) const {
    const auto found = messages_.find(e);
    return found == messages_.end() || !found->second ? nullptr : &*found->second;
  }

  // Joins what the readers of a value ask for: they must name the same axes.
  void Ask(const Expr& operand, std::optional<ScaleMessage> message) {
    const auto [place, is_first] = messages_.emplace(operand, message);
    if (is_first || !place->second) return;
    if (!message || message->axes != place->second->axes) {
      place->second.reset();
      return;
    }
    place->second->require_positive |= message->require_positive;
    place->second->require_nonzero |= message->require_nonzero;
  }

  void AskOperands(const Expr& e) {
    const auto* call = e.As<CallNode>();
    if (call == nullptr || call->op() == nullptr) {
      for (const Expr& child : ir::Children(e)) Ask(child, std::nullopt);
      return;
    }
    for (std::size_t i = 0; i < call->args.size(); ++i) Ask(call->args[i], Wanted(e, *call, i));
  }

  std::optional<ScaleMessage> Wanted(const Expr& e, const CallNode& call, std::size_t i) const {
    const auto& known = ops::Known();
    const auto* type = TensorOf(call.args[i]);
    if (type == nullptr || !type->dtype.is_float()) return std::nullopt;
    if (const auto axes = ChannelAxesOf(call)) {
      if (i != 0 || TensorOf(call.args[1])->dtype != type->dtype ||
          WeightAxes(call, *axes).size() != axes->data.size())
        return std::nullopt;
      return ScaleMessage{axes->data};
    }
    const ScaleMessage* above = Of(e);
    if (above == nullptr) return std::nullopt;
    if (KeepsPositiveScale(call)) return ScaleMessage{above->axes, true, above->require_nonzero};
    const bool is_sum = call.callee == known.add || call.callee == known.subtract;
    if (!is_sum && !(call.callee == known.multiply)) return std::nullopt;
    if (call.args[0] == call.args[1] ||
        !ir::Equal(call.args[i].checked_type(), call.checked_type) ||
        !ReadAxisScale(call.args[1 - i], call.checked_type, above->axes) ||
        (is_sum && !MayScale(call.args[1 - i])))
      return std::nullopt;
    // If both operands could take it, the first does.
    if (i == 1 && ir::Equal(call.args[0].checked_type(), call.checked_type) &&
        ReadAxisScale(call.args[1], call.checked_type, above->axes))
      return std::nullopt;
    return ScaleMessage{above->axes, above->require_positive, is_sum || above->require_nonzero};
  }

  // The operand of a multiplication that stays when its readers take the other operand.
  std::optional<std::size_t> ScaledSide(const Expr& e, const CallNode& call) const {
    const ScaleMessage* message = Of(e);
    if (message == nullptr) return std::nullopt;
    for (std::size_t i = 0; i < 2; ++i) {
      // An operand that carries a scale of its own cannot be a scale.
      if (scales_.contains(call.args[1 - i]) ||
          !ir::Equal(call.args[i].checked_type(), call.checked_type) ||
          !Meets(call.args[1 - i], *message))
        continue;
      const auto scale = ReadAxisScale(call.args[1 - i], call.checked_type, message->axes);
      if (!scale || !scale->MayFold()) continue;
      const auto below = scales_.find(call.args[i]);
      if (below == scales_.end() || Product(below->second, *scale).MayFold()) return i;
    }
    return std::nullopt;
  }

  // The remaining operand of a multiplication; its scale waits for the readers.
  Expr Unscaled(const Expr& original, const CallNode& before, const CallNode& call,
                std::size_t side) {
    const Expr& operand = before.args[1 - side];
    AxisScale scale = *ReadAxisScale(operand, before.checked_type, Of(original)->axes);
    // The operand as it is now, squeezed like the original one.
    if (const auto* squeeze = scale.value == operand ? nullptr : scale.value.As<CallNode>()) {
      scale.value = ir::Call::Make(squeeze->callee, {call.args[1 - side]}, squeeze->attrs);
    } else {
      scale.value = call.args[1 - side];
    }
    if (const auto below = scales_.find(before.args[side]); below != scales_.end())
      scale = Product(below->second, scale);
    scales_.emplace(original, std::move(scale));
    return call.args[side];
  }

  // The call over its operand `i` without the operand's scale.
  Expr Take(const Expr& original, const CallNode& before, const CallNode& call, std::size_t i,
            const AxisScale& scale) {
    std::vector<Expr> args = call.args;
    if (const auto axes = ChannelAxesOf(before)) {
      args[1] = ops::Multiply(args[1], ExpandScale(scale, TensorOf(before.args[1])->shape.size(),
                                                   WeightAxes(before, *axes)));
    } else {
      if (args.size() == 2) {
        const std::size_t rank = TensorOf(original)->shape.size();
        args[1 - i] = ops::Divide(args[1 - i], ExpandScale(scale, rank, Of(original)->axes));
      }
      scales_.emplace(original, scale);
    }
    return ir::Call::Make(call.callee, std::move(args), call.attrs, original.span());
  }

  ExprTable<std::optional<ScaleMessage>> messages_;
  ExprTable<AxisScale> scales_;  // that rewritten values lack
};

}  // namespace

ir::Module ForwardFoldScaleAxis(const ir::Module& module) { return FoldFunctions<Folder>(module); }

}  // namespace tenon::passes
