#include "tenon/passes/dead_code.h"

#include <unordered_set>

#include "tenon/ir/visit.h"
#include "tenon/ops/op.h"

namespace tenon::passes {
namespace {

using ir::Expr;

// Calls of anything but an operator without state may have effects.
bool IsPure(const Expr& expr) {
  bool pure = true;
  ir::VisitPostOrder(expr, [&](const Expr& e) {
    const auto* call = e.As<ir::CallNode>();
    if (call != nullptr && (call->op() == nullptr || ops::OpOf(*call)->stateful)) pure = false;
  });
  return pure;
}

std::unordered_set<Expr, ir::ExprHash> UsedVars(const Expr& function) {
  std::unordered_set<Expr, ir::ExprHash> used;
  const auto use = [&](const Expr& e) {
    if (e.kind() == ir::ExprKind::kVar) used.insert(e);
  };
  ir::VisitPostOrder(function, [&](const Expr& e) {
    if (const auto* let = e.As<ir::LetNode>()) {
      use(let->value);
      use(let->body);
    } else if (const auto* f = e.As<ir::FunctionNode>()) {
      use(f->body);
    } else {
      for (const Expr& child : ir::Children(e)) use(child);
    }
  });
  return used;
}

}  // namespace

ir::Module DeadCodeElimination(const ir::Module& module) {
  ir::Module result = module;
  for (const auto& [name, function] : module.functions()) {
    Expr current = function;
    // Dropping a let can make one before it unused.
    while (true) {
      const auto used = UsedVars(current);
      const Expr next = ir::RewritePostOrder(current, [&](const Expr& original, const Expr& e) {
        const auto* let = e.As<ir::LetNode>();
        if (let != nullptr && !used.contains(let->var) && IsPure(let->value)) return let->body;
        if (!e.checked_type() && original.checked_type())
          return ir::WithChildren(e, ir::Children(e), original.checked_type());
        return e;
      });
      if (next == current) break;
      current = next;
    }
    if (!(current == function)) result = result.With(name, current);
  }
  return result;
}

ir::Module RemoveUnusedFunctions(const ir::Module& module,
                                 const std::vector<std::string>& entries) {
  std::unordered_set<std::string> reached(entries.begin(), entries.end());
  std::vector<std::string> pending = entries;
  while (!pending.empty()) {
    const Expr function = module.Get(pending.back());
    pending.pop_back();
    ir::VisitPostOrder(function, [&](const Expr& e) {
      const auto* global = e.As<ir::GlobalVarNode>();
      if (global != nullptr && reached.insert(global->name).second) pending.push_back(global->name);
    });
  }
  ir::Module result = module;
  for (const auto& [name, function] : module.functions()) {
    if (!reached.contains(name)) result = result.Without(name);
  }
  return result;
}

}  // namespace tenon::passes
