#include "tenon/passes/combine/argument_joiner.h"

#include <algorithm>

#include "tenon/ops/builders.h"
#include "tenon/passes/combine/combine_branches.h"

namespace tenon::passes {

using ir::Expr;

namespace {

Shape ShapeOf(const Expr& e) { return ir::StaticShape(e.checked_type(), "an argument"); }

bool IsSameScalar(const Expr& a, const Expr& b) {
  const auto* x = a.As<ir::ConstantNode>();
  const auto* y = b.As<ir::ConstantNode>();
  return x != nullptr && y != nullptr && x->data.shape().empty() &&
         x->data.dtype() == y->data.dtype() && x->data.SameBytes(y->data);
}

}  // namespace

ArgumentJoiner::ArgumentJoiner(const Branches& values, std::optional<std::size_t> axis)
    : values_(values), axis_(axis), rank_(ShapeOf(values[0]).size()) {}

std::optional<Expr> ArgumentJoiner::Join(const Branches& args) const {
  for (const Expr& arg : args) {
    const auto* type = arg.checked_type().As<ir::TensorTypeNode>();
    if (type == nullptr || !ir::IsStaticTensor(arg.checked_type()) ||
        type->dtype != args[0].checked_type().As<ir::TensorTypeNode>()->dtype ||
        type->shape.size() != ShapeOf(args[0]).size() || type->shape.size() > rank_)
      return std::nullopt;
  }
  const bool is_one = std::all_of(args.begin(), args.end(), [&](const Expr& arg) {
    return arg == args[0] || IsSameScalar(arg, args[0]);
  });
  if (is_one && (!axis_ || IsBroadcastAlong(args[0]))) return args[0];
  return axis_ ? Concatenated(args) : Stacked(args);
}

Expr ArgumentJoiner::JoinChannels(const Branches& biases) const {
  if (axis_) return ops::Concatenate(biases, 0);
  return ops::ExpandDims(Stack(biases), 1, static_cast<std::int64_t>(rank_) - 1);
}

// Its last axis is aligned with the value's.
std::optional<std::size_t> ArgumentJoiner::AxisOf(std::size_t rank) const {
  if (*axis_ + rank < rank_) return std::nullopt;
  return *axis_ + rank - rank_;
}

bool ArgumentJoiner::IsBroadcastAlong(const Expr& arg) const {
  const Shape shape = ShapeOf(arg);
  const auto axis = AxisOf(shape.size());
  return !axis || shape[*axis] == 1;
}

std::optional<Expr> ArgumentJoiner::Concatenated(const Branches& args) const {
  const auto axis = AxisOf(ShapeOf(args[0]).size());
  if (!axis) return std::nullopt;
  Shape others = ShapeOf(args[0]);
  others[*axis] = 0;
  for (std::size_t i = 0; i < args.size(); ++i) {
    Shape shape = ShapeOf(args[i]);
    if (shape[*axis] != ShapeOf(values_[i])[*axis_]) return std::nullopt;
    shape[*axis] = 0;
    if (shape != others) return std::nullopt;
  }
  return ops::Concatenate(args, static_cast<std::int64_t>(*axis));
}

std::optional<Expr> ArgumentJoiner::Stacked(const Branches& args) const {
  const Shape shape = ShapeOf(args[0]);
  for (const Expr& arg : args) {
    if (ShapeOf(arg) != shape) return std::nullopt;
  }
  const auto missing = static_cast<std::int64_t>(rank_ - shape.size());
  return missing == 0 ? Stack(args) : ops::ExpandDims(Stack(args), 1, missing);
}

}  // namespace tenon::passes
