#include "tenon/loop/simplify/narrow_casts.h"

#include <cstdint>
#include <utility>

#include "tenon/loop/simplify/simplify_casts.h"

namespace tenon::loop {
namespace {

std::optional<std::int64_t> ConstantOf(const Expr& e) {
  const auto* lanes = e.As<BroadcastNode>();
  const auto* constant = lanes == nullptr ? e.As<IntImmNode>() : lanes->value.As<IntImmNode>();
  return constant == nullptr ? std::nullopt : std::optional(constant->value);
}

// To a type of 8 or 16 bits.
class Narrower {
 public:
  explicit Narrower(DataType to)
      : to_(to.element()),
        lowest_(to.is_int() ? -(std::int64_t{1} << (to.bits() - 1)) : 0),
        greatest_((std::int64_t{1} << (to.is_int() ? to.bits() - 1 : to.bits())) - 1) {}

  // `e` in the narrow type, which holds all its values. Nothing where that is not known.
  std::optional<Expr> Of(const Expr& e) const {
    if (const auto constant = ConstantOf(e)) {
      if (*constant < lowest_ || *constant > greatest_) return std::nullopt;
      const Expr number = IntImm(to_, *constant);
      return e.dtype().lanes() == 1 ? number : Broadcast(number, e.dtype().lanes());
    }
    if (const auto* cast = e.As<CastNode>()) {
      const DataType from = cast->value.dtype();
      if (!from.is_integral() || !Holds(to_, from) || !Holds(e.dtype(), from)) return std::nullopt;
      return Cast(to_.WithLanes(from.lanes()), cast->value);
    }
    const auto* binary = e.As<BinaryNode>();
    if (binary == nullptr || !e.dtype().is_integral()) return std::nullopt;
    if (binary->op == BinaryOp::kMin) return Extreme(*binary, greatest_, 1);
    if (binary->op == BinaryOp::kMax) return Extreme(*binary, lowest_, -1);
    return std::nullopt;
  }

 private:
  // A minimum (`sign` 1), which a constant from `end` on does not change, or a maximum (-1).
  std::optional<Expr> Extreme(const BinaryNode& e, std::int64_t end, std::int64_t sign) const {
    for (const auto& [value, limit] : {std::pair(e.a, e.b), std::pair(e.b, e.a)}) {
      const std::optional<std::int64_t> constant = ConstantOf(limit);
      if (!constant) continue;
      if (*constant == end) {
        if (std::optional<Expr> saturated = sign > 0 ? Sum(value) : Difference(value))
          return saturated;
      }
      if (sign > 0 ? *constant >= end : *constant <= end) {
        if (std::optional<Expr> same = Of(value)) return same;
      }
    }
    const std::optional<Expr> a = Of(e.a), b = Of(e.b);
    if (!a || !b) return std::nullopt;
    return Binary(e.op, *a, *b);
  }

  // Without a limit that no value of it passes: one not above 0 for `op` kMax, and the greatest
  // number or more for kMin.
  const BinaryNode* Unlimited(const Expr& e, BinaryOp op) const {
    const auto* binary = e.As<BinaryNode>();
    if (binary == nullptr || binary->op != op) return binary;
    for (const auto& [value, limit] : {std::pair(binary->a, binary->b), {binary->b, binary->a}}) {
      const std::optional<std::int64_t> constant = ConstantOf(limit);
      if (constant && (op == BinaryOp::kMax ? *constant <= 0 : *constant >= greatest_))
        return value.As<BinaryNode>();
    }
    return nullptr;
  }

  // min(e, the greatest number), where e is a sum that does not wrap around.
  std::optional<Expr> Sum(const Expr& e) const {
    const BinaryNode* const sum = Unlimited(e, BinaryOp::kMax);
    const int value_bits = e.dtype().bits() - (e.dtype().is_int() ? 1 : 0);
    if (sum == nullptr || sum->op != BinaryOp::kAdd || !to_.is_uint() || value_bits <= to_.bits())
      return std::nullopt;
    const std::optional<Expr> x = Of(sum->a), y = Of(sum->b);
    if (!x || !y) return std::nullopt;
    return *x + Min(*y, Greatest(*x) - *x);
  }

  // max(e, 0), where e is a difference that may be negative.
  std::optional<Expr> Difference(const Expr& e) const {
    const BinaryNode* const difference = Unlimited(e, BinaryOp::kMin);
    if (difference == nullptr || difference->op != BinaryOp::kSub || !to_.is_uint() ||
        !e.dtype().is_int())
      return std::nullopt;
    const std::optional<Expr> x = Of(difference->a), y = Of(difference->b);
    if (!x || !y) return std::nullopt;
    return Max(*x, *y) - *y;
  }

  Expr Greatest(const Expr& like) const {
    const Expr number = IntImm(to_, greatest_);
    return like.dtype().lanes() == 1 ? number : Broadcast(number, like.dtype().lanes());
  }

  DataType to_;
  std::int64_t lowest_, greatest_;
};

}  // namespace

std::optional<Expr> NarrowCast(const Expr& cast) {
  const auto* outer = cast.As<CastNode>();
  const auto* value = outer == nullptr ? nullptr : outer->value.As<BinaryNode>();
  if (value == nullptr || (value->op != BinaryOp::kMin && value->op != BinaryOp::kMax))
    return std::nullopt;
  const DataType to = cast.dtype(), from = value->type;
  if (!to.is_integral() || !from.is_integral()) return std::nullopt;
  if (to.bits() < 8 || to.bits() > 16 || to.bits() >= from.bits()) return std::nullopt;
  if (from.is_uint() && from.bits() > 32) return std::nullopt;  // constants may look negative
  return Narrower(to).Of(outer->value);
}

}  // namespace tenon::loop
