// One walk, producers first. A value that exists in the low type is remembered with its float32
// form: the sum itself for convolutions and products, a cast for what follows them. Every value is
// cast once, and a cast that nothing uses is not part of the result.
#include "tenon/passes/precision/to_mixed_precision.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "tenon/ir/visit.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/known_ops.h"
#include "tenon/ops/pass_rules.h"
#include "tenon/passes/effects.h"
#include "tenon/passes/infer_type.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::passes {
namespace {

using ir::CallNode;
using ir::Expr;
using ir::TensorTypeNode;

using ops::PrecisionRule;

bool IsFloat32(const ir::Type& type) {
  const auto* tensor = type.As<TensorTypeNode>();
  return tensor != nullptr && tensor->dtype == Float32;
}

bool IsSkipped(const Expr& e) {
  const auto* function = e.As<ir::FunctionNode>();
  return function != nullptr && (function->is_primitive() || function->attrs.contains("Compiler"));
}

// Whether a number becomes neither 0 nor an infinity in the type.
bool Holds(DataType type, double number) {
  const double vanishes = type == Float16 ? 0x1p-25 : 0x1p-134;
  const double highest = type == Float16 ? 65504 : 0x1.FEp127;
  const double magnitude = std::fabs(number);
  return magnitude == 0 || (magnitude > vanishes && magnitude <= highest);
}
// The same for the greatest number of a constant: what masks values, or keeps a divisor from 0,
// would not do so any more.
bool HoldsGreatest(DataType type, const NDArray& constant) {
  const auto* values = constant.data<float>();
  float greatest = 0;
  for (std::int64_t i = 0; i < constant.size(); ++i) {
    if (std::isfinite(values[i])) greatest = std::max(greatest, std::fabs(values[i]));
  }
  return Holds(type, greatest);
}

class Mixer {
 public:
  explicit Mixer(DataType type) : type_(type) {}

  Expr Apply(const Expr& function, bool keep_output_type) {
    effects_ = WithEffects(function);
    return ir::RewritePostOrder(
        function,
        [&](const Expr& original, const Expr& rebuilt) -> Expr {
          if (original == function && !keep_output_type) return Relaxed(rebuilt);
          return Rewrite(original, rebuilt);
        },
        [](const Expr& e) { return !IsSkipped(e); });
  }
  std::vector<std::string> unlisted() const { return {unlisted_.begin(), unlisted_.end()}; }

 private:
  // The function with the type that its body has now.
  static Expr Relaxed(const Expr& e) {
    const auto* function = e.As<ir::FunctionNode>();
    if (function == nullptr || IsSkipped(e)) return e;
    return ir::Function::Make(function->params, function->body, ir::Type(), function->attrs,
                              e.span());
  }

  Expr Rewrite(const Expr& original, const Expr& rebuilt) {
    switch (rebuilt.kind()) {
      case ir::ExprKind::kCall:
        return RewriteCall(*original.As<CallNode>(), rebuilt);
      case ir::ExprKind::kTupleGetItem:
        return RewriteItem(original, rebuilt);
      case ir::ExprKind::kLet:
      case ir::ExprKind::kIf:
      case ir::ExprKind::kFunction: {
        if (IsSkipped(original)) return rebuilt;
        return WithHighChildren(rebuilt);
      }
      case ir::ExprKind::kTuple:  // its reader decides the types of the fields
      case ir::ExprKind::kVar:
      case ir::ExprKind::kGlobalVar:
      case ir::ExprKind::kOp:
      case ir::ExprKind::kConstant:
        return rebuilt;
    }
    Unreachable("the switch over expressions is exhaustive");
  }

  Expr RewriteItem(const Expr& original, const Expr& rebuilt) {
    const auto& item = *rebuilt.As<ir::TupleGetItemNode>();
    if (const auto* literal = item.tuple.As<ir::TupleNode>()) {
      if (effects_.contains(original.As<ir::TupleGetItemNode>()->tuple))
        return WithHighChildren(rebuilt);
      return literal->fields[static_cast<std::size_t>(item.index)];
    }
    if (low_tuples_.contains(item.tuple) && IsFloat32(original.checked_type())) return Low(rebuilt);
    return rebuilt;
  }

  Expr RewriteCall(const CallNode& typed, const Expr& rebuilt) {
    const auto& call = *rebuilt.As<CallNode>();
    if (call.op() == nullptr) return WithHighChildren(rebuilt);
    switch (RuleOf(call)) {
      case PrecisionRule::kAlways:
        return IsFloatProduct(typed) ? RewriteProduct(typed, call) : WithHighChildren(rebuilt);
      case PrecisionRule::kFollow:
        return Follows(typed, call) ? RewriteFollower(typed, call) : WithHighChildren(rebuilt);
      case PrecisionRule::kNever:
        return WithHighChildren(rebuilt);
    }
    Unreachable("the switch over rules is exhaustive");
  }

  PrecisionRule RuleOf(const CallNode& call) {
    if (const auto* rule = ops::OpOf(call)->Column<PrecisionRule>()) return *rule;
    unlisted_.insert(call.op()->name);
    return PrecisionRule::kNever;
  }

  static bool IsFloatProduct(const CallNode& typed) {
    return IsFloat32(typed.checked_type) &&
           std::all_of(typed.args.begin(), typed.args.end(),
                       [](const Expr& arg) { return IsFloat32(arg.checked_type()); });
  }
  Expr RewriteProduct(const CallNode& typed, const CallNode& call) {
    const Expr sum = ir::Call::Make(call.callee, LowArgs(typed.args, call.args),
                                    call.attrs.With("out_dtype", attrs::Value(Float32)), call.span);
    const Expr low = ops::Cast(sum, type_);
    high_.emplace(low, sum);
    return low;
  }

  // Whether some floating operand is low, and all others become low by rounding them once.
  bool Follows(const CallNode& typed, const CallNode& call) const {
    if (call.callee == ops::Known().clip) {
      const auto& bounds = call.attrs.As<ops::ClipAttrs>();
      if (!Holds(type_, bounds.a_min) || !Holds(type_, bounds.a_max)) return false;
    }
    bool some = false;
    bool all = true;
    const auto look = [&](const Expr& before, const Expr& now) {
      if (!IsFloat32(before.checked_type())) return;
      const bool low = high_.contains(now);
      const auto* constant = now.As<ir::ConstantNode>();
      some = some || low;
      all = all && (low || now.kind() == ir::ExprKind::kVar ||
                    (constant != nullptr && HoldsGreatest(type_, constant->data)));
    };
    for (std::size_t i = 0; i < call.args.size(); ++i) {
      const auto* before = typed.args[i].As<ir::TupleNode>();
      const auto* now = call.args[i].As<ir::TupleNode>();
      if (before != nullptr && now != nullptr) {
        for (std::size_t f = 0; f < now->fields.size(); ++f)
          look(before->fields[f], now->fields[f]);
      } else {
        look(typed.args[i], call.args[i]);
        all = all && typed.args[i].checked_type().As<ir::TupleTypeNode>() == nullptr;
      }
    }
    return some && all;
  }
  Expr RewriteFollower(const CallNode& typed, const CallNode& call) {
    const Expr made =
        ir::Call::Make(call.callee, LowArgs(typed.args, call.args), call.attrs, call.span);
    if (const auto* fields = typed.checked_type.As<ir::TupleTypeNode>()) {
      low_tuples_.emplace(made, fields->fields);
      return made;
    }
    return IsFloat32(typed.checked_type) ? Low(made) : made;
  }

  // Records that `e` is low.
  Expr Low(const Expr& e) {
    high_.emplace(e, Expr());
    return e;
  }
  std::vector<Expr> LowArgs(const std::vector<Expr>& typed, const std::vector<Expr>& args) {
    std::vector<Expr> low;
    for (std::size_t i = 0; i < args.size(); ++i) low.push_back(AsLow(typed[i], args[i]));
    return low;
  }
  Expr AsLow(const Expr& typed, const Expr& e) {
    if (const auto* tuple = e.As<ir::TupleNode>()) {
      const auto* before = typed.As<ir::TupleNode>();
      if (before == nullptr) return AsHigh(e);
      return ir::Tuple::Make(LowArgs(before->fields, tuple->fields), e.span());
    }
    if (!IsFloat32(typed.checked_type()) || high_.contains(e)) return e;
    Expr& cast = low_[e];
    if (!cast) cast = ops::Cast(e, type_);
    return cast;
  }
  Expr AsHigh(const Expr& e) {
    if (const auto found = high_.find(e); found != high_.end()) {
      if (!found->second) found->second = ops::Cast(e, Float32);
      return found->second;
    }
    if (const auto found = low_tuples_.find(e); found != low_tuples_.end()) {
      std::vector<Expr> fields;
      for (std::size_t i = 0; i < found->second.size(); ++i) {
        const Expr field = ir::TupleGetItem::Make(e, static_cast<int>(i));
        fields.push_back(IsFloat32(found->second[i]) ? ops::Cast(field, Float32) : field);
      }
      return ir::Tuple::Make(std::move(fields), e.span());
    }
    return e.kind() == ir::ExprKind::kTuple ? WithHighChildren(e) : e;
  }
  // Fields of tuples may be tuples. The depth is that of types, not of graphs.
  Expr WithHighChildren(const Expr& e) {
    std::vector<Expr> children = ir::Children(e);
    bool changed = false;
    for (Expr& child : children) {
      const Expr high = AsHigh(child);
      changed = changed || !(high == child);
      child = high;
    }
    return changed ? ir::WithChildren(e, std::move(children), ir::Type()) : e;
  }

  const DataType type_;
  ir::ExprMap high_;  // from low values to their float32 forms; null until one is needed
  ir::ExprMap low_;   // from float32 values to their casts
  // Calls with a tuple of low fields, and the original types of the fields.
  std::unordered_map<Expr, std::vector<ir::Type>, ir::ExprHash> low_tuples_;
  std::set<std::string> unlisted_;
  std::unordered_set<Expr, ir::ExprHash> effects_;  // of the function
};

}  // namespace

ir::Module ToMixedPrecision(const ir::Module& module, const MixedPrecisionOptions& options) {
  if (options.type != BFloat16 && options.type != Float16)
    throw InvalidArgument(StrCat("ToMixedPrecision: the type is ", options.type.ToString(),
                                 "; it may be bfloat16 or float16"));
  Mixer mixer(options.type);
  const Expr main = module.Find("main");
  const ir::Module result = module.Map([&](const Expr& function) {
    return mixer.Apply(function, options.keep_output_type || !(function == main));
  });
  if (options.unlisted != nullptr) *options.unlisted = mixer.unlisted();
  return result == module ? result : InferType(result);
}

}  // namespace tenon::passes
