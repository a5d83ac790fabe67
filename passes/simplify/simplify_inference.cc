#include "tenon/passes/simplify/simplify_inference.h"

#include <algorithm>

#include "tenon/ir/visit.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/known_ops.h"
#include "tenon/ops/norm/norm_attrs.h"
#include "tenon/ops/shape_rules.h"
#include "tenon/passes/simplify/channel_vector.h"

namespace tenon::passes {
namespace {

using ir::CallNode;
using ir::Expr;

// Halves are computed in float32 and rounded once: a variance may overflow them, and a small
// epsilon is 0 in them.
struct Computation {
  DataType given, type;

  explicit Computation(DataType dtype) : given(dtype), type(dtype.is_half() ? Float32 : dtype) {}
  Expr Operand(const Expr& e) const { return type == given ? e : ops::Cast(e, type); }
  Expr Result(const Expr& e) const { return type == given ? e : ops::Cast(e, given); }
};

// x * scale + shift, with scale = gamma / sqrt(var + epsilon) and shift = beta - mean * scale.
Expr UnpackBatchNorm(const CallNode& call, const CallNode& typed) {
  const auto& attrs = call.attrs.As<ops::BatchNormAttrs>();
  const auto& data = *typed.args[0].checked_type().As<ir::TensorTypeNode>();
  const Computation in(data.dtype);
  const int axis = ops::NormalAxis(attrs.axis, data.shape.size());
  const auto vector = [&](std::size_t i) {
    return in.Operand(
        ChannelVector(call.args[i], typed.args[i], call.args[0], typed.args[0], axis));
  };
  Expr scale = ops::Divide(ops::Scalar(1.0, in.type),
                           ops::Sqrt(ops::Add(vector(4), ops::Scalar(attrs.epsilon, in.type))));
  if (attrs.scale) scale = ops::Multiply(scale, vector(1));
  Expr shift = ops::Multiply(ops::Negative(vector(3)), scale);
  if (attrs.center) shift = ops::Add(shift, vector(2));
  if (const auto trailing = static_cast<std::int64_t>(data.shape.size()) - 1 - axis; trailing > 0) {
    scale = ops::ExpandDims(scale, 1, trailing);
    shift = ops::ExpandDims(shift, 1, trailing);
  }
  return in.Result(ops::Add(ops::Multiply(in.Operand(call.args[0]), scale), shift));
}

// What group and instance norm have in common.
struct ChannelNorm {
  std::int64_t axis, groups;
  double epsilon;
  bool center, scale;
};

// (x - mean) / sqrt(variance + epsilon) * gamma + beta. All of it is computed with the channel axis
// split into groups and channels of a group. So only a view follows the sums, and the whole is one
// kernel.
Expr UnpackChannelNorm(const CallNode& typed, const CallNode& call, const ir::TensorTypeNode& data,
                       const ChannelNorm& norm) {
  const Shape shape = ir::StaticShape(typed.checked_type, "the result of a normalisation");
  const auto axis = static_cast<std::size_t>(norm.axis);
  const std::int64_t channels = shape[axis],
                     size = channels / std::max<std::int64_t>(norm.groups, 1);
  Shape grouped = shape;
  // The extents after the axis of the groups.
  Shape affine = {channels};
  if (size != 1) {
    grouped[axis] = norm.groups;
    grouped.insert(grouped.begin() + norm.axis + 1, size);
    affine = {norm.groups, size};
  }
  for (std::size_t d = axis + 1; d < shape.size(); ++d) affine.push_back(1);
  ops::Ints axes;
  for (std::size_t d = 1; d < grouped.size(); ++d) {
    if (d != axis) axes.push_back(static_cast<std::int64_t>(d));
  }
  const auto under = [](const Expr& x, const Shape& wanted, const Shape& has) {
    if (wanted == has) return x;
    return ops::Reshape(x, ops::Ints(wanted.begin(), wanted.end()));
  };
  const Computation in(data.dtype);
  const Expr x = under(in.Operand(call.args[0]), grouped, shape);
  const ops::ReduceAttrs reduce{.axis = axes, .keepdims = true};
  const Expr centred = ops::Subtract(x, ops::Mean(x, reduce));
  const Expr variance = ops::Mean(ops::Multiply(centred, centred), reduce);
  Expr y = ops::Divide(centred, ops::Sqrt(ops::Add(variance, ops::Scalar(norm.epsilon, in.type))));
  const auto vector = [&](std::size_t i) {
    return under(in.Operand(ChannelVector(call.args[i], typed.args[i], call.args[0], typed.args[0],
                                          static_cast<int>(axis))),
                 affine, {channels});
  };
  if (norm.scale) y = ops::Multiply(y, vector(1));
  if (norm.center) y = ops::Add(y, vector(2));
  return under(in.Result(y), shape, grouped);
}

Expr SimplifyCall(const CallNode& call, const CallNode& typed) {
  const bool is_group = call.callee == ops::Known().group_norm;
  if (!is_group && !(call.callee == ops::Known().instance_norm)) return Expr();
  const ir::Type& type = typed.args[0].checked_type();
  // To a reshape, extents of 0 mean something else.
  if (!ir::IsStaticTensor(type) || NumElements(ir::StaticShape(type, "the input")) == 0)
    return Expr();
  const auto& data = *type.As<ir::TensorTypeNode>();
  const auto normal = [&](std::int64_t axis) { return ops::NormalAxis(axis, data.shape.size()); };
  if (is_group) {
    const auto& a = call.attrs.As<ops::GroupNormAttrs>();
    return UnpackChannelNorm(typed, call, data,
                             {normal(a.axis), a.num_groups, a.epsilon, a.center, a.scale});
  }
  const auto& a = call.attrs.As<ops::InstanceNormAttrs>();
  const int axis = normal(a.axis);
  return UnpackChannelNorm(
      typed, call, data,
      {axis, data.shape[static_cast<std::size_t>(axis)].value(), a.epsilon, a.center, a.scale});
}

Expr Simplify(const Expr& original, const Expr& rebuilt) {
  if (const auto* call = rebuilt.As<CallNode>()) {
    const Expr simplified = SimplifyCall(*call, *original.As<CallNode>());
    return simplified ? simplified : rebuilt;
  }
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
