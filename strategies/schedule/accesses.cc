#include "tenon/strategies/schedule/accesses.h"

#include <algorithm>
#include <unordered_set>

#include "tenon/loop/simplify/guards.h"
#include "tenon/loop/transform/transforms.h"
#include "tenon/loop/visit.h"
#include "tenon/schedule/inline.h"
#include "tenon/strategies/planned_extent.h"
#include "tenon/strategies/schedule/register_tile.h"
#include "tenon/support/error.h"

namespace tenon::strategies {

using loop::Expr;
using schedule::Stage;
using te::IterVar;

const Accesses::Inlined& Accesses::InlinedOf(const Stage& stage) {
  const auto [it, added] = inlined_.try_emplace(stage.op().get());
  Inlined& inlined = it->second;
  if (!added) return inlined;
  const auto bounds = std::make_shared<loop::Bounds>();
  for (const auto* axes : {&stage.op()->axes, &stage.op()->reduce_axes}) {
    for (const IterVar& axis : *axes) {
      const auto *first = axis.min.As<loop::IntImmNode>(),
                 *extent = axis.extent.As<loop::IntImmNode>();
      if (first != nullptr && extent != nullptr)
        bounds->Bind(axis.var, {first->value, first->value + extent->value - 1});
    }
  }
  std::vector<Expr> bodies;  // `seen` holds addresses: the nodes must live
  std::unordered_set<const loop::ExprNode*> seen;
  schedule::Inliner inliner(schedule_);
  for (const Expr& body : stage.op()->body) {
    bodies.push_back(inliner(body));
    const auto* choice = bodies.back().As<loop::SelectNode>();
    inlined.is_choice = inlined.is_choice || (choice != nullptr && choice->lazy);
    loop::VisitExpr(bodies.back(), [&](const Expr& e) {
      const auto* load = e.As<loop::LoadNode>();
      const auto* select = e.As<loop::SelectNode>();
      const auto* call = e.As<loop::CallNode>();
      ++inlined.nodes;
      if (call != nullptr && loop::IsVectorMath(call->intrinsic)) ++inlined.math_calls;
      if (load != nullptr && load->producer && seen.insert(e.get()).second)
        inlined.accesses.push_back(
            {te::TensorOf(*load).op().get(), load->indices, load->buffer, bounds});
      if (select != nullptr && select->lazy) inlined.lazy_conditions.push_back(select->condition);
    });
  }
  return inlined;
}

bool Accesses::IsRead(const te::OperationNode& producer, const Stage* except) {
  const auto& stages = schedule_.stages();
  return std::any_of(stages.begin(), stages.end(), [&](const auto& reader) {
    if (reader.get() == except || reader->op()->is_placeholder() ||
        reader->placement() == Stage::Placement::kInline)
      return false;
    const std::vector<Access>& reads = Of(*reader);
    return std::any_of(reads.begin(), reads.end(),
                       [&](const Access& access) { return access.producer == &producer; });
  });
}

bool Accesses::DifferByLane(const Stage& stage, const loop::Var& var) {
  const std::vector<Expr>& conditions = InlinedOf(stage).lazy_conditions;
  return std::any_of(conditions.begin(), conditions.end(),
                     [&](const Expr& condition) { return loop::UsesVar(condition, var); });
}

std::vector<Expr> Accesses::LazyBoundsOf(const Stage& stage) {
  std::vector<Expr> bounds;
  for (const Expr& condition : InlinedOf(stage).lazy_conditions)
    loop::SplitConjunction(condition, &bounds);
  return bounds;
}

bool Accesses::BoundAlong(const Stage& stage, const loop::Var& var) {
  if (InlinedOf(stage).is_choice) return false;
  const std::vector<Expr> bounds = LazyBoundsOf(stage);
  return std::all_of(bounds.begin(), bounds.end(), [&](const Expr& bound) {
    const auto linear = loop::ToLinearCondition(bound, var);
    return !loop::UsesVar(bound, var) || (linear && linear->rest.kind() == loop::ExprKind::kIntImm);
  });
}

bool Accesses::EndsAlong(const Stage& stage, const loop::Var& var) {
  const std::vector<Expr> bounds = LazyBoundsOf(stage);
  if (bounds.size() != 1) return false;
  const auto linear = loop::ToLinearCondition(bounds[0], var);
  return linear && linear->coefficient == 1;
}

namespace {

std::optional<std::int64_t> StepOf(const Expr& index, const loop::Var& var) {
  const loop::Linear linear = loop::ToLinear(index, {});
  for (const auto& [atom, coefficient] : linear.terms) {
    if (!atom.same_as(var) && loop::UsesVar(atom, var)) return std::nullopt;
  }
  return linear.CoefficientOf(var);
}

}  // namespace

std::optional<std::int64_t> StepOf(const Access& access, const loop::Var& var) {
  std::int64_t step = 0;
  std::int64_t stride = 1;
  bool each_is_linear = true;
  for (std::size_t d = access.indices.size(); d-- > 0;) {
    const std::optional<std::int64_t> of_dimension = StepOf(access.indices[d], var);
    each_is_linear = each_is_linear && of_dimension;
    step += of_dimension.value_or(0) * stride;
    stride *= PlannedExtent(access.buffer->shape[d]);
  }
  // Added up, quotients and remainders of one fused axis give that axis again.
  if (each_is_linear) return step;
  const Expr offset = loop::OffsetOf(access.buffer, access.indices);
  return StepOf(loop::Simplify(offset, *access.bounds), var);
}

std::int64_t Extent(const IterVar& axis) { return PlannedExtent(axis.extent); }

std::int64_t ProductOfExtents(std::span<const IterVar> axes) {
  std::int64_t product = 1;
  for (const IterVar& axis : axes) product *= Extent(axis);
  return product;
}

std::int64_t WorkOf(const Stage& stage) {
  std::int64_t nodes = 0;
  for (const Expr& body : stage.op()->body) loop::VisitExpr(body, [&](const Expr&) { ++nodes; });
  for (const IterVar& axis : stage.op()->axes) nodes *= std::max<std::int64_t>(1, Extent(axis));
  for (const IterVar& axis : stage.op()->reduce_axes)
    nodes *= std::max<std::int64_t>(1, Extent(axis));
  return nodes;
}

std::int64_t Accesses::LanesOf(const te::OperationNode& op) const {
  std::size_t widest = 4;
  for (const loop::Buffer& output : op.outputs) widest = std::max(widest, output->dtype.bytes());
  return target_.Lanes(widest);
}

}  // namespace tenon::strategies
