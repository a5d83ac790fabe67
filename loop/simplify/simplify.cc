// Integers become sums (sums.h). What is not linear goes through the rules of simplify_rules.h,
// operands first.
#include "tenon/loop/simplify/simplify.h"

#include "tenon/loop/simplify/intervals.h"
#include "tenon/loop/simplify/lanes.h"
#include "tenon/loop/simplify/linear.h"
#include "tenon/loop/simplify/simplify_lanes.h"
#include "tenon/loop/simplify/sums.h"

namespace tenon::loop {
namespace {

bool IsIndex(const Expr& e) { return e.dtype() == Int64; }

class Simplifier : public StmtMutator {
 public:
  explicit Simplifier(const Bounds& bounds)
      : sums_(bounds, [this](const Expr& e) { return MutateChildren(e); }) {}

  Sums& sums() { return sums_; }

 protected:
  Expr Mutate(const Expr& e) override {
    if (IsIndex(e) && (e.kind() == ExprKind::kBinary)) return sums_.LinearOf(e).ToExpr();
    if (const auto* n = e.As<BinaryNode>(); n != nullptr && IsComparison(n->op) && IsIndex(n->a)) {
      return Compare(n->op, n->a, n->b);
    }
    if (const std::optional<Expr> decided = DecidedInAllLanes(e)) return *decided;
    if (const auto* n = e.As<LetNode>()) sums_.Define(n->var, n->value);
    const Expr mutated = MutateChildren(e);
    if (const std::optional<Expr> simpler = SimplifyLanes(mutated)) return *simpler;
    if (IsIndex(mutated) && mutated.kind() == ExprKind::kBinary) return mutated;
    const std::optional<Expr> simpler = sums_.ByRules(mutated);
    return simpler ? (*this)(*simpler) : mutated;
  }

  Stmt MutateStmt(const Stmt& stmt) override {
    if (const auto* n = stmt.As<ForNode>()) {
      const Expr min = (*this)(n->min), extent = (*this)(n->extent);
      if (const auto* imm = extent.As<IntImmNode>()) {
        if (imm->value <= 0) return Seq({});
        if (imm->value == 1) {
          // The loop runs once, so its variable is its first value.
          return MutateStmt(Substitute(n->body, {{n->var, min}}));
        }
      }
      const Interval first = sums_.RangeOf(sums_.LinearOf(min)),
                     count = sums_.RangeOf(sums_.LinearOf(extent));
      const Interval values{first.low, Sum(Sum(first, count), {-1, -1}).high};
      const Stmt body = extent.kind() == ExprKind::kIntImm
                            ? MutateWhere(n->var, values, n->body)
                            : MutateToSymbolic(*n, min, extent, values);
      if (IsEmpty(body)) return body;
      if (min.same_as(n->min) && extent.same_as(n->extent) && body == n->body) return stmt;
      return For(n->var, min, extent, n->for_kind, body);
    }
    if (const auto* n = stmt.As<LetStmtNode>(); n != nullptr && IsIndex(n->var)) {
      const Expr value = (*this)(n->value);
      sums_.Define(n->var, value);
      const Stmt body = MutateWhere(n->var, sums_.RangeOf(sums_.LinearOf(value)), n->body);
      if (value.same_as(n->value) && body == n->body) return stmt;
      return LetStmt(n->var, value, body);
    }
    const Stmt result = MutateStmtChildren(stmt);
    if (const auto* n = result.As<IfNode>(); n != nullptr && !n->else_case && IsEmpty(n->then_case))
      return Seq({});
    return result;
  }

 private:
  static bool IsEmpty(const Stmt& s) {
    const auto* seq = s.As<SeqNode>();
    return seq != nullptr && seq->stmts.empty();
  }

  // `body` with `var` in `values`. What was simplified under another range is forgotten.
  Stmt MutateWhere(const Var& var, Interval values, const Stmt& body) {
    const Interval outside = Rebind(var, values);
    const Stmt result = MutateStmt(body);
    Rebind(var, outside);
    return result;
  }

  // The factors of an extent, and those of what its whole blocks are made of. Where the loop runs,
  // none of them is 0.
  std::vector<Expr> PositiveWith(const Expr& extent) {
    const Linear sum = sums_.LinearOf(extent);
    if (sum.terms.size() != 1 || sum.constant != 0) return {};
    std::vector<Expr> positive = FactorsOf(sum.terms[0].first);
    for (std::size_t i = 0; i < positive.size(); ++i) {
      const auto* blocks = positive[i].As<BinaryNode>();
      if (blocks == nullptr || blocks->op != BinaryOp::kFloorDiv) continue;
      const auto* block = blocks->b.As<IntImmNode>();
      const Linear whole = sums_.LinearOf(blocks->a);
      if (block == nullptr || whole.terms.size() != 1 || whole.constant >= block->value) continue;
      const std::vector<Expr> factors = FactorsOf(whole.terms[0].first);
      positive.insert(positive.end(), factors.begin(), factors.end());
    }
    return positive;
  }

  // The body of a loop to an extent of variables. As it runs, none of the extent's factors is 0.
  Stmt MutateToSymbolic(const ForNode& loop, const Expr& min, const Expr& extent, Interval values) {
    std::vector<std::pair<Var, Interval>> before;
    for (const Expr& factor : PositiveWith(extent)) {
      const Interval range = sums_.BoundsOf(factor);
      if (factor.kind() == ExprKind::kVar && range.low == 0)
        before.emplace_back(Var(factor), Rebind(Var(factor), {1, range.high}));
    }
    Linear last = sums_.LinearOf(min);
    const bool fits = AddScaled(&last, sums_.LinearOf(ExtentWhereItRuns(extent)), 1) &&
                      !__builtin_sub_overflow(last.constant, 1, &last.constant);
    if (fits) sums_.order().loops().Enter(loop.var, {sums_.LinearOf(min), last});
    // Where the range says nothing, the loop's ends still do, and only here.
    const Interval outside = Rebind(loop.var, values);
    const bool is_same_range = values == outside;
    if (is_same_range) ForgetAll();
    const Stmt body = MutateStmt(loop.body);
    Rebind(loop.var, outside);
    sums_.order().loops().Leave(loop.var);
    if (is_same_range) ForgetAll();
    for (const auto& [var, range] : before) Rebind(var, range);
    return body;
  }

  void ForgetAll() {
    sums_.Forget();
    Forget();
  }

  // Returns the range that held before.
  Interval Rebind(const Var& var, Interval values) {
    const Interval before = sums_.Bind(var, values);
    if (!(values == before)) Forget();
    return before;
  }

  Expr Compare(BinaryOp op, const Expr& left, const Expr& right) {
    const Linear &a = sums_.LinearOf(left), &b = sums_.LinearOf(right);
    if (const std::optional<bool> known = sums_.order().Holds(op, a, b))
      return *known ? True() : False();
    const Expr compared = Binary(op, a.ToExpr(), b.ToExpr());
    const std::optional<Expr> simpler = sums_.ByRules(compared);
    return simpler ? (*this)(*simpler) : compared;
  }

  // The value of a comparison of vectors of indices that holds in all lanes, or in none.
  std::optional<Expr> DecidedInAllLanes(const Expr& e) {
    const auto* n = e.As<BinaryNode>();
    if (n == nullptr || !IsComparison(n->op) || !e.dtype().is_vector() ||
        n->a.dtype().element() != Int64)
      return std::nullopt;
    const Var lane("lane");
    const Expr a = AtLane(n->a, lane), b = AtLane(n->b, lane);
    if (!a.defined() || !b.defined()) return std::nullopt;
    sums_.BindNew(lane, {0, e.dtype().lanes() - 1});
    const Expr decided = Compare(n->op, a, b);
    if (decided.kind() != ExprKind::kIntImm) return std::nullopt;
    return Broadcast(decided, e.dtype().lanes());
  }

  Sums sums_;  // forgotten together with the rewritten expressions
};

}  // namespace

Linear ToLinear(const Expr& expr, const Bounds& bounds) {
  return Simplifier(bounds).sums().LinearOf(expr);
}
Interval RangeOf(const Expr& expr, const Bounds& bounds) {
  Simplifier simplifier(bounds);
  return simplifier.sums().RangeOf(simplifier.sums().LinearOf(expr));
}
Expr Simplify(const Expr& expr, const Bounds& bounds) { return Simplifier(bounds)(expr); }
Stmt Simplify(const Stmt& stmt, const Bounds& bounds) {
  Simplifier simplifier(bounds);
  return simplifier(stmt);
}
bool CanProve(const Expr& condition, const Bounds& bounds) {
  return IsConstInt(Simplify(condition, bounds), 1);
}

}  // namespace tenon::loop
