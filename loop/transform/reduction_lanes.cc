#include "tenon/loop/transform/reduction_lanes.h"

#include <functional>
#include <optional>
#include <utility>

#include "tenon/loop/transform/reduction_blocks.h"
#include "tenon/loop/visit.h"

namespace tenon::loop {
namespace {

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

}  // namespace

Stmt ValuesFirst(const ForNode& loop, const ReductionUpdate& update, std::int64_t lanes) {
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

Stmt ExtremumByLane(const ForNode& loop, const ReductionUpdate& update, std::int64_t lanes,
                    const std::vector<Stmt>& fetches) {
  const StoreNode& store = *update.stores[0];
  const auto& n = *store.value.As<BinaryNode>();
  // Vectors of halves are compared as float32 anyway.
  const DataType type = n.b.dtype().bits() == 16 ? Float32 : n.b.dtype();
  // One comparison checks two values: their sum is NaN if one of them is.
  const std::int64_t width = lanes / 2;
  const Buffer best = Buffer::Make(store.buffer->name + ".lanes", type, {lanes});
  const Buffer nan = Buffer::Make(store.buffer->name + ".nan", type, {width});
  const auto is_nan = [](const Expr& x) { return Binary(BinaryOp::kNE, x, x); };
  const auto take = [&](const Expr& at, const Expr& value) {
    const Expr so_far = Load(best, {at});
    const Expr wins = Binary(n.op == BinaryOp::kMin ? BinaryOp::kLT : BinaryOp::kGT, value, so_far);
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
      return LetStmt(
          first, value_at(lane),
          LetStmt(second, value_at(lane + width),
                  Seq({Store(nan, kept, {lane}), take(lane, first), take(lane + width, second)})));
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

Stmt LaneByLane(const ForNode& loop, const ReductionUpdate& update, std::int64_t lanes,
                const std::vector<Stmt>& fetches, const Bounds& bounds) {
  const std::optional<OrderedUpdate> in_order = InOrder(update, loop.var, bounds);
  std::vector<Buffer> results;
  for (const StoreNode* store : update.stores)
    results.push_back(Buffer::Make(store->buffer->name + ".lanes", store->buffer->dtype, {lanes}));
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
    steps.push_back(For(first, 0, lanes, ForKind::kVectorized, Store(results[i], start, {first})));
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

}  // namespace tenon::loop
