// JoinRegions: groups the values that one code generator takes, without cycles between the groups.
//
// Neighbours with one target share a region unless the region would then read what depends on it,
// or they are computed in different bodies of lets or branches of ifs.
// The time is linear in the graph. The number of regions is not always the minimum.
//
//   auto regions = JoinRegions(function, [&](const Expr& e) { return targets.at(e); });
#ifndef TENON_PASSES_PARTITION_JOIN_REGIONS_H_
#define TENON_PASSES_PARTITION_JOIN_REGIONS_H_

#include <functional>
#include <string>
#include <vector>

#include "tenon/ir/expr.h"

namespace tenon::passes {

// The name of the target; empty for what stays outside.
using TargetOf = std::function<std::string(const ir::Expr& e)>;

// The regions in the order of their first members, each with its members producers first. Function
// literals are not entered.
std::vector<std::vector<ir::Expr>> JoinRegions(const ir::Expr& function, const TargetOf& target_of);

}  // namespace tenon::passes

#endif  // TENON_PASSES_PARTITION_JOIN_REGIONS_H_
