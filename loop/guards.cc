#include "tenon/loop/guards.h"

#include "tenon/loop/simplify.h"
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

bool Tighten(const Expr& condition, const Var& var, Expr* begin, Expr* end) {
  const auto* n = condition.As<BinaryNode>();
  if (n == nullptr || n->a.dtype() != Int64) return false;
  if (n->op != BinaryOp::kLT && n->op != BinaryOp::kLE && n->op != BinaryOp::kGE &&
      n->op != BinaryOp::kGT)
    return false;
  Linear difference = ToLinear(n->a - n->b, {});  // compared with 0
  if (difference.CoefficientOf(var) != 1) return false;
  std::erase_if(difference.terms, [&](const auto& term) { return term.first.same_as(var); });
  const Expr rest = difference.ToExpr();
  if (UsesVar(rest, var)) return false;
  const Expr limit = Simplify(-rest);  // v op limit
  if (n->op == BinaryOp::kLT) *end = Min(*end, limit);
  if (n->op == BinaryOp::kLE) *end = Min(*end, limit + 1);
  if (n->op == BinaryOp::kGE) *begin = Max(*begin, limit);
  if (n->op == BinaryOp::kGT) *begin = Max(*begin, limit + 1);
  return true;
}

}  // namespace tenon::loop
