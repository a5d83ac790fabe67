#include "tenon/passes/fusion/split_groups.h"

#include <unordered_set>

#include "tenon/passes/fusion/fusion_cost.h"
#include "tenon/support/strings.h"

namespace tenon::passes {
namespace {

class Splitter {
 public:
  Splitter(const std::vector<FusionNode>& nodes, FusionGroups groups)
      : nodes_(nodes), groups_(std::move(groups)), inputs_(nodes.size()) {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      for (const FusionNode::Edge& edge : nodes[i].outputs)
        inputs_[static_cast<std::size_t>(edge.consumer)].push_back(static_cast<int>(i));
    }
  }

  FusionGroups Split() {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (IsRegrouping(nodes_[i])) SplitBefore(static_cast<int>(i));
    }
    return std::move(groups_);
  }

 private:
  static bool IsRegrouping(const FusionNode& node) {
    const auto* call = node.expr.As<ir::CallNode>();
    if (call == nullptr || call->op() == nullptr || !ops::OpOf(*call)->reshape_only) return false;
    return GroupCost::OfNode(node).gathers;
  }

  void SplitBefore(int reshape) {
    const std::vector<int>& inputs = inputs_[static_cast<std::size_t>(reshape)];
    if (inputs.size() != 1) return;
    const int group = groups_.RootOf(reshape);
    const int last = inputs[0];
    if (groups_.RootOf(last) != group || nodes_[static_cast<std::size_t>(last)].outputs.size() != 1)
      return;
    // The members of the group from which `last` is computed.
    std::vector<int> members = {last};
    std::unordered_set<int> seen = {last};
    bool reads_reduction = false;
    for (std::size_t next = 0; next < members.size(); ++next) {
      for (const int input : inputs_[static_cast<std::size_t>(members[next])]) {
        const FusionNode& node = nodes_[static_cast<std::size_t>(input)];
        if (groups_.RootOf(input) == group) {
          if (seen.insert(input).second) members.push_back(input);
        } else {
          reads_reduction = reads_reduction || node.pattern == ops::OpPattern::kCommReduce;
        }
      }
    }
    if (!reads_reduction) return;
    for (const int member : members) {
      for (const FusionNode::Edge& edge : nodes_[static_cast<std::size_t>(member)].outputs) {
        if (edge.consumer != reshape && !seen.contains(edge.consumer)) return;
      }
    }
    for (const int member : members) groups_.root[static_cast<std::size_t>(member)] = last;
    groups_.results[static_cast<std::size_t>(last)] = {last};
    groups_.refusals[static_cast<std::size_t>(last)] = {
        StrCat("what follows a reduction is computed by its rows, which ",
               NodeName(nodes_[static_cast<std::size_t>(reshape)].expr), " changes"),
        "a reshape before the reduction"};
    groups_.root[static_cast<std::size_t>(reshape)] = reshape;
    groups_.results[static_cast<std::size_t>(reshape)] = {reshape};
  }

  const std::vector<FusionNode>& nodes_;
  FusionGroups groups_;
  std::vector<std::vector<int>> inputs_;
};

}  // namespace

FusionGroups SplitBeforeReshapes(const std::vector<FusionNode>& nodes, FusionGroups groups) {
  return Splitter(nodes, std::move(groups)).Split();
}

}  // namespace tenon::passes
