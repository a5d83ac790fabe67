#include "tenon/loop/simplify/linear.h"

#include <algorithm>
#include <string>
#include <utility>

#include "tenon/loop/print.h"
#include "tenon/loop/visit.h"

namespace tenon::loop {
namespace {

// The most factors of a product that is taken apart, which is more than indices have. Data may be
// squared again and again; then there are far more factors than nodes.
constexpr std::size_t kMaxFactors = 8;

// Whether its text has only a few words. The texts of data that share their parts are far longer
// than the expressions, and say nothing about indices.
bool IsShort(const Expr& e) {
  constexpr std::size_t kMaxNodes = 64;
  std::vector<Expr> nodes = {e};
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes.size() > kMaxNodes) return false;
    const std::vector<Expr> children = Children(nodes[i]);
    nodes.insert(nodes.end(), children.begin(), children.end());
  }
  return true;
}

Expr ProductOf(const Expr& x, const Expr& y) {
  std::vector<Expr> factors = FactorsOf(x);
  const std::vector<Expr> others = FactorsOf(y);
  factors.insert(factors.end(), others.begin(), others.end());
  return ProductInOrder(std::move(factors));
}

}  // namespace

bool AddTerm(Linear* l, const Expr& atom, std::int64_t coefficient) {
  if (coefficient == 0) return true;
  for (auto it = l->terms.begin(); it != l->terms.end(); ++it) {
    if (!StructuralEqual(it->first, atom)) continue;
    const bool wrapped = __builtin_add_overflow(it->second, coefficient, &it->second);
    if (it->second == 0) l->terms.erase(it);
    return !wrapped;
  }
  l->terms.emplace_back(atom, coefficient);
  return true;
}

bool AddScaled(Linear* l, const Linear& other, std::int64_t k) {
  std::int64_t scaled = 0;
  bool wrapped = __builtin_mul_overflow(other.constant, k, &scaled);
  wrapped |= __builtin_add_overflow(l->constant, scaled, &l->constant);
  for (const auto& [atom, coefficient] : other.terms) {
    wrapped |= __builtin_mul_overflow(coefficient, k, &scaled);
    wrapped |= !AddTerm(l, atom, scaled);
  }
  return !wrapped;
}

bool IsMonomial(const Linear& l) { return l.terms.size() == 1 && l.constant == 0; }

bool HasSymbolicQuotient(const Linear& l) {
  return std::any_of(l.terms.begin(), l.terms.end(), [](const auto& term) {
    const std::vector<Expr> factors = FactorsOf(term.first);
    return std::any_of(factors.begin(), factors.end(), [](const Expr& factor) {
      const auto* n = factor.As<BinaryNode>();
      return n != nullptr && n->op == BinaryOp::kFloorDiv && n->b.kind() != ExprKind::kIntImm;
    });
  });
}

void AddProducts(Linear* l, const Linear& a, const Linear& b) {
  const auto scaled = [](std::int64_t x, std::int64_t y) {
    std::int64_t product = 0;
    (void)__builtin_mul_overflow(x, y, &product);  // wraps around as registers do
    return product;
  };
  std::int64_t sum = 0;
  (void)__builtin_add_overflow(l->constant, scaled(a.constant, b.constant), &sum);
  l->constant = sum;
  for (const auto& [atom, coefficient] : a.terms) AddTerm(l, atom, scaled(coefficient, b.constant));
  for (const auto& [atom, coefficient] : b.terms) AddTerm(l, atom, scaled(coefficient, a.constant));
  for (const auto& [x, p] : a.terms) {
    for (const auto& [y, q] : b.terms) AddTerm(l, ProductOf(x, y), scaled(p, q));
  }
}

std::vector<Expr> FactorsOf(const Expr& e) {
  std::vector<Expr> factors, next = {e};
  while (!next.empty()) {
    if (factors.size() + next.size() > kMaxFactors) return {e};
    const Expr last = next.back();
    next.pop_back();
    const auto* n = last.As<BinaryNode>();
    if (n != nullptr && n->op == BinaryOp::kMul) {
      next.insert(next.end(), {n->b, n->a});
    } else {
      factors.push_back(last);
    }
  }
  return factors;
}

Expr ProductInOrder(std::vector<Expr> factors) {
  std::vector<std::pair<std::string, Expr>> named;
  for (Expr& factor : factors)
    named.emplace_back(IsShort(factor) ? Print(factor) : std::string(), factor);
  std::stable_sort(named.begin(), named.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  Expr product;
  for (const auto& [name, factor] : named) product = product.defined() ? product * factor : factor;
  return product;
}

std::int64_t Linear::CoefficientOf(const Expr& atom) const {
  for (const auto& [other, coefficient] : terms) {
    if (StructuralEqual(other, atom)) return coefficient;
  }
  return 0;
}

Expr Linear::ToExpr() const {
  Expr sum;
  // "10 - i" reads better than "i * -1 + 10".
  const bool constant_first = !terms.empty() && terms[0].second < 0 && constant != 0;
  if (constant_first) sum = constant;
  for (const auto& [atom, coefficient] : terms) {
    if (!sum.defined()) {
      sum = atom * coefficient;
    } else if (coefficient < 0 && coefficient != Interval::kLowest) {
      sum = sum - atom * -coefficient;
    } else {
      sum = sum + atom * coefficient;
    }
  }
  if (!sum.defined()) return constant;
  if (constant_first) return sum;
  if (constant == Interval::kLowest) return sum + constant;  // has no opposite
  return constant < 0 ? sum - (-constant) : sum + constant;
}

}  // namespace tenon::loop
