#include "tenon/passes/effects.h"

#include "tenon/ir/visit.h"
#include "tenon/ops/op.h"

namespace tenon::passes {

using ir::Expr;

std::unordered_set<Expr, ir::ExprHash> WithEffects(const Expr& function) {
  std::unordered_set<Expr, ir::ExprHash> found;
  ir::VisitPostOrder(function, [&](const Expr& e) {
    const auto* call = e.As<ir::CallNode>();
    bool has_effect = call != nullptr && call->op() != nullptr && ops::OpOf(*call)->stateful;
    for (const Expr& child : ir::Children(e)) {
      has_effect = has_effect || found.contains(child) ||
                   (call != nullptr && child.checked_type().As<ir::RefTypeNode>() != nullptr);
    }
    if (has_effect) found.insert(e);
  });
  return found;
}

}  // namespace tenon::passes
