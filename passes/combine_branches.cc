#include "tenon/passes/combine_branches.h"

#include <unordered_map>
#include <unordered_set>

#include "tenon/ir/visit.h"
#include "tenon/ops/builders.h"
#include "tenon/passes/infer_type.h"
#include "tenon/support/strings.h"

namespace tenon::passes {
namespace {

using ir::CallNode;
using ir::Expr;

class Combiner {
 public:
  Combiner(const Expr& function, const BranchRule& rule, int min_branches) : rule_(rule) {
    std::unordered_map<Expr, std::vector<Group>, ir::ExprHash> by_data;
    std::vector<Expr> data_in_order;
    bool is_graph = true;
    std::unordered_set<Expr, ir::ExprHash> behind;  // what depends on calls of the operator
    ir::VisitPostOrder(function, [&](const Expr& e) {
      is_graph = is_graph && e.kind() != ir::ExprKind::kLet &&
                 (e.kind() != ir::ExprKind::kFunction || e == function);
      bool depends = false;
      for (const Expr& child : ir::Children(e)) depends = depends || behind.contains(child);
      const auto* call = e.As<CallNode>();
      const bool is_branch = call != nullptr && call->callee == rule_.op;
      if (depends || is_branch) behind.insert(e);
      if (!is_branch || behind.contains(call->args[1]) || !rule_.is_supported(*call)) return;
      std::vector<Group>& groups = by_data[call->args[0]];
      if (groups.empty()) data_in_order.push_back(call->args[0]);
      for (Group& group : groups) {
        if (!rule_.are_alike(*group[0].As<CallNode>(), *call)) continue;
        group.push_back(e);
        return;
      }
      groups.push_back({e});
    });
    if (!is_graph) return;
    for (const Expr& data : data_in_order) {
      for (Group& group : by_data.at(data)) {
        if (group.size() < static_cast<std::size_t>(min_branches)) continue;
        for (const Expr& branch : group) group_of_.emplace(branch, groups_.size());
        groups_.push_back(std::move(group));
      }
    }
  }

  Expr Combine(const Expr& original, const Expr& rebuilt) {
    const auto found = group_of_.find(original);
    if (found == group_of_.end()) return rebuilt;
    if (replaced_.find(original) == replaced_.end()) {
      // The first branch that is reached; the others' weights do not depend on any branch.
      const Group& group = groups_[found->second];
      std::vector<const CallNode*> calls;
      for (const Expr& branch : group) calls.push_back(branch.As<CallNode>());
      const std::vector<Expr> parts = rule_.combine(calls, rebuilt.As<CallNode>()->args[0]);
      for (std::size_t i = 0; i < group.size(); ++i) replaced_.emplace(group[i], parts[i]);
    }
    return replaced_.at(original);
  }

 private:
  using Group = std::vector<Expr>;
  const BranchRule& rule_;
  std::vector<Group> groups_;
  std::unordered_map<Expr, std::size_t, ir::ExprHash> group_of_;
  ir::ExprMap replaced_;
};

}  // namespace

ir::Module CombineBranches(const ir::Module& module, const BranchRule& rule, int min_branches) {
  if (min_branches < 2)
    throw InvalidArgument(StrCat("min_num_branches is ", min_branches, "; it must be at least 2"));
  const ir::Module result = module.Map([&](const Expr& function) {
    Combiner combiner(function, rule, min_branches);
    return ir::RewritePostOrder(function, [&](const Expr& original, const Expr& rebuilt) {
      return combiner.Combine(original, rebuilt);
    });
  });
  return result == module ? result : InferType(result);
}

Expr SliceAxis(const Expr& e, std::size_t axis, std::int64_t first, std::int64_t size) {
  ops::StridedSliceAttrs slice{.begin = ops::Ints(axis + 1, 0),
                               .end = ops::Ints(axis + 1, -1),
                               .strides = ops::Ints(axis + 1, 1),
                               .slice_mode = "size"};
  slice.begin[axis] = first;
  slice.end[axis] = size;
  return ops::StridedSlice(e, std::move(slice));
}

bool IsStaticWeight(const CallNode& call) {
  return ir::IsStaticTensor(call.args[1].checked_type());
}
Shape WeightShape(const CallNode& call) {
  return ir::StaticShape(call.args[1].checked_type(), "a weight");
}

}  // namespace tenon::passes
