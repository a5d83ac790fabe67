// Two sweeps from the end of the graph to its start.
//
// 1. A group whose value one other group alone reads joins it, when one of them reduces and the
// cost
//    rule agrees. No cycle can arise: every way out of the group leads into the other.
// 2. A group whose value its reader and others read joins the reader and keeps its value as a
// second
//    result. Positions are a topological order of groups; a merged group takes the reader's, which
//    is legal when all other readers come later.
#include "tenon/passes/fuse_extended.h"

#include "tenon/passes/fusion_cost.h"

namespace tenon::passes {
namespace {

class Extender {
 public:
  Extender(const std::vector<FusionNode>& nodes, FusionGroups groups)
      : nodes_(nodes),
        groups_(std::move(groups)),
        costs_(CostsOf(nodes, groups_.root)),
        parent_(groups_.root) {}

  FusionGroups Extend() {
    for (std::size_t i = nodes_.size(); i-- > 0;) {
      const int node = static_cast<int>(i);
      if (Root(node) == node) JoinOnlyReader(node);
    }
    for (std::size_t i = 0; i < nodes_.size(); ++i) groups_.root[i] = Root(static_cast<int>(i));
    return std::move(groups_);
  }

 private:
  const FusionNode& Node(int i) const { return nodes_[static_cast<std::size_t>(i)]; }
  GroupCost& CostOf(int node) { return costs_[static_cast<std::size_t>(Root(node))]; }

  int Root(int i) {
    int root = i;
    while (parent_[static_cast<std::size_t>(root)] != root)
      root = parent_[static_cast<std::size_t>(root)];
    while (parent_[static_cast<std::size_t>(i)] != root) {
      const int next = parent_[static_cast<std::size_t>(i)];
      parent_[static_cast<std::size_t>(i)] = root;
      i = next;
    }
    return root;
  }

  void JoinOnlyReader(int producer) {
    const FusionNode& node = Node(producer);
    if (node.external || node.outputs.empty()) return;
    const int reader = Root(node.outputs[0].consumer);
    for (const FusionNode::Edge& edge : node.outputs) {
      if (Root(edge.consumer) != reader) return;
    }
    const GroupCost& from = CostOf(producer);
    GroupCost& to = CostOf(reader);
    if (!from.reduces && !to.reduces) return;
    const std::size_t axes = AxesInto(node, nodes_, [&](int i) { return Root(i) == reader; });
    if (RefuseAroundReduction(from, to, axes)) return;
    to.Add(from, axes);
    parent_[static_cast<std::size_t>(producer)] = reader;
    groups_.results[static_cast<std::size_t>(producer)].clear();
  }

  const std::vector<FusionNode>& nodes_;
  FusionGroups groups_;
  std::vector<GroupCost> costs_;  // by root
  std::vector<int> parent_;
};

}  // namespace

FusionGroups ExtendGroups(const std::vector<FusionNode>& nodes, const FusionGroups& groups,
                          const FuseOptions& options) {
  if (!options.group || options.mode == FusionMode::kRelay) return groups;
  return Extender(nodes, groups).Extend();
}

}  // namespace tenon::passes
