// The variable v of a vectorised loop of extent n stands for the vector m, m + 1, ..., m + n - 1.
// An index that is linear in v becomes a ramp, every other operation on something that differs by
// lane an operation on vectors; scalars are broadcast where they meet vectors.
#include <optional>

#include "tenon/loop/print.h"
#include "tenon/loop/simplify.h"
#include "tenon/loop/transforms.h"
#include "tenon/loop/visit.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::loop {
namespace {

// Longer loops stay loops: no register file holds such vectors, and LLVM's types stop at 65535
// lanes.
constexpr std::int64_t kMostLanes = 1024;

// Rewrites one loop's body; `failed` says that it must stay serial.
class Widener : public StmtMutator {
 public:
  Widener(const Var& var, const Expr& min, int lanes) : var_(var), min_(min), lanes_(lanes) {}
  bool failed() const { return failed_; }

 protected:
  Expr Mutate(const Expr& e) override {
    if (failed_) return e;
    if (e.same_as(var_)) return Ramp(min_, 1, lanes_);
    if (e.dtype() == Int64 && e.kind() == ExprKind::kBinary && UsesVar(e, var_)) {
      if (const std::optional<Expr> ramp = AsRamp(e)) return *ramp;
    }
    if (const auto* select = e.As<SelectNode>();
        select != nullptr && select->lazy && UsesVar(select->condition, var_)) {
      failed_ = true;  // a load that one lane must not make
      return e;
    }
    // One call a lane; the order of effects would change.
    if (const auto* call = e.As<ExternCallNode>();
        call != nullptr && call->callee->effect != Effect::kPure && UsesVar(e, var_))
      failed_ = true;
    if (e.kind() == ExprKind::kLet || (e.kind() == ExprKind::kAddress && UsesVar(e, var_)))
      failed_ = true;
    // Already a vector, by an intrinsic of its own.
    if (e.dtype().is_vector()) failed_ = true;
    if (failed_) return e;
    if (const auto* n = e.As<CallNode>()) {
      std::vector<Expr> args;
      int lanes = 1;
      for (const Expr& arg : n->args) {
        args.push_back((*this)(arg));
        lanes = std::max(lanes, args.back().dtype().lanes());
      }
      for (Expr& arg : args) arg = Broadcast(arg, lanes);
      return Call(n->intrinsic, std::move(args));
    }
    return MutateChildren(e);
  }

  Stmt MutateStmt(const Stmt& stmt) override {
    if (failed_) return stmt;
    switch (stmt.kind()) {
      case StmtKind::kStore: {
        const auto& n = *stmt.As<StoreNode>();
        const Expr index = (*this)(n.indices[0]);
        const Expr value = (*this)(n.value);
        if (index.dtype().lanes() == 1) {
          failed_ = true;
          return stmt;
        }
        if (failed_) return stmt;
        return Store(n.buffer, Broadcast(value, lanes_), {index}, n.reassociate);
      }
      case StmtKind::kFor: {
        const auto& n = *stmt.As<ForNode>();
        if (UsesVar(n.min, var_) || UsesVar(n.extent, var_) || n.for_kind == ForKind::kParallel)
          failed_ = true;
        return MutateStmtChildren(stmt);
      }
      case StmtKind::kIf:
        if (UsesVar(stmt.As<IfNode>()->condition, var_)) failed_ = true;
        return failed_ ? stmt : MutateStmtChildren(stmt);
      case StmtKind::kAllocate:
      case StmtKind::kLet:
      case StmtKind::kEvaluate:
        failed_ = true;
        return stmt;
      case StmtKind::kSeq:
        return MutateStmtChildren(stmt);
    }
    Unreachable("the switch over statement kinds is exhaustive");
  }

 private:
  std::optional<Expr> AsRamp(const Expr& e) {
    Linear linear = ToLinear(e, {});
    const std::int64_t stride = linear.CoefficientOf(var_);
    std::erase_if(linear.terms, [&](const auto& term) { return term.first.same_as(var_); });
    const Expr rest = linear.ToExpr();
    if (UsesVar(rest, var_)) return std::nullopt;
    const Expr base = Simplify(rest + min_ * stride);
    // A zero stride after cancelling: every lane has the same value.
    return stride == 0 ? Broadcast(base, lanes_) : Ramp(base, stride, lanes_);
  }

  const Var& var_;
  const Expr& min_;
  const int lanes_;
  bool failed_ = false;
};

class LoopVectorizer : public StmtMutator {
 protected:
  Expr Mutate(const Expr& e) override { return e; }

  Stmt MutateStmt(const Stmt& stmt) override {
    const auto* loop = stmt.As<ForNode>();
    if (loop == nullptr || loop->for_kind != ForKind::kVectorized) return MutateStmtChildren(stmt);
    const auto* extent = loop->extent.As<IntImmNode>();
    if (extent == nullptr) {
      throw InvalidArgument(StrCat("vectorize: loop ", loop->var.name(), " has the extent ",
                                   Print(loop->extent), "; it must be constant"));
    }
    const Stmt body = MutateStmt(loop->body);
    if (extent->value < 1 || extent->value > kMostLanes)
      return For(loop->var, loop->min, loop->extent, ForKind::kSerial, body);
    Widener widener(loop->var, loop->min, static_cast<int>(extent->value));
    const Stmt wide = widener(body);
    return widener.failed() ? For(loop->var, loop->min, loop->extent, ForKind::kSerial, body)
                            : wide;
  }
};

}  // namespace

Stmt VectorizeLoops(const Stmt& stmt) { return LoopVectorizer()(stmt); }

}  // namespace tenon::loop
