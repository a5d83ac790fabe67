// Reasons are derived from the result by the rules that made it: inside a group from the patterns
// of both ends, between groups from the first rule that prevents fusion.
#include "tenon/passes/fusion/fusion_explain.h"

#include "tenon/ops/known_ops.h"
#include "tenon/passes/fusion/fusion_axes.h"
#include "tenon/passes/fusion/fusion_cost.h"
#include "tenon/support/strings.h"

namespace tenon::passes {
namespace {

using ir::CallNode;
using ops::OpPattern;

class Explainer {
 public:
  Explainer(const std::vector<FusionNode>& nodes, const FusionGroups& groups,
            const FuseOptions& options)
      : nodes_(nodes), groups_(groups), options_(options), costs_(CostsOf(nodes, groups.root)) {}

  FusionReport Explain() {
    FusionReport report;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const auto* call = nodes_[i].expr.As<CallNode>();
      if (call == nullptr || call->op() == nullptr) continue;
      int previous = -1;
      for (const FusionNode::Edge& edge : nodes_[i].outputs) {
        if (edge.consumer == previous) continue;  // x + x
        previous = edge.consumer;
        report.push_back(Decide(static_cast<int>(i), edge.consumer));
      }
    }
    return report;
  }

 private:
  const FusionNode& Node(int i) const { return nodes_[static_cast<std::size_t>(i)]; }
  const GroupCost& CostOf(int i) const {
    return costs_[static_cast<std::size_t>(groups_.RootOf(i))];
  }

  FusionDecision Decide(int producer, int consumer) const {
    FusionDecision decision{Node(producer).expr, Node(consumer).expr, false, "", ""};
    if (groups_.RootOf(producer) == groups_.RootOf(consumer)) {
      decision.fused = true;
      decision.reason = WhyFused(Node(producer), Node(consumer), CostOf(producer));
      return decision;
    }
    Refusal refusal = WhyNot(producer, consumer);
    decision.reason = std::move(refusal.reason);
    decision.hint = std::move(refusal.hint);
    return decision;
  }

  static bool Reduces(const FusionNode& node) {
    const auto* call = node.expr.As<CallNode>();
    return node.pattern == OpPattern::kCommReduce || (call != nullptr && NormalizesRows(*call));
  }

  static std::string WhyFused(const FusionNode& producer, const FusionNode& consumer,
                              const GroupCost& group) {
    if (Reduces(producer))
      return StrCat("what is reduced is used in the same iteration of the ",
                    NumElements(group.rows), " rows that they share");
    if (Reduces(consumer)) return "the reduction computes its input row by row";
    if (producer.pattern == OpPattern::kOutEWiseFusable)
      return "elementwise work follows the heavy operator on its results";
    return "each element is computed where it is read";
  }

  Refusal WhyNot(int producer, int consumer) const {
    const FusionNode& from = Node(producer);
    const FusionNode& to = Node(consumer);
    if (!options_.group) return {"fusion is off", "opt_level 1 or more"};
    if (IsStopFusion(from) || IsStopFusion(to))
      return {"annotation.stop_fusion asks for it", "removing the annotation"};
    if (from.pattern == OpPattern::kOpaque || to.pattern == OpPattern::kOpaque)
      return {StrCat(NameOf(from.pattern == OpPattern::kOpaque ? from : to),
                     " is opaque and shares its kernel with nothing"),
              "registering it with another pattern"};
    if (from.external)
      return {"its value is a result or bound by a let, so it is stored anyway",
              "using it only once"};
    const GroupCost& a = CostOf(producer);
    const GroupCost& b = CostOf(consumer);
    const bool is_extended = options_.mode == FusionMode::kExtended;
    const std::size_t axes = AxesInto(
        from, nodes_, [&](int i) { return groups_.RootOf(i) == groups_.RootOf(consumer); });
    if (is_extended && (a.reduces || b.reduces)) {
      if (std::optional<Refusal> refusal = RefuseAroundReduction(a, b, axes))
        return *std::move(refusal);
    }
    if ((a.calls > 0 && a.views) || (b.calls > 0 && b.views))
      return {"a reshape alone is a view of memory and needs no kernel", "no change is needed"};
    if (is_extended && !a.heavy && !b.heavy && HasOtherReader(producer, groups_.RootOf(consumer))) {
      if (std::optional<Refusal> refusal = RefuseSecondResult(a, b, axes))
        return *std::move(refusal);
    }
    return WhyNotByPattern(from, to, a, b);
  }

  Refusal WhyNotByPattern(const FusionNode& from, const FusionNode& to, const GroupCost& a,
                          const GroupCost& b) const {
    if (from.dominator < 0)
      return {"its uses lead to different results, so that it is stored anyway",
              "results that meet again in elementwise work"};
    if (a.heavy && b.heavy)
      return {"each kernel holds one heavy operator", "no change: both keep their own schedules"};
    if (to.pattern == OpPattern::kOutEWiseFusable)
      return {StrCat(NameOf(to), " reads each element many times and would compute it each time"),
              options_.mode == FusionMode::kRelay && Reduces(to) ? "--fusion=extended"
                                                                 : "moving the work after it"};
    if (Reduces(from) || a.reduces)
      return {options_.mode == FusionMode::kRelay
                  ? AfterReduction(from, to)
                  : "its value is also read outside of the kernel that reads it here",
              options_.mode == FusionMode::kRelay ? "--fusion=extended" : "a single reader"};
    if (a.heavy)
      return {StrCat("only elementwise work of the same shape follows ", NameOf(from),
                     "; on the way there is other work or another use"),
              "one elementwise use"};
    if (a.calls + b.calls > options_.max_depth)
      return {StrCat("the kernel would hold more than ", options_.max_depth, " calls"),
              "a larger max_depth"};
    if (Reduces(to) || b.reduces)
      return {options_.mode == FusionMode::kRelay
                  ? "other uses of the value go around the reduction"
                  : "its value is also read outside of the kernel that reads it here",
              options_.mode == FusionMode::kRelay ? "--fusion=extended" : "a single reader"};
    return {"not all of its uses can share one kernel", "a single use"};
  }

  // A kernel's loops are those of its reduction, which what follows does not have.
  static std::string AfterReduction(const FusionNode& from, const FusionNode& to) {
    const std::string rule = "nothing follows a reduction in its kernel";
    const auto* call = from.expr.As<CallNode>();
    if (from.pattern != OpPattern::kCommReduce || call == nullptr || call->args.empty())
      return rule;
    return StrCat(rule, ": ", NameOf(from), " iterates over the elements of ",
                  ir::ToString(call->args[0].checked_type()), ", ", NameOf(to), " over those of ",
                  ir::ToString(to.expr.checked_type()));
  }

  bool HasOtherReader(int producer, int group) const {
    for (const FusionNode::Edge& edge : Node(producer).outputs) {
      if (groups_.RootOf(edge.consumer) != group) return true;
    }
    return false;
  }

  static bool IsStopFusion(const FusionNode& node) {
    const auto* call = node.expr.As<CallNode>();
    return call != nullptr && call->callee == ops::Known().stop_fusion;
  }
  static std::string NameOf(const FusionNode& node) { return NodeName(node.expr); }

  const std::vector<FusionNode>& nodes_;
  const FusionGroups& groups_;
  const FuseOptions& options_;
  std::vector<GroupCost> costs_;
};

}  // namespace

FusionReport ExplainGroups(const std::vector<FusionNode>& nodes, const FusionGroups& groups,
                           const FuseOptions& options) {
  return Explainer(nodes, groups, options).Explain();
}

}  // namespace tenon::passes
