// JoinRegions: groups what one code generator takes, without cycles between the groups.
//
// Neighbours of one target share a region unless that would read what depends on it; time is linear
// in the graph. The result need not be the fewest regions there can be.
//
//   auto regions = JoinRegions(function, [&](const Expr& e) { return targets.at(e); });
#ifndef TENON_PASSES_JOIN_REGIONS_H_
#define TENON_PASSES_JOIN_REGIONS_H_

#include <functional>
#include <string>
#include <vector>

#include "tenon/ir/expr.h"

namespace tenon::passes {

// Empty for what stays outside.
using TargetOf = std::function<std::string(const ir::Expr& e)>;

// Members producers first, the regions in the order of their first members. Function literals are
// not entered.
std::vector<std::vector<ir::Expr>> JoinRegions(const ir::Expr& function, const TargetOf& target_of);

}  // namespace tenon::passes

#endif  // TENON_PASSES_JOIN_REGIONS_H_
