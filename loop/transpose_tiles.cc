// Row j of an n by n block in memory is n elements that lie together; iteration i of the loop wants
// column i. The block is transposed by exchanging its off-diagonal quarters, then those of each
// quarter, and so on: log2(n) rounds of n shuffles of two rows (Eklundh, "A fast computer method
// for matrix transposing", IEEE Transactions on Computers C-21(7), 1972). A block at the edge has
// zeros where rows or columns are missing.
#include <algorithm>
#include <optional>
#include <vector>

#include "tenon/loop/simplify.h"
#include "tenon/loop/transforms.h"
#include "tenon/loop/visit.h"

namespace tenon::loop {
namespace {

constexpr std::int64_t kLeastRows = 4;
constexpr std::int64_t kMostRows = 16;

class Transposer : public StmtMutator {
 protected:
  Expr Mutate(const Expr& e) override { return e; }

  Stmt MutateStmt(const Stmt& stmt) override {
    const auto* loop = stmt.As<ForNode>();
    const auto* extent = loop == nullptr ? nullptr : loop->extent.As<IntImmNode>();
    const auto* store = loop == nullptr ? nullptr : loop->body.As<StoreNode>();
    if (extent == nullptr || store == nullptr || loop->for_kind != ForKind::kUnrolled ||
        extent->value < kLeastRows)
      return MutateStmtChildren(stmt);
    const std::int64_t lanes = store->indices[0].dtype().lanes();
    if (lanes < extent->value || lanes > kMostRows || (lanes & (lanes - 1)) != 0) return stmt;
    const std::optional<Stmt> transposed = Transpose(*loop, *store, extent->value, lanes);
    return transposed ? *transposed : stmt;
  }

 private:
  // The row that the first lane of iteration 0 is in, when `e` gathers one element of each of n
  // rows and moves on by one element an iteration.
  static std::optional<Expr> FirstRow(const Expr& e, const ForNode& loop, std::int64_t n) {
    const auto* load = e.As<LoadNode>();
    if (load == nullptr || !RowsOf(*load)) return std::nullopt;
    const auto* ramp = load->indices[0].As<RampNode>();
    if (ramp == nullptr || ramp->lanes != n || IsConstInt(ramp->stride, 1) ||
        UsesVar(ramp->stride, loop.var))
      return std::nullopt;
    Linear base = ToLinear(ramp->base, {});
    if (base.CoefficientOf(loop.var) != 1) return std::nullopt;
    std::erase_if(base.terms, [&](const auto& term) { return term.first.same_as(loop.var); });
    const Expr rest = base.ToExpr();
    if (UsesVar(rest, loop.var)) return std::nullopt;
    return Simplify(rest + loop.min);
  }

  // How many lanes a load reads when these are the first ones, whatever the iteration.
  static std::optional<std::int64_t> RowsOf(const LoadNode& load) {
    const std::int64_t lanes = load.indices[0].dtype().lanes();
    if (!load.predicate.defined()) return lanes;
    const auto* less = load.predicate.As<BinaryNode>();
    if (less == nullptr || less->op != BinaryOp::kLT) return std::nullopt;
    const auto* lane = less->a.As<RampNode>();
    const auto* bound = less->b.As<BroadcastNode>();
    if (lane == nullptr || bound == nullptr || !IsConstInt(lane->stride, 1)) return std::nullopt;
    const auto* first = lane->base.As<IntImmNode>();
    const auto* end = bound->value.As<IntImmNode>();
    if (first == nullptr || end == nullptr) return std::nullopt;
    return std::clamp<std::int64_t>(end->value - first->value, 0, lanes);
  }

  static std::optional<Stmt> Transpose(const ForNode& loop, const StoreNode& store,
                                       std::int64_t columns, std::int64_t n) {
    const auto* to = store.indices[0].As<RampNode>();
    if (to == nullptr || !IsConstInt(to->stride, 1)) return std::nullopt;
    Expr gather, first;
    bool single = true;
    VisitExpr(store.value, [&](const Expr& e) {
      const auto* load = e.As<LoadNode>();
      if (load != nullptr && load->buffer == store.buffer) single = false;
      const std::optional<Expr> row = FirstRow(e, loop, n);
      if (!row) return;
      if (gather.defined()) single = false;
      gather = e;
      first = *row;
    });
    if (!gather.defined() || !single) return std::nullopt;

    std::vector<std::pair<Var, Expr>> names;
    const auto name = [&](const Expr& value) {
      names.emplace_back(Var("row", value.dtype()), value);
      return Expr(names.back().first);
    };
    const LoadNode& load = *gather.As<LoadNode>();
    const Expr stride = load.indices[0].As<RampNode>()->stride;
    const auto lanes = static_cast<int>(n);
    const Expr wanted =
        columns == n ? Expr() : Ramp(Expr(0), 1, lanes) < Broadcast(Expr(columns), lanes);
    std::vector<Expr> rows;
    for (std::int64_t j = 0; j < n; ++j) {
      if (j < *RowsOf(load)) {
        rows.push_back(name(
            Load(load.buffer, {Ramp(Simplify(first + stride * j), 1, lanes)}, nullptr, wanted)));
      } else {
        rows.push_back(Broadcast(Cast(load.buffer->dtype, Expr(0)), lanes));
      }
    }
    for (std::int64_t half = n / 2; half > 0; half /= 2) Exchange(half, name, &rows);

    std::vector<Stmt> stores;
    for (std::int64_t i = 0; i < columns; ++i)
      stores.push_back(Substitute(loop.body, {{gather, rows[static_cast<std::size_t>(i)]},
                                              {loop.var, Simplify(loop.min + i)}}));
    Stmt result = Seq(std::move(stores));
    for (auto it = names.rbegin(); it != names.rend(); ++it)
      result = LetStmt(it->first, it->second, result);
    return result;
  }

  // In every block of 2 * half rows and columns, the upper right quarter and the lower left one.
  template <typename Name>
  static void Exchange(std::int64_t half, const Name& name, std::vector<Expr>* rows) {
    const auto n = static_cast<std::int64_t>(rows->size());
    std::vector<int> upper, lower;
    for (std::int64_t lane = 0; lane < n; ++lane) {
      const bool left = (lane & half) == 0;
      upper.push_back(static_cast<int>(left ? lane : n + lane - half));
      lower.push_back(static_cast<int>(left ? lane + half : n + lane));
    }
    for (std::int64_t i = 0; i < n; ++i) {
      if ((i & half) != 0) continue;
      Expr& a = (*rows)[static_cast<std::size_t>(i)];
      Expr& b = (*rows)[static_cast<std::size_t>(i + half)];
      const Expr above = name(Shuffle(a, b, upper));
      b = name(Shuffle(a, b, lower));
      a = above;
    }
  }
};

}  // namespace

Stmt TransposeTiles(const Stmt& stmt) { return Transposer()(stmt); }

}  // namespace tenon::loop
