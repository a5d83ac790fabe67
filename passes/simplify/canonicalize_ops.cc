#include "tenon/passes/simplify/canonicalize_ops.h"

#include "tenon/ir/visit.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/known_ops.h"
#include "tenon/ops/shape_rules.h"
#include "tenon/passes/simplify/channel_vector.h"

namespace tenon::passes {
namespace {

using ir::CallNode;
using ir::Expr;

Expr Canonical(const Expr& original, const Expr& rebuilt) {
  const auto* call = rebuilt.As<CallNode>();
  if (call == nullptr || !(call->callee == ops::Known().bias_add)) return rebuilt;
  const std::size_t rank = original.checked_type().As<ir::TensorTypeNode>()->shape.size();
  const int axis = ops::NormalAxis(call->attrs.As<ops::BiasAddAttrs>().axis, rank);
  const auto trailing = static_cast<std::int64_t>(rank) - 1 - axis;
  const auto& typed = *original.As<CallNode>();
  const Expr bias = ChannelVector(call->args[1], typed.args[1], call->args[0], typed.args[0], axis);
  return ops::Add(call->args[0], trailing == 0 ? bias : ops::ExpandDims(bias, 1, trailing));
}

}  // namespace

ir::Module CanonicalizeOps(const ir::Module& module) {
  return module.Map(
      [&](const Expr& function) { return ir::RewritePostOrder(function, Canonical); });
}

}  // namespace tenon::passes
