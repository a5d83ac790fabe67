// Consumers first, so that all uses of an expression are known before those of its children.
#include "tenon/passes/fusion/let_homes.h"

#include <vector>

#include "tenon/ir/visit.h"

namespace tenon::passes {

using ir::Expr;
using Scope = ir::ScopeTree::Scope;

LetHomes LetHomesOf(const Expr& function) {
  std::vector<Expr> nodes;
  ir::VisitPostOrder(function, [&](const Expr& e) { nodes.push_back(e); });
  ir::ScopeTree tree;
  LetHomes homes = {{function, ir::ScopeTree::kRoot}};
  const auto use = [&](const Expr& e, Scope scope) {
    const auto [home, added] = homes.emplace(e, scope);
    if (!added) home->second = tree.Common(home->second, scope);
  };
  for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {
    const auto found = homes.find(*node);
    if (found == homes.end()) continue;  // a variable that is bound but not used
    const Scope home = found->second;
    if (const auto* let = node->As<ir::LetNode>()) {
      use(let->value, home);
      use(let->body, tree.Open(home));
    } else if (const auto* branches = node->As<ir::IfNode>()) {
      use(branches->condition, home);
      use(branches->then_branch, tree.Open(home));
      use(branches->else_branch, tree.Open(home));
    } else if (const auto* inner = node->As<ir::FunctionNode>()) {
      use(inner->body, tree.Open(home));
    } else {
      for (const Expr& child : ir::Children(*node)) use(child, home);
    }
  }
  return homes;
}

}  // namespace tenon::passes
