// The graph on which fusion decides: calls, tuples, projections and constants, with the patterns of
// nodes and edges. Each node has its immediate post-dominator.
#ifndef TENON_PASSES_FUSION_FUSION_GRAPH_H_
#define TENON_PASSES_FUSION_FUSION_GRAPH_H_

#include <unordered_map>
#include <vector>

#include "tenon/ir/expr.h"
#include "tenon/ir/scope_tree.h"
#include "tenon/ops/op.h"

namespace tenon::passes {

struct FusionNode {
  struct Edge {
    int consumer;
    ops::OpPattern pattern;
  };
  ir::Expr expr;
  ops::OpPattern pattern = ops::OpPattern::kOpaque;
  bool external = false;  // its value must exist outside any group
  std::vector<Edge> outputs;
  ir::ScopeTree::Scope home = ir::ScopeTree::kRoot;  // where it is computed (let_homes.h)

  // The nearest node to which all uses of this one lead, or -1 if there is none.
  int dominator = -1;
  int depth = 1;                                                 // in the tree of dominators
  ops::OpPattern dominator_pattern = ops::OpPattern::kElemWise;  // greatest on the way there
};

// The nodes, producers first. Requires checked types. Throws FailedPrecondition for an operator
// without a pattern.
std::vector<FusionNode> MakeFusionGraph(const ir::Expr& function);

}  // namespace tenon::passes

#endif  // TENON_PASSES_FUSION_FUSION_GRAPH_H_
