// Indices of symbolic arrays have long terms: products of extents, quotients of fused loops. A term
// changes with the innermost loop whose variable it has. The sum of the terms of one loop is
// computed once per iteration of it, under a name that all indices with these terms share (loop
// invariant code motion, as in Aho, Lam, Sethi and Ullman, "Compilers", 2006, section 9.5, on sums
// in normal form).
#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "tenon/loop/print.h"
#include "tenon/loop/simplify/linear.h"
#include "tenon/loop/transform/transforms.h"
#include "tenon/loop/visit.h"

namespace tenon::loop {
namespace {

class IndexNamer : public StmtMutator {
 public:
  Stmt Run(const Stmt& stmt) {
    scopes_.emplace_back();  // outside all loops
    const Stmt body = MutateStmt(stmt);
    return WithNames(body);
  }

 protected:
  Expr Mutate(const Expr& e) override {
    if (e.kind() == ExprKind::kBinary && e.dtype() == Int64) return Named(e);
    if (const auto* n = e.As<LetNode>()) local_.insert(n->var.get());
    return MutateChildren(e);
  }

  Stmt MutateStmt(const Stmt& stmt) override {
    if (const auto* n = stmt.As<ForNode>()) {
      const Expr min = (*this)(n->min), extent = (*this)(n->extent);
      scopes_.push_back({n->var, FactorsIn(n->extent), {}, {}});
      const Stmt inner = MutateStmt(n->body);
      const Stmt body = WithNames(inner);
      return For(n->var, min, extent, n->for_kind, body);
    }
    if (const auto* n = stmt.As<LetStmtNode>()) {
      const Expr value = (*this)(n->value);
      // No name that uses the variable may be computed outside of the let.
      local_.insert(n->var.get());
      return LetStmt(n->var, value, MutateStmt(n->body));
    }
    return MutateStmtChildren(stmt);
  }

 private:
  struct Scope {
    Expr var = {};
    std::vector<Expr> positive = {};  // factors of the extent, not 0 where the loop runs
    std::vector<std::pair<Var, Expr>> names = {};
    std::multimap<std::string, std::size_t> known = {};  // places in `names`, by text
  };

  static std::vector<Expr> FactorsIn(const Expr& extent) {
    const Linear sum = ToLinear(extent, {});
    return sum.terms.size() == 1 ? FactorsOf(sum.terms[0].first) : std::vector<Expr>();
  }

  // The innermost scope whose variable changes `e`, in which it may be computed. None for what is
  // bound inside an expression or reads memory.
  std::optional<std::size_t> ScopeOf(const Expr& e) {
    std::size_t scope = 0;
    bool may = true;
    VisitExpr(e, [&](const Expr& x) {
      if (x.kind() == ExprKind::kVar) {
        may = may && !local_.contains(x.get());
        for (std::size_t s = scopes_.size(); s-- > 1;) {
          if (scopes_[s].var.same_as(x)) scope = std::max(scope, s);
        }
      } else if (x.kind() != ExprKind::kBinary && x.kind() != ExprKind::kIntImm) {
        may = false;
      }
    });
    if (!may || !DividesIn(e, scope)) return std::nullopt;
    return scope;
  }

  // Whether all divisors of variables in `e` are known not to be 0 where `scope` runs.
  bool DividesIn(const Expr& e, std::size_t scope) {
    bool safe = true;
    VisitExpr(e, [&](const Expr& x) {
      const auto* n = x.As<BinaryNode>();
      const bool divides =
          n != nullptr && (n->op == BinaryOp::kDiv || n->op == BinaryOp::kMod ||
                           n->op == BinaryOp::kFloorDiv || n->op == BinaryOp::kFloorMod);
      if (!divides || AtLeast(n->b).value_or(0) >= 1) return;
      for (const Expr& factor : FactorsOf(n->b)) {
        const auto* number = factor.As<IntImmNode>();
        safe = safe && (number != nullptr ? number->value != 0 : IsPositiveIn(factor, scope));
      }
    });
    return safe;
  }
  // A number that `e` is never below. Variables of no loop are extents.
  std::optional<std::int64_t> AtLeast(const Expr& e) const {
    if (const auto* number = e.As<IntImmNode>()) return number->value;
    if (e.kind() == ExprKind::kVar) {
      const bool is_loop =
          std::ranges::any_of(scopes_, [&](const Scope& scope) { return e.same_as(scope.var); });
      return is_loop || local_.contains(e.get()) ? std::nullopt : std::optional<std::int64_t>(0);
    }
    const auto* n = e.As<BinaryNode>();
    if (n == nullptr) return std::nullopt;
    const std::optional<std::int64_t> a = AtLeast(n->a), b = AtLeast(n->b);
    if (!a || !b || *a < 0 || *b < 0) return std::nullopt;
    std::int64_t result = 0;
    switch (n->op) {
      case BinaryOp::kAdd:
        return __builtin_add_overflow(*a, *b, &result) ? std::nullopt : std::optional(result);
      case BinaryOp::kMul:
        return __builtin_mul_overflow(*a, *b, &result) ? std::nullopt : std::optional(result);
      case BinaryOp::kFloorDiv:
        return *b >= 1 ? std::optional<std::int64_t>(0) : std::nullopt;
      case BinaryOp::kMax:
        return std::max(*a, *b);
      case BinaryOp::kMin:
        return std::min(*a, *b);
      default:
        return std::nullopt;
    }
  }
  bool IsPositiveIn(const Expr& e, std::size_t scope) const {
    for (std::size_t s = 1; s <= scope; ++s) {
      for (const Expr& factor : scopes_[s].positive) {
        if (StructuralEqual(factor, e)) return true;
      }
    }
    return false;
  }

  // The sum, with a name for the terms of each scope if they are more than a variable.
  Expr Named(const Expr& e) {
    const Linear sum = ToLinear(e, {});
    std::map<std::size_t, Linear> by_scope;
    Linear rest{sum.constant, {}};
    for (const auto& [atom, coefficient] : sum.terms) {
      const std::optional<std::size_t> scope =
          atom.kind() == ExprKind::kBinary ? ScopeOf(atom) : std::nullopt;
      (scope ? by_scope[*scope] : rest).terms.emplace_back(atom, coefficient);
    }
    if (by_scope.empty()) return MutateChildren(e);
    for (auto& [atom, coefficient] : rest.terms) {
      if (atom.kind() == ExprKind::kBinary) atom = MutateChildren(atom);
    }
    for (const auto& [scope, part] : by_scope)
      rest.terms.emplace_back(NameOf(part.ToExpr(), scope), 1);
    return rest.ToExpr();
  }

  Var NameOf(const Expr& value, std::size_t scope) {
    Scope& at = scopes_[scope];
    const std::string text = Print(value);
    // Loops may have variables of one name, so that equal texts need not be equal values.
    const auto [begin, end] = at.known.equal_range(text);
    for (auto known = begin; known != end; ++known) {
      const auto& [name, named] = at.names[known->second];
      if (StructuralEqual(named, value)) return name;
    }
    at.known.emplace_hint(end, text, at.names.size());
    return at.names.emplace_back(Var("at"), value).first;
  }

  // Leaves the innermost scope.
  Stmt WithNames(Stmt body) {
    Scope scope = std::move(scopes_.back());
    scopes_.pop_back();
    for (auto name = scope.names.rbegin(); name != scope.names.rend(); ++name)
      body = LetStmt(name->first, name->second, body);
    return body;
  }

  std::vector<Scope> scopes_;
  std::unordered_set<const ExprNode*> local_;  // variables that are bound within a scope
};

}  // namespace

Stmt NameIndices(const Stmt& stmt) { return IndexNamer().Run(stmt); }

}  // namespace tenon::loop
