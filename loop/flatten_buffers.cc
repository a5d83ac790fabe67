#include "tenon/loop/simplify.h"
#include "tenon/loop/transforms.h"
#include "tenon/loop/visit.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::loop {
namespace {

// A vector of indices in terms of the number of its lane.
class OneLane : public ExprMutator {
 public:
  explicit OneLane(const Var& lane) : lane_(lane) {}

 protected:
  Expr Mutate(const Expr& e) override {
    if (const auto* ramp = e.As<RampNode>()) return (*this)(ramp->base) + ramp->stride * lane_;
    if (const auto* same = e.As<BroadcastNode>();
        same != nullptr && !same->value.dtype().is_vector())
      return same->value;
    return MutateChildren(e);
  }

 private:
  const Var& lane_;
};

// Tiles of several dimensions that lie in a row in memory become one ramp.
Expr AsRamp(const Expr& vector) {
  const int lanes = vector.dtype().lanes();
  bool plain = true;
  VisitExpr(vector, [&](const Expr& e) {
    plain = plain && (!e.dtype().is_vector() || e.kind() == ExprKind::kRamp ||
                      e.kind() == ExprKind::kBroadcast || e.kind() == ExprKind::kBinary);
  });
  if (!plain || vector.kind() == ExprKind::kRamp) return vector;
  const Var lane("lane");
  Bounds bounds;
  bounds.Bind(lane, {0, lanes - 1});
  Linear linear = ToLinear(OneLane(lane)(vector), bounds);
  const std::int64_t stride = linear.CoefficientOf(lane);
  std::erase_if(linear.terms, [&](const auto& term) { return term.first.same_as(lane); });
  const Expr base = linear.ToExpr();
  if (UsesVar(base, lane)) return vector;
  return stride == 0 ? Broadcast(base, lanes) : Ramp(base, stride, lanes);
}

class Flattener : public StmtMutator {
 protected:
  Expr Mutate(const Expr& e) override {
    const Expr mutated = MutateChildren(e);
    if (const auto* address = mutated.As<AddressNode>())
      return Address(address->buffer, {Offset(address->buffer, address->indices)});
    const auto* n = mutated.As<LoadNode>();
    if (n == nullptr) return mutated;
    return Load(n->buffer, {Offset(n->buffer, n->indices)});
  }

  Stmt MutateStmt(const Stmt& stmt) override {
    const Stmt mutated = MutateStmtChildren(stmt);
    const auto* n = mutated.As<StoreNode>();
    if (n == nullptr) return mutated;
    return Store(n->buffer, n->value, {Offset(n->buffer, n->indices)}, n->reassociate);
  }

 private:
  static Expr Offset(const Buffer& buffer, const std::vector<Expr>& indices) {
    CheckInvariant(indices.size() == buffer->shape.size(),
                   "a buffer is indexed by as many indices as it has dimensions");
    Expr offset = 0;
    for (std::size_t d = 0; d < indices.size(); ++d)
      offset = offset * buffer->shape[d] + indices[d];
    return offset.dtype().is_vector() ? AsRamp(offset) : offset;
  }
};

}  // namespace

Stmt FlattenBuffers(const Stmt& stmt) { return Flattener()(stmt); }

}  // namespace tenon::loop
