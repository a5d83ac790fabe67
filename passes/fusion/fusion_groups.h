// Which nodes of a fusion graph share a kernel.
#ifndef TENON_PASSES_FUSION_FUSION_GROUPS_H_
#define TENON_PASSES_FUSION_FUSION_GROUPS_H_

#include <vector>

#include "tenon/passes/fusion/fuse_ops.h"
#include "tenon/passes/fusion/fusion_graph.h"
#include "tenon/passes/fusion/fusion_report.h"

namespace tenon::passes {

struct FusionGroups {
  // For each node, the root of its group: the last of the nodes whose values leave the group.
  std::vector<int> root;
  // For each root, the nodes whose values leave the group, in order; empty where no group has that
  // root.
  std::vector<std::vector<int>> results;
  // For each node whose value leaves its group, what the last rule that looked at it said.
  std::vector<Refusal> refusals;

  int RootOf(int node) const { return root[static_cast<std::size_t>(node)]; }
  const std::vector<int>& ResultsOf(int node) const {
    return results[static_cast<std::size_t>(RootOf(node))];
  }
};

// The groups along post-dominators. Each has one result.
FusionGroups GroupNodes(const std::vector<FusionNode>& nodes, const FuseOptions& options);

}  // namespace tenon::passes

#endif  // TENON_PASSES_FUSION_FUSION_GROUPS_H_
