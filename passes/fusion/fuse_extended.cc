// Sweeps from the end of the graph to its start.
//
// First, a group whose value only one other group reads joins that group, when one of them reduces
// and the cost rule agrees. This makes no cycle: every way out of the group leads into the other.
//
// Then, a group whose value several groups read joins the first of them and keeps its value as a
// second result. The groups' roots are in topological order, and a merged group has the reader's
// root. All other readers come later, so no way leads from them back into the merged group.
#include "tenon/passes/fusion/fuse_extended.h"

#include <algorithm>

#include "tenon/passes/fusion/fusion_cost.h"
#include "tenon/passes/fusion/split_groups.h"
#include "tenon/support/strings.h"

namespace tenon::passes {
namespace {

class Extender {
 public:
  Extender(const std::vector<FusionNode>& nodes, FusionGroups groups, std::int64_t row_bytes)
      : nodes_(nodes),
        row_bytes_(row_bytes),
        groups_(std::move(groups)),
        costs_(CostsOf(nodes, groups_.root)),
        parent_(groups_.root) {}

  FusionGroups Extend() {
    for (const bool keeps_value : {false, true}) {
      for (std::size_t i = nodes_.size(); i-- > 0;) {
        const int node = static_cast<int>(i);
        if (Root(node) != node || Join(node)) continue;
        if (keeps_value) JoinFirstReader(node);
      }
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

  // Joins the only group that reads the node's value.
  bool Join(int producer) {
    const FusionNode& node = Node(producer);
    if (node.external || node.outputs.empty()) return false;
    if (CostOf(producer).results > 1)
      return !Refused(producer, Refusal{"its kernel has another result, too",
                                        "a single reader of the other result"});
    const int reader = Root(node.outputs[0].consumer);
    for (const FusionNode::Edge& edge : node.outputs) {
      if (Root(edge.consumer) != reader) return false;
    }
    const GroupCost& from = CostOf(producer);
    const GroupCost& to = CostOf(reader);
    const std::size_t axes = AxesInto(node, nodes_, [&](int i) { return Root(i) == reader; });
    if (!from.reduces && !to.reduces) return false;
    if (Refused(producer, RefuseAroundReduction(from, to, axes, row_bytes_))) return false;
    Merge(producer, reader, axes);
    groups_.results[static_cast<std::size_t>(producer)].clear();
    return true;
  }

  void JoinFirstReader(int producer) {
    const FusionNode& node = Node(producer);
    if (node.external || node.outputs.empty() || CostOf(producer).results > 1) return;
    int reader = Root(node.outputs[0].consumer);
    for (const FusionNode::Edge& edge : node.outputs)
      reader = std::min(reader, Root(edge.consumer));
    const std::size_t axes = AxesInto(node, nodes_, [&](int i) { return Root(i) == reader; });
    if (Node(reader).expr.As<ir::CallNode>() == nullptr) return;
    // Other readers would read the call where a variable that the reader reads is not bound.
    if (node.home != Node(reader).home) return;
    const auto refusal = RefuseSecondResult(CostOf(producer), CostOf(reader), axes, row_bytes_);
    // That others read the value, too, is no reason where no other does.
    if (refusal && !HasReaderOutside(node, reader)) return;
    if (Refused(producer, refusal)) return;
    ++CostOf(reader).results;
    Merge(producer, reader, axes);
    std::vector<int>& kept = groups_.results[static_cast<std::size_t>(reader)];
    kept.insert(kept.begin(), producer);
    groups_.refusals[static_cast<std::size_t>(producer)] = {
        StrCat("the kernel of ", NodeName(Node(reader).expr),
               ", its first reader, stores it for the others"),
        "a single reader"};
    groups_.results[static_cast<std::size_t>(producer)].clear();
  }

  bool HasReaderOutside(const FusionNode& node, int group) {
    return std::ranges::any_of(
        node.outputs, [&](const FusionNode::Edge& edge) { return Root(edge.consumer) != group; });
  }

  // Keeps what a rule said of the value.
  bool Refused(int producer, const std::optional<Refusal>& refusal) {
    if (refusal) groups_.refusals[static_cast<std::size_t>(producer)] = *refusal;
    return refusal.has_value();
  }

  void Merge(int producer, int reader, std::size_t axes) {
    CostOf(reader).Add(CostOf(producer), axes);
    parent_[static_cast<std::size_t>(producer)] = reader;
  }

  const std::vector<FusionNode>& nodes_;
  const std::int64_t row_bytes_;
  FusionGroups groups_;
  std::vector<GroupCost> costs_;  // by root
  std::vector<int> parent_;
};

}  // namespace

FusionGroups ExtendGroups(const std::vector<FusionNode>& nodes, const FusionGroups& groups,
                          const FuseOptions& options) {
  if (!options.group || options.mode == FusionMode::kRelay) return groups;
  return Extender(nodes, SplitBeforeReshapes(nodes, groups), options.row_bytes).Extend();
}

}  // namespace tenon::passes
