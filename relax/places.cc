#include "tenon/relax/places.h"

#include "tenon/relax/cursor.h"
#include "tenon/support/strings.h"

namespace tenon::relax {

using ir::Expr;

Places::Places(const Expr& root) {
  ir::VisitPostOrder(root, [&](const Expr& e) {
    if (const auto* let = e.As<ir::LetNode>()) lets_.emplace(let->var, let->value);
  });
  Sort(root);
  FindHomes(root);
}

Expr Places::Meant(Expr e) const {
  while (true) {
    if (const auto* let = e.As<ir::LetNode>()) {
      e = Expr(let->body);
      continue;
    }
    const auto value = lets_.find(e);
    if (value == lets_.end()) return e;
    e = Expr(value->second);
  }
}

bool Places::IsInPlace(const Expr& tuple) const {
  return homes_.at(tuple).uses == 1 && !results_.contains(tuple) && !in_tuples_.contains(tuple) &&
         !given_to_.contains(tuple);
}

Expr Places::IfThatGets(const Expr& e) const {
  const auto found = given_to_.find(e);
  if (found == given_to_.end()) return {};
  // A value that is used in other places, too, stands before the if.
  const Branches& branches = branches_.at(found->second);
  const Scope scope = homes_.at(e).scope;
  return scope == branches.yes || scope == branches.no ? found->second : Expr();
}

// The value of a let may stand after what reads it in a walk of the nodes themselves.
void Places::Sort(const Expr& root) {
  struct Frame {
    Expr expr;
    std::vector<Expr> children;
    std::size_t next = 0;
  };
  std::unordered_set<Expr, ir::ExprHash> seen;
  std::vector<Frame> stack;
  const auto push = [&](const Expr& e) {
    if (seen.insert(e).second) stack.push_back({e, ir::Children(e)});
  };
  push(root);
  while (!stack.empty()) {
    Frame& top = stack.back();
    if (top.next < top.children.size()) {
      push(Meant(top.children[top.next++]));
      continue;
    }
    order_.push_back(top.expr);
    stack.pop_back();
  }
}

// Consumers first, so that all uses of an expression are known before its own children's are.
void Places::FindHomes(const Expr& root) {
  const auto use = [&](const Expr& e, Scope scope) {
    Home& home = homes_[e];
    home.scope = home.uses == 0 ? scope : tree_.Common(home.scope, scope);
    ++home.uses;
  };
  const auto give = [&](const Expr& branch, Scope scope, const Expr& choice) {
    const Expr value = Meant(branch);
    use(value, scope);
    given_to_.insert_or_assign(value, choice);
  };
  homes_[root].uses = 1;
  for (auto node = order_.rbegin(); node != order_.rend(); ++node) {
    const auto found = homes_.find(*node);
    if (found == homes_.end()) continue;  // a parameter that is not used
    const Home home = found->second;
    if (const auto* function = node->As<ir::FunctionNode>()) {
      const Scope inner = inner_[*node] = tree_.Open(home.scope);
      if (const auto ifs = ifs_.find(home.scope); ifs != ifs_.end())
        ifs_.emplace(inner, int(ifs->second));
      const Expr result = Meant(function->body);
      use(result, inner);
      results_.insert(result);
      continue;
    }
    if (const auto* choice = node->As<ir::IfNode>()) {
      OpenBranches(*node, home.scope);
      use(Meant(choice->condition), home.scope);
      give(choice->then_branch, branches_.at(*node).yes, *node);
      give(choice->else_branch, branches_.at(*node).no, *node);
      continue;
    }
    for (const Expr& child : ir::Children(*node)) {
      const Expr meant = Meant(child);
      use(meant, home.scope);
      if (node->kind() == ir::ExprKind::kTuple) in_tuples_.insert(meant);
    }
  }
}

void Places::OpenBranches(const Expr& choice, Scope around) {
  const auto outer = ifs_.find(around);
  const int ifs = outer == ifs_.end() ? 1 : outer->second + 1;
  if (ifs > kMaxIfs)
    throw InvalidArgument(
        StrCat("an if stands inside ", kMaxIfs, " others; Relax text may have no more"))
        .At(choice.span());
  const Branches branches{tree_.Open(around), tree_.Open(around)};
  branches_.emplace(choice, branches);
  ifs_.emplace(branches.yes, ifs);
  ifs_.emplace(branches.no, ifs);
}

}  // namespace tenon::relax
