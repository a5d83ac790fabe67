#include "tenon/loop/simplify/simplify_lanes.h"

namespace tenon::loop {
namespace {

// The constant that a vector's condition is in all lanes, if it is one.
std::optional<bool> InAllLanes(const Expr& condition) {
  const auto* copies = condition.As<BroadcastNode>();
  const auto* constant = copies == nullptr ? nullptr : copies->value.As<IntImmNode>();
  if (constant == nullptr) return std::nullopt;
  return constant->value != 0;
}

}  // namespace

std::optional<Expr> SimplifyLanes(const Expr& e) {
  if (const auto* select = e.As<SelectNode>()) {
    const std::optional<bool> holds = InAllLanes(select->condition);
    if (!holds) return std::nullopt;
    return *holds ? select->on_true : select->on_false;
  }
  if (const auto* negation = e.As<NotNode>()) {
    const std::optional<bool> holds = InAllLanes(negation->a);
    if (!holds) return std::nullopt;
    return Broadcast(*holds ? False() : True(), e.dtype().lanes());
  }
  const auto* n = e.As<BinaryNode>();
  if (n == nullptr || (n->op != BinaryOp::kAnd && n->op != BinaryOp::kOr)) return std::nullopt;
  const bool neutral = n->op == BinaryOp::kAnd;
  if (const std::optional<bool> a = InAllLanes(n->a)) return *a == neutral ? n->b : n->a;
  if (const std::optional<bool> b = InAllLanes(n->b)) return *b == neutral ? n->a : n->b;
  return std::nullopt;
}

}  // namespace tenon::loop
