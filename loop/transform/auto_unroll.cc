#include "tenon/loop/transform/transforms.h"
#include "tenon/loop/visit.h"

namespace tenon::loop {
namespace {

class Unroller : public StmtMutator {
 public:
  explicit Unroller(const UnrollLimits& limits) : limits_(limits) {}

 protected:
  Expr Mutate(const Expr& e) override { return e; }

  Stmt MutateStmt(const Stmt& stmt) override {
    const Stmt mutated = MutateStmtChildren(stmt);
    const auto* loop = mutated.As<ForNode>();
    if (loop == nullptr || loop->for_kind != ForKind::kSerial) return mutated;
    const auto limit = limits_.find(loop->var);
    const auto* extent = loop->extent.As<IntImmNode>();
    if (limit == limits_.end() || extent == nullptr) return mutated;
    std::int64_t stores = 0;
    bool has_loop = false;
    VisitStmts(loop->body, [&](const Stmt& s) {
      if (s.kind() == StmtKind::kStore) ++stores;
      has_loop = has_loop || s.kind() == StmtKind::kFor;
    });
    const std::int64_t most = limit->second.max_step;
    if (has_loop || extent->value > most || stores * extent->value > most) return mutated;
    if (!limit->second.is_explicit)
      return For(loop->var, loop->min, loop->extent, ForKind::kUnrolled, loop->body);
    std::vector<Stmt> copies;
    for (std::int64_t i = 0; i < extent->value; ++i)
      copies.push_back(Substitute(loop->body, {{loop->var, loop->min + i}}));
    return Seq(std::move(copies));
  }

 private:
  const UnrollLimits& limits_;
};

}  // namespace

Stmt AutoUnroll(const Stmt& stmt, const UnrollLimits& limits) { return Unroller(limits)(stmt); }

}  // namespace tenon::loop
