// For a constant c > 0 and a sum split as c * q + r, where q takes the terms that c divides,
// floor((c * q + r) / c) = q + floor(r / c) and (c * q + r) mod c = r mod c, and both vanish when r
// lies in [0, c). For a divisor g of c and p in [0, g) floor((g * x + p) / c) = floor(x / (c / g)).
#include "tenon/loop/simplify/divide_sums.h"

#include <numeric>

#include "tenon/loop/simplify/intervals.h"
#include "tenon/loop/simplify/linear.h"
#include "tenon/loop/simplify/sums.h"

namespace tenon::loop {
namespace {

// `sum` as g * whole + part with 0 <= part < g, for a divisor g > 1 of c.
struct Granules {
  std::int64_t g;
  Linear whole, part;
};
std::optional<Granules> SplitGranules(Sums& sums, const Linear& sum, std::int64_t c) {
  std::int64_t tried = 1;
  for (const auto& [ignored, candidate] : sum.terms) {
    const std::int64_t g = std::gcd(candidate, c);
    if (g == tried || g <= 1) continue;
    tried = g;
    Granules split{.g = g};
    split.whole.constant = FloorDivide(sum.constant, g);
    split.part.constant = sum.constant - split.whole.constant * g;
    for (const auto& [atom, coefficient] : sum.terms) {
      const bool divides = coefficient % g == 0;
      AddTerm(divides ? &split.whole : &split.part, atom, divides ? coefficient / g : coefficient);
    }
    const Interval range = sums.RangeOf(split.part);
    if (range.low >= 0 && range.high < g) return split;
  }
  return std::nullopt;
}

}  // namespace

Linear LinearOfQuotient(Sums& sums, const BinaryNode& n) {
  const Linear &a = sums.LinearOf(n.a), &b = sums.LinearOf(n.b);
  const bool is_division = n.op == BinaryOp::kDiv || n.op == BinaryOp::kFloorDiv;
  BinaryOp op = n.op;
  const bool truncates = op == BinaryOp::kDiv || op == BinaryOp::kMod;
  if (truncates && sums.RangeOf(a).low >= 0 && sums.RangeOf(b).low > 0)
    op = is_division ? BinaryOp::kFloorDiv : BinaryOp::kFloorMod;
  const auto as_it_is = [&] {
    Linear atom;
    sums.AddAtom(&atom, Binary(op, a.ToExpr(), b.ToExpr()));
    return atom;
  };
  const std::int64_t c = b.constant;
  // If the divisor is symbolic, only multiples of x / x could be told, and they do not occur. A sum
  // that wraps around does not divide term by term.
  if (!b.terms.empty() || c <= 0 || op == BinaryOp::kDiv || op == BinaryOp::kMod || sums.MayWrap(a))
    return as_it_is();
  Linear quotient, rest;
  quotient.constant = FloorDivide(a.constant, c);
  rest.constant = a.constant - quotient.constant * c;
  for (const auto& [atom, coefficient] : a.terms) {
    if (coefficient % c == 0) {
      AddTerm(&quotient, atom, coefficient / c);
    } else {
      AddTerm(&rest, atom, coefficient);
    }
  }
  // Without the terms that are gone, those that are left may not fit.
  if (sums.MayWrap(rest)) return as_it_is();
  const Interval range = sums.RangeOf(rest);
  const bool inside = range.low >= 0 && range.high < c;
  Linear result;
  if (const auto split = inside ? std::nullopt : SplitGranules(sums, rest, c)) {
    // (g * x + part) / c = x / (c / g), and the remainder is g * (x mod (c / g)) + part.
    const Expr whole = split->whole.ToExpr();
    if (is_division) {
      result = quotient;
      AddScaled(&result, sums.LinearOf(FloorDiv(whole, c / split->g)), 1);
    } else {
      result = split->part;
      AddScaled(&result, sums.LinearOf(FloorMod(whole, c / split->g)), split->g);
    }
    return result;
  }
  if (is_division) {
    result = quotient;
    if (!inside) sums.AddAtom(&result, Binary(BinaryOp::kFloorDiv, rest.ToExpr(), c));
    return result;
  }
  if (inside) return rest;
  sums.AddAtom(&result, Binary(BinaryOp::kFloorMod, rest.ToExpr(), c));
  return result;
}

}  // namespace tenon::loop
