// Fusion around reductions, on top of the groups along post-dominators.
//
// A group that reduces rows takes in what makes its rows and what is made of them, as long as all
// of it shares leading axes. So a softmax or a layer norm written as single operators is one group.
// Groups whose value others read as well may share a kernel with several results, if these have one
// shape or lie around a reduction of their rows. The cost rule (fusion_cost.h) refuses where that
// could be slower. Groups stay free of cycles.
#ifndef TENON_PASSES_FUSION_FUSE_EXTENDED_H_
#define TENON_PASSES_FUSION_FUSE_EXTENDED_H_

#include <vector>

#include "tenon/passes/fusion/fusion_groups.h"

namespace tenon::passes {

FusionGroups ExtendGroups(const std::vector<FusionNode>& nodes, const FusionGroups& groups,
                          const FuseOptions& options);

}  // namespace tenon::passes

#endif  // TENON_PASSES_FUSION_FUSE_EXTENDED_H_
