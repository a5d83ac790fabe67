#include "tenon/loop/index_arithmetic.h"

#include <algorithm>
#include <bit>

#include "tenon/loop/simplify/intervals.h"

namespace tenon::loop {
namespace {

// Indices and their sums with numbers of this size stay within int64.
constexpr std::int64_t kMaxRest = std::int64_t{1} << 62;
// A stride is at most as large as memory; a stride read from data is small enough to leave room for
// an index.
constexpr std::int64_t kMaxStride = std::int64_t{1} << 48;
constexpr std::int64_t kMaxDataStride = std::int64_t{1} << 15;

// The numbers of an integer type of fewer than 64 bits. A conversion from any other type may give
// any number.
Interval NumbersOf(DataType type) {
  if (type.is_bool()) return {0, 1};
  if (type.is_float() || type.bits() >= 64) return {};
  const std::int64_t half = std::int64_t{1} << (type.bits() - 1);
  return type.is_int() ? Interval{-half, half - 1} : Interval{0, 2 * half - 1};
}

Interval Hull(Interval a, Interval b) { return {std::min(a.low, b.low), std::max(a.high, b.high)}; }

// The largest absolute value; the highest number where it is one more.
std::int64_t Magnitude(Interval r) {
  if (r.low == Interval::kLowest) return Interval::kHighest;
  return std::max(std::max(r.high, -r.low), std::int64_t{0});
}

}  // namespace

bool IndexArithmetic::Proves(const Linear& sum) {
  Reach total = Number(sum.constant, sum.constant);
  for (const auto& [atom, coefficient] : sum.terms) {
    Reach term = ReachOf(atom);
    term.wraps = false;  // an atom is what it is
    total = Add(total, Multiply(term, Number(coefficient, coefficient)));
    if (total.wraps) return false;
  }
  return true;
}

Interval IndexArithmetic::RangeOf(const Expr& expr) {
  const Reach reach = ReachOf(expr);
  return reach.has_index ? Interval{} : reach.rest;
}

void IndexArithmetic::Define(const Var& var, const Expr& value) {
  const auto [defined, is_new] = values_.emplace(var, value);
  if (!is_new && !defined->second.same_as(value)) defined->second = Expr();
  Forget();
}

IndexArithmetic::Reach IndexArithmetic::ReachOf(const Expr& expr) {
  if (expr.kind() == ExprKind::kVar) return ReachOfVar(expr);
  if (const auto found = known_.find(expr); found != known_.end()) return found->second;
  const Reach reach = NewReachOf(expr);
  known_.emplace(expr, reach);
  return reach;
}

IndexArithmetic::Reach IndexArithmetic::ReachOfVar(const Expr& var) {
  if (const auto found = values_.find(var); found != values_.end())
    return found->second.defined() ? ReachOf(found->second) : Anything(false);
  const Interval range = bounds_.Of(var);
  if (range.low != Interval::kLowest && range.high != Interval::kHighest) return {.rest = range};
  return {.rest = {0, 0}, .has_index = true};
}

IndexArithmetic::Reach IndexArithmetic::NewReachOf(const Expr& expr) {
  switch (expr.kind()) {
    case ExprKind::kIntImm:
      return Number(expr.As<IntImmNode>()->value, expr.As<IntImmNode>()->value);
    case ExprKind::kCast:
      return {.rest = NumbersOf(expr.As<CastNode>()->value.dtype().element()), .reads = true};
    case ExprKind::kBinary:
      return ReachOfBinary(*expr.As<BinaryNode>());
    case ExprKind::kSelect:
      return Either(ReachOf(expr.As<SelectNode>()->on_true),
                    ReachOf(expr.As<SelectNode>()->on_false));
    case ExprKind::kShuffle:
      return Either(ReachOf(expr.As<ShuffleNode>()->a), ReachOf(expr.As<ShuffleNode>()->b));
    case ExprKind::kBroadcast:
      return ReachOf(expr.As<BroadcastNode>()->value);
    case ExprKind::kRamp: {
      const auto& ramp = *expr.As<RampNode>();
      return Add(ReachOf(ramp.base), Multiply(ReachOf(ramp.stride), Number(0, ramp.lanes - 1)));
    }
    case ExprKind::kLet: {
      const auto& let = *expr.As<LetNode>();
      Define(let.var, let.value);
      return ReachOf(let.body);
    }
    default:
      return Anything(false);
  }
}

IndexArithmetic::Reach IndexArithmetic::ReachOfBinary(const BinaryNode& node) {
  if (node.type.element() != Int64) return Anything(false);
  const Reach a = ReachOf(node.a), b = ReachOf(node.b);
  switch (node.op) {
    case BinaryOp::kAdd:
      return Add(a, b);
    case BinaryOp::kSub:
      return Subtract(a, b);
    case BinaryOp::kMul:
      return Multiply(a, b);
    case BinaryOp::kDiv:
    case BinaryOp::kFloorDiv:
      return Divide(a, b);
    case BinaryOp::kMod:
    case BinaryOp::kFloorMod:
      return Remainder(a, b, node.op == BinaryOp::kFloorMod);
    case BinaryOp::kMin:
    case BinaryOp::kMax:
      return Extremum(a, b, node.op == BinaryOp::kMin);
    case BinaryOp::kBitAnd:
    case BinaryOp::kBitOr:
    case BinaryOp::kBitXor:
      return OfBits(a, b);
    default:
      return Anything(a.wraps || b.wraps);
  }
}

IndexArithmetic::Reach IndexArithmetic::Anything(bool wraps) {
  return {.rest = {}, .reads = true, .wraps = wraps};
}

IndexArithmetic::Reach IndexArithmetic::Operation(const Reach& a, const Reach& b, Interval rest,
                                                  bool overflows) {
  const bool has_index = a.has_index || b.has_index;
  if (overflows || (has_index && Magnitude(rest) > kMaxRest)) return Anything(true);
  return {rest, has_index, a.reads || b.reads, a.wraps || b.wraps};
}

IndexArithmetic::Reach IndexArithmetic::Add(const Reach& a, const Reach& b) {
  Interval sum;
  const bool low = __builtin_add_overflow(a.rest.low, b.rest.low, &sum.low);
  const bool high = __builtin_add_overflow(a.rest.high, b.rest.high, &sum.high);
  return Operation(a, b, sum, low || high);
}

IndexArithmetic::Reach IndexArithmetic::Subtract(const Reach& a, const Reach& b) {
  Interval difference;
  const bool low = __builtin_sub_overflow(a.rest.low, b.rest.high, &difference.low);
  const bool high = __builtin_sub_overflow(a.rest.high, b.rest.low, &difference.high);
  return Operation(a, b, difference, low || high);
}

IndexArithmetic::Reach IndexArithmetic::Multiply(const Reach& a, const Reach& b) {
  Interval product{Interval::kHighest, Interval::kLowest};
  bool overflows = false;
  for (const std::int64_t x : {a.rest.low, a.rest.high}) {
    for (const std::int64_t y : {b.rest.low, b.rest.high}) {
      std::int64_t corner = 0;
      overflows |= __builtin_mul_overflow(x, y, &corner);
      product = Hull(product, {corner, corner});
    }
  }
  // An index times a number is an index where the number may be a stride.
  const auto is_too_large = [](const Reach& index, const Reach& factor) {
    return index.has_index && Magnitude(factor.rest) > (factor.reads ? kMaxDataStride : kMaxStride);
  };
  return Operation(a, b, product, overflows || is_too_large(a, b) || is_too_large(b, a));
}

// A quotient is at most as large as the dividend. The lowest number by -1 is itself, and a quotient
// by 0 is 0.
IndexArithmetic::Reach IndexArithmetic::Divide(const Reach& a, const Reach& b) {
  const std::int64_t most = Magnitude(a.rest);
  Interval rest{most == Interval::kHighest ? Interval::kLowest : -most, most};
  if (!a.has_index && !b.has_index && b.rest.low == b.rest.high && b.rest.low > 0) {
    rest = {FloorDivide(a.rest.low, b.rest.low), a.rest.high / b.rest.low};
  }
  return Operation(a, {.reads = b.reads, .wraps = b.wraps}, rest, false);
}

// A remainder is smaller than the divisor, and 0 if the divisor is 0.
IndexArithmetic::Reach IndexArithmetic::Remainder(const Reach& a, const Reach& b, bool floors) {
  const std::int64_t most = Magnitude(b.rest);
  const bool is_positive = floors && !b.has_index && b.rest.low > 0;
  const Interval rest{is_positive ? 0 : -most, is_positive ? most - 1 : most};
  return Operation({.reads = a.reads, .wraps = a.wraps}, b, rest, false);
}

// If one of two values is an index, a result on its side of 0 is an index, too.
IndexArithmetic::Reach IndexArithmetic::Extremum(const Reach& a, const Reach& b, bool is_min) {
  const auto rest_of = [&](const Reach& x) {
    if (!a.has_index && !b.has_index) return x.rest;
    return Hull(x.rest, {0, 0});
  };
  const Interval x = rest_of(a), y = rest_of(b);
  const Interval rest = is_min ? Interval{std::min(x.low, y.low), std::min(x.high, y.high)}
                               : Interval{std::max(x.low, y.low), std::max(x.high, y.high)};
  return {rest, a.has_index || b.has_index, a.reads || b.reads, a.wraps || b.wraps};
}

IndexArithmetic::Reach IndexArithmetic::Either(const Reach& a, const Reach& b) {
  return {Hull(a.rest, b.rest), a.has_index || b.has_index, a.reads || b.reads, a.wraps || b.wraps};
}

IndexArithmetic::Reach IndexArithmetic::OfBits(const Reach& a, const Reach& b) {
  const std::int64_t most = std::max(Magnitude(a.rest), Magnitude(b.rest));
  if (a.has_index || b.has_index || most == Interval::kHighest) return Anything(a.wraps || b.wraps);
  const auto all =
      static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(most) + 1) - 1);
  const bool is_negative = a.rest.low < 0 || b.rest.low < 0;
  return {{is_negative ? -all - 1 : 0, all}, false, a.reads || b.reads, a.wraps || b.wraps};
}

}  // namespace tenon::loop
