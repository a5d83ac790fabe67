#include "tenon/passes/simplify/fold_constant.h"

#include <algorithm>
#include <unordered_set>

#include "tenon/ir/visit.h"
#include "tenon/ops/extents/run_time_cut.h"
#include "tenon/ops/known_ops.h"
#include "tenon/ops/shape/transform_attrs.h"
#include "tenon/passes/effects.h"
#include "tenon/passes/precision/widen_half_floats.h"

namespace tenon::passes {
namespace {

using ir::CallNode;
using ir::Constant;
using ir::Expr;

bool IsConstant(const Expr& e) {
  if (const auto* tuple = e.As<ir::TupleNode>())
    return !tuple->fields.empty() &&
           std::all_of(tuple->fields.begin(), tuple->fields.end(), IsConstant);
  return e.kind() == ir::ExprKind::kConstant;
}

NDArray Integers(const std::vector<std::int64_t>& values, Shape shape, DataType dtype) {
  if (dtype == Int64) return NDArray::FromVector(std::move(shape), values);
  return NDArray::FromVector(std::move(shape),
                             std::vector<std::int32_t>(values.begin(), values.end()));
}

// The value that the static type of the argument determines, or null.
Expr FromType(const CallNode& call) {
  const bool shape = call.callee == ops::Known().shape_of;
  if (!shape && call.op()->name != "ndarray_size") return Expr();
  if (!ir::IsStaticTensor(call.args[0].checked_type())) return Expr();
  const DataType dtype = call.attrs.As<ops::ShapeOfAttrs>().dtype;
  if (dtype != Int32 && dtype != Int64) return Expr();
  const Shape extents = ir::StaticShape(call.args[0].checked_type(), "the argument");
  if (!shape) return Constant::Make(Integers({NumElements(extents)}, {}, dtype));
  return Constant::Make(Integers(extents, {static_cast<std::int64_t>(extents.size())}, dtype));
}

Expr FoldWithin(const Expr& expr, const ConstantEvaluator& evaluate, ops::FoldingBudget* budget);

using Effects = std::unordered_set<Expr, ir::ExprHash>;

// `effects`: WithEffects of the function.
Expr Fold(const Expr& original, const Expr& e, const ConstantEvaluator& evaluate,
          ops::FoldingBudget* budget, const Effects& effects) {
  if (const auto* item = e.As<ir::TupleGetItemNode>()) {
    const auto* tuple = item->tuple.As<ir::TupleNode>();
    if (tuple != nullptr && !effects.contains(original.As<ir::TupleGetItemNode>()->tuple))
      return tuple->fields[static_cast<std::size_t>(item->index)];
    return e;
  }
  const auto* call = e.As<CallNode>();
  if (call == nullptr || call->op() == nullptr) return e;
  if (const Expr known = FromType(*call)) return known;
  // Quantised operators and extents that values decide have no computes.
  if (ops::OpOf(*call)->stateful || ops::AsRunTimeExtent(e) != nullptr ||
      call->op()->name.starts_with("qnn.") || call->args.empty() ||
      !std::all_of(call->args.begin(), call->args.end(), IsConstant))
    return e;
  // The constants have the types with which the call was checked.
  const Expr typed =
      ir::Call::Make(call->callee, call->args, call->attrs, e.span(), original.checked_type());
  // Kernels add up halves in float32 and round the sum once. A constant sum is the same.
  if (const Expr wide = WidenedCall(typed); wide != typed) {
    const Expr value = FoldWithin(wide, evaluate, budget);
    return IsConstant(value) ? value : e;
  }
  std::vector<NDArray> values = evaluate(*typed.As<CallNode>(), budget);
  if (values.empty()) return e;
  if (original.checked_type().As<ir::TupleTypeNode>() == nullptr)
    return Constant::Make(std::move(values[0]), e.span());
  std::vector<Expr> fields;
  for (NDArray& value : values) fields.push_back(Constant::Make(std::move(value), e.span()));
  return ir::Tuple::Make(std::move(fields), e.span(), original.checked_type());
}

double ConstantBytes(const Expr& expr) {
  double bytes = 0;
  ir::VisitPostOrder(expr, [&](const Expr& e) {
    if (const auto* constant = e.As<ir::ConstantNode>())
      bytes += static_cast<double>(constant->data.bytes());
  });
  return bytes;
}

Expr FoldWithin(const Expr& expr, const ConstantEvaluator& evaluate, ops::FoldingBudget* budget) {
  const Effects effects = WithEffects(expr);
  return ir::RewritePostOrder(
      expr,
      [&](const Expr& original, const Expr& rebuilt) {
        return ir::KeepType(original, Fold(original, rebuilt, evaluate, budget, effects));
      },
      [](const Expr& e) {
        const auto* function = e.As<ir::FunctionNode>();
        return function == nullptr || !function->is_primitive();
      });
}

}  // namespace

Expr FoldNode(const Expr& typed, const ConstantEvaluator& evaluate, ops::FoldingBudget* budget) {
  return Fold(typed, typed, evaluate, budget, {});
}

Expr FoldConstant(const Expr& expr, const ConstantEvaluator& evaluate) {
  ops::FoldingBudget budget(ConstantBytes(expr));
  return FoldWithin(expr, evaluate, &budget);
}

ir::Module FoldConstant(const ir::Module& module, const ConstantEvaluator& evaluate) {
  double bytes = 0;
  for (const auto& [name, function] : module.functions()) bytes += ConstantBytes(function);
  ops::FoldingBudget budget(bytes);
  return module.Map([&](const Expr& function) { return FoldWithin(function, evaluate, &budget); });
}

}  // namespace tenon::passes
