// A tree of scopes that finds the innermost scope around two others. Both operations take
// logarithmic time, so a chain of a hundred thousand lets, each a scope in the one before, is fast.
#ifndef TENON_IR_SCOPE_TREE_H_
#define TENON_IR_SCOPE_TREE_H_

#include <cstddef>
#include <utility>
#include <vector>

namespace tenon::ir {

class ScopeTree {
 public:
  using Scope = std::size_t;
  static constexpr Scope kRoot = 0;

  // Opens a new scope directly inside `parent`.
  Scope Open(Scope parent) {
    // Jumps of skew-binary lengths: 1, 1, 3, 1, 1, 3, 7, ...
    const Node& p = nodes_[parent];
    const Node& q = nodes_[p.jump];
    const bool joins = p.depth - q.depth == q.depth - nodes_[q.jump].depth;
    nodes_.push_back({parent, joins ? q.jump : parent, p.depth + 1});
    return nodes_.size() - 1;
  }

  // The innermost scope that holds both.
  Scope Common(Scope a, Scope b) const {
    if (nodes_[a].depth < nodes_[b].depth) std::swap(a, b);
    const std::size_t depth = nodes_[b].depth;
    while (nodes_[a].depth > depth)
      a = nodes_[nodes_[a].jump].depth >= depth ? nodes_[a].jump : nodes_[a].parent;
    // Scopes of the same depth have jumps of the same length.
    while (a != b) {
      const bool apart = nodes_[a].jump != nodes_[b].jump;
      a = apart ? nodes_[a].jump : nodes_[a].parent;
      b = apart ? nodes_[b].jump : nodes_[b].parent;
    }
    return a;
  }

  bool Holds(Scope outer, Scope inner) const { return Common(outer, inner) == outer; }

 private:
  struct Node {
    Scope parent = 0, jump = 0;
    std::size_t depth = 0;
  };

  std::vector<Node> nodes_ = {Node{}};
};

}  // namespace tenon::ir

#endif  // TENON_IR_SCOPE_TREE_H_
