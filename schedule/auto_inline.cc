#include "tenon/schedule/auto_inline.h"

#include <algorithm>

#include "tenon/loop/visit.h"

namespace tenon::schedule {
namespace {

using loop::Expr;

// How a load's indices relate to the axes.
Dataflow AccessClass(const std::vector<Expr>& indices, const std::vector<IterVar>& axes) {
  std::size_t next = 0;
  bool all_equal = indices.size() == axes.size();
  for (std::size_t d = 0; d < indices.size(); ++d) {
    all_equal = all_equal && indices[d].same_as(axes[d].var);
    if (loop::IsConstInt(indices[d], 0)) continue;
    while (next < axes.size() && !indices[d].same_as(axes[next].var)) ++next;
    if (next++ >= axes.size()) return Dataflow::kInjective;
  }
  return all_equal ? Dataflow::kElementwise : Dataflow::kBroadcast;
}

void AutoInline(Schedule& schedule, Dataflow widest) {
  for (const auto& stage : schedule.stages()) {
    const te::OperationNode& op = *stage->op();
    if (!op.is_compute() || stage->is_output() || stage->is_update() || op.outputs.size() != 1 ||
        stage->placement() != Stage::Placement::kRoot || DataflowOf(op) > widest)
      continue;
    stage->ComputeInline();
  }
}

}  // namespace

Dataflow DataflowOf(const te::OperationNode& op) {
  if (op.is_reduction()) return Dataflow::kReduction;
  Dataflow widest = Dataflow::kElementwise;
  for (const Expr& body : op.body) {
    loop::VisitExpr(body, [&](const Expr& e) {
      const auto* load = e.As<loop::LoadNode>();
      if (load != nullptr) widest = std::max(widest, AccessClass(load->indices, op.axes));
    });
  }
  return widest;
}

void AutoInlineElemWise(Schedule& schedule) { AutoInline(schedule, Dataflow::kElementwise); }
void AutoInlineBroadcast(Schedule& schedule) { AutoInline(schedule, Dataflow::kBroadcast); }
void AutoInlineInjective(Schedule& schedule) { AutoInline(schedule, Dataflow::kInjective); }

}  // namespace tenon::schedule
