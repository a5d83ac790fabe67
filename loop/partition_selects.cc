// For v in [m, n): out[v] = if_then_else(c, a, b) becomes [m, s): b; [s, e): a; [e, n): b, where
// [s, e) is the part of the range in which c holds; conditions that do not use v go around. What
// remains is taken apart again, so the fields of a concatenation become one loop each.
#include "tenon/loop/guards.h"
#include "tenon/loop/simplify.h"
#include "tenon/loop/transforms.h"
#include "tenon/loop/visit.h"

namespace tenon::loop {
namespace {

class Partitioner : public StmtMutator {
 protected:
  Expr Mutate(const Expr& e) override { return e; }

  Stmt MutateStmt(const Stmt& stmt) override {
    const auto* loop = stmt.As<ForNode>();
    const auto* store = loop == nullptr ? nullptr : loop->body.As<StoreNode>();
    if (store == nullptr || loop->for_kind != ForKind::kSerial) return MutateStmtChildren(stmt);
    return Partition(loop->var, Simplify(loop->min), Simplify(loop->min + loop->extent), *store,
                     store->value);
  }

 private:
  static Stmt Partition(const Var& var, const Expr& first, const Expr& last, const StoreNode& store,
                        const Expr& value) {
    const auto loop_over = [&](const Expr& begin, const Expr& end) {
      return For(var, begin, Simplify(end - begin), ForKind::kSerial,
                 Store(store.buffer, value, store.indices, store.reassociate));
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
    const Stmt inside = Seq({Partition(var, first, begin, store, select->on_false),
                             Partition(var, begin, end, store, select->on_true),
                             Partition(var, end, last, store, select->on_false)});
    if (IsConstInt(around, 1)) return inside;
    return If(around, inside, Partition(var, first, last, store, select->on_false));
  }
};

}  // namespace

Stmt PartitionSelects(const Stmt& stmt) { return Partitioner()(stmt); }

}  // namespace tenon::loop
