#include "tenon/passes/layout/layout_moves.h"

#include "tenon/ops/builders.h"
#include "tenon/ops/layout/layout.h"
#include "tenon/ops/layout/layout_attrs.h"
#include "tenon/ops/op.h"
#include "tenon/passes/infer_type.h"

namespace tenon::passes {

using ir::Expr;

Expr LayoutMoves::Transform(const Expr& value, const std::string& from, const std::string& to) {
  if (from == to) return value;
  std::vector<Made>& made = made_[value];
  for (const Made& m : made) {
    if (m.from == from && m.to == to) return m.value;
  }
  const Expr moved = InferCall(ops::CallOp(
      "layout_transform", {value},
      attrs::Attrs::Make(ops::LayoutTransformAttrs{.src_layout = from, .dst_layout = to})));
  made.push_back({from, to, moved});
  made_[moved].push_back({to, from, value});
  return moved;
}

Expr LayoutMoves::WithLeadingAxes(const Expr& value, std::size_t count) {
  if (count == 0) return value;
  Expr& expanded = expanded_[value][count];
  if (!expanded) expanded = InferCall(ops::ExpandDims(value, 0, static_cast<std::int64_t>(count)));
  return expanded;
}

Expr LayoutMoves::ToOld(const Operand& operand) {
  return Transform(operand.value, operand.placement.now, operand.placement.old);
}

std::optional<Expr> LayoutMoves::ToLayout(const Operand& operand, const std::string& old,
                                          const std::string& wanted) {
  if (wanted.empty() || wanted == old) return ToOld(operand);
  if (!operand.placement.old.empty()) {
    if (!ops::TypeInLayout(*TensorOf(operand.type), old, wanted)) return std::nullopt;
    return Transform(operand.value, operand.placement.now, wanted);
  }
  const std::size_t rank = TensorOf(operand.type)->shape.size();
  if (rank > old.size()) return std::nullopt;
  const Expr expanded = WithLeadingAxes(operand.value, old.size() - rank);
  if (!ops::TypeInLayout(*TensorOf(expanded.checked_type()), old, wanted)) return std::nullopt;
  return Transform(expanded, old, wanted);
}

}  // namespace tenon::passes
