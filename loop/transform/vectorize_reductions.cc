// Turns shapes that LLVM's vectoriser leaves scalar or makes little of into loops that
// VectorizeLoops takes.
//
// `for k: r = r op f(k)`, where f calls a function of the vector math library: blocks of f's values
// come first, in vectors, and are combined afterwards, in the same order.
//
// Any reduction that may go in another order and whose operation gives r when it combines r with r
// (any, the extrema of integers, the pairs of argmax): each lane keeps a result of its own, and all
// start from r. Halves of the lanes are combined until one is left. The order depends on the extent
// alone. Elements may be taken twice, so that all blocks are whole. If a value rises with k, as the
// index of argmax does, lanes start from the first block instead. Then it is known which of two
// indices is the smaller one, and a step of argmax is two comparisons.
//
// The last block of a split has min(c, x) iterations. If these are too few for vectors, the loop
// stays. An extent that is a parameter of the function may have any value, so it gets blocks of all
// lanes for long rows, and of fewer for short ones.
//
// The extremum of floats goes the same way, with NaN in a part of its own (reduction_lanes.h). What
// each iteration fetches before it does anything else, a block fetches line by line.
#include <algorithm>

#include "tenon/loop/simplify/guards.h"
#include "tenon/loop/simplify/simplify.h"
#include "tenon/loop/transform/reduction_blocks.h"
#include "tenon/loop/transform/reduction_lanes.h"
#include "tenon/loop/transform/reduction_update.h"
#include "tenon/loop/transform/transforms.h"
#include "tenon/loop/visit.h"

namespace tenon::loop {
namespace {

// Bytes of a result that several vector registers hold.
constexpr std::int64_t kBytes = 256;
constexpr std::int64_t kMaxLanes = 128;
constexpr std::int64_t kMinLanes = 8;
// How many times as many lanes blocks have for long rows as for short ones, if the extent is open.
constexpr std::int64_t kLongByShort = 4;

class ReductionVectorizer : public StmtMutator {
 protected:
  Expr Mutate(const Expr& e) override { return e; }

  Stmt MutateStmt(const Stmt& stmt) override {
    if (const auto* let = stmt.As<LetStmtNode>()) inner_.emplace(let->var, let->var);
    const auto* n = stmt.As<ForNode>();
    if (n == nullptr) return MutateStmtChildren(stmt);
    // Lanes of a loop that is vectorised already are not vectorised again.
    if (n->for_kind == ForKind::kVectorized) return stmt;
    if (n->for_kind == ForKind::kSerial && n->body.kind() == StmtKind::kIf) {
      const Stmt hoisted = Simplify(HoistGuards(stmt));
      const auto* loop = hoisted.As<ForNode>();
      if (loop == nullptr || loop->body.kind() != StmtKind::kIf) return MutateStmt(hoisted);
    }
    std::int64_t most = MostIterations(n->extent);
    const bool is_open = most == 0 && IsOpen(n->extent);
    if (is_open) most = kMaxLanes;
    // A copy of this loop, with other bounds, may have been seen before.
    bounds_.Forget(n->var);
    if (const auto* first = n->min.As<IntImmNode>(); first != nullptr && most > 0 && !is_open)
      bounds_.Bind(n->var, {first->value, first->value + most - 1});
    if (n->for_kind == ForKind::kSerial && most >= kMinLanes) {
      const auto [fetches, bare] = SplitFetches(stmt);
      n = bare.As<ForNode>();
      if (const auto update = TakeApart(*n)) {
        const std::int64_t lanes = Lanes(*update, most);
        if (update->stores.size() == 1 && update->joined.empty() &&
            CallsVectorMath(update->values[0].second))
          return fetches.empty() ? ValuesFirst(*n, *update, lanes) : stmt;
        const bool is_extremum = IsFloatExtremum(*update);
        if (is_extremum || MayReorder(*update)) {
          const auto by_lane = [&](std::int64_t count, const Stmt& otherwise) {
            // Whole blocks need at least one block.
            return If(n->extent >= count,
                      is_extremum ? ExtremumByLane(*n, *update, count, fetches)
                                  : LaneByLane(*n, *update, count, fetches, bounds_),
                      otherwise);
          };
          return by_lane(lanes, is_open ? by_lane(lanes / kLongByShort, stmt) : stmt);
        }
      }
    }
    inner_.emplace(n->var, n->var);
    const Stmt result = MutateStmtChildren(stmt);
    inner_.erase(n->var);
    return result;
  }

 private:
  // Whether the extent has parameters alone, so that it is the same for all iterations of the loops
  // around it.
  bool IsOpen(const Expr& extent) const {
    if (extent.As<IntImmNode>() != nullptr || LoadsAnything(extent)) return false;
    bool is_open = true;
    VisitExpr(extent, [&](const Expr& e) {
      if (const auto* var = e.As<VarNode>(); var != nullptr && inner_.contains(e)) is_open = false;
    });
    return is_open;
  }

  // Whether the order is free, and r op r = r.
  static bool MayReorder(const ReductionUpdate& update) {
    if (!update.joined.empty()) {
      return std::all_of(update.stores.begin(), update.stores.end(),
                         [](const StoreNode* store) { return MayReassociate(*store); });
    }
    const auto& n = *update.stores[0]->value.As<BinaryNode>();
    if (n.op == BinaryOp::kMin || n.op == BinaryOp::kMax) return !n.b.dtype().is_float();
    return n.op == BinaryOp::kOr;  // LLVM does the conjunction
  }

  static bool IsFloatExtremum(const ReductionUpdate& update) {
    if (!update.joined.empty()) return false;
    const auto& n = *update.stores[0]->value.As<BinaryNode>();
    return (n.op == BinaryOp::kMin || n.op == BinaryOp::kMax) && n.b.dtype().is_float();
  }

  static std::int64_t Lanes(const ReductionUpdate& update, std::int64_t extent) {
    std::size_t widest = 1;
    for (const auto& [var, value] : update.values) widest = std::max(widest, value.dtype().bytes());
    std::int64_t lanes = std::min(kMaxLanes, kBytes / static_cast<std::int64_t>(widest));
    while (lanes > extent) lanes /= 2;
    return lanes;
  }

  // The iterations of a loop if they are constant, or of the whole blocks of a split: min(c, x).
  // Otherwise 0.
  static std::int64_t MostIterations(const Expr& extent) {
    if (const auto* n = extent.As<IntImmNode>()) return n->value;
    const auto* n = extent.As<BinaryNode>();
    if (n == nullptr || n->op != BinaryOp::kMin || LoadsAnything(extent)) return 0;
    return std::max(MostIterations(n->a), MostIterations(n->b));
  }

  Bounds bounds_;  // of the variables of loops around the statement
  ExprMap inner_;  // these variables and those of lets, each to itself
};

}  // namespace

Stmt VectorizeReductions(const Stmt& stmt) { return ReductionVectorizer()(stmt); }

}  // namespace tenon::loop
