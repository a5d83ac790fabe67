#include "tenon/loop/simplify/guards.h"

#include "tenon/loop/index_arithmetic.h"
#include "tenon/loop/simplify/simplify.h"
#include "tenon/loop/visit.h"

namespace tenon::loop {

void SplitConjunction(const Expr& condition, std::vector<Expr>* parts) {
  const auto* n = condition.As<BinaryNode>();
  if (n != nullptr && n->op == BinaryOp::kAnd) {
    SplitConjunction(n->a, parts);
    SplitConjunction(n->b, parts);
  } else {
    parts->push_back(condition);
  }
}

bool LoadsAnything(const Expr& e) {
  bool loads = false;
  VisitExpr(e, [&](const Expr& x) {
    loads = loads || x.kind() == ExprKind::kLoad || x.kind() == ExprKind::kExternCall;
  });
  return loads;
}

std::optional<LinearCondition> ToLinearCondition(const Expr& condition, const Var& var) {
  const auto* n = condition.As<BinaryNode>();
  if (n == nullptr || n->a.dtype() != Int64) return std::nullopt;
  Expr difference;  // is at most 0
  switch (n->op) {
    case BinaryOp::kLT:
      difference = n->a - n->b + 1;
      break;
    case BinaryOp::kLE:
      difference = n->a - n->b;
      break;
    case BinaryOp::kGT:
      difference = n->b - n->a + 1;
      break;
    case BinaryOp::kGE:
      difference = n->b - n->a;
      break;
    default:
      return std::nullopt;
  }
  Linear linear = ToLinear(difference, {});
  // A sum that wraps around may be on either side of 0 whatever its terms are.
  const Bounds none;
  IndexArithmetic index(none);
  if (!index.Proves(n->a) || !index.Proves(n->b) || !index.Proves(linear)) return std::nullopt;
  const std::int64_t coefficient = linear.CoefficientOf(var);
  std::erase_if(linear.terms, [&](const auto& term) { return term.first.same_as(var); });
  LinearCondition result{coefficient, linear.ToExpr()};
  if (coefficient == 0 || coefficient == Interval::kLowest || UsesVar(result.rest, var))
    return std::nullopt;
  return result;
}

bool Tighten(const Expr& condition, const Var& var, Expr* begin, Expr* end) {
  const std::optional<LinearCondition> linear = ToLinearCondition(condition, var);
  if (!linear) return false;
  const std::int64_t a = linear->coefficient;
  if (a > 0) {  // v <= -rest / a
    *end = Min(*end, Simplify(FloorDiv(0 - linear->rest, a) + 1));
  } else {  // v >= rest / -a
    *begin = Max(*begin, Simplify(FloorDiv(linear->rest + (-a - 1), -a)));
  }
  return true;
}

}  // namespace tenon::loop
