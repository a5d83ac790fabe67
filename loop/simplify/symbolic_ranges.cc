#include "tenon/loop/simplify/symbolic_ranges.h"

#include <algorithm>

#include "tenon/loop/simplify/linear.h"

namespace tenon::loop {
namespace {

// How deep loops whose extents are those of other loops, and quotients of quotients, are followed.
constexpr int kMaxDepth = 6;

Linear Atom(const Expr& e) { return {0, {{e, 1}}}; }

// `sum` = quotient * divisor + rest, where rest has no terms. Nothing if it would have some.
struct Division {
  Linear quotient;
  std::int64_t rest = 0;
};
std::optional<Division> Divide(const Linear& sum, const Linear& divisor) {
  if (divisor.constant != 0 || divisor.terms.size() != 1) return std::nullopt;
  const auto& [product, factor] = divisor.terms[0];
  const std::vector<Expr> by = FactorsOf(product);
  Division division{.quotient = {}, .rest = sum.constant};
  for (const auto& [atom, coefficient] : sum.terms) {
    if (coefficient % factor != 0) return std::nullopt;
    std::vector<Expr> left = FactorsOf(atom);
    for (const Expr& f : by) {
      const auto found = std::find_if(left.begin(), left.end(),
                                      [&](const Expr& x) { return StructuralEqual(x, f); });
      if (found == left.end()) return std::nullopt;
      left.erase(found);
    }
    if (left.empty()) {
      division.quotient.constant += coefficient / factor;
    } else {
      division.quotient.terms.emplace_back(ProductInOrder(std::move(left)), coefficient / factor);
    }
  }
  return division;
}

}  // namespace

Expr ExtentWhereItRuns(const Expr& extent) {
  const auto* n = extent.As<BinaryNode>();
  if (n == nullptr || n->op != BinaryOp::kMax) return extent;
  const auto is_none = [](const Expr& e) {
    const auto* number = e.As<IntImmNode>();
    return number != nullptr && number->value <= 0;
  };
  return is_none(n->b) ? n->a : is_none(n->a) ? n->b : extent;
}

std::optional<std::int64_t> SymbolicRanges::Upper(const Linear& sum) {
  if (loops_.empty()) return std::nullopt;
  std::optional<std::int64_t> least;
  Linear bound = sum;
  // A quotient may cancel as it is, or may have to be replaced by what it is made of.
  for (const bool unfolds : {false, true}) {
    unfolds_ = unfolds;
    bound = Bound(bound, Side::kUpper, 0);
    const Interval range = range_of_(bound);
    if (range.high != Interval::kHighest && range.high < least.value_or(Interval::kHighest))
      least = range.high;
    if (least && *least < 0) break;
  }
  unfolds_ = false;
  return least;
}

// k * floor(a / k) is at most a and at least a - k + 1.
bool SymbolicRanges::AddUnfolded(const Expr& atom, std::int64_t coefficient, Side side, int depth,
                                 Linear* bound) {
  const auto* n = atom.As<BinaryNode>();
  const auto* divisor =
      n == nullptr || n->op != BinaryOp::kFloorDiv ? nullptr : n->b.As<IntImmNode>();
  if (!unfolds_ || depth > kMaxDepth || divisor == nullptr || divisor->value < 1 ||
      coefficient % divisor->value != 0)
    return false;
  Linear whole = Bound(linear_of_(n->a), side, depth + 1);
  if (side == Side::kLower &&
      __builtin_sub_overflow(whole.constant, divisor->value - 1, &whole.constant))
    return false;
  Linear sum = *bound;
  if (!AddScaled(&sum, whole, coefficient / divisor->value)) return false;
  *bound = std::move(sum);
  return true;
}

Linear SymbolicRanges::Bound(const Linear& sum, Side side, int depth) {
  Linear bound{sum.constant, {}};
  for (const auto& [atom, coefficient] : sum.terms) {
    const Side own = coefficient > 0 ? side : side == Side::kUpper ? Side::kLower : Side::kUpper;
    if (AddUnfolded(atom, coefficient, own, depth, &bound)) continue;
    // A sum that does not fit is not a bound: nothing is known of it.
    if (!AddScaled(&bound, BoundOfAtom(atom, own, depth), coefficient)) return sum;
  }
  return bound;
}

Linear SymbolicRanges::BoundOfAtom(const Expr& atom, Side side, int depth) {
  if (depth > kMaxDepth) return Atom(atom);
  const bool upper = side == Side::kUpper;
  if (const auto loop = loops_.find(atom); loop != loops_.end())
    return Bound(upper ? loop->second.last : loop->second.min, side, depth + 1);
  const auto* n = atom.As<BinaryNode>();
  if (n == nullptr) return Atom(atom);
  switch (n->op) {
    case BinaryOp::kMul:
      return BoundOfProduct(atom, side, depth);
    case BinaryOp::kFloorDiv:
      return BoundOfQuotient(*n, atom, side, depth);
    case BinaryOp::kFloorMod: {
      if (!IsPositive(n->b)) return Atom(atom);
      if (!upper) return {};
      Linear last = linear_of_(n->b);
      last.constant -= 1;
      return Bound(last, side, depth + 1);
    }
    case BinaryOp::kMin:
      // Either operand is an upper bound; the second is that of a clamped index.
      return upper ? Bound(linear_of_(n->b), side, depth + 1) : Atom(atom);
    case BinaryOp::kMax:
      return upper ? Atom(atom) : Bound(linear_of_(n->b), side, depth + 1);
    default:
      return Atom(atom);
  }
}

// A factor that moves, times others that are not negative and stay.
Linear SymbolicRanges::BoundOfProduct(const Expr& atom, Side side, int depth) {
  if (!proves_(atom)) return Atom(atom);
  std::vector<Expr> factors = FactorsOf(atom);
  for (std::size_t i = 0; i < factors.size(); ++i) {
    const Linear bound = BoundOfAtom(factors[i], side, depth + 1);
    const bool moves = bound.terms.size() != 1 || bound.constant != 0 ||
                       !StructuralEqual(bound.terms[0].first, factors[i]);
    if (!moves) continue;
    std::vector<Expr> others = factors;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    for (const Expr& other : others) {
      if (range_of_(linear_of_(other)).low < 0) return Atom(atom);
    }
    return Bound(linear_of_(ProductInOrder(std::move(others)) * bound.ToExpr()), side, depth + 1);
  }
  return Atom(atom);
}

Linear SymbolicRanges::BoundOfQuotient(const BinaryNode& quotient, const Expr& atom, Side side,
                                       int depth) {
  if (!IsPositive(quotient.b)) return Atom(atom);
  const Linear dividend = Bound(linear_of_(quotient.a), side, depth + 1);
  const Linear divisor = linear_of_(quotient.b);
  if (divisor.terms.empty()) {
    Linear result;
    std::int64_t rest = dividend.constant;
    for (const auto& [term, coefficient] : dividend.terms) {
      if (coefficient % divisor.constant != 0) return Atom(atom);
      result.terms.emplace_back(term, coefficient / divisor.constant);
    }
    result.constant = rest / divisor.constant - (rest % divisor.constant < 0 ? 1 : 0);
    return result;
  }
  // Factors cancel only in products that do not wrap around.
  if (!proves_(quotient.a) || !proves_(quotient.b)) return Atom(atom);
  // The divisor is at least 1, so -1 over it is -1, and 0 over it is 0.
  if (dividend.terms.empty() && dividend.constant == 0) return {};
  std::optional<Division> division = Divide(dividend, divisor);
  if (!division || (division->rest != 0 && division->rest != -1)) return Atom(atom);
  division->quotient.constant += division->rest;
  return division->quotient;
}

}  // namespace tenon::loop
