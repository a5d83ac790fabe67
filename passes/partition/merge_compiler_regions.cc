#include "tenon/passes/partition/merge_compiler_regions.h"

#include "tenon/ir/visit.h"
#include "tenon/passes/fusion/groups.h"
#include "tenon/passes/partition/join_regions.h"
#include "tenon/passes/partition/marked_regions.h"

namespace tenon::passes {
namespace {

using ir::Expr;

Expr Merge(const Expr& function) {
  const MarkedRegions given = ReadMarks(function);
  MarkedRegions merged;
  merged.function = given.function;
  const auto joined = JoinRegions(given.function, [&](const Expr& e) {
    const std::string* target = given.TargetOf(e);
    return target == nullptr || *target == kDefaultTarget ? std::string() : *target;
  });
  for (const std::vector<Expr>& members : joined) {
    for (const Expr& member : members) merged.region_of.emplace(member, merged.targets.size());
    merged.targets.push_back(*given.TargetOf(members.front()));
  }
  for (const auto& [member, region] : given.region_of) {
    if (given.targets[region] != kDefaultTarget) continue;
    merged.region_of.emplace(member, merged.targets.size());
    merged.targets.emplace_back(kDefaultTarget);
  }
  return WriteMarks(merged);
}

}  // namespace

ir::Module MergeCompilerRegions(const ir::Module& module) {
  return module.Map([](const Expr& function) {
    return !IsGroup(*function.As<ir::FunctionNode>()) && HasMarks(function) ? Merge(function)
                                                                            : function;
  });
}

}  // namespace tenon::passes
