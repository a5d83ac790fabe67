// for a: for s: for lane: if (c < n) out[base + c] = f(c), with c = a * m + s * L + lane for
// vectors of L elements, becomes the same loops with c - skew in place of c, where skew is how far
// base lies after a line. Whole vectors then write whole lines. The first and the last vector may
// write a part of a line; HoistGuards and PartitionLoops tell them from the others. The last line
// of the next run is fetched beforehand.
//
// That needs a value that is a function of the place. Before this pass, c / L may have become
// a * m / L + s, since lanes do not reach the next vector; then nothing is shifted.
#include <algorithm>
#include <optional>
#include <vector>

#include "tenon/loop/simplify/guards.h"
#include "tenon/loop/simplify/simplify.h"
#include "tenon/loop/transform/transforms.h"
#include "tenon/loop/visit.h"
#include "tenon/support/alignment.h"
#include "tenon/support/arithmetic.h"

namespace tenon::loop {
namespace {

// A streaming store and the loops around it, the outermost first.
struct Nest {
  std::vector<const ForNode*> loops;
  const IfNode* guard = nullptr;
  const StoreNode* store = nullptr;
};

// The nest of the only store under `stmt`, which may stand under one guard beside fetches.
class NestFinder {
 public:
  static std::optional<Nest> Find(const Stmt& stmt) {
    NestFinder finder;
    return finder.Visit(stmt) && finder.found_.store != nullptr ? std::optional(finder.found_)
                                                                : std::nullopt;
  }

 private:
  // Returns whether there is nothing else.
  bool Visit(const Stmt& stmt) {
    switch (stmt.kind()) {
      case StmtKind::kFor: {
        path_.loops.push_back(stmt.As<ForNode>());
        const bool is_nest = Visit(path_.loops.back()->body);
        path_.loops.pop_back();
        return is_nest;
      }
      case StmtKind::kSeq: {
        const std::vector<Stmt>& parts = stmt.As<SeqNode>()->stmts;
        return std::all_of(parts.begin(), parts.end(), [&](const Stmt& s) { return Visit(s); });
      }
      case StmtKind::kIf: {
        if (path_.guard != nullptr || stmt.As<IfNode>()->else_case) return false;
        path_.guard = stmt.As<IfNode>();
        const bool is_nest = Visit(path_.guard->then_case);
        path_.guard = nullptr;
        return is_nest;
      }
      case StmtKind::kStore:
        if (found_.store != nullptr) return false;
        path_.store = stmt.As<StoreNode>();
        found_ = path_;
        return found_.store->store_kind == StoreKind::kStreaming;
      case StmtKind::kEvaluate: {
        const auto* call = stmt.As<EvaluateNode>()->value.As<CallNode>();
        return call != nullptr && IsPrefetch(call->intrinsic);
      }
      case StmtKind::kAllocate:
      case StmtKind::kLet:
        return false;
    }
    return false;
  }

  Nest path_, found_;
};

// A run of memory that the loops of a nest write.
struct Run {
  Expr place;               // in the run, of an iteration
  Expr base;                // offset of place 0
  std::int64_t step = 1;    // of the outermost loop
  std::int64_t extent = 0;  // elements
};

// The number of elements for which `condition` holds. It bounds the place, or the number of a block
// of places that an inner loop runs over (both occur when a split is split again).
std::optional<std::int64_t> ExtentUnder(const Expr& condition, const Nest& nest,
                                        const Expr& place) {
  Bounds bounds;
  for (const ForNode* loop : nest.loops)
    bounds.Bind(loop->var, {0, loop->extent.As<IntImmNode>()->value - 1});
  std::int64_t block = 1;
  for (auto it = nest.loops.rbegin(); it != nest.loops.rend(); ++it) {
    const Var& var = (*it)->var;
    const auto bound = ToLinearCondition(condition, var);
    if (bound && bound->coefficient == 1) {
      const Expr number = Simplify(FloorDiv(place, block), bounds);
      const Expr last = Simplify(number - var - bound->rest);
      const auto* constant = last.As<IntImmNode>();
      return constant == nullptr ? std::nullopt : std::optional((constant->value + 1) * block);
    }
    block *= (*it)->extent.As<IntImmNode>()->value;
  }
  return std::nullopt;
}

std::optional<Run> RunOf(const Nest& nest) {
  const Linear offset = ToLinear(OffsetOf(nest.store->buffer, nest.store->indices), {});
  Run run{.place = 0, .extent = 1};
  for (auto it = nest.loops.rbegin(); it != nest.loops.rend(); ++it) {
    const ForNode& loop = **it;
    const auto* extent = loop.extent.As<IntImmNode>();
    run.step = run.extent;
    if (extent == nullptr || !IsConstInt(loop.min, 0) || offset.CoefficientOf(loop.var) != run.step)
      return std::nullopt;
    run.place = loop.var * run.step + run.place;
    run.extent *= extent->value;
  }
  run.base = Simplify(offset.ToExpr() - run.place);
  for (const ForNode* loop : nest.loops) {
    if (UsesVar(run.base, loop->var)) return std::nullopt;
  }
  std::vector<Expr> conditions;
  if (nest.guard != nullptr) SplitConjunction(nest.guard->condition, &conditions);
  for (const Expr& condition : conditions) {
    const std::optional<std::int64_t> extent = ExtentUnder(condition, nest, run.place);
    if (!extent) return std::nullopt;
    run.extent = std::min(run.extent, *extent);
  }
  return run;
}

// Loads by their offsets in memory, whatever the shapes of buffers.
class FlatLoads : public ExprMutator {
 protected:
  Expr Mutate(const Expr& e) override {
    const Expr mutated = MutateChildren(e);
    const auto* load = mutated.As<LoadNode>();
    if (load == nullptr || load->predicate.defined()) return mutated;
    return Load(load->buffer, {OffsetOf(load->buffer, load->indices)}, load->producer);
  }
};

// Whether the stored value is the same in all iterations that have the same place: a step of a loop
// more, and as many lanes less. No ranges are known here, so that this holds between vectors, too.
bool IsOfPlace(const Nest& nest) {
  const ForNode& lanes = *nest.loops.back();
  const Expr flat = FlatLoads()(nest.store->value);
  const Expr value = Simplify(flat);
  std::int64_t step = 1;
  for (auto it = nest.loops.rbegin(); it != nest.loops.rend(); ++it) {
    const Var& var = (*it)->var;
    const ExprMap same_place = {{var, var + 1}, {lanes.var, lanes.var - step}};
    if (*it != &lanes && !StructuralEqual(Simplify(Substitute(flat, same_place)), value))
      return false;
    step *= (*it)->extent.As<IntImmNode>()->value;
  }
  return true;
}

class StreamAligner : public StmtMutator {
 protected:
  Expr Mutate(const Expr& e) override { return e; }

  Stmt MutateStmt(const Stmt& stmt) override {
    const auto* outer = stmt.As<ForNode>();
    if (outer == nullptr || outer->for_kind != ForKind::kSerial) return MutateStmtChildren(stmt);
    const std::optional<Nest> nest = NestFinder::Find(stmt);
    const std::optional<Run> run = nest ? RunOf(*nest) : std::nullopt;
    if (!run) return MutateStmtChildren(stmt);
    const ForNode& lanes = *nest->loops.back();
    const std::int64_t line =
        kCacheLineBytes / static_cast<std::int64_t>(nest->store->buffer->dtype.bytes());
    const auto* count = lanes.extent.As<IntImmNode>();
    if (nest->guard != lanes.body.As<IfNode>() || lanes.for_kind != ForKind::kVectorized ||
        count->value % line != 0 || nest->loops.size() < 2)
      return stmt;
    // A shorter run need not have a whole line in it, wherever it begins.
    if (run->extent < 2 * line - 1) return stmt;
    const Expr skew = Simplify(run->base - FloorDiv(run->base, line) * line);
    if (IsConstInt(skew, 0) || !IsOfPlace(*nest)) return stmt;
    return Shifted(*outer, *nest, *run, line, skew);
  }

 private:
  static Stmt Shifted(const ForNode& outer, const Nest& nest, const Run& run, std::int64_t line,
                      const Expr& skew) {
    const ForNode& lanes = *nest.loops.back();
    const Stmt store =
        lanes.body.As<IfNode>() == nullptr ? lanes.body : lanes.body.As<IfNode>()->then_case;
    const Expr place = run.place - skew;
    const Stmt part = For(
        lanes.var, 0, lanes.extent, ForKind::kVectorized,
        If(place >= 0 && place < run.extent, Substitute(store, {{lanes.var, lanes.var - skew}})));
    const Stmt body = Replace(outer.body, lanes, part);
    const Stmt loop =
        For(outer.var, 0, CeilDiv(run.extent + line - 1, run.step), outer.for_kind, body);
    return HasNext(run) ? Seq({FetchOfNextEnd(nest, run), loop}) : loop;
  }

  // Whether a loop around the run goes on where the run ends.
  static bool HasNext(const Run& run) {
    const Linear base = ToLinear(run.base, {});
    return std::any_of(base.terms.begin(), base.terms.end(),
                       [&](const auto& term) { return term.second == run.extent; });
  }

  // A line that is written in part is read before. That takes long, and stores wait for one
  // another.
  static Stmt FetchOfNextEnd(const Nest& nest, const Run& run) {
    ExprMap last = {{nest.loops.back()->var, 2 * run.extent - 1}};
    for (const ForNode* loop : nest.loops) last.emplace(loop->var, 0);
    std::vector<Expr> indices;
    for (const Expr& index : nest.store->indices) indices.push_back(Substitute(index, last));
    return Evaluate(
        Call(Intrinsic::kPrefetchWrite, {Load(nest.store->buffer, std::move(indices))}));
  }

  static Stmt Replace(const Stmt& stmt, const ForNode& old, const Stmt& now) {
    if (stmt.get() == &old) return now;
    if (const auto* n = stmt.As<ForNode>())
      return For(n->var, n->min, n->extent, n->for_kind, Replace(n->body, old, now));
    if (const auto* n = stmt.As<SeqNode>()) {
      std::vector<Stmt> parts;
      for (const Stmt& part : n->stmts) parts.push_back(Replace(part, old, now));
      return Seq(std::move(parts));
    }
    return stmt;
  }
};

}  // namespace

Stmt AlignStreams(const Stmt& stmt) { return StreamAligner()(stmt); }

}  // namespace tenon::loop
