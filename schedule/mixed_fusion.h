// Loops over data and reduce axes together, which Stage::Fuse makes. They run only for the updates
// of a reduction. Its initial values have loops over axes of one kind.
#ifndef TENON_SCHEDULE_MIXED_FUSION_H_
#define TENON_SCHEDULE_MIXED_FUSION_H_

#include <vector>

#include "tenon/schedule/relation.h"

namespace tenon::schedule {

// The relations without those of such loops and of their parts. What is left are axes of one kind
// each.
std::vector<Relation> OfOneKind(const std::vector<Relation>& relations);
// The axes that no relation has consumed: those of `roots` and those that relations have made.
std::vector<IterVar> LeavesOf(std::vector<IterVar> roots, const std::vector<Relation>& relations);
// The first fusion of a data and a reduce axis. Null if there is none.
const FuseRelation* FindMixedFusion(const std::vector<Relation>& relations);

}  // namespace tenon::schedule

#endif  // TENON_SCHEDULE_MIXED_FUSION_H_
