#include "tenon/loop/print.h"
#include "tenon/loop/simplify/simplify.h"
#include "tenon/loop/transform/transforms.h"
#include "tenon/loop/visit.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::loop {
namespace {

// The code of longer loops would outgrow the instruction cache, so they are unrolled in parts.
constexpr std::int64_t kMaxUnrolled = 128;
constexpr std::int64_t kPart = 16;

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
    if (extent->value <= kMaxUnrolled) return Copies(*loop, loop->min, extent->value, body);
    const Var part(StrCat(loop->var.name(), ".part"));
    const std::int64_t parts = extent->value / kPart, rest = extent->value % kPart;
    return Seq({For(part, 0, parts, ForKind::kSerial,
                    Copies(*loop, loop->min + part * kPart, kPart, body)),
                Copies(*loop, loop->min + parts * kPart, rest, body)});
  }

 private:
  // The iterations [first, first + count).
  static Stmt Copies(const ForNode& loop, const Expr& first, std::int64_t count, const Stmt& body) {
    std::vector<Stmt> copies;
    for (std::int64_t i = 0; i < count; ++i)
      copies.push_back(Substitute(body, {{loop.var, first + i}}));
    return Seq(std::move(copies));
  }
};

}  // namespace

Stmt UnrollLoops(const Stmt& stmt) { return Unroller()(stmt); }

}  // namespace tenon::loop
