// Inside a group, the reason follows from the patterns of both ends. Between groups it is what the
// rule that kept them apart said (FusionGroups::refusals).
#include "tenon/passes/fusion/fusion_explain.h"

#include "tenon/passes/fusion/fusion_axes.h"
#include "tenon/passes/fusion/fusion_cost.h"
#include "tenon/support/strings.h"

namespace tenon::passes {
namespace {

using ir::CallNode;
using ops::OpPattern;

bool Reduces(const FusionNode& node) {
  const auto* call = node.expr.As<CallNode>();
  return node.pattern == OpPattern::kCommReduce || (call != nullptr && NormalizesRows(*call));
}

std::string WhyFused(const FusionNode& producer, const FusionNode& consumer,
                     const GroupCost& group) {
  if (Reduces(producer))
    return StrCat("what is reduced is used in the same iteration of the ", NumElements(group.rows),
                  " rows that they share");
  if (Reduces(consumer)) return "the reduction computes its input row by row";
  if (producer.pattern == OpPattern::kOutEWiseFusable)
    return "elementwise work follows the heavy operator on its results";
  return "each element is computed where it is read";
}

}  // namespace

FusionReport ExplainGroups(const std::vector<FusionNode>& nodes, const FusionGroups& groups) {
  const std::vector<GroupCost> costs = CostsOf(nodes, groups.root);
  FusionReport report;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const auto* call = nodes[i].expr.As<CallNode>();
    if (call == nullptr || call->op() == nullptr) continue;
    int previous = -1;
    for (const FusionNode::Edge& edge : nodes[i].outputs) {
      if (edge.consumer == previous) continue;  // x + x
      previous = edge.consumer;
      const FusionNode& consumer = nodes[static_cast<std::size_t>(edge.consumer)];
      FusionDecision decision{.producer = nodes[i].expr, .consumer = consumer.expr};
      decision.fused = groups.root[i] == groups.RootOf(edge.consumer);
      if (decision.fused) {
        decision.reason =
            WhyFused(nodes[i], consumer, costs[static_cast<std::size_t>(groups.root[i])]);
      } else {
        decision.reason = groups.refusals[i].reason;
        decision.hint = groups.refusals[i].hint;
      }
      report.push_back(std::move(decision));
    }
  }
  return report;
}

}  // namespace tenon::passes
