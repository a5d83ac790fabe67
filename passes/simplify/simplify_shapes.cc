// Rules of operators that only move elements. All are exact.
#include <numeric>

#include "tenon/ops/builders.h"
#include "tenon/ops/known_ops.h"
#include "tenon/ops/shape_rules.h"
#include "tenon/passes/infer_type.h"
#include "tenon/passes/simplify/simplify_rules.h"

namespace tenon::passes {
namespace {

using ir::CallNode;
using ir::Expr;

bool IsReshape(const CallNode* call) {
  return call != nullptr && call->op() != nullptr && ops::OpOf(*call)->reshape_only;
}

// Rewrites a reshape (expand_dims, squeeze, ...) that changes nothing to its operand, and a reshape
// of a reshape to a single one. A reshape that reads extents of other arrays becomes one that says
// its own.
Expr JoinReshapes(const CallNode& call) {
  if (!IsReshape(&call) || !ir::IsStaticTensor(call.checked_type)) return Expr();
  if (ir::Equal(call.args[0].checked_type(), call.checked_type)) return call.args[0];
  const auto* inner = call.args[0].As<CallNode>();
  if (!IsReshape(inner) && call.args.size() == 1) return Expr();
  const Expr& x = IsReshape(inner) ? inner->args[0] : call.args[0];
  if (ir::Equal(x.checked_type(), call.checked_type)) return x;
  const Shape shape = ir::StaticShape(call.checked_type, "a reshape");
  const bool has_zero = NumElements(shape) == 0;
  return InferCall(ir::Call::Make(
      ops::Known().reshape, {x},
      attrs::Attrs::Make(ops::ReshapeAttrs{.newshape = shape, .allowzero = has_zero}), call.span));
}

// For each axis of the result, the axis of the operand.
std::vector<std::size_t> AxesOf(const CallNode& transpose) {
  const std::size_t rank = transpose.checked_type.As<ir::TensorTypeNode>()->shape.size();
  const auto& given = transpose.attrs.As<ops::TransposeAttrs>().axes;
  std::vector<std::size_t> axes(rank);
  for (std::size_t i = 0; i < rank; ++i)
    axes[i] = given ? static_cast<std::size_t>(ops::NormalAxis((*given)[i], rank)) : rank - 1 - i;
  return axes;
}

// Rewrites a transpose that moves no axis to its operand, and a transpose of a transpose to a
// single one.
Expr JoinTransposes(const CallNode& call) {
  const auto& known = ops::Known();
  if (!(call.callee == known.transpose)) return Expr();
  std::vector<std::size_t> axes = AxesOf(call);
  std::vector<std::size_t> identity(axes.size());
  std::iota(identity.begin(), identity.end(), 0);
  if (axes == identity) return call.args[0];
  const auto* inner = call.args[0].As<CallNode>();
  if (inner == nullptr || !(inner->callee == known.transpose)) return Expr();
  const std::vector<std::size_t> below = AxesOf(*inner);
  for (std::size_t& axis : axes) axis = below[axis];
  if (axes == identity) return inner->args[0];
  return InferCall(ops::Transpose(inner->args[0], ops::Ints(axes.begin(), axes.end())));
}

}  // namespace

Expr SimplifyShapes(const CallNode& call, const SimplifyContext&) {
  if (Expr e = JoinReshapes(call)) return e;
  return JoinTransposes(call);
}

}  // namespace tenon::passes
