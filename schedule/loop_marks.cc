#include "tenon/schedule/loop_marks.h"

#include "tenon/loop/visit.h"
#include "tenon/support/strings.h"

namespace tenon::schedule {
namespace {

using loop::Expr;
using loop::Stmt;
using loop::Var;

constexpr std::int64_t kCacheLineBytes = 64;

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

Stmt PrefetchBox(const loop::Buffer& buffer, const std::vector<Range>& region, bool is_written) {
  const std::int64_t line = kCacheLineBytes / static_cast<std::int64_t>(buffer->dtype.bytes());
  std::vector<Var> vars;
  std::vector<Expr> extents, indices;
  for (std::size_t d = 0; d < region.size(); ++d) {
    const std::int64_t step = d + 1 == region.size() ? line : 1;
    vars.emplace_back(StrCat("fetch", d));
    extents.push_back(loop::FloorDiv(region[d].extent + (step - 1), step));
    indices.push_back(region[d].min + vars[d] * step);
  }
  Stmt stmt = loop::Evaluate(
      loop::Call(is_written ? loop::Intrinsic::kPrefetchWrite : loop::Intrinsic::kPrefetch,
                 {loop::Load(buffer, std::move(indices))}));
  for (std::size_t d = region.size(); d-- > 0;)
    stmt = loop::For(vars[d], 0, extents[d], loop::ForKind::kSerial, stmt);
  return stmt;
}

Stmt AutoUnroll(const Stmt& stmt, const UnrollMarks& marks) {
  return marks.empty() ? stmt : Unroller(marks)(stmt);
}

}  // namespace tenon::schedule
