// How a pattern of Dominates goes from the child to its parent: breadth first, against the edges.
#include <algorithm>
#include <unordered_set>

#include "tenon/ir/visit.h"
#include "tenon/passes/pattern/pattern_match.h"

namespace tenon::passes {

using ir::Expr;

// The expressions in between, then the parent. Nothing when some way does not lead to the parent.
std::optional<std::vector<Expr>> Matcher::WalkToParent(const DominatesPattern& pattern,
                                                       const Expr& child) {
  Expr parent;
  std::unordered_set<Expr, ir::ExprHash> region = {child};
  std::vector<Expr> queue = {child};  // in order of discovery
  for (std::size_t i = 0; i < queue.size(); ++i) {
    const Expr current = queue[i];
    const auto* call = current.As<ir::CallNode>();
    std::vector<Expr> inputs = ir::Children(current);
    if (call != nullptr) inputs.erase(inputs.begin());
    for (const Expr& input : inputs) {
      if (input == parent || region.contains(input)) continue;
      if (!parent && MatchesAlone(pattern.parent, input)) {
        parent = input;
      } else if (MatchesAlone(pattern.path, input)) {
        region.insert(input);
        queue.push_back(input);
      } else {
        return std::nullopt;
      }
    }
  }
  if (!parent) return std::nullopt;
  const auto is_leaf = [](const Expr& e) {
    return e.kind() == ir::ExprKind::kVar || e.kind() == ir::ExprKind::kConstant;
  };
  std::vector<Expr> between;
  for (const Expr& e : queue) {
    if (!(e == child) && !is_leaf(e)) between.push_back(e);
  }
  between.push_back(parent);
  for (const Expr& e : between) {
    if (is_leaf(e)) continue;  // a parent that is a variable may have other uses
    const auto users = uses().find(e);
    if (users == uses().end() || !std::all_of(users->second.begin(), users->second.end(),
                                              [&](const Expr& u) { return region.contains(u); }))
      return std::nullopt;
  }
  return between;
}

}  // namespace tenon::passes
