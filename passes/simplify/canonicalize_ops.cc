#include "tenon/passes/simplify/canonicalize_ops.h"

#include "tenon/ir/visit.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/known_ops.h"
#include "tenon/ops/shape_rules.h"

namespace tenon::passes {
namespace {

using ir::CallNode;
using ir::Expr;

Expr Canonical(const Expr& original, const Expr& rebuilt) {
  const auto* call = rebuilt.As<CallNode>();
  if (call == nullptr || !(call->callee == ops::Known().bias_add)) return rebuilt;
  const auto rank =
      static_cast<std::int64_t>(original.checked_type().As<ir::TensorTypeNode>()->shape.size());
  const std::int64_t trailing =
      rank - 1 -
      ops::NormalAxis(call->attrs.As<ops::BiasAddAttrs>().axis, static_cast<std::size_t>(rank));
  const Expr& bias = call->args[1];
  return ops::Add(call->args[0], trailing == 0 ? bias : ops::ExpandDims(bias, 1, trailing));
}

}  // namespace

ir::Module CanonicalizeOps(const ir::Module& module) {
  return module.Map(
      [&](const Expr& function) { return ir::RewritePostOrder(function, Canonical); });
}

}  // namespace tenon::passes
