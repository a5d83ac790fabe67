// Shapes that LLVM's vectoriser leaves scalar or makes little of, as loops that VectorizeLoops
// takes.
//
// `for k: r = r op f(k)`, where f calls a function of the vector math library: blocks of f's values
// come first, in vectors, and are combined afterwards, in the same order.
//
// Any reduction that may go in another order and whose operation gives r when it combines r with r
// (any, the extrema of integers, the pairs of argmax): each lane keeps a result of its own, all
// starting from r; halves of the lanes are combined until one is left. The order depends on the
// extent alone. Elements may be taken twice, so that no block is a part of one. Where a value rises
// with k, as the index of argmax does, lanes start from the first block instead: which of two
// indices is the smaller one is known then, and a step of argmax is two comparisons.
//
// The last block of a split has min(c, x) iterations; where these are too few for vectors, the loop
// stays.
//
// The extremum of floats likewise, in two parts: one that no NaN enters, which is one instruction,
// and zero or a NaN that was there. A result that NaN enters would wait for a comparison with
// itself at each step.
//
// What each iteration fetches before it does anything else, a block fetches line by line.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "tenon/loop/simplify/guards.h"
#include "tenon/loop/simplify/simplify.h"
#include "tenon/loop/transform/reduction_update.h"
#include "tenon/loop/transform/transforms.h"
#include "tenon/loop/visit.h"
#include "tenon/support/alignment.h"
#include "tenon/support/arithmetic.h"

namespace tenon::loop {
namespace {

bool CallsVectorMathItself(const Expr& e) {
  const auto* call = e.As<CallNode>();
  return call != nullptr && IsVectorMath(call->intrinsic);
}

}  // namespace

bool IsVectorMath(Intrinsic intrinsic) {
  switch (intrinsic) {
    case Intrinsic::kExp:
    case Intrinsic::kLog:
    case Intrinsic::kLog2:
    case Intrinsic::kLog10:
    case Intrinsic::kLog1p:
    case Intrinsic::kSin:
    case Intrinsic::kCos:
    case Intrinsic::kTan:
    case Intrinsic::kAsin:
    case Intrinsic::kAcos:
    case Intrinsic::kAtan:
    case Intrinsic::kSinh:
    case Intrinsic::kCosh:
    case Intrinsic::kTanh:
    case Intrinsic::kAsinh:
    case Intrinsic::kAcosh:
    case Intrinsic::kAtanh:
    case Intrinsic::kErf:
    case Intrinsic::kSigmoid:
    case Intrinsic::kPow:
    case Intrinsic::kAtan2:
      return true;
    default:
      return false;
  }
}

bool CallsVectorMath(const Expr& e) {
  bool calls = false;
  VisitExpr(e, [&](const Expr& x) { calls = calls || CallsVectorMathItself(x); });
  return calls;
}

bool CallsVectorMath(const Stmt& stmt) {
  bool calls = false;
  VisitExprs(stmt, [&](const Expr& x) { calls = calls || CallsVectorMathItself(x); });
  return calls;
}

namespace {

// Bytes of a result that several vector registers hold.
constexpr std::int64_t kBytes = 256;
constexpr std::int64_t kMaxLanes = 128;
constexpr std::int64_t kMinLanes = 8;

// Moves the loads and stores of results to lanes of their own.
class ToLane : public StmtMutator {
 public:
  ToLane(const std::vector<const StoreNode*>& stores, const std::vector<Buffer>& lanes,
         const Expr& lane)
      : stores_(stores), lanes_(lanes), lane_(lane) {}

 protected:
  Expr Mutate(const Expr& e) override {
    const auto* load = e.As<LoadNode>();
    for (std::size_t i = 0; load != nullptr && i < stores_.size(); ++i) {
      if (load->buffer == stores_[i]->buffer) return Load(lanes_[i], {lane_});
    }
    return MutateChildren(e);
  }
  Stmt MutateStmt(const Stmt& stmt) override {
    const auto* store = stmt.As<StoreNode>();
    for (std::size_t i = 0; store != nullptr && i < stores_.size(); ++i) {
      if (store->buffer == stores_[i]->buffer)
        return Store(lanes_[i], (*this)(store->value), {lane_}, store->store_kind);
    }
    return MutateStmtChildren(stmt);
  }

 private:
  const std::vector<const StoreNode*>& stores_;
  const std::vector<Buffer>& lanes_;
  const Expr& lane_;
};

class ReductionVectorizer : public StmtMutator {
 protected:
  Expr Mutate(const Expr& e) override { return e; }

  Stmt MutateStmt(const Stmt& stmt) override {
    const auto* n = stmt.As<ForNode>();
    if (n == nullptr) return MutateStmtChildren(stmt);
    // Lanes of a loop that is vectorised already are not vectorised again.
    if (n->for_kind == ForKind::kVectorized) return stmt;
    if (n->for_kind == ForKind::kSerial && n->body.kind() == StmtKind::kIf) {
      const Stmt hoisted = Simplify(HoistGuards(stmt));
      const auto* loop = hoisted.As<ForNode>();
      if (loop == nullptr || loop->body.kind() != StmtKind::kIf) return MutateStmt(hoisted);
    }
    const std::int64_t most = MostIterations(n->extent);
    if (const auto* first = n->min.As<IntImmNode>(); first != nullptr && most > 0)
      bounds_.Bind(n->var, {first->value, first->value + most - 1});
    if (n->for_kind == ForKind::kSerial && most >= kMinLanes) {
      const auto [fetches, bare] = SplitFetches(stmt);
      n = bare.As<ForNode>();
      if (const auto update = TakeApart(*n)) {
        const std::int64_t lanes = Lanes(*update, most);
        if (update->stores.size() == 1 && update->joined.empty() &&
            CallsVectorMath(update->values[0].second))
          return fetches.empty() ? ValuesFirst(*n, *update, lanes) : stmt;
        // Whole blocks need one.
        const Expr is_long = n->extent >= lanes;
        if (IsFloatExtremum(*update))
          return If(is_long, ExtremumByLane(*n, *update, lanes, fetches), stmt);
        if (MayReorder(*update)) return If(is_long, LaneByLane(*n, *update, lanes, fetches), stmt);
      }
    }
    return MutateStmtChildren(stmt);
  }

 private:
  // Whether it is a fetch of what lies an element further in the next iteration.
  static bool IsFetchAlongMemory(const Stmt& stmt, const Var& var) {
    const auto* evaluated = stmt.As<EvaluateNode>();
    const auto* call = evaluated == nullptr ? nullptr : evaluated->value.As<CallNode>();
    if (call == nullptr || !IsPrefetch(call->intrinsic)) return false;
    const std::vector<Expr>& at = call->args[0].As<LoadNode>()->indices;
    if (at.empty()) return false;
    const bool others_stay =
        std::none_of(at.begin(), at.end() - 1, [&](const Expr& i) { return UsesVar(i, var); });
    const Expr next = Substitute(at.back(), {{var, var + 1}});
    return others_stay && IsConstInt(Simplify(next - at.back()), 1);
  }

  // What an iteration fetches before it does anything else, and the loop without that.
  static std::pair<std::vector<Stmt>, Stmt> SplitFetches(const Stmt& loop) {
    const auto& n = *loop.As<ForNode>();
    const auto* seq = n.body.As<SeqNode>();
    std::vector<Stmt> fetches, rest;
    for (const Stmt& stmt : seq == nullptr ? std::vector<Stmt>{} : seq->stmts)
      (rest.empty() && IsFetchAlongMemory(stmt, n.var) ? fetches : rest).push_back(stmt);
    if (fetches.empty()) return {{}, loop};
    return {fetches, Around(n, Seq(std::move(rest)))};
  }

  // One for each line that a block of iterations reads along memory.
  static std::vector<Stmt> FetchesOfBlock(const std::vector<Stmt>& fetches, const ForNode& loop,
                                          const Expr& block, std::int64_t lanes) {
    std::vector<Stmt> all;
    for (const Stmt& fetch : fetches) {
      const auto& call = *fetch.As<EvaluateNode>()->value.As<CallNode>();
      const auto bytes =
          static_cast<std::int64_t>(call.args[0].As<LoadNode>()->buffer->dtype.bytes());
      for (std::int64_t lane = 0; lane < lanes; lane += kCacheLineBytes / bytes)
        all.push_back(Substitute(fetch, {{loop.var, loop.min + block + lane}}));
    }
    return all;
  }

  // In any order, and r op r = r.
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

  static Stmt InBlocks(const ForNode& loop, std::int64_t lanes,
                       const std::function<Stmt(const Expr& block)>& body, std::int64_t from = 0) {
    const Var block(loop.var.name() + ".block");
    const Expr blocks = FloorDiv(loop.extent + (lanes - 1), lanes);
    return For(block, from, blocks - from, ForKind::kSerial, body(block * lanes));
  }

  // The last block begins early enough to be whole: what is taken twice changes no result. Blocks
  // before `from` are fetched for all the same.
  static Stmt InOverlappingBlocks(const ForNode& loop, std::int64_t lanes,
                                  const std::vector<Stmt>& fetches,
                                  const std::function<Stmt(const Expr& block)>& body,
                                  std::int64_t from = 0) {
    const auto* constant = loop.extent.As<IntImmNode>();
    const bool are_whole = constant != nullptr && constant->value % lanes == 0;
    const auto whole = [&](const Expr& block) {
      const Expr first = are_whole ? block : Min(block, loop.extent - lanes);
      std::vector<Stmt> steps = FetchesOfBlock(fetches, loop, first, lanes);
      steps.push_back(body(first));
      return Seq(std::move(steps));
    };
    std::vector<Stmt> all;
    for (std::int64_t block = 0; block < from; ++block) {
      for (const Stmt& fetch : FetchesOfBlock(fetches, loop, block * lanes, lanes))
        all.push_back(fetch);
    }
    all.push_back(InBlocks(loop, lanes, whole, from));
    return Seq(std::move(all));
  }

  // Halves of the lanes are combined until one is left: `combine(lane, half)` takes lane + half in.
  static void CombineHalves(
      const Var& k, std::int64_t lanes, std::vector<Stmt>& steps,
      const std::function<Stmt(const Var& lane, std::int64_t half)>& combine) {
    for (std::int64_t half = lanes / 2; half >= 1; half /= 2) {
      const Var lane(k.name() + ".lane");
      steps.push_back(For(lane, 0, half, ForKind::kVectorized, combine(lane, half)));
    }
  }

  static Stmt ValuesFirst(const ForNode& loop, const ReductionUpdate& update, std::int64_t lanes) {
    const StoreNode& store = *update.stores[0];
    const auto& n = *store.value.As<BinaryNode>();
    const Buffer values = Buffer::Make("values", n.b.dtype(), {lanes});
    const Var lane(loop.var.name() + ".lane"), element(loop.var.name() + ".element");
    return InBlocks(loop, lanes, [&](const Expr& block) {
      const Expr value = Substitute(n.b, {{loop.var, loop.min + block + lane}});
      const Stmt compute = For(lane, 0, lanes, ForKind::kVectorized,
                               If(block + lane < loop.extent, Store(values, value, {lane})));
      const Expr joined = Binary(n.op, n.a, Load(values, {element}));
      const Stmt join = For(element, 0, lanes, ForKind::kSerial,
                            If(block + element < loop.extent,
                               Store(store.buffer, joined, store.indices, store.store_kind)));
      return Allocate(values, Seq({compute, join}));
    });
  }

  static Stmt ExtremumByLane(const ForNode& loop, const ReductionUpdate& update, std::int64_t lanes,
                             const std::vector<Stmt>& fetches) {
    const StoreNode& store = *update.stores[0];
    const auto& n = *store.value.As<BinaryNode>();
    // Vectors of halves are compared as float32 anyway.
    const DataType type = n.b.dtype().bits() == 16 ? Float32 : n.b.dtype();
    // One comparison looks at two values, whose sum is NaN where one of them is.
    const std::int64_t width = lanes / 2;
    const Buffer best = Buffer::Make(store.buffer->name + ".lanes", type, {lanes});
    const Buffer nan = Buffer::Make(store.buffer->name + ".nan", type, {width});
    const auto is_nan = [](const Expr& x) { return Binary(BinaryOp::kNE, x, x); };
    const auto take = [&](const Expr& at, const Expr& value) {
      const Expr so_far = Load(best, {at});
      const Expr wins =
          Binary(n.op == BinaryOp::kMin ? BinaryOp::kLT : BinaryOp::kGT, value, so_far);
      return Store(best, Select(wins, value, so_far), {at});
    };
    const auto in_lanes = [&](std::int64_t count, const std::function<Stmt(const Var&)>& body) {
      const Var lane(loop.var.name() + ".lane");
      return For(lane, 0, count, ForKind::kVectorized, body(lane));
    };
    std::vector<Stmt> steps = {
        in_lanes(lanes,
                 [&](const Var& lane) {
                   return Store(best, Cast(type, Load(store.buffer, store.indices)), {lane});
                 }),
        in_lanes(width, [&](const Var& lane) { return Store(nan, Constant(type, 0), {lane}); })};
    steps.push_back(InOverlappingBlocks(loop, lanes, fetches, [&](const Expr& block) {
      return in_lanes(width, [&](const Var& lane) {
        const auto value_at = [&](const Expr& at) {
          return Cast(type, Substitute(n.b, {{loop.var, loop.min + block + at}}));
        };
        const Var first("value", type), second("value", type);
        const Expr found = Binary(BinaryOp::kOr, is_nan(first), is_nan(second));
        const Expr kept = Select(found, first + second, Load(nan, {lane}));
        return LetStmt(first, value_at(lane),
                       LetStmt(second, value_at(lane + width),
                               Seq({Store(nan, kept, {lane}), take(lane, first),
                                    take(lane + width, second)})));
      });
    }));
    CombineHalves(loop.var, lanes, steps, [&](const Var& lane, std::int64_t half) {
      return take(lane, Load(best, {lane + half}));
    });
    CombineHalves(loop.var, width, steps, [&](const Var& lane, std::int64_t half) {
      return Store(nan, Load(nan, {lane}) + Load(nan, {lane + half}), {lane});
    });
    const Expr found_nan = Load(nan, {0});
    const Expr result = Select(is_nan(found_nan), found_nan, Load(best, {0}));
    steps.push_back(Store(store.buffer, Cast(store.buffer->dtype, result), store.indices));
    return Allocate(best, Allocate(nan, Seq(std::move(steps))));
  }

  // Lanes start from r, or, where it helps that a lane's results are of earlier iterations, from
  // the first block, and r comes last.
  Stmt LaneByLane(const ForNode& loop, const ReductionUpdate& update, std::int64_t lanes,
                  const std::vector<Stmt>& fetches) const {
    const std::optional<OrderedUpdate> in_order = InOrder(update, loop.var, bounds_);
    std::vector<Buffer> results;
    for (const StoreNode* store : update.stores)
      results.push_back(
          Buffer::Make(store->buffer->name + ".lanes", store->buffer->dtype, {lanes}));
    const auto values_at = [&](const Expr& at) {
      std::vector<Expr> values;
      for (const auto& [var, value] : update.values)
        values.push_back(Substitute(value, {{loop.var, loop.min + at}}));
      return values;
    };
    const auto results_at = [&](const Expr& at) {
      std::vector<Expr> loads;
      for (const Buffer& result : results) loads.push_back(Load(result, {at}));
      return loads;
    };
    std::vector<Stmt> steps;
    for (std::size_t i = 0; i < results.size(); ++i) {
      const Var first(loop.var.name() + ".lane");
      const StoreNode& store = *update.stores[i];
      const Expr start = in_order ? values_at(first)[i] : Load(store.buffer, store.indices);
      steps.push_back(
          For(first, 0, lanes, ForKind::kVectorized, Store(results[i], start, {first})));
    }
    const auto block_of = [&](const Expr& block) {
      const Var lane(loop.var.name() + ".lane");
      return For(lane, 0, lanes, ForKind::kVectorized,
                 ToLane(update.stores, results, lane)(
                     JoinWith(in_order ? in_order->of_later : update, values_at(block + lane))));
    };
    steps.push_back(InOverlappingBlocks(loop, lanes, fetches, block_of, in_order ? 1 : 0));
    CombineHalves(loop.var, lanes, steps, [&](const Var& lane, std::int64_t half) {
      return ToLane(update.stores, results,
                    lane)(JoinWith(in_order ? in_order->of_any : update, results_at(lane + half)));
    });
    if (in_order) {
      steps.push_back(JoinWith(update, results_at(0)));
    } else {
      for (std::size_t i = 0; i < results.size(); ++i) {
        const StoreNode& store = *update.stores[i];
        steps.push_back(Store(store.buffer, Load(results[i], {0}), store.indices));
      }
    }
    Stmt result = Seq(std::move(steps));
    for (const Buffer& buffer : results) result = Allocate(buffer, result);
    return result;
  }

  Bounds bounds_;  // of the variables of loops around the statement
};

}  // namespace

Stmt VectorizeReductions(const Stmt& stmt) { return ReductionVectorizer()(stmt); }

}  // namespace tenon::loop
