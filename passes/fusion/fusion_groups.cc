// Fusion along the dominator tree, after Chen et al., "TVM: An Automated End-to-End Optimizing
// Compiler for Deep Learning" (OSDI 2018), section 3: a node joins its post-dominator when the
// patterns of the node, of all paths between them and of the post-dominator allow it. Three sweeps:
// heavy operators with the elementwise work after them; injective operators; fields of tuples whose
// tuple has joined an injective group.
#include "tenon/passes/fusion/fusion_groups.h"

#include <algorithm>
#include <functional>
#include <unordered_set>

#include "tenon/ops/known_ops.h"
#include "tenon/passes/fusion/fusion_axes.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::passes {
namespace {

using ops::OpPattern;

class Partitioner {
 public:
  Partitioner(const std::vector<FusionNode>& nodes, const FuseOptions& options)
      : nodes_(nodes), options_(options), groups_(nodes.size()), refusals_(nodes.size()) {
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
  std::vector<Refusal> TakeRefusals() { return std::move(refusals_); }

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
    if (pattern == OpPattern::kOpaque) return Refuse(i, Opaque(i));
    if (sink < 0) return Refuse(i, NoCommonReader(i));
    if (!WithinDepth(i, sink))
      return Refuse(i, {StrCat("the kernel would hold more than ", options_.max_depth, " calls"),
                        "a larger max_depth"});
    if (pattern == OpPattern::kCommReduce) return Refuse(i, AfterReduction(i, sink));
    if (phase == 2) return ConsiderTupleField(i, sink, pattern);
    if (Root(i) == Root(sink)) return;
    if (GroupAt(sink).pattern == OpPattern::kTuple)
      return Refuse(i, {"a tuple of results is not a kernel", "no change: it is stored anyway"});
    const OpPattern way = Node(i).dominator_pattern;
    if (pattern == OpPattern::kOutEWiseFusable) {
      if (phase == 0)
        FuseIf(i, sink, way == OpPattern::kElemWise,
               [](OpPattern p, bool) { return p <= OpPattern::kBroadcast; });
    } else if (pattern <= OpPattern::kBroadcast) {
      FuseIf(i, sink, way <= OpPattern::kInjective || way == OpPattern::kCommReduce,
             [](OpPattern p, bool is_sink) {
               return p <= OpPattern::kInjective || (is_sink && (p == OpPattern::kCommReduce ||
                                                                 p == OpPattern::kOutEWiseFusable));
             });
    } else if (phase == 1) {
      FuseIf(i, sink, true, [](OpPattern p, bool) { return p <= OpPattern::kInjective; });
    }
  }

  void ConsiderTupleField(int i, int sink, OpPattern pattern) {
    if (pattern > OpPattern::kInjective) return;
    const OpPattern root = PatternOf(sink);
    if (root != OpPattern::kTuple && GroupAt(sink).pattern == OpPattern::kTuple &&
        root <= OpPattern::kInjective)
      FuseIf(i, sink, true, [](OpPattern p, bool) { return p <= OpPattern::kInjective; });
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
    if (count > options_.max_depth) return false;
    return EachOnPaths(i, sink, [&](int on_path) {
      if (on_path != sink) count += GroupAt(on_path).size;
      return count <= options_.max_depth;
    });
  }

  // Fuses all paths into the sink where the way, whose edges the caller knows, allows it and
  // `condition` holds for every node on them.
  void FuseIf(int from, int sink, bool way_allows, const Condition& condition) {
    int blocking = way_allows ? -1 : BlockingWay(from, sink);
    if (way_allows) {
      EachOnPaths(from, sink, [&](int i) {
        if (!condition(PatternOf(i), i == sink)) blocking = i;
        return blocking < 0;
      });
    }
    if (blocking >= 0) return Refuse(from, Blocked(from, sink, blocking));
    Merge(from, sink);
    EachOnPaths(from, sink, [&](int i) {
      Merge(i, sink);
      return true;
    });
  }

  // The node into which the edge of the greatest pattern leads.
  int BlockingWay(int from, int sink) {
    int blocking = sink;
    EachOnPaths(from, sink, [&](int i) {
      if (Node(i).pattern > Node(blocking).pattern) blocking = i;
      return true;
    });
    return blocking;
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

  // What the rules above say where they keep a value out of a kernel.

  void Refuse(int i, Refusal refusal) {
    refusals_[static_cast<std::size_t>(i)] = std::move(refusal);
  }
  std::string NameOf(int i) const { return NodeName(Node(i).expr); }
  bool IsRelay() const { return options_.mode == FusionMode::kRelay; }

  Refusal Opaque(int i) const {
    const auto* call = Node(i).expr.As<ir::CallNode>();
    if (call != nullptr && call->callee == ops::Known().stop_fusion)
      return {"annotation.stop_fusion asks for it", "removing the annotation"};
    return {StrCat(NameOf(i), " is opaque and shares its kernel with nothing"),
            "registering it with another pattern"};
  }

  Refusal NoCommonReader(int i) const {
    if (Node(i).external)
      return {"its value is a result or bound by a let, so it is stored anyway",
              "using it only once"};
    return {"its uses lead to different results, so that it is stored anyway",
            "results that meet again in elementwise work"};
  }

  // A kernel's loops are those of its reduction, which what follows does not have.
  Refusal AfterReduction(int i, int sink) const {
    const auto* call = Node(i).expr.As<ir::CallNode>();
    std::string reason = "nothing follows a reduction in its kernel";
    if (call != nullptr && !call->args.empty())
      StrAppend(&reason, ": ", NameOf(i), " iterates over the elements of ",
                ir::ToString(call->args[0].checked_type()), ", ", NameOf(sink), " over those of ",
                ir::ToString(Node(sink).expr.checked_type()));
    return {std::move(reason), "--fusion=extended"};
  }

  // `blocking` is on a path from the node to its sink and cannot be in one kernel with the node.
  Refusal Blocked(int from, int sink, int blocking) {
    const OpPattern own = Node(blocking).pattern;
    const bool is_heavy = GroupAt(from).pattern == OpPattern::kOutEWiseFusable;
    if (own == OpPattern::kOpaque) return Opaque(blocking);
    if (is_heavy && PatternOf(blocking) == OpPattern::kOutEWiseFusable)
      return {"each kernel holds one heavy operator", "no change: both keep their own schedules"};
    if (is_heavy)
      return {StrCat("only elementwise work of the same shape follows ", NameOf(from), ", not ",
                     NameOf(blocking)),
              "one elementwise use"};
    if (own == OpPattern::kOutEWiseFusable)
      return {
          StrCat(NameOf(blocking), " reads each element many times and would compute it each time"),
          IsRelay() && NormalizesRows(*Node(blocking).expr.As<ir::CallNode>())
              ? "--fusion=extended"
              : "moving the work after it"};
    if (own == OpPattern::kCommReduce && blocking == sink)
      return {StrCat("only elementwise work is computed in the kernel of ", NameOf(blocking)),
              IsRelay() ? "--fusion=extended" : "elementwise work instead"};
    return {StrCat(NameOf(blocking), " is in another kernel, on the way to ", NameOf(sink),
                   " where all uses meet"),
            "a single use"};
  }

  const std::vector<FusionNode>& nodes_;
  const FuseOptions& options_;
  std::vector<Group> groups_;
  std::vector<Refusal> refusals_;
};

}  // namespace

FusionGroups GroupNodes(const std::vector<FusionNode>& nodes, const FuseOptions& options) {
  Partitioner partitioner(nodes, options);
  if (options.group) {
    for (int phase = 0; phase < 3; ++phase) partitioner.Sweep(phase);
  }
  FusionGroups groups{partitioner.Roots(), std::vector<std::vector<int>>(nodes.size()),
                      partitioner.TakeRefusals()};
  for (const int root : groups.root) groups.results[static_cast<std::size_t>(root)] = {root};
  if (!options.group)
    std::ranges::fill(groups.refusals, Refusal{"fusion is off", "opt_level 1 or more"});
  return groups;
}

}  // namespace tenon::passes
