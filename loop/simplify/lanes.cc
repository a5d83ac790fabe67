#include "tenon/loop/simplify/lanes.h"

#include <algorithm>
#include <functional>

#include "tenon/loop/visit.h"

namespace tenon::loop {
namespace {

class OneLane : public ExprMutator {
 public:
  explicit OneLane(const Var& lane) : lane_(lane) {}

 protected:
  Expr Mutate(const Expr& e) override {
    if (const auto* ramp = e.As<RampNode>()) return ramp->base + ramp->stride * lane_;
    if (const auto* copies = e.As<BroadcastNode>()) return copies->value;
    return MutateChildren(e);
  }

 private:
  const Var& lane_;
};

// Constants of a ramp or of copies, which begin with `first`.
SteppedOffsets Constants(const Expr& first, std::int64_t step, int lanes) {
  const auto* constant = first.As<IntImmNode>();
  SteppedOffsets made{.near = {constant == nullptr ? first : Constant(first.dtype(), 0), {}},
                      .step = {},
                      .steps = {}};
  for (int i = 0; i < lanes; ++i)
    made.near.offsets.push_back((constant == nullptr ? 0 : constant->value) + i * step);
  return made;
}

bool AreEqual(const std::vector<std::int64_t>& numbers) {
  return std::adjacent_find(numbers.begin(), numbers.end(), std::not_equal_to<>()) == numbers.end();
}

bool AreConstants(const SteppedOffsets& lanes) {
  return IsConstInt(lanes.near.base, 0) && !lanes.step.defined();
}

// Operand by operand, as constants. Nothing where that has no result.
std::optional<std::vector<std::int64_t>> Folded(BinaryOp op, const std::vector<std::int64_t>& a,
                                                const std::vector<std::int64_t>& b) {
  std::vector<std::int64_t> folded;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const Expr one = Binary(op, a[i], b[i]);
    const auto* constant = one.As<IntImmNode>();
    if (constant == nullptr) return std::nullopt;
    folded.push_back(constant->value);
  }
  return folded;
}

std::optional<SteppedOffsets> Sum(BinaryOp op, const SteppedOffsets& a, const SteppedOffsets& b) {
  const auto offsets = Folded(op, a.near.offsets, b.near.offsets);
  if (!offsets || (a.step.defined() && b.step.defined() && !StructuralEqual(a.step, b.step)))
    return std::nullopt;
  SteppedOffsets made{.near = {Binary(op, a.near.base, b.near.base), *offsets},
                      .step = a.step.defined() ? a.step : b.step,
                      .steps = {}};
  if (!made.step.defined()) return made;
  const std::vector<std::int64_t> none(offsets->size(), 0);
  const auto steps =
      Folded(op, a.step.defined() ? a.steps : none, b.step.defined() ? b.steps : none);
  if (!steps) return std::nullopt;
  made.steps = *steps;
  return made;
}

bool IsOneNumber(const SteppedOffsets& lanes) {
  return AreEqual(lanes.near.offsets) && !lanes.step.defined();
}
Expr NumberOf(const SteppedOffsets& lanes) { return lanes.near.base + lanes.near.offsets[0]; }

// The lanes times one number. If that is no constant, their offsets become its multiples.
std::optional<SteppedOffsets> Times(const SteppedOffsets& lanes, const Expr& number) {
  SteppedOffsets made = lanes;
  if (const auto* constant = number.As<IntImmNode>()) {
    const std::vector<std::int64_t> by(lanes.near.offsets.size(), constant->value);
    const auto offsets = Folded(BinaryOp::kMul, lanes.near.offsets, by);
    if (!offsets) return std::nullopt;
    made.near = {lanes.near.base * number, *offsets};
    if (lanes.step.defined()) made.step = lanes.step * number;
    return made;
  }
  if (AreEqual(lanes.near.offsets)) {
    made.near.base = NumberOf(lanes) * number;
    if (lanes.step.defined()) made.step = lanes.step * number;
  } else {
    if (lanes.step.defined()) return std::nullopt;
    made.near.base = lanes.near.base * number;
    made.step = number;
    made.steps = lanes.near.offsets;
  }
  made.near.offsets.assign(lanes.near.offsets.size(), 0);
  return made;
}

}  // namespace

std::optional<SteppedOffsets> SteppedOffsetsOf(const Expr& vector) {
  const int lanes = vector.dtype().lanes();
  if (const auto* ramp = vector.As<RampNode>(); ramp != nullptr && !ramp->base.dtype().is_vector())
    if (const auto* step = ramp->stride.As<IntImmNode>())
      return Constants(ramp->base, step->value, lanes);
  if (const auto* copies = vector.As<BroadcastNode>();
      copies != nullptr && !copies->value.dtype().is_vector())
    return Constants(copies->value, 0, lanes);
  const auto* node = vector.As<BinaryNode>();
  if (node == nullptr) return std::nullopt;
  const auto a = SteppedOffsetsOf(node->a), b = SteppedOffsetsOf(node->b);
  if (!a || !b) return std::nullopt;
  if (node->op == BinaryOp::kAdd || node->op == BinaryOp::kSub) return Sum(node->op, *a, *b);
  if (node->op == BinaryOp::kMul && IsOneNumber(*b)) return Times(*a, NumberOf(*b));
  if (node->op == BinaryOp::kMul && IsOneNumber(*a)) return Times(*b, NumberOf(*a));
  if (!AreConstants(*a) || !AreConstants(*b)) return std::nullopt;
  const auto offsets = Folded(node->op, a->near.offsets, b->near.offsets);
  if (!offsets) return std::nullopt;
  return SteppedOffsets{.near = {a->near.base, *offsets}, .step = {}, .steps = {}};
}

std::optional<LaneOffsets> OffsetsOf(const Expr& vector) {
  const auto lanes = SteppedOffsetsOf(vector);
  if (!lanes || lanes->step.defined()) return std::nullopt;
  return lanes->near;
}

Expr AtLane(const Expr& vector, const Var& lane) {
  bool plain = true;
  VisitExpr(vector, [&](const Expr& e) {
    if (!e.dtype().is_vector()) return;
    const auto* copies = e.As<BroadcastNode>();
    plain = plain && (e.kind() == ExprKind::kRamp || e.kind() == ExprKind::kBinary ||
                      (copies != nullptr && !copies->value.dtype().is_vector()));
  });
  return plain ? OneLane(lane)(vector) : Expr();
}

}  // namespace tenon::loop
