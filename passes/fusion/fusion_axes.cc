#include "tenon/passes/fusion/fusion_axes.h"

#include <algorithm>
#include <typeinfo>

#include "tenon/ops/known_ops.h"
#include "tenon/ops/norm/nn_attrs.h"
#include "tenon/ops/norm/norm_attrs.h"
#include "tenon/ops/op.h"
#include "tenon/ops/reduce/reduce_attrs.h"
#include "tenon/ops/shape_rules.h"

namespace tenon::passes {
namespace {

using ir::CallNode;
using ir::TensorTypeNode;
using ops::OpPattern;
using Dims = std::vector<ir::Dim>;

template <typename T>
const T* AttrsAs(const CallNode& call) {
  const attrs::Schema* schema = call.attrs.schema();
  return schema != nullptr && *schema->type == typeid(T) ? &call.attrs.As<T>() : nullptr;
}

std::size_t CommonPrefix(const Dims& a, const Dims& b) {
  const auto end = std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first;
  return static_cast<std::size_t>(end - a.begin());
}

std::size_t FirstReduced(const std::optional<ops::Ints>& axis, bool exclude, std::size_t rank) {
  const std::vector<bool> reduced = ops::ReducedAxes(axis, exclude, rank);
  return static_cast<std::size_t>(std::find(reduced.begin(), reduced.end(), true) -
                                  reduced.begin());
}

std::size_t OfReduction(const CallNode& call, std::size_t argument, const Dims& operand) {
  const std::size_t rank = operand.size();
  if (const auto* attrs = AttrsAs<ops::ReduceAttrs>(call))
    return FirstReduced(attrs->axis, attrs->exclude, rank);
  if (const auto* attrs = AttrsAs<ops::ArgReduceAttrs>(call))
    return FirstReduced(attrs->axis, attrs->exclude, rank);
  if (const auto* attrs = AttrsAs<ops::VarianceAttrs>(call)) {
    const auto* data = call.args[0].checked_type().As<TensorTypeNode>();
    const std::size_t first = FirstReduced(attrs->axis, attrs->exclude, data->shape.size());
    return argument == 0 ? first : std::min(first, CommonPrefix(operand, data->shape));
  }
  return 0;
}

std::size_t OfOtherOperators(const CallNode& call, std::size_t argument, std::size_t rank) {
  const auto normal = [&](std::int64_t axis) {
    return static_cast<std::size_t>(ops::NormalAxis(axis, rank));
  };
  if (argument != 0) return 0;
  if (const auto* attrs = AttrsAs<ops::SoftmaxAttrs>(call)) return normal(attrs->axis);
  if (const auto* attrs = AttrsAs<ops::LayerNormAttrs>(call)) return normal(attrs->axis);
  if (const auto* attrs = AttrsAs<ops::L2NormalizeAttrs>(call))
    return FirstReduced(attrs->axis, false, rank);
  if (const auto* attrs = AttrsAs<ops::ConcatenateAttrs>(call)) return normal(attrs->axis);
  return 0;
}

}  // namespace

std::size_t SharedAxes(const CallNode& call, std::size_t argument) {
  const ops::OpDef* op = ops::OpOf(call);
  if (op == nullptr || !op->pattern) return 0;
  ir::Type type = call.args[argument].checked_type();
  if (const auto* tuple = type.As<ir::TupleTypeNode>()) {
    if (tuple->fields.empty()) return 0;
    type = tuple->fields[0];
  }
  const auto* operand = type.As<TensorTypeNode>();
  const auto* result = call.checked_type.As<TensorTypeNode>();
  if (operand == nullptr || result == nullptr) return 0;
  if (op->reshape_only) return argument == 0 ? CommonPrefix(operand->shape, result->shape) : 0;
  switch (*op->pattern) {
    case OpPattern::kElemWise:
    case OpPattern::kBroadcast:
      // A shorter shape is broadcast along the leading axes.
      return operand->shape.size() == result->shape.size()
                 ? CommonPrefix(operand->shape, result->shape)
                 : 0;
    case OpPattern::kCommReduce:
      return OfReduction(call, argument, operand->shape);
    case OpPattern::kInjective:
    case OpPattern::kOutEWiseFusable:
      return OfOtherOperators(call, argument, operand->shape.size());
    case OpPattern::kTuple:
    case OpPattern::kOpaque:
      return 0;
  }
  return 0;
}

std::size_t AxesOfEdge(const ir::Expr& producer, const ir::Expr& consumer) {
  const auto* call = consumer.As<CallNode>();
  // Scalar constants have no rows; tuples and projections pass values on.
  if (producer.kind() == ir::ExprKind::kConstant || call == nullptr) return kAllAxes;
  std::size_t axes = kAllAxes;
  for (std::size_t i = 0; i < call->args.size(); ++i) {
    if (call->args[i] == producer) axes = std::min(axes, SharedAxes(*call, i));
  }
  return axes;
}

bool NormalizesRows(const CallNode& call) {
  const ops::OpDef* op = ops::OpOf(call);
  return op != nullptr && op->pattern == OpPattern::kOutEWiseFusable &&
         (AttrsAs<ops::SoftmaxAttrs>(call) != nullptr ||
          AttrsAs<ops::LayerNormAttrs>(call) != nullptr ||
          AttrsAs<ops::L2NormalizeAttrs>(call) != nullptr);
}

}  // namespace tenon::passes
