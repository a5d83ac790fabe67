#include "tenon/loop/simplify.h"
#include "tenon/loop/transforms.h"
#include "tenon/loop/visit.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::loop {
namespace {

class Flattener : public StmtMutator {
 protected:
  Expr Mutate(const Expr& e) override {
    const Expr mutated = MutateChildren(e);
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
    return offset;
  }
};

}  // namespace

Stmt FlattenBuffers(const Stmt& stmt) { return Flattener()(stmt); }

}  // namespace tenon::loop
