// Splits groups where that lets fusion around reductions work.
#ifndef TENON_PASSES_FUSION_SPLIT_GROUPS_H_
#define TENON_PASSES_FUSION_SPLIT_GROUPS_H_

#include <vector>

#include "tenon/passes/fusion/fusion_groups.h"

namespace tenon::passes {

// Takes groups that do work on the rows of a reduction, then a reshape that regroups the elements,
// then other work. The first part becomes a group of its own, which can join the reduction, and the
// reshape becomes a view. Requires groups with one result.
FusionGroups SplitBeforeReshapes(const std::vector<FusionNode>& nodes, FusionGroups groups);

}  // namespace tenon::passes

#endif  // TENON_PASSES_FUSION_SPLIT_GROUPS_H_
