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
LaneOffsets Steps(const Expr& first, std::int64_t step, int lanes) {
  const auto* constant = first.As<IntImmNode>();
  LaneOffsets made{constant == nullptr ? first : Constant(first.dtype(), 0), {}};
  for (int i = 0; i < lanes; ++i)
    made.offsets.push_back((constant == nullptr ? 0 : constant->value) + i * step);
  return made;
}

bool AreEqual(const std::vector<std::int64_t>& numbers) {
  return std::adjacent_find(numbers.begin(), numbers.end(), std::not_equal_to<>()) == numbers.end();
}

// The base of an operation's result, if it has one.
std::optional<Expr> BaseOf(BinaryOp op, const LaneOffsets& a, const LaneOffsets& b) {
  if (op == BinaryOp::kAdd || op == BinaryOp::kSub) return Binary(op, a.base, b.base);
  if (!IsConstInt(b.base, 0)) return std::nullopt;
  if (IsConstInt(a.base, 0)) return a.base;
  if (op == BinaryOp::kMul && AreEqual(b.offsets)) return a.base * b.offsets[0];
  return std::nullopt;
}

}  // namespace

std::optional<LaneOffsets> OffsetsOf(const Expr& vector) {
  const int lanes = vector.dtype().lanes();
  if (const auto* ramp = vector.As<RampNode>(); ramp != nullptr && !ramp->base.dtype().is_vector())
    if (const auto* step = ramp->stride.As<IntImmNode>())
      return Steps(ramp->base, step->value, lanes);
  if (const auto* copies = vector.As<BroadcastNode>();
      copies != nullptr && !copies->value.dtype().is_vector())
    return Steps(copies->value, 0, lanes);
  const auto* node = vector.As<BinaryNode>();
  if (node == nullptr) return std::nullopt;
  const std::optional<LaneOffsets> a = OffsetsOf(node->a), b = OffsetsOf(node->b);
  const std::optional<Expr> base = a && b ? BaseOf(node->op, *a, *b) : std::nullopt;
  if (!base) return std::nullopt;
  LaneOffsets made{*base, {}};
  for (std::size_t i = 0; i < a->offsets.size(); ++i) {
    const Expr folded = Binary(node->op, a->offsets[i], b->offsets[i]);
    const auto* constant = folded.As<IntImmNode>();
    if (constant == nullptr) return std::nullopt;
    made.offsets.push_back(constant->value);
  }
  return made;
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
