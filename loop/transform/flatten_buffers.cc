#include "tenon/loop/print.h"
#include "tenon/loop/simplify/lanes.h"
#include "tenon/loop/simplify/simplify.h"
#include "tenon/loop/transform/transforms.h"
#include "tenon/loop/visit.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::loop {
namespace {

// Tiles of several dimensions that lie in a row in memory become one ramp.
Expr AsRamp(const Expr& vector) {
  const Var lane("lane");
  const Expr scalar = AtLane(vector, lane);
  if (vector.kind() == ExprKind::kRamp || !scalar.defined()) return vector;
  const int lanes = vector.dtype().lanes();
  Bounds bounds;
  bounds.Bind(lane, {0, lanes - 1});
  Linear linear = ToLinear(scalar, bounds);
  const std::int64_t stride = linear.CoefficientOf(lane);
  std::erase_if(linear.terms, [&](const auto& term) { return term.first.same_as(lane); });
  const Expr base = linear.ToExpr();
  if (UsesVar(base, lane)) return vector;
  return stride == 0 ? Broadcast(base, lanes) : Ramp(base, stride, lanes);
}

// Refuses a box that is not one piece of memory: a C function steps through it as if it were the
// whole buffer.
void RequireOnePiece(const AddressNode& address) {
  const std::vector<Expr>& shape = address.buffer->shape;
  bool inside = false;  // of an outer dimension with more than one element
  for (std::size_t d = 0; d < address.extents.size(); ++d) {
    if (inside && !IsConstInt(Simplify(address.extents[d] - shape[d]), 0)) {
      throw InvalidArgument(StrCat(
          "the address of a box of ", address.buffer->name, " is passed to a C function, but its ",
          Print(address.extents[d]), " elements in dimension ", d, " of ", Print(shape[d]),
          " leave gaps in memory; pass a box that lies in one piece"));
    }
    inside = inside || !IsConstInt(address.extents[d], 1);
  }
}

class Flattener : public StmtMutator {
 protected:
  Expr Mutate(const Expr& e) override {
    const Expr mutated = MutateChildren(e);
    if (const auto* address = mutated.As<AddressNode>()) {
      RequireOnePiece(*address);
      return Address(address->buffer, {Offset(address->buffer, address->indices)});
    }
    const auto* n = mutated.As<LoadNode>();
    if (n == nullptr) return mutated;
    return Load(n->buffer, {Offset(n->buffer, n->indices)});
  }

  Stmt MutateStmt(const Stmt& stmt) override {
    const Stmt mutated = MutateStmtChildren(stmt);
    const auto* n = mutated.As<StoreNode>();
    if (n == nullptr) return mutated;
    return Store(n->buffer, n->value, {Offset(n->buffer, n->indices)}, n->store_kind);
  }

 private:
  static Expr Offset(const Buffer& buffer, const std::vector<Expr>& indices) {
    const Expr offset = OffsetOf(buffer, indices);
    return offset.dtype().is_vector() ? AsRamp(offset) : offset;
  }
};

}  // namespace

Stmt FlattenBuffers(const Stmt& stmt) { return Flattener()(stmt); }

}  // namespace tenon::loop
