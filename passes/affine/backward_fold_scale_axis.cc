// Two walks. The first goes from the inputs. Every value with one use that ends in a weight gets a
// message: along which axes it can be scaled, and whether scales must be positive. The second goes
// back from the result. A multiplication of such a value hands its scale to it, and each value with
// a scale passes it on, as its message promised, until a weight takes it.
//
// The messages work as in Apache TVM's FoldScaleAxis (src/relay/transforms).
#include "tenon/passes/affine/backward_fold_scale_axis.h"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <unordered_set>

#include "tenon/ir/visit.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/known_ops.h"
#include "tenon/ops/shape_rules.h"
#include "tenon/passes/affine/channel_axes.h"
#include "tenon/passes/affine/scale_axis.h"
#include "tenon/passes/infer_type.h"

namespace tenon::passes {
namespace {

using ir::CallNode;
using ir::Expr;
using ir::TensorTypeNode;

bool HasKnownExtents(const TensorTypeNode& type) {
  return std::none_of(type.shape.begin(), type.shape.end(),
                      [](const ir::Dim& d) { return d.is_any(); });
}

class Folder {
 public:
  explicit Folder(const Expr& function) : uses_(ir::CountReaders(function)) {
    ir::VisitPostOrder(function, [&](const Expr& e) { order_.push_back(e); });
    for (const Expr& e : order_) {
      const auto* call = e.As<CallNode>();
      bool heavy = false;
      for (const Expr& child : ir::Children(e)) heavy = heavy || heavy_.contains(child);
      if (heavy) heavy_.insert(e);
      if (call == nullptr || call->op() == nullptr) continue;
      if (ChannelAxesOf(*call)) heavy_.insert(e);
      if (auto message = MessageOf(e, *call)) messages_.emplace(e, std::move(*message));
    }
    for (std::size_t i = order_.size(); i-- > 0;) {
      if (const auto* call = order_[i].As<CallNode>()) HandOn(order_[i], *call);
    }
  }

  Expr Fold(const Expr& original, const Expr& rebuilt) {
    if (const auto dropped = kept_operand_.find(original); dropped != kept_operand_.end())
      return rebuilt.As<CallNode>()->args[dropped->second];
    const auto scale = scales_.find(original);
    return scale == scales_.end() ? rebuilt
                                  : Scaled(original, *rebuilt.As<CallNode>(), scale->second);
  }

 private:
  // The message of an operand that has no other reader.
  const ScaleMessage* Of(const Expr& e) const {
    const auto found = messages_.find(e);
    return found == messages_.end() || uses_.at(e) != 1 ? nullptr : &found->second;
  }

  std::optional<ScaleMessage> MessageOf(const Expr& e, const CallNode& call) {
    const auto& known = ops::Known();
    const auto* result = call.checked_type.As<TensorTypeNode>();
    if (result == nullptr || !result->dtype.is_float() || !HasKnownExtents(*result))
      return std::nullopt;
    if (const auto axes = ChannelAxesOf(call)) {
      const bool takes_scale = TensorOf(call.args[1])->dtype == result->dtype &&
                               !(axes->is_transposed && axes->groups > 1) &&
                               axes->result.size() == axes->outputs.size();
      return takes_scale ? std::optional(ScaleMessage{axes->result}) : std::nullopt;
    }
    if (KeepsPositiveScale(call)) {
      const ScaleMessage* below = Of(call.args[0]);
      if (below == nullptr) return std::nullopt;
      return ScaleMessage{below->axes, true};
    }
    if (call.callee == known.bias_add) {
      const ScaleMessage* below = Of(call.args[0]);
      const auto axis = static_cast<std::size_t>(
          ops::NormalAxis(call.attrs.As<ops::BiasAddAttrs>().axis, result->shape.size()));
      if (below == nullptr || below->axes != std::vector<std::size_t>{axis} ||
          !MayScale(call.args[1]))
        return std::nullopt;
      return *below;
    }
    if (call.callee == known.add || call.callee == known.subtract) return MessageOfSum(e, call);
    if (call.callee == known.multiply) {
      const auto side = ScaledSide(call);
      return side ? std::optional(*Of(call.args[*side])) : std::nullopt;
    }
    return std::nullopt;
  }

  std::optional<ScaleMessage> MessageOfSum(const Expr& e, const CallNode& call) {
    const ScaleMessage* left = Of(call.args[0]);
    const ScaleMessage* right = Of(call.args[1]);
    if (left != nullptr && right != nullptr && left->axes == right->axes &&
        ir::Equal(call.args[0].checked_type(), call.args[1].checked_type())) {
      takers_[e] = {true, true};
      return ScaleMessage{left->axes, left->require_positive || right->require_positive};
    }
    for (std::size_t i = 0; i < 2; ++i) {
      const ScaleMessage* one = i == 0 ? left : right;
      if (one == nullptr || !ir::Equal(call.args[i].checked_type(), call.checked_type) ||
          !ReadAxisScale(call.args[1 - i], call.checked_type, one->axes) ||
          !MayScale(call.args[1 - i]))
        continue;
      takers_[e] = {i == 0, i == 1};
      return *one;
    }
    return std::nullopt;
  }

  // The operand of a multiplication that the other operand can scale.
  std::optional<std::size_t> ScaledSide(const CallNode& call) const {
    for (std::size_t i = 0; i < 2; ++i) {
      const ScaleMessage* message = Of(call.args[i]);
      if (message == nullptr || heavy_.contains(call.args[1 - i]) ||
          !ir::Equal(call.args[i].checked_type(), call.checked_type) ||
          !Meets(call.args[1 - i], *message))
        continue;
      const auto scale = ReadAxisScale(call.args[1 - i], call.checked_type, message->axes);
      if (scale && scale->MayFold()) return i;
    }
    return std::nullopt;
  }

  void HandOn(const Expr& e, const CallNode& call) {
    const auto& known = ops::Known();
    const auto found = scales_.find(e);
    if (call.callee == known.multiply) {
      const auto side = ScaledSide(call);
      if (!side) return;
      AxisScale scale = *ReadAxisScale(call.args[1 - *side], call.checked_type,
                                       messages_.at(call.args[*side]).axes);
      if (found != scales_.end()) {
        const AxisScale above = found->second;
        const AxisScale both = Product(scale, above);
        if (!both.MayFold()) {
          // The call stays, and what is after it passes.
          scales_.insert_or_assign(call.args[*side], above);
          return;
        }
        scale = both;
      }
      scales_.insert_or_assign(call.args[*side], std::move(scale));
      kept_operand_.emplace(e, *side);
      return;
    }
    if (found == scales_.end() || ChannelAxesOf(call)) return;
    const AxisScale scale = found->second;
    const auto takers = takers_.find(e);
    for (std::size_t i = 0; i < 2; ++i) {
      if (takers == takers_.end() ? i == 0 : takers->second[i])
        scales_.insert_or_assign(call.args[i], scale);
    }
  }

  // The call over rewritten operands, times the scale.
  Expr Scaled(const Expr& original, const CallNode& rebuilt, const AxisScale& scale) {
    const auto& known = ops::Known();
    const auto& before = *original.As<CallNode>();
    std::vector<Expr> args = rebuilt.args;
    if (const auto axes = ChannelAxesOf(before)) {
      const std::size_t rank = TensorOf(before.args[1])->shape.size();
      args[1] = ops::Multiply(args[1], ExpandScale(scale, rank, axes->outputs));
    } else if (rebuilt.callee == known.bias_add) {
      args[1] =
          ops::Multiply(args[1], scale.is_scalar ? ops::Reshape(scale.value, {1}) : scale.value);
    } else if (rebuilt.callee == known.add || rebuilt.callee == known.subtract) {
      const std::size_t rank = TensorOf(original)->shape.size();
      for (std::size_t i = 0; i < 2; ++i) {
        if (!takers_.at(original)[i])
          args[i] = ops::Multiply(args[i], ExpandScale(scale, rank, messages_.at(original).axes));
      }
    }
    return ir::Call::Make(rebuilt.callee, std::move(args), rebuilt.attrs, original.span());
  }

  std::vector<Expr> order_;
  const ir::ReaderCounts uses_;
  ExprTable<ScaleMessage> messages_;
  ExprTable<std::array<bool, 2>> takers_;  // operands of sums that take the sum's scale
  ExprTable<AxisScale> scales_;
  std::unordered_set<Expr, ir::ExprHash> heavy_;  // readers of a result that may be rewritten
  ExprTable<std::size_t> kept_operand_;           // of multiplications that went into a weight
};

}  // namespace

ir::Module BackwardFoldScaleAxis(const ir::Module& module) { return FoldFunctions<Folder>(module); }

}  // namespace tenon::passes
