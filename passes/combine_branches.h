// Joining calls of one operator that read the same data into one wide call: what the passes
// CombineParallel* share.
#ifndef TENON_PASSES_COMBINE_BRANCHES_H_
#define TENON_PASSES_COMBINE_BRANCHES_H_

#include <functional>
#include <vector>

#include "tenon/ir/module.h"

namespace tenon::passes {

struct BranchRule {
  ir::Expr op;
  // Whether a call can be joined at all, and with another one of the same data.
  std::function<bool(const ir::CallNode& call)> is_supported;
  std::function<bool(const ir::CallNode& a, const ir::CallNode& b)> are_alike;
  // What stands in the place of each branch; `data` is their first argument.
  std::function<std::vector<ir::Expr>(const std::vector<const ir::CallNode*>& branches,
                                      const ir::Expr& data)>
      combine;
};

// Joins every group of at least `min_branches` calls whose second arguments do not depend on calls
// of the operator. Functions with lets or function literals stay: a weight may not be bound where
// the first branch is read. Throws InvalidArgument when min_branches is less than 2.
ir::Module CombineBranches(const ir::Module& module, const BranchRule& rule, int min_branches);

// Elements [first, first + size) along an axis of a value of the rank.
ir::Expr SliceAxis(const ir::Expr& e, std::size_t axis, std::int64_t first, std::int64_t size);
// Of args[1]. The shape requires that it is static.
bool IsStaticWeight(const ir::CallNode& call);
Shape WeightShape(const ir::CallNode& call);

}  // namespace tenon::passes

#endif  // TENON_PASSES_COMBINE_BRANCHES_H_
