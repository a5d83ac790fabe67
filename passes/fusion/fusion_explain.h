// Says for every edge of a fusion graph why it stays inside a kernel or not.
#ifndef TENON_PASSES_FUSION_FUSION_EXPLAIN_H_
#define TENON_PASSES_FUSION_FUSION_EXPLAIN_H_

#include <vector>

#include "tenon/passes/fusion/fusion_groups.h"

namespace tenon::passes {

// One decision per edge from a call, in the order of the graph.
FusionReport ExplainGroups(const std::vector<FusionNode>& nodes, const FusionGroups& groups);

}  // namespace tenon::passes

#endif  // TENON_PASSES_FUSION_FUSION_EXPLAIN_H_
