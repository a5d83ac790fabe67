// For v in [m, n): out[v] = if_then_else(c, a, b) becomes [m, s): b; [s, e): a; [e, n): b, where
// [s, e) is the part of the range in which c holds; conditions that do not use v go around. What
// remains is taken apart again, so the fields of a concatenation become one loop each. If the ends
// of these ranges are not known, b may be needed on both sides of a, and its own parts on both
// sides of theirs. A loop that would become very many loops stays one.
#include <optional>

#include "tenon/loop/simplify/guards.h"
#include "tenon/loop/simplify/simplify.h"
#include "tenon/loop/transform/transforms.h"
#include "tenon/loop/visit.h"

namespace tenon::loop {
namespace {

// The most selections, one inside the other, that may need b on both sides.
constexpr int kMaxDoublings = 4;

class Partitioner : public StmtMutator {
 protected:
  Expr Mutate(const Expr& e) override { return e; }

  Stmt MutateStmt(const Stmt& stmt) override {
    const auto* loop = stmt.As<ForNode>();
    const auto* store = loop == nullptr ? nullptr : loop->body.As<StoreNode>();
    if (store == nullptr || loop->for_kind != ForKind::kSerial) return MutateStmtChildren(stmt);
    const std::optional<Stmt> parts = Partition(
        loop->var, Simplify(loop->min), Simplify(loop->min + loop->extent), *store, store->value);
    return parts ? *parts : stmt;
  }

 private:
  // Nothing when that would be very many loops.
  static std::optional<Stmt> Partition(const Var& var, const Expr& first, const Expr& last,
                                       const StoreNode& store, const Expr& value,
                                       int doublings = 0) {
    if (doublings > kMaxDoublings) return std::nullopt;
    if (IsNeverBelow(first, last)) return Seq({});
    const auto loop_over = [&](const Expr& begin, const Expr& end) {
      return For(var, begin, Simplify(end - begin), ForKind::kSerial,
                 Store(store.buffer, value, store.indices, store.store_kind));
    };
    const auto* select = value.As<SelectNode>();
    if (select == nullptr || !select->lazy) return loop_over(first, last);
    std::vector<Expr> parts;
    SplitConjunction(select->condition, &parts);
    Expr around = True();
    Expr begin = first;
    Expr end = last;
    for (const Expr& part : parts) {
      if (LoadsAnything(part)) return loop_over(first, last);
      if (!UsesVar(part, var)) {
        around = around && part;
      } else if (!Tighten(part, var, &begin, &end)) {
        return loop_over(first, last);
      }
    }
    begin = Simplify(Min(begin, last));
    end = Simplify(Max(end, begin));
    const bool doubles = !IsNeverBelow(first, begin) && !IsNeverBelow(end, last);
    const int inner = doublings + (doubles ? 1 : 0);
    const auto before = Partition(var, first, begin, store, select->on_false, inner);
    const auto within = Partition(var, begin, end, store, select->on_true, doublings);
    const auto after = Partition(var, end, last, store, select->on_false, inner);
    if (!before || !within || !after) return std::nullopt;
    const Stmt inside = Seq({*before, *within, *after});
    if (IsConstInt(around, 1)) return inside;
    const auto outside = Partition(var, first, last, store, select->on_false, doublings + 1);
    if (!outside) return std::nullopt;
    return If(around, inside, *outside);
  }

  static bool IsNeverBelow(const Expr& first, const Expr& last) {
    const Expr extent = Simplify(last - first);
    const auto* count = extent.As<IntImmNode>();
    return count != nullptr && count->value <= 0;
  }
};

}  // namespace

Stmt PartitionSelects(const Stmt& stmt) { return Partitioner()(stmt); }

}  // namespace tenon::loop
