// A parallel loop is cut into one run of iterations per thread. If a choice on its variable, say
// between the parts of a concatenation, calls vector math on one side alone, one thread would get
// the expensive iterations and another the cheap ones. So the loop is cut into segments. Threads
// share the places in a segment, and each thread goes through all segments: iteration i is in
// segment i / places, at place i % places.
#include <algorithm>

#include "tenon/loop/simplify/guards.h"
#include "tenon/loop/transform/transforms.h"
#include "tenon/loop/visit.h"

namespace tenon::loop {
namespace {

// Threads' shares then differ by an eighth of the loop at most.
constexpr std::int64_t kMaxSegments = 8;
// Enough for the threads to share.
constexpr std::int64_t kMinPlaces = 8;

bool BoundsVariable(const Expr& condition, const Var& var) {
  std::vector<Expr> parts;
  SplitConjunction(condition, &parts);
  return std::any_of(parts.begin(), parts.end(),
                     [&](const Expr& part) { return ToLinearCondition(part, var).has_value(); });
}

bool IsUneven(const ForNode& loop) {
  bool uneven = false;
  VisitExprs(loop.body, [&](const Expr& e) {
    const auto* choice = e.As<SelectNode>();
    if (uneven || choice == nullptr || !choice->lazy) return;
    uneven = CallsVectorMath(choice->on_true) != CallsVectorMath(choice->on_false) &&
             BoundsVariable(choice->condition, loop.var);
  });
  return uneven;
}

class Balancer : public StmtMutator {
 protected:
  Expr Mutate(const Expr& e) override { return e; }

  Stmt MutateStmt(const Stmt& stmt) override {
    const auto* loop = stmt.As<ForNode>();
    if (loop == nullptr || loop->for_kind != ForKind::kParallel) return MutateStmtChildren(stmt);
    const auto* extent = loop->extent.As<IntImmNode>();
    if (extent == nullptr || !IsUneven(*loop)) return stmt;
    std::int64_t segments = kMaxSegments;
    while (segments > 1 && extent->value % segments != 0) --segments;
    const std::int64_t places = extent->value / segments;
    if (segments == 1 || places < kMinPlaces) return stmt;
    const Var segment(loop->var.name() + ".segment"), place(loop->var.name() + ".place");
    const Stmt body =
        Substitute(loop->body, {{loop->var, loop->min + segment * Expr(places) + place}});
    return For(place, 0, places, ForKind::kParallel,
               For(segment, 0, segments, ForKind::kSerial, body));
  }
};

}  // namespace

Stmt BalanceParallel(const Stmt& stmt) { return Balancer()(stmt); }

}  // namespace tenon::loop
