// Takes groups apart where that lets reductions be fused around.
#ifndef TENON_PASSES_SPLIT_GROUPS_H_
#define TENON_PASSES_SPLIT_GROUPS_H_

#include <vector>

#include "tenon/passes/fusion_groups.h"

namespace tenon::passes {

// Work on the rows of a reduction, then a reshape that regroups the elements, then other work: the
// first becomes a group of its own, which can join the reduction, and the reshape a view. Requires
// groups of one result.
FusionGroups SplitBeforeReshapes(const std::vector<FusionNode>& nodes, FusionGroups groups);

}  // namespace tenon::passes

#endif  // TENON_PASSES_SPLIT_GROUPS_H_
