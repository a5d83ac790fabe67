// A quotient and a remainder of the same x by the same c join again: c * (x / c) + x mod c = x.
#include "tenon/loop/simplify/join_quotients.h"

#include <algorithm>

#include "tenon/loop/simplify/linear.h"
#include "tenon/loop/simplify/sums.h"

namespace tenon::loop {
namespace {

// Whether both are the same sum, whatever the order of the terms.
bool IsSameSum(Sums& sums, const Expr& a, const Expr& b) {
  if (StructuralEqual(a, b)) return true;
  if (sums.LinearOf(a).terms.size() != sums.LinearOf(b).terms.size()) return false;
  Linear difference = sums.LinearOf(a);
  return AddScaled(&difference, sums.LinearOf(b), -1) && difference.terms.empty() &&
         difference.constant == 0;
}

// Whether `e` is x / c. If x = y / d, that may be y / (d * c): rounding down twice in the same
// direction is rounding down once. A negative divisor turns the direction around.
bool IsQuotient(Sums& sums, const Expr& e, const Expr& x, std::int64_t c) {
  const auto* n = e.As<BinaryNode>();
  if (n == nullptr || n->op != BinaryOp::kFloorDiv) return false;
  if (IsConstInt(n->b, c)) return IsSameSum(sums, n->a, x);
  const auto* inner = x.As<BinaryNode>();
  if (inner == nullptr || inner->op != BinaryOp::kFloorDiv || c <= 0) return false;
  const auto* d = inner->b.As<IntImmNode>();
  std::int64_t product = 0;
  return d != nullptr && d->value > 0 && !__builtin_mul_overflow(d->value, c, &product) &&
         IsConstInt(n->b, product) && StructuralEqual(n->a, inner->a);
}

// Gives (x + n * c) mod (c * d) for `e` = (x / c + n) mod d, and nothing for other expressions.
std::optional<Expr> JoinedRemainder(Sums& sums, const Expr& e, const Expr& x, std::int64_t c) {
  const auto* mod = e.As<BinaryNode>();
  if (mod == nullptr || mod->op != BinaryOp::kFloorMod) return std::nullopt;
  const auto* d = mod->b.As<IntImmNode>();
  std::int64_t product = 0;
  if (d == nullptr || d->value <= 0 || c <= 0 || __builtin_mul_overflow(c, d->value, &product))
    return std::nullopt;
  Linear n = sums.LinearOf(mod->a);
  const auto quotient = std::find_if(n.terms.begin(), n.terms.end(), [&](const auto& term) {
    return term.second == 1 && IsQuotient(sums, term.first, x, c);
  });
  if (quotient == n.terms.end()) return std::nullopt;
  n.terms.erase(quotient);
  Linear sum = sums.LinearOf(x);
  if (!AddScaled(&sum, n, c) || sums.MayWrap(sum) || !sums.Proves(mod->a)) return std::nullopt;
  return Binary(BinaryOp::kFloorMod, sum.ToExpr(), product);
}

// Whether `l` has the terms of `part`, k times each.
bool HasTerms(const Linear& l, const Linear& part, std::int64_t k) {
  return std::all_of(part.terms.begin(), part.terms.end(), [&](const auto& term) {
    std::int64_t wanted = 0;
    return !__builtin_mul_overflow(term.second, k, &wanted) && wanted != 0 &&
           l.CoefficientOf(term.first) == wanted;
  });
}

// Joins k * f * d * (x / d) + k * f * (x mod d) = k * f * x, for a divisor or factors of variables.
// `i` is the place of the remainder. Nothing if there is no such quotient.
std::optional<bool> JoinSymbolic(Sums& sums, Linear* l, std::size_t i) {
  const auto [term, k] = l->terms[i];
  std::vector<Expr> factors = FactorsOf(term);
  for (std::size_t f = 0; f < factors.size(); ++f) {
    const auto* mod = factors[f].As<BinaryNode>();
    if (mod == nullptr || mod->op != BinaryOp::kFloorMod) continue;
    if (factors.size() == 1 && mod->b.kind() == ExprKind::kIntImm) continue;
    if (sums.RangeOf(sums.LinearOf(mod->b)).low < 1) continue;
    std::vector<Expr> others = factors;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(f));
    const Expr rest = ProductInOrder(std::move(others));
    const auto times_rest = [&](const Expr& e) { return rest.defined() ? rest * e : e; };
    const Linear quotient = sums.LinearOf(times_rest(FloorDiv(mod->a, mod->b) * mod->b));
    if (quotient.constant != 0 || !HasTerms(*l, quotient, k)) continue;
    bool exact = AddScaled(l, quotient, -k);
    exact = AddTerm(l, term, -k) && exact;
    exact = AddScaled(l, sums.LinearOf(times_rest(mod->a)), k) && exact;
    return JoinQuotients(sums, l) && exact;
  }
  return std::nullopt;
}

}  // namespace

bool JoinQuotients(Sums& sums, Linear* l) {
  for (std::size_t i = 0; i < l->terms.size(); ++i) {
    const auto* mod = l->terms[i].first.As<BinaryNode>();
    if (mod == nullptr) continue;
    const auto* c = mod->b.As<IntImmNode>();
    if (mod->op != BinaryOp::kFloorMod || c == nullptr) {
      if (const std::optional<bool> exact = JoinSymbolic(sums, l, i)) return *exact;
      continue;
    }
    for (std::size_t j = 0; j < l->terms.size(); ++j) {
      const std::int64_t k = l->terms[i].second;
      std::int64_t whole = 0;
      if (__builtin_mul_overflow(k, c->value, &whole) || l->terms[j].second != whole) continue;
      const std::optional<Expr> joined =
          IsQuotient(sums, l->terms[j].first, mod->a, c->value)
              ? mod->a
              : JoinedRemainder(sums, l->terms[j].first, mod->a, c->value);
      if (!joined) continue;
      l->terms.erase(l->terms.begin() + static_cast<std::ptrdiff_t>(std::max(i, j)));
      l->terms.erase(l->terms.begin() + static_cast<std::ptrdiff_t>(std::min(i, j)));
      const bool exact = AddScaled(l, sums.LinearOf(*joined), k);
      return JoinQuotients(sums, l) && exact;
    }
  }
  return true;
}

}  // namespace tenon::loop
