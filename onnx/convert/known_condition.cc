#include "tenon/onnx/convert/known_condition.h"

#include "tenon/onnx/convert/run_time_loop.h"
#include "tenon/onnx/convert/symbolic_shapes.h"
#include "tenon/ops/known_ops.h"
#include "tenon/ops/shape_rules.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::onnx_import {
namespace {

using ir::Expr;
using Known = std::optional<bool>;

// An integer that follows from extents.
std::optional<Dim> NumberOf(const Expr& e) {
  const std::optional<std::vector<Dim>> values = DimsOfValue(e);
  return values && values->size() == 1 ? std::optional((*values)[0]) : std::nullopt;
}

// Where it holds, or fails, for all values of the variables.
Known IsPositive(const Dim& difference) {
  if (const auto least = difference.LowerBound(); least && *least > 0) return true;
  if (const auto least = (Dim(0) - difference).LowerBound(); least && *least >= 0) return false;
  return std::nullopt;
}

Known Not(const Known& known) { return known ? Known(!*known) : std::nullopt; }

Known IsEqual(const Dim& a, const Dim& b) {
  if (a == b) return true;
  return IsPositive(a - b).value_or(false) || IsPositive(b - a).value_or(false) ? Known(false)
                                                                                : std::nullopt;
}

Known OfComparison(const Expr& op, const Dim& a, const Dim& b) {
  const auto& known = ops::Known();
  if (op == known.equal) return IsEqual(a, b);
  if (op == known.not_equal) return Not(IsEqual(a, b));
  if (op == known.less) return IsPositive(b - a);
  if (op == known.greater) return IsPositive(a - b);
  if (op == known.less_equal) return Not(IsPositive(a - b));
  if (op == known.greater_equal) return Not(IsPositive(b - a));
  return std::nullopt;
}

// `condition` has one element.
Known Decided(const Expr& condition) {
  if (const auto* constant = condition.As<ir::ConstantNode>())
    return constant->data.dtype().is_bool() && constant->data.size() == 1
               ? Known(*constant->data.data<bool>())
               : std::nullopt;
  const auto* call = condition.As<ir::CallNode>();
  if (call == nullptr) return std::nullopt;
  const auto& known = ops::Known();
  const bool is_same = call->callee == known.reshape || call->callee == known.squeeze ||
                       call->callee == known.expand_dims;
  if (is_same) return Decided(call->args[0]);
  if (call->callee == known.logical_not) return Not(Decided(call->args[0]));
  if (call->callee == known.cast) {
    const std::optional<Dim> number = NumberOf(call->args[0]);
    return number ? Not(IsEqual(*number, 0)) : Decided(call->args[0]);
  }
  if (call->args.size() != 2) return std::nullopt;
  const std::optional<Dim> a = NumberOf(call->args[0]), b = NumberOf(call->args[1]);
  return a && b ? OfComparison(call->callee, *a, *b) : std::nullopt;
}

}  // namespace

std::string WayToFix(const Expr& condition) {
  if (const auto* call = condition.As<ir::CallNode>()) {
    const bool is_same = call->args.size() == 1 && call->callee != ops::Known().cast;
    if (is_same) return WayToFix(call->args[0]);
    const auto a = NumberOf(call->args[0]);
    const auto b = call->args.size() == 2 ? NumberOf(call->args[1]) : std::nullopt;
    if (a && b)
      return StrCat(
          "it compares ", a->ToString(), " with ", b->ToString(),
          "; numbers for these extents decide it (--shape, --dim, ImportOptions::shapes)");
  }
  return kFixingACondition;
}

Known KnownCondition(const Expr& condition) {
  const auto* type = condition.checked_type().As<ir::TensorTypeNode>();
  if (type == nullptr || !type->dtype.is_bool())
    throw InvalidArgument("the condition must be a bool");
  if (const auto* constant = condition.As<ir::ConstantNode>();
      constant != nullptr && constant->data.size() != 1)
    throw InvalidArgument("the condition must have one element");
  const Dim size = ops::Product(type->shape);
  return size == Dim(1) ? Decided(condition) : std::nullopt;
}

}  // namespace tenon::onnx_import
