#include "tenon/loop/print.h"
#include "tenon/loop/simplify/simplify.h"
#include "tenon/loop/transform/transforms.h"
#include "tenon/loop/visit.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::loop {
namespace {

// Longer loops stay loops: the code would outgrow the instruction cache.
constexpr std::int64_t kMaxUnrolled = 128;

class Unroller : public StmtMutator {
 protected:
  Expr Mutate(const Expr& e) override { return e; }

  Stmt MutateStmt(const Stmt& stmt) override {
    const auto* loop = stmt.As<ForNode>();
    if (loop == nullptr || loop->for_kind != ForKind::kUnrolled) return MutateStmtChildren(stmt);
    const auto* extent = loop->extent.As<IntImmNode>();
    if (extent == nullptr) {
      throw InvalidArgument(StrCat("unroll: loop ", loop->var.name(), " has the extent ",
                                   Print(loop->extent), "; it must be constant"));
    }
    const Stmt body = MutateStmt(loop->body);
    if (extent->value > kMaxUnrolled)
      return For(loop->var, loop->min, loop->extent, ForKind::kSerial, body);
    std::vector<Stmt> copies;
    for (std::int64_t i = 0; i < extent->value; ++i)
      copies.push_back(Substitute(body, {{loop->var, loop->min + i}}));
    return Seq(std::move(copies));
  }
};

}  // namespace

Stmt UnrollLoops(const Stmt& stmt) { return Unroller()(stmt); }

}  // namespace tenon::loop
