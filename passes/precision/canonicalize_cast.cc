#include "tenon/passes/precision/canonicalize_cast.h"

#include <unordered_map>
#include <unordered_set>

#include "tenon/ir/visit.h"
#include "tenon/ops/known_ops.h"

namespace tenon::passes {
namespace {

using ir::CallNode;
using ir::Expr;

bool IsWidening(const CallNode* cast) {
  if (cast == nullptr || !(cast->callee == ops::Known().cast)) return false;
  const auto bits = [](const ir::Type& type) {
    return type.As<ir::TensorTypeNode>()->dtype.bits();
  };
  return bits(cast->checked_type) > bits(cast->args[0].checked_type());
}

bool IsElementwise(const CallNode& call) {
  const ops::OpDef* op = ops::OpOf(call);
  return op != nullptr && op->pattern && *op->pattern <= ops::OpPattern::kBroadcast;
}

class Repeater {
 public:
  explicit Repeater(const Expr& function) {
    ir::VisitPostOrder(function, [&](const Expr& e) {
      Expr last;
      for (const Expr& child : ir::Children(e)) {
        if (!(child == last)) ++readers_[child];
        last = child;
      }
    });
  }

  Expr Repeat(const Expr& original, const Expr& rebuilt) {
    const Expr e = ir::KeepType(original, rebuilt);
    const auto* before = original.As<CallNode>();
    if (before == nullptr || !IsElementwise(*before)) return e;
    const auto* call = e.As<CallNode>();
    std::vector<Expr> args = call->args;
    ir::ExprMap copies;
    std::unordered_set<Expr, ir::ExprHash> kept;  // casts whose first reader is this one
    for (std::size_t i = 0; i < args.size(); ++i) {
      const Expr& arg = before->args[i];
      // The first reader takes the existing cast.
      if (!IsWidening(arg.As<CallNode>()) || readers_.at(arg) < 2) continue;
      if (taken_.insert(arg).second) kept.insert(arg);
      if (kept.contains(arg)) continue;
      const auto& cast = *args[i].As<CallNode>();
      const auto [copy, is_new] = copies.emplace(arg, Expr());
      if (is_new)
        copy->second =
            ir::Call::Make(cast.callee, cast.args, cast.attrs, cast.span, arg.checked_type());
      args[i] = copy->second;
    }
    if (copies.empty()) return e;
    return ir::Call::Make(call->callee, std::move(args), call->attrs, e.span(), e.checked_type());
  }

 private:
  std::unordered_map<Expr, int, ir::ExprHash> readers_;
  std::unordered_set<Expr, ir::ExprHash> taken_;
};

}  // namespace

ir::Module CanonicalizeCast(const ir::Module& module) {
  return module.Map([&](const Expr& function) {
    Repeater repeater(function);
    return ir::RewritePostOrder(
        function,
        [&](const Expr& original, const Expr& rebuilt) {
          return repeater.Repeat(original, rebuilt);
        },
        [](const Expr& e) {
          const auto* inner = e.As<ir::FunctionNode>();
          return inner == nullptr || !inner->is_primitive();
        });
  });
}

}  // namespace tenon::passes
