// The variable v of a vectorised loop of extent n stands for the vector m, m + 1, ..., m + n - 1.
// An index that is linear in v becomes a ramp, every other operation on something that differs by
// lane an operation on vectors; scalars are broadcast where they meet vectors. A condition that
// differs by lane becomes the predicate of the loads and stores that it guards (if-conversion,
// Allen et al., "Conversion of control dependence to data dependence", 1983).
#include <algorithm>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "tenon/loop/print.h"
#include "tenon/loop/simplify/guards.h"
#include "tenon/loop/simplify/linear.h"
#include "tenon/loop/simplify/simplify.h"
#include "tenon/loop/transform/transforms.h"
#include "tenon/loop/visit.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::loop {
namespace {

// Longer loops become loops over blocks: no register file holds such vectors, and LLVM takes them
// apart lane by lane where they are gathered under a mask.
constexpr std::int64_t kMaxLanes = 256;
constexpr std::int64_t kBlockLanes = 64;

// Rewrites one loop's body; `failed` says that it must stay serial.
class Widener : public StmtMutator {
 public:
  Widener(const Var& var, const Expr& min, int lanes) : var_(var), min_(min), lanes_(lanes) {}
  bool failed() const { return failed_; }

 protected:
  Expr Mutate(const Expr& e) override {
    if (failed_) return e;
    if (e.same_as(var_)) return Ramp(min_, 1, lanes_);
    if (e.kind() == ExprKind::kVar) {
      const auto wide = wide_.find(e);
      return wide == wide_.end() ? e : wide->second;
    }
    if (e.dtype() == Int64 && e.kind() == ExprKind::kBinary && Varies(e)) {
      if (const std::optional<Expr> ramp = AsRamp(e)) return *ramp;
    }
    if (const auto* select = e.As<SelectNode>();
        select != nullptr && select->lazy && (Varies(select->condition) || mask_.defined()))
      return SelectByLane(*select);
    // There would be one call per lane, and the order of effects would change.
    if (const auto* call = e.As<ExternCallNode>();
        call != nullptr && (call->callee->effect != Effect::kPure || mask_.defined()) && Varies(e))
      failed_ = true;
    if (e.kind() == ExprKind::kLet || (e.kind() == ExprKind::kAddress && Varies(e))) failed_ = true;
    // Already a vector, by an intrinsic of its own.
    if (e.dtype().is_vector()) failed_ = true;
    if (failed_) return e;
    if (const auto* load = e.As<LoadNode>(); load != nullptr && mask_.defined()) {
      const Expr index = (*this)(load->indices[0]);
      if (failed_ || (index.dtype().lanes() == 1 && some_lane_runs_))
        return Load(load->buffer, {index});
      return Load(load->buffer, {Broadcast(index, lanes_)}, nullptr, mask_);
    }
    if (const auto* n = e.As<CallNode>()) {
      std::vector<Expr> args;
      int lanes = 1;
      for (const Expr& arg : n->args) {
        args.push_back((*this)(arg));
        lanes = std::max(lanes, args.back().dtype().lanes());
      }
      for (Expr& arg : args) arg = Broadcast(arg, lanes);
      return WithArguments(*n, std::move(args));
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
        if (index.dtype().lanes() == 1) failed_ = true;
        if (failed_) return stmt;
        return Store(n.buffer, Broadcast(value, lanes_), {index}, n.store_kind, mask_);
      }
      case StmtKind::kFor: {
        const auto& n = *stmt.As<ForNode>();
        // All lanes run as many iterations. What is loaded where perhaps no lane runs becomes a
        // vector.
        const bool loads_by_lane = mask_.defined() && !some_lane_runs_ &&
                                   (LoadsAnything(n.min) || LoadsAnything(n.extent));
        const bool differs = Varies(n.min) || Varies(n.extent) || loads_by_lane;
        failed_ = differs || n.for_kind == ForKind::kParallel;
        return failed_ ? stmt : MutateStmtChildren(stmt);
      }
      case StmtKind::kIf:
        // What a condition loads under a mask becomes a vector.
        return Varies(stmt.As<IfNode>()->condition) ||
                       (mask_.defined() && LoadsAnything(stmt.As<IfNode>()->condition))
                   ? RunByLane(*stmt.As<IfNode>())
                   : MutateStmtChildren(stmt);
      case StmtKind::kLet: {
        const auto& n = *stmt.As<LetStmtNode>();
        const Expr value = (*this)(n.value);
        if (failed_) return stmt;
        if (value.dtype().lanes() == 1) return LetStmt(n.var, value, MutateStmt(n.body));
        // Copies of a body define the variable again; what was rewritten before stays right.
        const auto [wide, is_new] = wide_.try_emplace(n.var);
        if (is_new) wide->second = Var(n.var.name(), value.dtype());
        const Var var(wide->second);
        return LetStmt(var, value, MutateStmt(n.body));
      }
      case StmtKind::kAllocate:
      case StmtKind::kEvaluate:
        failed_ = true;
        return stmt;
      case StmtKind::kSeq:
        return MutateStmtChildren(stmt);
    }
    Unreachable("the switch over statement kinds is exhaustive");
  }

 private:
  // Whether `e` differs by lane.
  bool Varies(const Expr& e) const {
    bool varies = false;
    VisitExpr(e, [&](const Expr& x) { varies = varies || x.same_as(var_) || wide_.contains(x); });
    return varies;
  }

  // Steps may be products of variables, as they are between rows of symbolic length.
  std::optional<Expr> AsRamp(const Expr& e) {
    Linear rest = ToLinear(e, {});
    Linear stride;
    std::erase_if(rest.terms, [&](const auto& term) {
      std::vector<Expr> factors = FactorsOf(term.first);
      const auto lane = std::find_if(factors.begin(), factors.end(),
                                     [&](const Expr& factor) { return factor.same_as(var_); });
      if (lane == factors.end()) return false;
      factors.erase(lane);
      if (factors.empty()) {
        stride.constant = term.second;
      } else {
        (void)AddTerm(&stride, ProductInOrder(std::move(factors)), term.second);
      }
      return true;
    });
    const Expr step = Simplify(stride.ToExpr()), first = rest.ToExpr();
    if (Varies(first) || Varies(step)) return std::nullopt;
    const Expr base = Simplify(first + min_ * step);
    // If the stride cancels to zero, every lane has the same value.
    return IsConstInt(step, 0) ? Broadcast(base, lanes_) : Ramp(base, step, lanes_);
  }

  // A select that guards loads. Each side loads in its own lanes only.
  Expr SelectByLane(const SelectNode& n) {
    const Expr condition = (*this)(n.condition);
    if (failed_) return n.on_true;
    if (condition.dtype().lanes() == 1)
      return IfThenElse(condition, (*this)(n.on_true), (*this)(n.on_false));
    const Expr on_true = Where(condition, false, [&] { return (*this)(n.on_true); });
    const Expr on_false = Where(Not(condition), false, [&] { return (*this)(n.on_false); });
    return failed_ ? n.on_true : Select(condition, on_true, on_false);
  }

  // Both cases run, each in its own lanes. What the condition reads might change in between.
  Stmt RunByLane(const IfNode& n) {
    if (LoadsAnything(n.condition)) failed_ = true;
    const Expr condition = (*this)(n.condition);
    if (failed_) return n.then_case;
    if (condition.dtype().lanes() == 1) {
      return If(condition, MutateStmt(n.then_case), n.else_case ? MutateStmt(n.else_case) : Stmt());
    }
    const std::optional<Expr> runs = mask_.defined() ? std::nullopt : SomeLaneRuns(n.condition);
    Stmt then_case = Where(condition, runs.has_value(), [&] { return MutateStmt(n.then_case); });
    if (runs) then_case = If(*runs, then_case);
    if (!n.else_case) return then_case;
    return Seq({then_case, Where(Not(condition), false, [&] { return MutateStmt(n.else_case); })});
  }

  // What `part` gives if only the lanes of `condition` run. `some`: at least one of them surely
  // runs.
  template <typename Part>
  std::invoke_result_t<Part> Where(const Expr& condition, bool some, const Part& part) {
    const Expr outer = std::exchange(mask_, mask_.defined() ? mask_ && condition : condition);
    const bool outer_some = std::exchange(some_lane_runs_, some);
    Forget();
    auto result = part();
    mask_ = outer;
    some_lane_runs_ = outer_some;
    Forget();
    return result;
  }

  // The condition that any lane runs, if those that run lie beside each other. Each conjunct bounds
  // them from one side, and the lane next to that bound tells whether it holds. Bounds from both
  // sides must leave a lane between them, which they do if the steps to it are at most one lane
  // long.
  std::optional<Expr> SomeLaneRuns(const Expr& condition) const {
    std::vector<Expr> parts;
    SplitConjunction(condition, &parts);
    std::vector<LinearCondition> from_below, from_above;
    Expr runs = True();
    for (const Expr& part : parts) {
      if (!Varies(part)) {
        runs = runs && part;
        continue;
      }
      const std::optional<LinearCondition> linear = ToLinearCondition(part, var_);
      if (!linear || Varies(linear->rest)) return std::nullopt;
      const bool above = linear->coefficient > 0;
      (above ? from_above : from_below).push_back(*linear);
      runs = runs && Substitute(part, {{var_, above ? min_ : min_ + (lanes_ - 1)}});
    }
    for (const LinearCondition& below : from_below) {
      for (const LinearCondition& above : from_above) {
        if (below.coefficient != -1 || above.coefficient != 1) return std::nullopt;
        runs = runs && below.rest + above.rest <= 0;
      }
    }
    return Simplify(runs);
  }

  const Var& var_;
  const Expr& min_;
  const int lanes_;
  ExprMap wide_;                 // what variables of lets became
  Expr mask_;                    // the lanes that run; undefined: all
  bool some_lane_runs_ = false;  // so that what all lanes share may be loaded as it is
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
    const auto serial = [&] {
      return HoistGuards(For(loop->var, loop->min, loop->extent, ForKind::kSerial, body));
    };
    if (extent->value < 2) return serial();
    const std::optional<Stmt> wide = extent->value <= kMaxLanes
                                         ? Widened(*loop, loop->min, extent->value, body)
                                         : InBlocks(*loop, extent->value, body);
    return wide ? *wide : serial();
  }

 private:
  // The iterations [min, min + lanes) at once. Nothing if the body cannot run so.
  static std::optional<Stmt> Widened(const ForNode& loop, const Expr& min, std::int64_t lanes,
                                     const Stmt& body) {
    if (lanes == 1) return Substitute(body, {{loop.var, min}});
    Widener widener(loop.var, min, static_cast<int>(lanes));
    const Stmt wide = widener(body);
    return widener.failed() ? std::nullopt : std::optional(wide);
  }

  static std::optional<Stmt> InBlocks(const ForNode& loop, std::int64_t extent, const Stmt& body) {
    const Var block(StrCat(loop.var.name(), ".block"));
    const std::int64_t blocks = extent / kBlockLanes, rest = extent % kBlockLanes;
    const auto whole = Widened(loop, loop.min + block * kBlockLanes, kBlockLanes, body);
    if (!whole) return std::nullopt;
    const Stmt vectors = For(block, 0, blocks, ForKind::kSerial, *whole);
    if (rest == 0) return vectors;
    const auto tail = Widened(loop, loop.min + blocks * kBlockLanes, rest, body);
    return tail ? std::optional(Seq({vectors, *tail})) : std::nullopt;
  }
};

}  // namespace

Stmt VectorizeLoops(const Stmt& stmt) { return LoopVectorizer()(stmt); }

}  // namespace tenon::loop
