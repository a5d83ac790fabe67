// Row j of an n by n block in memory is n elements that lie together; iteration i of the loop wants
// column i, which is made of the rows in registers (transpose_registers.h). Rows are loaded part by
// part. On CPUs that shuffle parts fast, rows that are lines apart are loaded whole. A block at the
// edge has zeros where rows or columns are missing. If the array has the whole block, lanes that
// are not stored are read, too.
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <vector>

#include "tenon/loop/simplify/guards.h"
#include "tenon/loop/simplify/simplify.h"
#include "tenon/loop/transform/transforms.h"
#include "tenon/loop/transform/transpose_registers.h"
#include "tenon/loop/visit.h"
#include "tenon/support/alignment.h"
#include "tenon/support/arithmetic.h"

namespace tenon::loop {
namespace {

constexpr std::int64_t kMinRows = 4;
constexpr std::int64_t kMaxRows = 64;
constexpr std::int64_t kPartBytes = 16;

class Transposer : public StmtMutator {
 public:
  explicit Transposer(RowLoads loads) : loads_(loads) {}

 protected:
  Expr Mutate(const Expr& e) override { return e; }

  Stmt MutateStmt(const Stmt& stmt) override {
    const auto* loop = stmt.As<ForNode>();
    if (const auto around = WithGuardAround(loop)) return MutateStmt(*around);
    const auto* extent = loop == nullptr ? nullptr : loop->extent.As<IntImmNode>();
    const auto* store = loop == nullptr ? nullptr : loop->body.As<StoreNode>();
    if (extent == nullptr || store == nullptr || loop->for_kind != ForKind::kUnrolled ||
        extent->value < kMinRows)
      return MutateStmtChildren(stmt);
    const std::int64_t lanes = store->indices[0].dtype().lanes();
    const std::int64_t square = BitCeil(lanes);
    if (lanes < kMinRows || lanes > kMaxRows) return stmt;
    if (extent->value > square && extent->value % square != 0) return stmt;
    std::vector<Stmt> squares;
    for (std::int64_t from = 0; from < extent->value; from += square) {
      const std::optional<Stmt> transposed =
          Transpose(*loop, *store, Simplify(loop->min + from),
                    std::min(square, extent->value - from), lanes, square);
      if (!transposed) return stmt;
      squares.push_back(*transposed);
    }
    return Seq(std::move(squares));
  }

 private:
  // The condition that all stores of an unrolled loop share, around it.
  static std::optional<Stmt> WithGuardAround(const ForNode* loop) {
    const auto* guard =
        loop == nullptr || loop->for_kind != ForKind::kUnrolled ? nullptr : loop->body.As<IfNode>();
    if (guard == nullptr || guard->else_case || UsesVar(guard->condition, loop->var) ||
        LoadsAnything(guard->condition))
      return std::nullopt;
    return If(guard->condition,
              For(loop->var, loop->min, loop->extent, loop->for_kind, guard->then_case));
  }

  // Whether all lanes of the load exist in every iteration.
  static bool HasAllLanes(const LoadNode& load, const ForNode& loop) {
    const std::optional<std::int64_t> elements = ConstantElements(load.buffer);
    const auto* ramp = load.indices[0].As<RampNode>();
    const auto* stride = ramp == nullptr ? nullptr : ramp->stride.As<IntImmNode>();
    const auto* begin = loop.min.As<IntImmNode>();
    const auto* count = loop.extent.As<IntImmNode>();
    if (!elements || stride == nullptr || begin == nullptr || count == nullptr) return false;
    Bounds bounds;
    bounds.Bind(loop.var, {begin->value, begin->value + count->value - 1});
    const Interval first = RangeOf(ramp->base, bounds);
    const Interval last = RangeOf(ramp->base + stride->value * (ramp->lanes - 1), bounds);
    return std::min(first.low, last.low) >= 0 && std::max(first.high, last.high) < *elements;
  }

  // The row that the first lane of iteration `from` is in, if `e` gathers one element of each of
  // `lanes` rows and moves on by one element per iteration.
  static std::optional<Expr> FirstRow(const Expr& e, const ForNode& loop, const StoreNode& store,
                                      const Expr& from, std::int64_t lanes) {
    const auto* load = e.As<LoadNode>();
    if (load == nullptr || !RowsOf(*load, loop, store)) return std::nullopt;
    const auto* ramp = load->indices[0].As<RampNode>();
    if (ramp == nullptr || ramp->lanes != lanes || IsConstInt(ramp->stride, 1) ||
        UsesVar(ramp->stride, loop.var))
      return std::nullopt;
    Linear base = ToLinear(ramp->base, {});
    if (base.CoefficientOf(loop.var) != 1) return std::nullopt;
    std::erase_if(base.terms, [&](const auto& term) { return term.first.same_as(loop.var); });
    const Expr rest = base.ToExpr();
    if (UsesVar(rest, loop.var)) return std::nullopt;
    return Simplify(rest + from);
  }

  // How many lanes a mask leaves, if these are the first ones, whatever the variables.
  static std::optional<std::int64_t> FirstLanesOf(const Expr& mask) {
    const auto* less = mask.As<BinaryNode>();
    if (less == nullptr || less->op != BinaryOp::kLT) return std::nullopt;
    const auto* lane = less->a.As<RampNode>();
    const auto* bound = less->b.As<BroadcastNode>();
    if (lane == nullptr || bound == nullptr || !IsConstInt(lane->stride, 1)) return std::nullopt;
    const auto* first = lane->base.As<IntImmNode>();
    const auto* end = bound->value.As<IntImmNode>();
    if (first == nullptr || end == nullptr) return std::nullopt;
    return std::clamp<std::int64_t>(end->value - first->value, 0, lane->lanes);
  }

  // How many lanes to read, from the first one on, in every iteration. Lanes that are not stored
  // may be read where they exist.
  static std::optional<std::int64_t> RowsOf(const LoadNode& load, const ForNode& loop,
                                            const StoreNode& store) {
    const std::int64_t lanes = load.indices[0].dtype().lanes();
    if (!load.predicate.defined()) return lanes;
    if (const auto first = FirstLanesOf(load.predicate)) return first;
    const bool is_stored_so =
        store.predicate.defined() && StructuralEqual(load.predicate, store.predicate);
    return is_stored_so && HasAllLanes(load, loop) ? std::optional(lanes) : std::nullopt;
  }

  // `columns` iterations from `from` on, out of a block of n by n.
  std::optional<Stmt> Transpose(const ForNode& loop, const StoreNode& store, const Expr& from,
                                std::int64_t columns, std::int64_t lanes, std::int64_t n) const {
    const auto* to = store.indices[0].As<RampNode>();
    if (to == nullptr || !IsConstInt(to->stride, 1)) return std::nullopt;
    std::vector<Expr> gathers;  // what x * f(x) reads has two nodes
    Expr first;
    bool single = true;
    VisitExpr(store.value, [&](const Expr& e) {
      const auto* load = e.As<LoadNode>();
      if (load != nullptr && load->buffer == store.buffer) single = false;
      const std::optional<Expr> row = FirstRow(e, loop, store, from, lanes);
      if (!row) return;
      if (!gathers.empty() && !StructuralEqual(e, gathers[0])) single = false;
      gathers.push_back(e);
      first = *row;
    });
    if (gathers.empty() || !single) return std::nullopt;

    std::vector<std::pair<Var, Expr>> names;
    const auto name_as = [&](const char* what, const Expr& value) {
      names.emplace_back(Var(what, value.dtype()), value);
      return Expr(names.back().first);
    };
    const auto name = [&](const Expr& value) { return name_as("row", value); };
    const LoadNode& load = *gathers[0].As<LoadNode>();
    const Expr stride = load.indices[0].As<RampNode>()->stride;
    const Expr origin = first.kind() == ExprKind::kIntImm
                            ? first
                            : name_as("origin", Call(Intrinsic::kOpaque, {first}));
    const std::int64_t wanted = *RowsOf(load, loop, store);
    const std::int64_t part = std::min<std::int64_t>(
        n, kPartBytes / static_cast<std::int64_t>(load.buffer->dtype.bytes()));
    // `count` elements of row `row` from column `column` on.
    const auto elements = [&](std::int64_t row, std::int64_t column, std::int64_t count) {
      const auto lanes_of = static_cast<int>(count);
      if (row >= wanted || column >= columns)
        return Broadcast(Constant(load.buffer->dtype, 0), lanes_of);
      const Expr mask = column + count <= columns ? Expr()
                                                  : Ramp(Expr(0), 1, lanes_of) <
                                                        Broadcast(Expr(columns - column), lanes_of);
      const Expr from = Ramp(Simplify(origin + stride * row + column), 1, lanes_of);
      return Load(load.buffer, {from}, nullptr, mask);
    };
    const std::vector<Expr> rows = LoadsWholeRows(load) && columns > part
                                       ? ColumnsOfRows(elements, n, part, name)
                                       : ColumnsOfParts(elements, n, columns, part, name);

    std::vector<int> first_lanes(static_cast<std::size_t>(lanes));
    std::iota(first_lanes.begin(), first_lanes.end(), 0);
    std::vector<Stmt> stores;
    for (std::int64_t i = 0; i < columns; ++i) {
      const Expr& row = rows[static_cast<std::size_t>(i)];
      const Expr values = lanes == n ? row : Shuffle(row, row, first_lanes);
      ExprMap known = {{loop.var, Simplify(from + i)}};
      for (const Expr& gather : gathers) known.emplace(gather, values);
      stores.push_back(Substitute(loop.body, known));
    }
    Stmt result = Seq(std::move(stores));
    for (auto it = names.rbegin(); it != names.rend(); ++it)
      result = LetStmt(it->first, it->second, result);
    return result;
  }

  // Rows that are not whole lines apart would mostly lie in one line more than parts of them do.
  bool LoadsWholeRows(const LoadNode& gather) const {
    const auto* stride = gather.indices[0].As<RampNode>()->stride.As<IntImmNode>();
    return loads_ == RowLoads::kWhole && stride != nullptr &&
           stride->value * static_cast<std::int64_t>(gather.buffer->dtype.bytes()) %
                   kCacheLineBytes ==
               0;
  }

  const RowLoads loads_;
};

}  // namespace

RowLoads RowLoadsFor(const Target& target) {
  return target.loads_whole_rows() ? RowLoads::kWhole : RowLoads::kParts;
}

Stmt TransposeTiles(const Stmt& stmt, RowLoads loads) { return Transposer(loads)(stmt); }

}  // namespace tenon::loop
