#include "tenon/loop/simplify/sum_order.h"

#include <algorithm>

#include "tenon/loop/simplify/join_quotients.h"
#include "tenon/loop/simplify/linear.h"
#include "tenon/loop/simplify/sums.h"

namespace tenon::loop {
namespace {

// The comparison that holds for the same operands exactly where `op`, which compares them in order,
// does not.
BinaryOp Opposite(BinaryOp op) {
  switch (op) {
    case BinaryOp::kLT:
      return BinaryOp::kGE;
    case BinaryOp::kLE:
      return BinaryOp::kGT;
    case BinaryOp::kGT:
      return BinaryOp::kLE;
    case BinaryOp::kGE:
      return BinaryOp::kLT;
    default:
      return op;
  }
}

}  // namespace

SumOrder::SumOrder(Sums& sums)
    : sums_(sums),
      loops_([this](const Expr& e) { return Unwrapped(e); },
             [this](const Linear& l) { return sums_.RangeOf(l); },
             [this](const Expr& e) { return sums_.Proves(e); }) {}

// The operand of a quotient or a minimum is what its register holds, which is its sum only if that
// does not wrap around.
Linear SumOrder::Unwrapped(const Expr& e) {
  const Linear& sum = sums_.LinearOf(e);
  return sums_.MayWrap(sum) ? Linear{0, {{e, 1}}} : sum;
}

std::optional<bool> SumOrder::Holds(BinaryOp op, const Linear& a, const Linear& b) {
  const Interval r = Difference(a, b);
  if (HoldsByLoops(op, a, b)) return true;
  if (HoldsByLoops(Opposite(op), a, b)) return false;
  const auto decide = [](bool holds, bool fails) -> std::optional<bool> {
    if (holds) return true;
    if (fails) return false;
    return std::nullopt;
  };
  switch (op) {
    case BinaryOp::kLT:
      return decide(r.high < 0, r.low >= 0);
    case BinaryOp::kLE:
      return decide(r.high <= 0, r.low > 0);
    case BinaryOp::kGT:
      return decide(r.low > 0, r.high <= 0);
    case BinaryOp::kGE:
      return decide(r.low >= 0, r.high < 0);
    case BinaryOp::kEQ:
      return decide(r.low == 0 && r.high == 0, r.low > 0 || r.high < 0);
    case BinaryOp::kNE:
      return decide(r.low > 0 || r.high < 0, r.low == 0 && r.high == 0);
    default:
      return std::nullopt;
  }
}

const Linear* SumOrder::Lesser(const Linear& a, const Linear& b) {
  const Interval r = Difference(a, b);
  if (r.high <= 0 || HoldsByLoops(BinaryOp::kLE, a, b)) return &a;
  if (r.low >= 0 || HoldsByLoops(BinaryOp::kGE, a, b)) return &b;
  return nullptr;
}

// A range that has the sign of a - b. What is left of the difference tells it, and so do the ranges
// of both sides if they do not overlap.
Interval SumOrder::Difference(const Linear& a, const Linear& b) {
  Interval sign;
  Linear d = a;
  if (AddScaled(&d, b, -1) && JoinQuotients(sums_, &d) && !CancelsData(a, b, d))
    sign = sums_.RangeOf(d);
  const Interval left = sums_.RangeOf(a), right = sums_.RangeOf(b);
  if (left.high <= right.low)
    sign.high = std::min<std::int64_t>(sign.high, left.high < right.low ? -1 : 0);
  if (left.low >= right.high)
    sign.low = std::max<std::int64_t>(sign.low, left.low > right.high ? 1 : 0);
  return sign;
}

// Whether `d`, which is a - b, lost terms that may wrap around: x + 1 may lie below x.
bool SumOrder::CancelsData(const Linear& a, const Linear& b, const Linear& d) {
  const bool is_zero = d.terms.empty() && d.constant == 0;
  return !is_zero && (sums_.MayWrap(a) || sums_.MayWrap(b));
}

bool SumOrder::IsBelowByLoops(const Linear& a, const Linear& b, std::int64_t most) {
  Linear difference = a;
  if (!AddScaled(&difference, b, -1) || sums_.MayWrap(a) || sums_.MayWrap(b)) return false;
  const std::optional<std::int64_t> upper = loops_.Upper(difference);
  return upper && *upper <= most;
}

bool SumOrder::HoldsByLoops(BinaryOp op, const Linear& a, const Linear& b) {
  if (loops_.empty()) return false;
  switch (op) {
    case BinaryOp::kLT:
      return IsBelowByLoops(a, b, -1);
    case BinaryOp::kLE:
      return IsBelowByLoops(a, b, 0);
    case BinaryOp::kGT:
      return IsBelowByLoops(b, a, -1);
    case BinaryOp::kGE:
      return IsBelowByLoops(b, a, 0);
    default:
      return false;
  }
}

}  // namespace tenon::loop
