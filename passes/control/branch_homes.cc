// Consumers first, so that all uses of an expression are known before those of its children.
#include "tenon/passes/control/branch_homes.h"

#include "tenon/ir/visit.h"

namespace tenon::passes {

using ir::Expr;
using ir::ExprKind;

BranchHomes::BranchHomes(const Expr& function) {
  std::vector<Expr> nodes;
  ir::VisitPostOrder(function, [&](const Expr& e) { nodes.push_back(e); });
  homes_.emplace(function, ir::ScopeTree::kRoot);
  for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {
    const auto found = homes_.find(*node);
    if (found == homes_.end()) continue;  // a variable that is bound but not used
    const Scope home = found->second;
    if (const auto* branches = node->As<ir::IfNode>()) {
      const Branches scopes{tree_.Open(home), tree_.Open(home)};
      branches_.emplace(*node, scopes);
      Use(branches->condition, home);
      Use(branches->then_branch, scopes.yes);
      Use(branches->else_branch, scopes.no);
    } else if (const auto* literal = node->As<ir::FunctionNode>()) {
      const Scope body = tree_.Open(home);
      for (const Expr& param : literal->params) binders_[param] = body;
      Use(literal->body, body);
    } else if (const auto* let = node->As<ir::LetNode>()) {
      binders_[let->var] = home;
      Use(let->value, home);
      Use(let->body, home);
    } else {
      for (const Expr& child : ir::Children(*node)) Use(child, home);
    }
  }
  for (const auto& [var, scope] : binders_) homes_[var] = scope;
}

void BranchHomes::Use(const Expr& e, Scope scope) {
  const auto [home, added] = homes_.emplace(e, scope);
  if (!added) home->second = tree_.Common(home->second, scope);
}

BranchHomes::Place BranchHomes::PlaceOf(const Expr& e, Scope branch) const {
  switch (e.kind()) {
    case ExprKind::kConstant:
    case ExprKind::kOp:
    case ExprKind::kGlobalVar:
      return Place::kAnywhere;
    default:
      break;
  }
  if (tree_.Holds(branch, homes_.at(e))) return Place::kInside;
  const bool is_closed = e.kind() == ExprKind::kFunction && ir::FreeVars(e).empty();
  return is_closed ? Place::kAnywhere : Place::kAround;
}

std::vector<Expr> BranchHomes::ValuesAround(const Expr& branch, Scope scope) const {
  std::vector<Expr> values;
  ir::VisitPostOrder(
      branch,
      [&](const Expr& e) {
        if (PlaceOf(e, scope) == Place::kAround) values.push_back(e);
      },
      [&](const Expr& e) { return PlaceOf(e, scope) == Place::kInside; });
  return values;
}

}  // namespace tenon::passes
