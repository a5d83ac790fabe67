#include "tenon/strategies/planned_extent.h"

#include <algorithm>
#include <limits>

#include "tenon/loop/simplify/simplify.h"
#include "tenon/loop/visit.h"
#include "tenon/support/arithmetic.h"
#include "tenon/support/dim.h"

namespace tenon::strategies {

std::int64_t PlannedExtent(const loop::Expr& extent) {
  if (const auto* value = extent.As<loop::IntImmNode>()) return value->value;
  loop::ExprMap planned;
  loop::VisitExpr(extent, [&](const loop::Expr& e) {
    if (e.kind() == loop::ExprKind::kVar)
      planned.emplace(e, loop::IntImm(e.dtype(), kPlannedExtent));
  });
  const loop::Expr value = loop::Simplify(loop::Substitute(extent, planned));
  const auto* number = value.As<loop::IntImmNode>();
  return number == nullptr ? kPlannedExtent : std::max<std::int64_t>(number->value, 2);
}

bool MayBeZero(const std::string& variable) { return Dim::Symbol(variable).LowerBound() == 0; }

bool AreNumbers(std::span<const Size> sizes) {
  return std::ranges::all_of(sizes, &Size::is_number);
}

Size BlocksOf(const Size& size, std::int64_t block) {
  if (size.is_number()) return CeilDiv(size.planned, block);
  return loop::FloorDiv(size.expr + loop::Expr(block - 1), loop::Expr(block));
}

Size ElementsOf(const Sizes& sizes) {
  loop::Expr product = 1;
  for (const Size& size : sizes) product = product * size.expr;
  return product;
}

std::vector<loop::Expr> ExprsOf(const Sizes& sizes) {
  std::vector<loop::Expr> exprs;
  for (const Size& size : sizes) exprs.push_back(size.expr);
  return exprs;
}

}  // namespace tenon::strategies
