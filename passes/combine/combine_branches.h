// Joins calls of one operator that read the same data into one wide call, together with the
// elementwise and broadcasting calls that follow all of them. The passes CombineParallel* share it.
#ifndef TENON_PASSES_COMBINE_COMBINE_BRANCHES_H_
#define TENON_PASSES_COMBINE_COMBINE_BRANCHES_H_

#include <functional>
#include <optional>
#include <vector>

#include "tenon/ir/module.h"

namespace tenon::passes {

struct BranchRule {
  ir::Expr op;
  // Whether a call can be joined at all, and whether it can be joined with another one of the same
  // data.
  std::function<bool(const ir::CallNode& call)> is_supported;
  std::function<bool(const ir::CallNode& a, const ir::CallNode& b)> are_alike;
  // The wide call; `data` is the branches' first argument.
  std::function<ir::Expr(const std::vector<const ir::CallNode*>& branches, const ir::Expr& data)>
      combine;
  // The axis of a branch's result along which the results are concatenated; nothing when they are
  // stacked along a new first axis.
  std::function<std::optional<std::size_t>(const ir::CallNode& branch)> axis;
};

// Joins every group of at least `min_branches` calls whose second arguments do not depend on calls
// of the operator. It then joins the calls that follow, one by one, as long as each branch has one
// reader, all readers are the same elementwise or broadcasting operator with equal attributes, and
// their other arguments can be joined as well. At the end the wide value is cut. Functions with
// lets or function literals stay, because a weight may not be bound where the first branch is read.
// Throws InvalidArgument when min_branches is less than 2.
ir::Module CombineBranches(const ir::Module& module, const BranchRule& rule, int min_branches);

ir::Expr Stack(std::vector<ir::Expr> fields);
// All look at the weight, args[1]. WeightShape requires a static one.
bool IsStaticWeight(const ir::CallNode& call);
Shape WeightShape(const ir::CallNode& call);
bool HaveOneWeightType(const ir::CallNode& a, const ir::CallNode& b);

}  // namespace tenon::passes

#endif  // TENON_PASSES_COMBINE_COMBINE_BRANCHES_H_
