// Two directions, each a walk over the graph:
//
//   back:     act(conv(x, w) * s0 + b0) * s1 + b1   ->  act(conv(x, w * s0 * s1) + b0 * s1) + b1
//   forward:  conv(act(x * s0 + b0) * s1 + b1, w)   ->  conv(act(x + b0 / s0), w * s0 * s1) + w(b1)
//
// where s1 (back) and s0 (forward) are above zero when they pass an activation. Backward runs again
// after forward, which may leave an addition beside an existing one. Each chain is read into two
// affine maps, one on each side of the activation. It is written down again when that takes fewer
// operators.
#include "tenon/passes/affine/fold_affine.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "tenon/ir/visit.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/known_ops.h"
#include "tenon/passes/affine/affine_step.h"
#include "tenon/passes/affine/channel_axes.h"
#include "tenon/passes/affine/fold_affine_weights.h"
#include "tenon/passes/infer_type.h"
#include "tenon/support/strings.h"

namespace tenon::passes {
namespace {

using ir::CallNode;
using ir::Expr;
using ir::TensorTypeNode;

template <typename T>
using ExprTable = std::unordered_map<Expr, T, ir::ExprHash>;

// A shift that is multiplied or divided by a scale may be larger than any number of its type.
constexpr char kBeyondType[] = "a scale or a shift would be beyond the range of its type";

// Elements of a weight that become zero matter little beside others that do not. Where the scale
// itself is so small, they are what the result is made of. So they are in a channel whose factor is
// no normal number.
constexpr double kSmallScale = 0x1p-40;
std::optional<std::string> LostBy(const ScaleLosses& losses, const std::vector<double>& scale,
                                  DataType dtype) {
  if (losses.has_overflow) return "the scaled weight is beyond the range of its type";
  if (losses.flushed > 0 && (LargestOf(scale) < kSmallScale || HasDenormals(scale, dtype)))
    return "the scaled weight is too small for its type";
  return std::nullopt;
}

bool AllPositive(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [](double v) { return v > 0; });
}
// Whether the type is float32 or float64 with known extents, which are numbers along the axes of
// channels.
bool CanFold(const ir::Type& type, const std::vector<std::size_t>& axes) {
  const auto* tensor = type.As<TensorTypeNode>();
  if (tensor == nullptr || (tensor->dtype != Float32 && tensor->dtype != Float64)) return false;
  const std::vector<ir::Dim>& shape = tensor->shape;
  return std::ranges::none_of(shape, [](const ir::Dim& dim) { return dim.is_any(); }) &&
         std::ranges::all_of(axes, [&](std::size_t axis) { return shape[axis].is_static(); });
}
// The weight, when it is a constant with the result's element type.
const NDArray* WeightOf(const CallNode& heavy) {
  const auto* constant = heavy.args[1].As<ir::ConstantNode>();
  const bool fits = constant != nullptr &&
                    constant->data.dtype() == heavy.checked_type.As<TensorTypeNode>()->dtype;
  return fits ? &constant->data : nullptr;
}

// What both directions share: uses, constants, scaled weights and the report.
class Folder {
 public:
  Folder(const Expr& function, ScaledWeights* weights, FoldAffineReport* report)
      : values_(function), uses_(ir::CountReaders(function)), weights_(weights), report_(report) {}

 protected:
  // The channel axes of a call that folding can change; nothing for any other expression.
  static std::optional<ChannelAxes> HeavyAxes(const CallNode& call) {
    if (!CanFold(call.checked_type, {})) return std::nullopt;
    std::optional<ChannelAxes> axes = ChannelAxesOf(call);
    return axes && CanFold(call.checked_type, axes->result) ? axes : std::nullopt;
  }
  void Refuse(const CallNode& call, const std::string& where, const std::string& why) const {
    std::string text = StrCat(call.op()->name, " ", where, " stays: ", why);
    if (std::find(report_->refusals.begin(), report_->refusals.end(), text) ==
        report_->refusals.end())
      report_->refusals.push_back(std::move(text));
  }
  // `e` with the map applied to it.
  Expr Apply(Expr e, const Affine& map, const ir::Type& type,
             const std::vector<std::size_t>& axes) const {
    if (!map.scale.empty())
      e = ops::Multiply(e, ChannelConstant(map.scale, type, axes, &report_->flushed));
    if (!map.shift.empty())
      e = ops::Add(e, ChannelConstant(map.shift, type, axes, &report_->flushed));
    return e;
  }
  static int Cost(const Affine& map) {
    return (map.scale.empty() ? 0 : 1) + (map.shift.empty() ? 0 : 1);
  }

  const ConstantValues values_;
  const ir::ReaderCounts uses_;
  ScaledWeights* const weights_;
  FoldAffineReport* const report_;
};

// A heavy operator and the chain after it.
struct Tail {
  Expr heavy;
  std::vector<std::size_t> axes;
  bool has_constant_weight = false;
  Affine inner;
  Expr activation;  // or null
  Affine outer;
  int steps = 0;
};

class BackwardFolder : public Folder {
 public:
  BackwardFolder(const Expr& function, ScaledWeights* weights, FoldAffineReport* report)
      : Folder(function, weights, report) {
    ir::VisitPostOrder(function, [&](const Expr& e) {
      const auto* call = e.As<CallNode>();
      if (call != nullptr && call->op() != nullptr) Read(e, *call);
    });
  }

  Expr Fold(const Expr& original, const Expr& rebuilt) {
    if (heavies_.contains(original)) rebuilt_.emplace(original, rebuilt);
    const auto found = tails_.find(original);
    if (found == tails_.end()) return rebuilt;
    Tail& tail = found->second;
    tail.inner.Normalize();
    tail.outer.Normalize();
    Affine left = tail.inner;
    if (tail.has_constant_weight) left.scale.clear();
    if (Cost(left) + Cost(tail.outer) >= tail.steps) return rebuilt;
    return Written(original, tail).value_or(rebuilt);
  }

 private:
  void Read(const Expr& e, const CallNode& call) {
    if (const auto axes = HeavyAxes(call)) {
      tails_.emplace(e, Tail{.heavy = e,
                             .axes = axes->result,
                             .has_constant_weight = WeightOf(call) != nullptr,
                             .inner = {},
                             .activation = Expr(),
                             .outer = {}});
      return;
    }
    const bool is_activation = KeepsPositiveScale(call);
    if (!is_activation && !IsAffineOp(call)) return;
    for (std::size_t side = 0; side < call.args.size(); ++side) {
      const auto below = tails_.find(call.args[side]);
      if (below == tails_.end()) continue;
      if (uses_.at(call.args[side]) != 1) {
        if (!is_activation)
          RefuseTail(call, below->second, "the value before it has other readers");
        continue;
      }
      Tail tail = below->second;
      if (is_activation ? Activate(e, call, &tail) : Extend(call, side, &tail)) {
        tails_.erase(below);
        heavies_.insert(tail.heavy);
        tails_.emplace(e, std::move(tail));
        return;
      }
    }
  }

  void RefuseTail(const CallNode& call, const Tail& tail, const std::string& why) const {
    Refuse(call, StrCat("after ", tail.heavy.As<CallNode>()->op()->name), why);
  }

  bool Activate(const Expr& e, const CallNode& call, Tail* tail) const {
    if (tail->activation || !ir::Equal(call.args[0].checked_type(), call.checked_type))
      return false;
    tail->activation = e;
    return true;
  }

  bool Extend(const CallNode& call, std::size_t side, Tail* tail) const {
    std::string reason;
    const auto step = ReadAffine(call, side, tail->axes, values_, &reason);
    if (!step) {
      RefuseTail(call, *tail, reason);
      return false;
    }
    const Affine& before = tail->activation ? tail->outer : tail->inner;
    if (step->Cancels(before, call.checked_type.As<TensorTypeNode>()->dtype)) {
      RefuseTail(call, *tail, "its shift subtracts what was added before, which rounds");
      return false;
    }
    if (!tail->has_constant_weight && !step->scale.empty())
      RefuseTail(call, *tail, "the weight is not a constant of the result's type");
    ++tail->steps;
    if (!tail->activation) {
      tail->inner = step->After(tail->inner);
      return true;
    }
    Affine outer = step->After(tail->outer);
    if (!outer.scale.empty() && tail->has_constant_weight) {
      if (AllPositive(outer.scale)) {
        tail->inner = Affine{outer.scale, {}}.After(tail->inner);
        outer.scale.clear();
      } else {
        RefuseTail(call, *tail,
                   StrCat("a scale that is not above zero cannot pass ",
                          tail->activation.As<CallNode>()->op()->name));
      }
    }
    tail->outer = std::move(outer);
    return true;
  }

  std::optional<Expr> Written(const Expr& original, const Tail& tail) {
    const auto& before = *tail.heavy.As<CallNode>();
    const auto& heavy = *rebuilt_.at(tail.heavy).As<CallNode>();
    const DataType dtype = before.checked_type.As<TensorTypeNode>()->dtype;
    // A weight that is known takes the scale.
    const Affine kept = tail.has_constant_weight ? Affine{{}, tail.inner.shift} : tail.inner;
    if (!kept.FitsIn(dtype) || !tail.outer.FitsIn(dtype)) {
      Refuse(*original.As<CallNode>(), StrCat("after ", before.op()->name), kBeyondType);
      return std::nullopt;
    }
    std::vector<Expr> args = heavy.args;
    Affine inner = tail.inner;
    if (tail.has_constant_weight && !inner.scale.empty()) {
      WeightScale scale{*WeightOf(before), *ChannelAxesOf(before), std::move(inner.scale), {}};
      const ScaleLosses losses = LossesOf(scale);
      if (const auto lost = LostBy(losses, scale.out, dtype)) {
        Refuse(*original.As<CallNode>(), StrCat("after ", before.op()->name), *lost);
        return std::nullopt;
      }
      report_->flushed += losses.flushed;
      args[1] = ir::Constant::Make(weights_->Add(std::move(scale)), args[1].span());
      inner.scale.clear();
    }
    ++report_->folded;
    const ir::Type& type = before.checked_type;
    Expr e = ir::Call::Make(heavy.callee, std::move(args), heavy.attrs, heavy.span);
    e = Apply(e, inner, type, tail.axes);
    if (tail.activation) {
      const auto& act = *tail.activation.As<CallNode>();
      e = ir::Call::Make(act.callee, {e}, act.attrs, act.span);
    }
    return Apply(e, tail.outer, type, tail.axes);
  }

  ExprTable<Tail> tails_;  // by the last node of the chain
  ExprTable<Expr> rebuilt_;
  std::unordered_set<Expr, ir::ExprHash> heavies_;  // at which chains begin
};

// The chain before a heavy operator.
struct Head {
  Expr base;
  Affine inner;
  Expr activation;  // or null
  Affine outer;
  int steps = 0;
};

class ForwardFolder : public Folder {
 public:
  using Folder::Folder;

  Expr Fold(const Expr& original, const Expr& rebuilt) {
    const auto* before = original.As<CallNode>();
    if (before == nullptr || before->op() == nullptr) return Keep(original, rebuilt);
    const auto axes = HeavyAxes(*before);
    if (!axes || !CanFold(before->args[0].checked_type(), axes->data))
      return Keep(original, rebuilt);
    Head head = ReadHead(*before, axes->data);
    if (head.steps == 0) return Keep(original, rebuilt);
    return Keep(original,
                Written(*before, *rebuilt.As<CallNode>(), *axes, &head).value_or(rebuilt));
  }

 private:
  Expr Keep(const Expr& original, Expr e) {
    rebuilt_.emplace(original, e);
    return e;
  }

  Head ReadHead(const CallNode& heavy, const std::vector<std::size_t>& axes) const {
    Head head{.base = heavy.args[0], .inner = {}, .activation = Expr(), .outer = {}};
    while (const auto* call = head.base.As<CallNode>()) {
      if (call->op() == nullptr || uses_.at(head.base) != 1) break;
      if (KeepsPositiveScale(*call) && !head.activation) {
        head.activation = head.base;
        head.base = call->args[0];
        continue;
      }
      if (!IsAffineOp(*call)) break;
      std::size_t side = 0;
      std::string reason;
      std::optional<Affine> step = ReadAffine(*call, side, axes, values_, &reason);
      if (!step && call->args.size() == 2)
        step = ReadAffine(*call, side = 1, axes, values_, &reason);
      Affine& map = head.activation ? head.inner : head.outer;
      if (!step) break;
      // The value is rounded to steps of a large number, so the weight must not be multiplied.
      if (map.Cancels(*step, call->checked_type.As<TensorTypeNode>()->dtype))
        return {.base = heavy.args[0], .inner = {}, .activation = Expr(), .outer = {}};
      map = map.After(*step);
      ++head.steps;
      head.base = call->args[side];
    }
    head.inner.Normalize();
    head.outer.Normalize();
    return head;
  }

  std::optional<Expr> Written(const CallNode& before, const CallNode& heavy,
                              const ChannelAxes& axes, Head* head) {
    const auto refuse = [&](const std::string& why) {
      Refuse(before, "with a scale or shift before it", why);
      return std::nullopt;
    };
    const NDArray* weight = WeightOf(before);
    if (weight == nullptr) return refuse("the weight is not a constant of the result's type");
    bool is_divided = false;
    if (!head->inner.scale.empty() && AllPositive(head->inner.scale)) {
      is_divided = !head->inner.shift.empty();
      for (std::size_t i = 0; i < head->inner.shift.size(); ++i)
        head->inner.shift[i] /= head->inner.scale[i];
      head->outer.scale = Times(head->outer.scale, head->inner.scale);
      head->inner.scale.clear();
    }
    std::vector<double> result_shift;
    Affine before_weight{{}, head->outer.shift};
    if (!axes.is_padded && !head->outer.shift.empty()) {
      result_shift = ApplyToChannels(*weight, axes, head->outer.shift);
      // Products with infinities have signs of their own, whose sum is not a number.
      if (!Affine{{}, result_shift}.IsFinite())
        return refuse("a shift cannot pass a weight that has infinities");
      if (!Affine{{}, result_shift}.FitsIn(weight->dtype())) return refuse(kBeyondType);
      before_weight.shift.clear();
    } else if (!head->outer.shift.empty() && !head->outer.scale.empty()) {
      is_divided = true;
      for (std::size_t i = 0; i < before_weight.shift.size(); ++i)
        before_weight.shift[i] /= head->outer.scale[i];
      if (!before_weight.IsFinite())
        return refuse("with padding, a shift can pass only a scale without zeros");
    }
    if (!head->inner.FitsIn(weight->dtype()) || !before_weight.FitsIn(weight->dtype()))
      return refuse(kBeyondType);
    if (Cost(before_weight) + Cost(head->inner) >= head->steps) return std::nullopt;
    WeightScale scale{*weight, axes, {}, std::move(head->outer.scale)};
    const ScaleLosses losses = LossesOf(scale);
    // A shift that was divided by the scale comes back by the weight alone.
    if (is_divided && losses.flushed > 0)
      return refuse("a shift cannot pass a scale for which the weight is too small to be normal");
    if (const auto lost = LostBy(losses, scale.in, weight->dtype())) return refuse(*lost);
    report_->flushed += losses.flushed;
    ++report_->folded;

    const ir::Type& type = before.args[0].checked_type();
    Expr e = Apply(rebuilt_.at(head->base), head->inner, type, axes.data);
    if (head->activation) {
      const auto& act = *head->activation.As<CallNode>();
      e = ir::Call::Make(act.callee, {e}, act.attrs, act.span);
    }
    std::vector<Expr> args = heavy.args;
    args[0] = Apply(e, before_weight, type, axes.data);
    if (!scale.in.empty())
      args[1] = ir::Constant::Make(weights_->Add(std::move(scale)), args[1].span());
    e = ir::Call::Make(heavy.callee, std::move(args), heavy.attrs, heavy.span);
    return Apply(e, {{}, result_shift}, before.checked_type, axes.result);
  }

  ExprTable<Expr> rebuilt_;
};

// The scaled weights are computed when the original ones have no other reader.
template <typename Direction>
bool FoldIn(ir::Module* module, FoldAffineReport* report) {
  ScaledWeights weights;
  ir::Module folded = module->Map([&](const Expr& function) {
    Direction folder(function, &weights, report);
    return ir::RewritePostOrder(function, [&](const Expr& original, const Expr& rebuilt) {
      return folder.Fold(original, rebuilt);
    });
  });
  if (folded == *module) return false;
  *module = std::move(folded);
  weights.Compute();
  *module = InferType(*module);
  return true;
}

}  // namespace

bool FoldAffine(ir::Module* module, FoldAffineReport* report) {
  FoldAffineReport unused;
  if (report == nullptr) report = &unused;
  const bool back = FoldIn<BackwardFolder>(module, report);
  const bool forward = FoldIn<ForwardFolder>(module, report);
  if (forward) FoldIn<BackwardFolder>(module, report);
  return back || forward;
}

ir::Module FoldAffine(const ir::Module& module, FoldAffineReport* report) {
  ir::Module folded = module;
  FoldAffine(&folded, report);
  return folded;
}

}  // namespace tenon::passes
