// Which nodes of a fusion graph share a kernel.
#ifndef TENON_PASSES_FUSION_GROUPS_H_
#define TENON_PASSES_FUSION_GROUPS_H_

#include <vector>

#include "tenon/passes/fuse_ops.h"
#include "tenon/passes/fusion_graph.h"

namespace tenon::passes {

// For each node the root of its group: the node whose value leaves the group.
std::vector<int> GroupNodes(const std::vector<FusionNode>& nodes, const FuseOptions& options);

}  // namespace tenon::passes

#endif  // TENON_PASSES_FUSION_GROUPS_H_
