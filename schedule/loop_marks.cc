#include "tenon/schedule/loop_marks.h"

#include "tenon/loop/visit.h"

namespace tenon::schedule {
namespace {

using loop::Expr;
using loop::Stmt;

class Unroller : public loop::StmtMutator {
 public:
  explicit Unroller(const UnrollMarks& marks) : marks_(marks) {}

 protected:
  Expr Mutate(const Expr& e) override { return e; }

  Stmt MutateStmt(const Stmt& stmt) override {
    const Stmt mutated = MutateStmtChildren(stmt);
    const auto* loop = mutated.As<loop::ForNode>();
    if (loop == nullptr || loop->for_kind != loop::ForKind::kSerial) return mutated;
    const auto mark = marks_.find(loop->var);
    const auto* extent = loop->extent.As<loop::IntImmNode>();
    if (mark == marks_.end() || extent == nullptr) return mutated;
    std::int64_t stores = 0;
    bool has_loop = false;
    loop::VisitStmts(loop->body, [&](const Stmt& s) {
      if (s.kind() == loop::StmtKind::kStore) ++stores;
      has_loop = has_loop || s.kind() == loop::StmtKind::kFor;
    });
    const std::int64_t most = mark->second.max_step;
    if (has_loop || extent->value > most || stores * extent->value > most) return mutated;
    if (!mark->second.is_explicit)
      return loop::For(loop->var, loop->min, loop->extent, loop::ForKind::kUnrolled, loop->body);
    std::vector<Stmt> copies;
    for (std::int64_t i = 0; i < extent->value; ++i)
      copies.push_back(loop::Substitute(loop->body, {{loop->var, loop->min + i}}));
    return loop::Seq(std::move(copies));
  }

 private:
  const UnrollMarks& marks_;
};

}  // namespace

Stmt AutoUnroll(const Stmt& stmt, const UnrollMarks& marks) {
  return marks.empty() ? stmt : Unroller(marks)(stmt);
}

}  // namespace tenon::schedule
