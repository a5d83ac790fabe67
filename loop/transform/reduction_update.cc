// A body is `r = r op value`, or lets of values that read no result, lets that join them with the
// results, and a store of each (schedule/nest.cc makes both).
#include "tenon/loop/transform/reduction_update.h"

#include <algorithm>
#include <limits>

#include "tenon/loop/visit.h"

namespace tenon::loop {
namespace {

bool CallsOutside(const Expr& e) {
  bool calls = false;
  VisitExpr(e, [&](const Expr& x) { calls = calls || x.kind() == ExprKind::kExternCall; });
  return calls;
}

// Whether `e` reads a result; nothing when it reads another element of its buffer.
std::optional<bool> ReadsResult(const Expr& e, const std::vector<const StoreNode*>& stores) {
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

// r = r op value
std::optional<ReductionUpdate> TakeApartBinary(const Var& var, ReductionUpdate update) {
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

// The range of `value`, if it rises with `var`. It is an index, perhaps cast to a type that holds
// it.
std::optional<Interval> RangeOfRising(const Expr& value, const Var& var, const Bounds& bounds) {
  const auto* cast = value.As<CastNode>();
  const Expr& index = cast == nullptr ? value : cast->value;
  if (!index.dtype().is_int() || !value.dtype().is_int()) return std::nullopt;
  const Interval range = RangeOf(index, bounds);
  const std::int64_t most = std::numeric_limits<std::int64_t>::max() >> (64 - value.dtype().bits());
  // No sum of two of them overflows.
  if (range.low < -most / 2 || range.high > most / 2) return std::nullopt;
  const Linear linear = ToLinear(index, bounds);
  const auto is_other = [&](const auto& term) {
    return !term.first.same_as(var) && UsesVar(term.first, var);
  };
  const bool rises = linear.CoefficientOf(var) > 0 &&
                     std::none_of(linear.terms.begin(), linear.terms.end(), is_other);
  return rises ? std::optional(range) : std::nullopt;
}

// Decides comparisons of two values in one `range` with each other and with constants: the result
// that `store` writes, and `value`. With `is_later`, `value` comes later in the loop with which it
// rises.
class IndexDecider : public ExprMutator {
 public:
  IndexDecider(const StoreNode& store, const Var& value, Interval range, bool is_later)
      : store_(store), value_(value), before_("before"), after_("after") {
    bounds_.Bind(before_, range);
    after_value_ = after_;
    if (is_later) {
      bounds_.Bind(after_, {1, range.high - range.low});
      after_value_ = before_ + after_;
    } else {
      bounds_.Bind(after_, range);
    }
  }

 protected:
  Expr Mutate(const Expr& e) override {
    const auto* n = e.As<BinaryNode>();
    if (n == nullptr || !IsComparison(n->op)) return MutateChildren(e);
    const std::optional<Expr> a = Known(n->a), b = Known(n->b);
    if (!a || !b) return MutateChildren(e);
    const Expr comparison = Binary(n->op, *a, *b);
    if (CanProve(comparison, bounds_)) return True();
    if (CanProve(!comparison, bounds_)) return False();
    return MutateChildren(e);
  }

 private:
  std::optional<Expr> Known(const Expr& operand) const {
    if (operand.same_as(value_)) return after_value_;
    const auto* load = operand.As<LoadNode>();
    if (load != nullptr && load->buffer == store_.buffer) return Expr(before_);
    const auto* constant = operand.As<IntImmNode>();
    return constant == nullptr ? std::nullopt : std::optional(Expr(constant->value));
  }

  const StoreNode& store_;
  const Var& value_;
  const Var before_, after_;
  Expr after_value_;
  Bounds bounds_;
};

}  // namespace

std::optional<ReductionUpdate> TakeApart(const ForNode& loop) {
  ReductionUpdate update;
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

// The update with `values` in place of this iteration's.
Stmt JoinWith(const ReductionUpdate& update, const std::vector<Expr>& values) {
  if (update.joined.empty()) {
    const StoreNode& store = *update.stores[0];
    const auto& n = *store.value.As<BinaryNode>();
    return Store(store.buffer, Binary(n.op, n.a, values[0]), store.indices, store.store_kind);
  }
  std::vector<std::pair<Var, Expr>> lets;
  ExprMap names;  // a variable is bound once
  const auto let = [&](const Var& var, const Expr& value) {
    lets.emplace_back(Var(var.name(), var.dtype()), Substitute(value, names));
    names[var] = lets.back().first;
  };
  for (std::size_t i = 0; i < values.size(); ++i) let(update.values[i].first, values[i]);
  for (const auto& [var, value] : update.joined) let(var, value);
  std::vector<Stmt> stores;
  for (const StoreNode* store : update.stores)
    stores.push_back(
        Store(store->buffer, names.at(store->value), store->indices, store->store_kind));
  Stmt result = Seq(std::move(stores));
  for (auto it = lets.rbegin(); it != lets.rend(); ++it)
    result = LetStmt(it->first, it->second, result);
  return result;
}

std::optional<OrderedUpdate> InOrder(const ReductionUpdate& update, const Var& var,
                                     const Bounds& bounds) {
  for (std::size_t i = 0; i < update.values.size(); ++i) {
    const Var& name = update.values[i].first;
    const std::optional<Interval> range = RangeOfRising(update.values[i].second, var, bounds);
    if (!range) continue;
    const auto decided = [&](bool is_later) {
      IndexDecider decide(*update.stores[i], name, *range, is_later);
      ReductionUpdate result = update;
      for (auto& [ignored, joined] : result.joined) joined = Simplify(decide(joined), bounds);
      return result;
    };
    return OrderedUpdate{decided(true), decided(false)};
  }
  return std::nullopt;
}

}  // namespace tenon::loop
