// Works from the inside out. For a loop over v in [m, m + e) around `if (c1 && c2 ...)` without
// else, each conjunct that is linear in v with coefficient 1 and has the form v + a < b turns into
// the bound b - a - m of the extent; v + a >= b raises the start.
#include <vector>

#include "tenon/loop/guards.h"
#include "tenon/loop/simplify.h"
#include "tenon/loop/transforms.h"
#include "tenon/loop/visit.h"

namespace tenon::loop {
namespace {

class GuardHoister : public StmtMutator {
 protected:
  Expr Mutate(const Expr& e) override { return e; }

  Stmt MutateStmt(const Stmt& stmt) override {
    const Stmt mutated = MutateStmtChildren(stmt);
    const auto* loop = mutated.As<ForNode>();
    if (loop == nullptr) return mutated;
    const auto* guard = loop->body.As<IfNode>();
    if (guard == nullptr || guard->else_case) return mutated;
    return Hoist(*loop, *guard);
  }

 private:
  Stmt Hoist(const ForNode& loop, const IfNode& guard) {
    std::vector<Expr> parts;
    SplitConjunction(guard.condition, &parts);
    Expr around = True(), inside = True();
    Expr begin = loop.min, end = loop.min + loop.extent;
    bool bounded = false;
    for (const Expr& part : parts) {
      if (LoadsAnything(part)) {
        inside = inside && part;
      } else if (!UsesVar(part, loop.var)) {
        around = around && part;
      } else if (Tighten(part, loop.var, &begin, &end)) {
        bounded = true;
      } else {
        inside = inside && part;
      }
    }
    const Stmt body = If(inside, guard.then_case);
    Stmt result;
    if (!bounded) {
      result = For(loop.var, loop.min, loop.extent, loop.for_kind, body);
    } else {
      const Expr extent = Simplify(end - begin);
      if (loop.for_kind == ForKind::kVectorized || loop.for_kind == ForKind::kUnrolled) {
        const Stmt whole = For(loop.var, loop.min, loop.extent, loop.for_kind, body);
        const Stmt rest = For(loop.var, begin, extent, ForKind::kSerial, body);
        result = If(extent >= loop.extent, whole, rest);
      } else {
        result = For(loop.var, Simplify(begin), extent, loop.for_kind, body);
      }
    }
    return If(around, result);
  }
};

}  // namespace

Stmt HoistGuards(const Stmt& stmt) { return GuardHoister()(stmt); }

}  // namespace tenon::loop
