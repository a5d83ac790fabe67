// Works from the inside out. For a loop over v in [m, m + e) around `if (c1 && c2 ...)` without
// else, each conjunct that is linear in v with coefficient 1 and has the form v + a < b turns into
// the bound b - a - m of the extent; v + a >= b raises the start. Whole vectors are told from
// vectors under a mask as far outside as possible: loops go inside a condition that they do not
// change, and equal conditions in a row become one.
#include <vector>

#include "tenon/loop/simplify/guards.h"
#include "tenon/loop/simplify/simplify.h"
#include "tenon/loop/transform/transforms.h"
#include "tenon/loop/visit.h"

namespace tenon::loop {
namespace {

class GuardHoister : public StmtMutator {
 protected:
  Expr Mutate(const Expr& e) override { return e; }

  Stmt MutateStmt(const Stmt& stmt) override {
    const Stmt mutated = MutateStmtChildren(stmt);
    if (const auto* seq = mutated.As<SeqNode>()) return JoinBranches(mutated, *seq);
    const auto* loop = mutated.As<ForNode>();
    if (loop == nullptr) return mutated;
    const auto* guard = loop->body.As<IfNode>();
    if (guard == nullptr) return mutated;
    if (!guard->else_case) return Hoist(*loop, *guard);
    if (LoadsAnything(guard->condition)) return mutated;
    if (!UsesVar(guard->condition, loop->var)) return Unswitch(*loop, *guard);
    return loop->for_kind == ForKind::kUnrolled ? UnswitchWhole(mutated, *loop, *guard) : mutated;
  }

 private:
  static Stmt Unswitch(const ForNode& loop, const IfNode& guard) {
    return If(guard.condition, Around(loop, guard.then_case), Around(loop, guard.else_case));
  }

  // If all copies take the first branch, they do not ask one by one.
  static Stmt UnswitchWhole(const Stmt& stmt, const ForNode& loop, const IfNode& guard) {
    std::vector<Expr> parts;
    SplitConjunction(guard.condition, &parts);
    const Expr first = loop.min, last = Simplify(loop.min + loop.extent - 1);
    Expr all = True();
    for (const Expr& part : parts) {
      if (!UsesVar(part, loop.var)) {
        all = all && part;
        continue;
      }
      const auto linear = ToLinearCondition(part, loop.var);
      if (!linear) return stmt;
      const Expr worst = linear->coefficient > 0 ? last : first;
      all = all && Simplify(Substitute(part, {{loop.var, worst}}));
    }
    return If(all, Around(loop, guard.then_case), stmt);
  }

  // if (c) a else b; if (c) d else e  =>  if (c) {a; d} else {b; e}
  static Stmt JoinBranches(const Stmt& stmt, const SeqNode& seq) {
    std::vector<Stmt> joined;
    bool changed = false;
    for (const Stmt& part : seq.stmts) {
      const auto* now = part.As<IfNode>();
      const auto* before = joined.empty() ? nullptr : joined.back().As<IfNode>();
      if (now == nullptr || before == nullptr || !now->else_case || !before->else_case ||
          LoadsAnything(now->condition) || !StructuralEqual(now->condition, before->condition)) {
        joined.push_back(part);
        continue;
      }
      joined.back() = If(now->condition, Seq({before->then_case, now->then_case}),
                         Seq({before->else_case, now->else_case}));
      changed = true;
    }
    return changed ? Seq(std::move(joined)) : stmt;
  }

  static Stmt Hoist(const ForNode& loop, const IfNode& guard) {
    std::vector<Expr> parts;
    SplitConjunction(guard.condition, &parts);
    const Expr first = loop.min, last = Simplify(loop.min + loop.extent - 1);
    Expr around = True(), inside = True(), bounds = True(), all_inside = True();
    Expr begin = loop.min, end = loop.min + loop.extent;
    bool bounded = false;
    for (const Expr& part : parts) {
      if (LoadsAnything(part)) {
        inside = inside && part;
      } else if (!UsesVar(part, loop.var)) {
        around = around && part;
      } else if (Tighten(part, loop.var, &begin, &end)) {
        bounded = true;
        bounds = bounds && part;
        const bool rises = ToLinearCondition(part, loop.var)->coefficient > 0;
        all_inside = all_inside && Simplify(Substitute(part, {{loop.var, rises ? last : first}}));
      } else {
        inside = inside && part;
      }
    }
    const Stmt body = If(inside, guard.then_case);
    Stmt result;
    if (!bounded) {
      result = Around(loop, body);
    } else {
      const Expr extent = Simplify(end - begin);
      if (loop.for_kind == ForKind::kVectorized || loop.for_kind == ForKind::kUnrolled) {
        const Stmt whole = Around(loop, body);
        const Stmt rest = loop.for_kind == ForKind::kVectorized
                              ? Around(loop, If(bounds, body))
                              : For(loop.var, begin, extent, ForKind::kSerial, body);
        result = If(all_inside, whole, rest);
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
