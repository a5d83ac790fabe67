// Fusion along the dominator tree, after Chen et al., "TVM: An Automated End-to-End Optimizing
// Compiler for Deep Learning" (OSDI 2018), section 3: a node joins its post-dominator when the
// patterns of the node, of all paths between them and of the post-dominator allow it. Three sweeps:
// heavy operators with the elementwise work after them; injective operators; fields of tuples whose
// tuple has joined an injective group.
#include "tenon/passes/fusion/fusion_groups.h"

#include <algorithm>
#include <functional>
#include <unordered_set>

#include "tenon/support/error.h"

namespace tenon::passes {
namespace {

using ops::OpPattern;

class Partitioner {
 public:
  Partitioner(const std::vector<FusionNode>& nodes, int max_depth)
      : nodes_(nodes), max_depth_(max_depth), groups_(nodes.size()) {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      groups_[i] = {.parent = static_cast<int>(i),
                    .pattern = nodes[i].pattern,
                    .has_anchor = nodes[i].pattern == OpPattern::kOutEWiseFusable};
    }
  }

  void Sweep(int phase) {
    for (std::size_t i = 0; i < nodes_.size(); ++i) Consider(static_cast<int>(i), phase);
  }

  std::vector<int> Roots() {
    std::vector<int> roots;
    for (std::size_t i = 0; i < nodes_.size(); ++i) roots.push_back(Root(static_cast<int>(i)));
    return roots;
  }

 private:
  struct Group {
    int parent = 0;
    OpPattern pattern = OpPattern::kOpaque;
    bool has_anchor = false;
    int size = 1;
  };
  using Condition = std::function<bool(OpPattern pattern, bool is_sink)>;

  const FusionNode& Node(int i) const { return nodes_[static_cast<std::size_t>(i)]; }
  Group& GroupAt(int i) { return groups_[static_cast<std::size_t>(i)]; }
  int Root(int i) {
    int root = i;
    while (GroupAt(root).parent != root) root = GroupAt(root).parent;
    while (GroupAt(i).parent != root) {
      const int next = GroupAt(i).parent;
      GroupAt(i).parent = root;
      i = next;
    }
    return root;
  }
  OpPattern PatternOf(int i) { return GroupAt(Root(i)).pattern; }

  void Consider(int i, int phase) {
    // A node's own group keeps the pattern it had before it joined another.
    const OpPattern pattern = GroupAt(i).pattern;
    const int sink = Node(i).dominator;
    if (pattern == OpPattern::kOpaque || sink < 0) return;
    if (!WithinDepth(i, sink)) return;
    if (phase == 2) {
      ConsiderTupleField(i, sink, pattern);
      return;
    }
    if (Root(i) == Root(sink) || GroupAt(sink).pattern == OpPattern::kTuple) return;
    const OpPattern way = Node(i).dominator_pattern;
    if (pattern == OpPattern::kOutEWiseFusable) {
      if (phase == 0 && way == OpPattern::kElemWise)
        FuseIf(i, sink, [](OpPattern p, bool) { return p <= OpPattern::kBroadcast; });
    } else if (pattern <= OpPattern::kBroadcast) {
      if (way <= OpPattern::kInjective || way == OpPattern::kCommReduce)
        FuseIf(i, sink, [](OpPattern p, bool is_sink) {
          return p <= OpPattern::kInjective ||
                 (is_sink && (p == OpPattern::kCommReduce || p == OpPattern::kOutEWiseFusable));
        });
    } else if (pattern == OpPattern::kInjective || pattern == OpPattern::kTuple) {
      if (phase == 1) FuseIf(i, sink, [](OpPattern p, bool) { return p <= OpPattern::kInjective; });
    }
  }

  void ConsiderTupleField(int i, int sink, OpPattern pattern) {
    if (pattern > OpPattern::kInjective) return;
    const OpPattern root = PatternOf(sink);
    if (root != OpPattern::kTuple && GroupAt(sink).pattern == OpPattern::kTuple &&
        root <= OpPattern::kInjective)
      FuseIf(i, sink, [](OpPattern p, bool) { return p <= OpPattern::kInjective; });
  }

  // Calls `visit` for every node on a path from `from` (which is left out) to `sink`. Stops when it
  // returns false.
  bool EachOnPaths(int from, int sink, const std::function<bool(int)>& visit) {
    std::unordered_set<int> seen;
    std::vector<int> pending;
    const auto push_outputs = [&](int i) {
      for (const FusionNode::Edge& edge : Node(i).outputs) {
        if (seen.insert(edge.consumer).second) pending.push_back(edge.consumer);
      }
    };
    push_outputs(from);
    while (!pending.empty()) {
      const int i = pending.back();
      pending.pop_back();
      if (!visit(i)) return false;
      if (i != sink) push_outputs(i);
    }
    return true;
  }

  bool WithinDepth(int i, int sink) {
    int count = GroupAt(Root(sink)).size + GroupAt(i).size;
    if (count > max_depth_) return false;
    return EachOnPaths(i, sink, [&](int on_path) {
      if (on_path != sink) count += GroupAt(on_path).size;
      return count <= max_depth_;
    });
  }

  void FuseIf(int from, int sink, const Condition& condition) {
    if (!EachOnPaths(from, sink, [&](int i) { return condition(PatternOf(i), i == sink); })) return;
    Merge(from, sink);
    EachOnPaths(from, sink, [&](int i) {
      Merge(i, sink);
      return true;
    });
  }

  void Merge(int child, int into) {
    const int from = Root(child);
    const int to = Root(into);
    if (from == to) return;
    Group& source = GroupAt(from);
    Group& target = GroupAt(to);
    target.size += source.size;
    source.parent = to;
    if (!source.has_anchor) return;
    CheckInvariant(!target.has_anchor, "a group has one heavy operator");
    target.has_anchor = true;
    target.pattern = std::max(source.pattern, target.pattern);
  }

  const std::vector<FusionNode>& nodes_;
  const int max_depth_;
  std::vector<Group> groups_;
};

}  // namespace

FusionGroups GroupNodes(const std::vector<FusionNode>& nodes, const FuseOptions& options) {
  Partitioner partitioner(nodes, options.max_depth);
  if (options.group) {
    for (int phase = 0; phase < 3; ++phase) partitioner.Sweep(phase);
  }
  FusionGroups groups{partitioner.Roots(), std::vector<std::vector<int>>(nodes.size())};
  for (const int root : groups.root) groups.results[static_cast<std::size_t>(root)] = {root};
  return groups;
}

}  // namespace tenon::passes
