#include "tenon/passes/simplify_inference.h"

#include "tenon/ir/visit.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/known_ops.h"
#include "tenon/ops/shape_rules.h"

namespace tenon::passes {
namespace {

using ir::CallNode;
using ir::Expr;

// x * scale + shift, with scale = gamma / sqrt(var + epsilon) and shift = beta - mean * scale.
Expr UnpackBatchNorm(const CallNode& call, const CallNode& typed) {
  const auto& attrs = call.attrs.As<ops::BatchNormAttrs>();
  const auto& data = *typed.args[0].checked_type().As<ir::TensorTypeNode>();
  Expr scale =
      ops::Divide(ops::Scalar(1.0, data.dtype),
                  ops::Sqrt(ops::Add(call.args[4], ops::Scalar(attrs.epsilon, data.dtype))));
  if (attrs.scale) scale = ops::Multiply(scale, call.args[1]);
  Expr shift = ops::Multiply(ops::Negative(call.args[3]), scale);
  if (attrs.center) shift = ops::Add(shift, call.args[2]);
  const int axis = ops::NormalAxis(attrs.axis, data.shape.size());
  if (const auto trailing = static_cast<std::int64_t>(data.shape.size()) - 1 - axis; trailing > 0) {
    scale = ops::ExpandDims(scale, 1, trailing);
    shift = ops::ExpandDims(shift, 1, trailing);
  }
  return ops::Add(ops::Multiply(call.args[0], scale), shift);
}

Expr Simplify(const Expr& original, const Expr& rebuilt) {
  const auto* item = rebuilt.As<ir::TupleGetItemNode>();
  if (item == nullptr || item->index != 0) return rebuilt;
  const auto* call = item->tuple.As<CallNode>();
  if (call == nullptr) return rebuilt;
  if (call->callee == ops::Known().dropout) return call->args[0];
  if (call->callee == ops::Known().batch_norm)
    return UnpackBatchNorm(*call, *original.As<ir::TupleGetItemNode>()->tuple.As<CallNode>());
  return rebuilt;
}

}  // namespace

ir::Module SimplifyInference(const ir::Module& module) {
  return module.Map([&](const Expr& function) { return ir::RewritePostOrder(function, Simplify); });
}

}  // namespace tenon::passes
