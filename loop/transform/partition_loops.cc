// For v in [m, n) around `if (c)`, where c is a * v + r <= 0 for a constant a: with a > 0 the
// condition holds up to floor(-r / a), with a < 0 from ceil(r / -a) on. Variables of loops inside
// take their worst values in r. The part of the range in which all such conditions hold becomes a
// loop without them; what lies before and after keeps its tests (TVM, "LoopPartition"; Halide,
// "partition_loops"). Outer loops go first, so that one tile in the corner is the only one with all
// tests.
//
// Code grows with each copy, and the time to compile it. So if extents are variables, a loop of
// loops is not a reason for a copy. The parts with tests run only once or twice, so they keep loops
// rolled up that need not be unrolled.
#include <algorithm>
#include <optional>
#include <unordered_set>
#include <utility>
#include <vector>

#include "tenon/loop/simplify/guards.h"
#include "tenon/loop/simplify/simplify.h"
#include "tenon/loop/transform/transforms.h"
#include "tenon/loop/visit.h"

namespace tenon::loop {
namespace {

// The most copies of an innermost statement that the loops around it may make. Code grows with
// each.
constexpr int kMaxCopies = 9;

// `min(c, x)` as the extent of a loop is c where this holds.
std::optional<Expr> WholeExtent(const Expr& extent) {
  const auto* n = extent.As<BinaryNode>();
  if (n == nullptr || n->op != BinaryOp::kMin) return std::nullopt;
  if (n->a.kind() == ExprKind::kIntImm) return n->a <= n->b;
  if (n->b.kind() == ExprKind::kIntImm) return n->b <= n->a;
  return std::nullopt;
}

bool HasLoops(const ForNode& loop) {
  bool has_loops = false;
  VisitStmts(loop.body, [&](const Stmt& s) {
    const auto* inner = s.As<ForNode>();
    has_loops = has_loops || (inner != nullptr && inner->for_kind == ForKind::kSerial);
  });
  return has_loops;
}

// Finds the values of a loop's variable for which conditions inside it hold.
class ConditionFinder {
 public:
  explicit ConditionFinder(const Var& var) : var_(var) {}

  void Visit(const Stmt& stmt) {
    switch (stmt.kind()) {
      case StmtKind::kFor: {
        const auto& n = *stmt.As<ForNode>();
        if (const auto whole = WholeExtent(n.extent)) Consider(*whole, n.extent, HasLoops(n));
        inner_.push_back(&n);
        Visit(n.body);
        inner_.pop_back();
        return;
      }
      case StmtKind::kSeq:
        for (const Stmt& part : stmt.As<SeqNode>()->stmts) Visit(part);
        return;
      case StmtKind::kIf: {
        const auto& n = *stmt.As<IfNode>();
        std::vector<Expr> parts;
        SplitConjunction(n.condition, &parts);
        for (const Expr& part : parts) Consider(part, part, false);
        Visit(n.then_case);
        if (n.else_case) Visit(n.else_case);
        return;
      }
      case StmtKind::kAllocate:
        return Visit(stmt.As<AllocateNode>()->body);
      case StmtKind::kLet:
        lets_.push_back(stmt.As<LetStmtNode>()->var);
        return Visit(stmt.As<LetStmtNode>()->body);
      case StmtKind::kStore:
      case StmtKind::kEvaluate:
        return;
    }
  }

  // One end of the range in which conditions hold.
  struct End {
    Expr at;               // undefined: none
    bool is_exact = true;  // beyond it all of `proved` fail
    std::unordered_set<const ExprNode*> proved;
  };
  End lower, upper;

 private:
  // `place` is what the condition decides: the condition itself, or the extent of a loop.
  void Consider(const Expr& condition, const Expr& place, bool only_constant) {
    if (LoadsAnything(condition)) return;
    std::optional<LinearCondition> linear;
    bool is_exact = true;
    Expr worst = condition;
    for (auto loop = inner_.rbegin(); loop != inner_.rend(); ++loop) {
      const Var& inner = (*loop)->var;
      if (!UsesVar(worst, inner)) continue;
      const auto of_inner = ToLinearCondition(worst, inner);
      if (!of_inner) return;
      const bool rises = of_inner->coefficient > 0;
      const Expr value = rises ? (*loop)->min + (*loop)->extent - 1 : (*loop)->min;
      worst = of_inner->rest + value * of_inner->coefficient <= 0;
      is_exact = false;
    }
    for (const Var& let : lets_) {
      if (UsesVar(worst, let)) return;
    }
    linear = ToLinearCondition(worst, var_);
    if (!linear) return;
    const std::int64_t a = linear->coefficient;
    const Expr at =
        Simplify(a > 0 ? FloorDiv(0 - linear->rest, a) + 1 : FloorDiv(linear->rest + (-a - 1), -a));
    if (only_constant && at.kind() != ExprKind::kIntImm) return;
    End& end = a > 0 ? upper : lower;
    end.is_exact = end.is_exact && is_exact && (!end.at.defined() || StructuralEqual(end.at, at));
    end.at = !end.at.defined() ? at : Simplify(a > 0 ? Min(end.at, at) : Max(end.at, at));
    end.proved.insert(place.get());
  }

  const Var& var_;
  std::vector<const ForNode*> inner_;
  std::vector<Var> lets_;
};

// Gives conditions the value that they are known to have.
class Decider : public StmtMutator {
 public:
  Decider(const std::unordered_set<const ExprNode*>& known, bool value)
      : known_(known), value_(value) {}

 protected:
  Expr Mutate(const Expr& e) override { return e; }

  Stmt MutateStmt(const Stmt& stmt) override {
    if (const auto* n = stmt.As<IfNode>()) {
      std::vector<Expr> parts;
      SplitConjunction(n->condition, &parts);
      Expr condition = True();
      for (const Expr& part : parts)
        condition = condition && (known_.contains(part.get()) ? IntImm(Bool, value_) : part);
      return If(condition, MutateStmt(n->then_case),
                n->else_case ? MutateStmt(n->else_case) : Stmt());
    }
    if (const auto* n = stmt.As<ForNode>(); n != nullptr && known_.contains(n->extent.get())) {
      const auto& extent = *n->extent.As<BinaryNode>();
      const bool constant_first = extent.a.kind() == ExprKind::kIntImm;
      return For(n->var, n->min, constant_first == value_ ? extent.a : extent.b, n->for_kind,
                 MutateStmt(n->body));
    }
    return MutateStmtChildren(stmt);
  }

 private:
  const std::unordered_set<const ExprNode*>& known_;
  const bool value_;
};

// Whether `body` has an element of an array of constant size for each value of `var`: a register,
// once the loop is unrolled.
bool HasRegisters(const Stmt& body, const Var& var) {
  bool has_registers = false;
  const auto look = [&](const Buffer& buffer, const std::vector<Expr>& indices) {
    const auto moves = [&](const Expr& index) { return UsesVar(index, var); };
    has_registers = has_registers || (ConstantElements(buffer).has_value() &&
                                      std::any_of(indices.begin(), indices.end(), moves));
  };
  VisitStmts(body, [&](const Stmt& s) {
    if (const auto* store = s.As<StoreNode>()) look(store->buffer, store->indices);
  });
  VisitExprs(body, [&](const Expr& e) {
    if (const auto* load = e.As<LoadNode>()) look(load->buffer, load->indices);
  });
  return has_registers;
}

// Makes unrolled loops serial if they are unrolled only for speed.
class Roller : public StmtMutator {
 protected:
  Expr Mutate(const Expr& e) override { return e; }

  Stmt MutateStmt(const Stmt& stmt) override {
    const auto* n = stmt.As<ForNode>();
    if (n == nullptr || n->for_kind != ForKind::kUnrolled || HasRegisters(n->body, n->var))
      return MutateStmtChildren(stmt);
    return For(n->var, n->min, n->extent, ForKind::kSerial, MutateStmt(n->body));
  }
};

class LoopPartitioner : public StmtMutator {
 protected:
  Expr Mutate(const Expr& e) override { return e; }

  Stmt MutateStmt(const Stmt& stmt) override {
    const auto* n = stmt.As<ForNode>();
    if (n == nullptr || n->for_kind != ForKind::kSerial) return MutateStmtChildren(stmt);
    ConditionFinder found(n->var);
    found.Visit(n->body);
    const int pieces = 1 + (found.lower.at.defined() ? 1 : 0) + (found.upper.at.defined() ? 1 : 0);
    if (pieces == 1 || copies_ * pieces > kMaxCopies) return MutateStmtChildren(stmt);
    const Expr end = Simplify(n->min + n->extent);
    Expr first = n->min, last = end;
    if (found.lower.at.defined()) first = Simplify(Min(Max(found.lower.at, n->min), end));
    if (found.upper.at.defined()) last = Simplify(Max(Min(found.upper.at, end), first));
    const Expr whole = Simplify(last - first);
    if (const auto* extent = whole.As<IntImmNode>(); extent != nullptr && extent->value <= 0)
      return MutateStmtChildren(stmt);
    copies_ *= pieces;
    const auto piece = [&](const Expr& from, const Expr& to, const Stmt& body) {
      return For(n->var, from, Simplify(to - from), n->for_kind, MutateStmt(body));
    };
    // If an end has only one condition, it fails beyond that end.
    const auto beyond = [&](const ConditionFinder::End& at) {
      const Stmt body = at.is_exact ? Decider(at.proved, false)(n->body) : n->body;
      return at.at.kind() == ExprKind::kIntImm ? body : Roller()(body);
    };
    Stmt inside = Decider(found.lower.proved, true)(n->body);
    inside = Decider(found.upper.proved, true)(inside);
    std::vector<Stmt> parts;
    if (found.lower.at.defined()) parts.push_back(piece(n->min, first, beyond(found.lower)));
    parts.push_back(piece(first, last, inside));
    if (found.upper.at.defined()) parts.push_back(piece(last, end, beyond(found.upper)));
    copies_ /= pieces;
    return Seq(std::move(parts));
  }

 private:
  int copies_ = 1;
};

}  // namespace

Stmt PartitionLoops(const Stmt& stmt) { return LoopPartitioner()(stmt); }

}  // namespace tenon::loop
