// Shapes that LLVM's vectoriser leaves scalar or makes little of, as loops that VectorizeLoops
// takes.
//
// `for k: r = r op f(k)`, where f calls a function of the vector math library: blocks of f's values
// come first, in vectors, and are combined afterwards, in the same order.
//
// Any reduction that may go in another order and whose operation gives r when it combines r with r
// (any, the extrema of integers, the pairs of argmax): each lane keeps a result of its own, all
// starting from r; halves of the lanes are combined until one is left. The order depends on the
// extent alone. Elements may be taken twice, so that no block is a part of one.
//
// The extremum of floats likewise, in two parts: one that no NaN enters, which is one instruction,
// and zero or a NaN that was there. A result that NaN enters would wait for a comparison with
// itself at each step.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "tenon/loop/simplify.h"
#include "tenon/loop/transforms.h"
#include "tenon/loop/visit.h"
#include "tenon/support/arithmetic.h"

namespace tenon::loop {

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
  VisitExpr(e, [&](const Expr& x) {
    const auto* call = x.As<CallNode>();
    calls = calls || (call != nullptr && IsVectorMath(call->intrinsic));
  });
  return calls;
}

namespace {

// Bytes of a result that several vector registers hold.
constexpr std::int64_t kBytes = 256;
constexpr std::int64_t kMostLanes = 128;
constexpr std::int64_t kLeastLanes = 8;

bool CallsOutside(const Expr& e) {
  bool calls = false;
  VisitExpr(e, [&](const Expr& x) { calls = calls || x.kind() == ExprKind::kExternCall; });
  return calls;
}

// What a loop's body does to its results, taken apart: values of this iteration, then the joined
// ones, then the stores.
struct Update {
  std::vector<std::pair<Var, Expr>> values;
  std::vector<std::pair<Var, Expr>> joined;
  std::vector<const StoreNode*> stores;
};

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
    const auto* extent = n->extent.As<IntImmNode>();
    if (n->for_kind == ForKind::kSerial && extent != nullptr && extent->value >= kLeastLanes) {
      if (const auto update = TakeApart(*n)) {
        if (update->stores.size() == 1 && update->joined.empty() &&
            CallsVectorMath(update->values[0].second))
          return ValuesFirst(*n, *update, extent->value);
        if (IsFloatExtremum(*update)) return ExtremumByLane(*n, *update, extent->value);
        if (MayReorder(*update)) return LaneByLane(*n, *update, extent->value);
      }
    }
    return MutateStmtChildren(stmt);
  }

 private:
  static std::optional<Update> TakeApart(const ForNode& loop) {
    Update update;
    std::vector<const LetStmtNode*> lets;
    Stmt rest = loop.body;
    for (const auto* let = rest.As<LetStmtNode>(); let != nullptr; let = rest.As<LetStmtNode>()) {
      lets.push_back(let);
      rest = let->body;
    }
    if (const auto* seq = rest.As<SeqNode>()) {
      for (const Stmt& part : seq->stmts) update.stores.push_back(part.As<StoreNode>());
    } else {
      update.stores.push_back(rest.As<StoreNode>());
    }
    if (update.stores.empty()) return std::nullopt;
    for (const StoreNode* store : update.stores) {
      if (store == nullptr) return std::nullopt;
      for (const Expr& index : store->indices) {
        if (UsesVar(index, loop.var) || CallsOutside(index)) return std::nullopt;
      }
    }
    if (lets.empty()) return TakeApartBinary(loop.var, update);
    for (const LetStmtNode* let : lets) {
      if (CallsOutside(let->value)) return std::nullopt;
      const std::optional<bool> reads = ReadsResult(let->value, update.stores);
      if (!reads) return std::nullopt;
      if (*reads || !update.joined.empty()) {
        update.joined.emplace_back(let->var, let->value);
        if (UsesVar(let->value, loop.var)) return std::nullopt;
      } else {
        update.values.emplace_back(let->var, let->value);
      }
    }
    for (const StoreNode* store : update.stores) {
      const auto is_joined = [&](const auto& joined) { return joined.first.same_as(store->value); };
      if (!std::any_of(update.joined.begin(), update.joined.end(), is_joined)) return std::nullopt;
    }
    if (update.values.size() != update.stores.size()) return std::nullopt;
    return update;
  }

  // r = r op value
  static std::optional<Update> TakeApartBinary(const Var& var, Update update) {
    if (update.stores.size() != 1) return std::nullopt;
    const auto* n = update.stores[0]->value.As<BinaryNode>();
    if (n == nullptr || IsComparison(n->op) || CallsOutside(n->b)) return std::nullopt;
    const auto* result = n->a.As<LoadNode>();
    if (result == nullptr || !(result->buffer == update.stores[0]->buffer)) return std::nullopt;
    if (ReadsResult(n->a, update.stores) != true || ReadsResult(n->b, update.stores) != false ||
        !UsesVar(n->b, var))
      return std::nullopt;
    update.values.emplace_back(Var("value", n->b.dtype()), n->b);
    return update;
  }

  // Whether `e` reads a result; nothing when it reads another element of its buffer.
  static std::optional<bool> ReadsResult(const Expr& e,
                                         const std::vector<const StoreNode*>& stores) {
    bool reads = false, strange = false;
    VisitExpr(e, [&](const Expr& x) {
      const auto* load = x.As<LoadNode>();
      for (const StoreNode* store : stores) {
        if (load == nullptr || !(load->buffer == store->buffer)) continue;
        reads = true;
        for (std::size_t d = 0; d < store->indices.size(); ++d)
          strange = strange || !StructuralEqual(load->indices[d], store->indices[d]);
      }
    });
    return strange ? std::nullopt : std::optional(reads);
  }

  // In any order, and r op r = r.
  static bool MayReorder(const Update& update) {
    if (!update.joined.empty()) {
      return std::all_of(update.stores.begin(), update.stores.end(),
                         [](const StoreNode* store) { return MayReassociate(*store); });
    }
    const auto& n = *update.stores[0]->value.As<BinaryNode>();
    if (n.op == BinaryOp::kMin || n.op == BinaryOp::kMax) return n.b.dtype().is_integral();
    return n.op == BinaryOp::kOr;  // LLVM does the conjunction
  }

  static bool IsFloatExtremum(const Update& update) {
    if (!update.joined.empty()) return false;
    const auto& n = *update.stores[0]->value.As<BinaryNode>();
    const DataType type = n.b.dtype();
    return (n.op == BinaryOp::kMin || n.op == BinaryOp::kMax) &&
           (type == Float32 || type == Float64);
  }

  static std::int64_t Lanes(const Update& update, std::int64_t extent) {
    std::size_t widest = 1;
    for (const auto& [var, value] : update.values) widest = std::max(widest, value.dtype().bytes());
    std::int64_t lanes = std::min(kMostLanes, kBytes / static_cast<std::int64_t>(widest));
    while (lanes > extent) lanes /= 2;
    return lanes;
  }

  static Stmt InBlocks(const ForNode& loop, std::int64_t extent, std::int64_t lanes,
                       const std::function<Stmt(const Expr& block)>& body) {
    const Var block(loop.var.name() + ".block");
    return For(block, 0, CeilDiv(extent, lanes), ForKind::kSerial, body(block * lanes));
  }

  // The last block begins early enough to be whole: what is taken twice changes no result.
  static Stmt InOverlappingBlocks(const ForNode& loop, std::int64_t extent, std::int64_t lanes,
                                  const std::function<Stmt(const Expr& block)>& body) {
    return InBlocks(loop, extent, lanes, [&](const Expr& block) {
      return body(extent % lanes == 0 ? block : Min(block, extent - lanes));
    });
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

  static Stmt ValuesFirst(const ForNode& loop, const Update& update, std::int64_t extent) {
    const std::int64_t lanes = Lanes(update, extent);
    const StoreNode& store = *update.stores[0];
    const auto& n = *store.value.As<BinaryNode>();
    const Buffer values = Buffer::Make("values", n.b.dtype(), {lanes});
    const Var lane(loop.var.name() + ".lane"), element(loop.var.name() + ".element");
    return InBlocks(loop, extent, lanes, [&](const Expr& block) {
      const Expr value = Substitute(n.b, {{loop.var, loop.min + block + lane}});
      const Stmt compute = For(lane, 0, lanes, ForKind::kVectorized,
                               If(block + lane < extent, Store(values, value, {lane})));
      const Expr joined = Binary(n.op, n.a, Load(values, {element}));
      const Stmt join = For(element, 0, lanes, ForKind::kSerial,
                            If(block + element < extent,
                               Store(store.buffer, joined, store.indices, store.store_kind)));
      return Allocate(values, Seq({compute, join}));
    });
  }

  // The update with `values` in place of this iteration's.
  static Stmt With(const Update& update, const std::vector<Expr>& values) {
    if (update.joined.empty()) {
      const StoreNode& store = *update.stores[0];
      const auto& n = *store.value.As<BinaryNode>();
      return Store(store.buffer, Binary(n.op, n.a, values[0]), store.indices, store.store_kind);
    }
    std::vector<Stmt> stores;
    for (const StoreNode* store : update.stores)
      stores.push_back(Store(store->buffer, store->value, store->indices, store->store_kind));
    Stmt result = Seq(std::move(stores));
    for (auto it = update.joined.rbegin(); it != update.joined.rend(); ++it)
      result = LetStmt(it->first, it->second, result);
    for (std::size_t i = values.size(); i-- > 0;)
      result = LetStmt(update.values[i].first, values[i], result);
    return result;
  }

  static Stmt ExtremumByLane(const ForNode& loop, const Update& update, std::int64_t extent) {
    const std::int64_t lanes = Lanes(update, extent);
    const StoreNode& store = *update.stores[0];
    const auto& n = *store.value.As<BinaryNode>();
    const DataType type = n.b.dtype();
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
                   return Store(best, Load(store.buffer, store.indices), {lane});
                 }),
        in_lanes(width, [&](const Var& lane) { return Store(nan, Constant(type, 0), {lane}); })};
    steps.push_back(InOverlappingBlocks(loop, extent, lanes, [&](const Expr& block) {
      return in_lanes(width, [&](const Var& lane) {
        const auto value_at = [&](const Expr& at) {
          return Substitute(n.b, {{loop.var, loop.min + block + at}});
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
    steps.push_back(
        Store(store.buffer, Select(is_nan(found_nan), found_nan, Load(best, {0})), store.indices));
    return Allocate(best, Allocate(nan, Seq(std::move(steps))));
  }

  static Stmt LaneByLane(const ForNode& loop, const Update& update, std::int64_t extent) {
    const std::int64_t lanes = Lanes(update, extent);
    std::vector<Buffer> results;
    std::vector<Stmt> start;
    const Var first(loop.var.name() + ".lane");
    for (const StoreNode* store : update.stores) {
      results.push_back(
          Buffer::Make(store->buffer->name + ".lanes", store->buffer->dtype, {lanes}));
      start.push_back(For(first, 0, lanes, ForKind::kVectorized,
                          Store(results.back(), Load(store->buffer, store->indices), {first})));
    }
    std::vector<Stmt> steps = {Seq(std::move(start))};
    steps.push_back(InOverlappingBlocks(loop, extent, lanes, [&](const Expr& block) {
      const Var lane(loop.var.name() + ".lane");
      std::vector<Expr> values;
      for (const auto& [var, value] : update.values)
        values.push_back(Substitute(value, {{loop.var, loop.min + block + lane}}));
      return For(lane, 0, lanes, ForKind::kVectorized,
                 ToLane(update.stores, results, lane)(With(update, values)));
    }));
    CombineHalves(loop.var, lanes, steps, [&](const Var& lane, std::int64_t half) {
      std::vector<Expr> values;
      for (const Buffer& result : results) values.push_back(Load(result, {lane + half}));
      return ToLane(update.stores, results, lane)(With(update, values));
    });
    std::vector<Stmt> stores;
    for (std::size_t i = 0; i < results.size(); ++i)
      stores.push_back(
          Store(update.stores[i]->buffer, Load(results[i], {0}), update.stores[i]->indices));
    steps.push_back(Seq(std::move(stores)));
    Stmt result = Seq(std::move(steps));
    for (const Buffer& buffer : results) result = Allocate(buffer, result);
    return result;
  }
};

}  // namespace

Stmt VectorizeReductions(const Stmt& stmt) { return ReductionVectorizer()(stmt); }

}  // namespace tenon::loop
