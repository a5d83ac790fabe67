#include "tenon/passes/layout/placements.h"

#include "tenon/ops/layout/layout.h"

namespace tenon::passes {

using ir::CallNode;
using ir::Expr;

namespace {

// Whether a value of type `now` is a value of type `old` in another layout.
bool IsTypeIn(const ir::Type& now, const ir::Type& old, const Placement& placement) {
  const auto* before = TensorOf(old);
  if (before == nullptr || TensorOf(now) == nullptr) return false;
  if (!placement.is_moved()) return ir::Equal(now, old);
  const auto wanted = ops::TypeInLayout(*before, placement.old, placement.now);
  return wanted && ir::Equal(now, *wanted);
}

}  // namespace

std::optional<Placements> ResultPlacements(const ir::Type& before, const ir::Type& after,
                                           const Placement& placement) {
  if (TensorOf(before) != nullptr) {
    if (!IsTypeIn(after, before, placement)) return std::nullopt;
    return Placements{placement};
  }
  const auto* old_tuple = before.As<ir::TupleTypeNode>();
  const auto* new_tuple = after.As<ir::TupleTypeNode>();
  if (old_tuple == nullptr || new_tuple == nullptr ||
      old_tuple->fields.size() != new_tuple->fields.size())
    return std::nullopt;
  Placements placements;
  for (std::size_t i = 0; i < old_tuple->fields.size(); ++i) {
    const auto* field = TensorOf(old_tuple->fields[i]);
    const bool is_placed = field != nullptr && field->shape.size() == placement.old.size();
    placements.push_back(is_placed ? placement : Placement());
    if (!IsTypeIn(new_tuple->fields[i], old_tuple->fields[i], placements[i])) return std::nullopt;
  }
  return placements;
}

Expr MakeTuple(const std::vector<Expr>& fields) {
  std::vector<ir::Type> types;
  for (const Expr& field : fields) types.push_back(field.checked_type());
  return ir::Tuple::Make(fields, {}, ir::TupleType(std::move(types)));
}

Expr Item(const Expr& tuple, int index) {
  return ir::TupleGetItem::Make(
      tuple, index, {},
      tuple.checked_type().As<ir::TupleTypeNode>()->fields[static_cast<std::size_t>(index)]);
}

Expr Field(const Expr& tuple, std::size_t i) {
  const auto* node = tuple.As<ir::TupleNode>();
  return node != nullptr ? node->fields[i] : Item(tuple, static_cast<int>(i));
}

std::vector<Expr> Arguments(const CallNode& original, const std::vector<Expr>& values) {
  std::vector<Expr> args;
  std::size_t next = 0;
  for (const Expr& arg : original.args) {
    const auto* tuple = arg.checked_type().As<ir::TupleTypeNode>();
    if (tuple == nullptr) {
      args.push_back(values[next++]);
      continue;
    }
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>(next);
    next += tuple->fields.size();
    args.push_back(MakeTuple({begin, values.begin() + static_cast<std::ptrdiff_t>(next)}));
  }
  return args;
}

}  // namespace tenon::passes
