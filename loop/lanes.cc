#include "tenon/loop/lanes.h"

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

}  // namespace

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
