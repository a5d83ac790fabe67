// Consumers first, so that all uses of an expression are known before its own children's are.
#include "tenon/ir/print_places.h"

#include <vector>

#include "tenon/ir/visit.h"

namespace tenon::ir {

PrintPlaces::PrintPlaces(const Expr& root) {
  ScopeTree tree;
  std::vector<Expr> nodes;
  VisitPostOrder(root, [&](const Expr& e) { nodes.push_back(e); });
  const auto use = [&](const Expr& e, Scope scope, bool ends_a_scope) {
    Place& place = of[e];
    place.home = place.uses == 0 ? scope : tree.Common(place.home, scope);
    ++place.uses;
    place.ends_a_scope = ends_a_scope;
  };
  use(root, ScopeTree::kRoot, true);
  for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {
    const auto found = of.find(*node);
    if (found == of.end()) continue;  // a variable that is bound but not used
    const Place place = found->second;
    if (const auto* function = node->As<FunctionNode>()) {
      const Scope body = inner[*node] = tree.Open(place.home);
      use(function->body, body, true);
    } else if (const auto* let = node->As<LetNode>()) {
      const bool continues = place.ends_a_scope && place.uses == 1;
      const Scope body = continues ? place.home : inner[*node] = tree.Open(place.home);
      use(let->value, body, false);
      use(let->body, body, true);
    } else if (const auto* choice = node->As<IfNode>()) {
      use(choice->condition, place.home, false);
      const Branches scopes{tree.Open(place.home), tree.Open(place.home)};
      branches.emplace(*node, scopes);
      use(choice->then_branch, scopes.yes, true);
      use(choice->else_branch, scopes.no, true);
    } else {
      for (const Expr& child : Children(*node)) use(child, place.home, false);
    }
  }
}

}  // namespace tenon::ir
