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
    if (guard == nullptr || UsesVar(guard->condition, loop->var) || LoadsAnything(guard->condition))
      return std::nullopt;
    const auto all = [&](const Stmt& body) {
      return body ? For(loop->var, loop->min, loop->extent, loop->for_kind, body) : body;
    };
    return If(guard->condition, all(guard->then_case), all(guard->else_case));
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

  // How many lanes a mask leaves, if these are the first ones: at most all, and none for a count
  // below 0.
  static std::optional<Expr> FirstLanesOf(const Expr& mask) {
    const auto* less = mask.As<BinaryNode>();
    if (less == nullptr || less->op != BinaryOp::kLT) return std::nullopt;
    const auto* lane = less->a.As<RampNode>();
    const auto* bound = less->b.As<BroadcastNode>();
    if (lane == nullptr || bound == nullptr || !IsConstInt(lane->stride, 1) ||
        lane->base.dtype() != Int64)
      return std::nullopt;
    return Simplify(bound->value - lane->base);
  }

  // The rows that are read in every iteration.
  struct Rows {
    std::int64_t count;
    // If defined, rows from this number on do not exist. It is not known here.
    Expr end;
  };

  // Lanes that are not stored may be read where they exist.
  static std::optional<Rows> RowsOf(const LoadNode& load, const ForNode& loop,
                                    const StoreNode& store) {
    const std::int64_t lanes = load.indices[0].dtype().lanes();
    if (!load.predicate.defined()) return Rows{lanes, {}};
    const std::optional<Expr> first = FirstLanesOf(load.predicate);
    if (const auto* number = first ? first->As<IntImmNode>() : nullptr)
      return Rows{std::clamp<std::int64_t>(number->value, 0, lanes), {}};
    const bool is_stored_so =
        store.predicate.defined() && StructuralEqual(load.predicate, store.predicate);
    if (!is_stored_so && UsesOtherLanes(store.value, load)) return std::nullopt;
    if (HasAllLanes(load, loop)) return Rows{lanes, {}};
    if (first && !UsesVar(*first, loop.var) && !LoadsAnything(*first)) return Rows{lanes, *first};
    return std::nullopt;
  }

  // Whether `value` depends on what lanes of `load` outside its mask hold. Selects by that mask
  // take the other side there.
  static bool UsesOtherLanes(const Expr& value, const LoadNode& load) {
    class OtherLanes : public ExprMutator {
     public:
      explicit OtherLanes(const Expr& mask) : mask_(mask) {}

     protected:
      Expr Mutate(const Expr& e) override {
        const auto* select = e.As<SelectNode>();
        return select != nullptr && StructuralEqual(select->condition, mask_)
                   ? (*this)(select->on_false)
                   : MutateChildren(e);
      }

     private:
      const Expr& mask_;
    };
    bool uses = false;
    VisitExpr(OtherLanes(load.predicate)(value), [&](const Expr& e) {
      const auto* other = e.As<LoadNode>();
      uses = uses || (other != nullptr && other->buffer == load.buffer);
    });
    return uses;
  }

  // What a store reads from one element of each of several rows.
  struct Gather {
    std::vector<Expr> nodes;  // what x * f(x) reads has two
    Expr first;               // the row of the first lane
  };

  // Nothing where there is none, or more than one, or where the store reads what it writes.
  static std::optional<Gather> GatherOf(const ForNode& loop, const StoreNode& store,
                                        const Expr& from, std::int64_t lanes) {
    Gather gather;
    bool single = true;
    VisitExpr(store.value, [&](const Expr& e) {
      const auto* load = e.As<LoadNode>();
      if (load != nullptr && load->buffer == store.buffer) single = false;
      const std::optional<Expr> row = FirstRow(e, loop, store, from, lanes);
      if (!row) return;
      if (!gather.nodes.empty() && !StructuralEqual(e, gather.nodes[0])) single = false;
      gather.nodes.push_back(e);
      gather.first = *row;
    });
    if (gather.nodes.empty() || !single) return std::nullopt;
    return gather;
  }

  // The first `columns` columns of a block of n by n, whose rows the gather reads. `names` are for
  // what several of them share.
  std::vector<Expr> ColumnsOf(const Gather& gather, const Rows& read, std::int64_t columns,
                              std::int64_t n, std::vector<std::pair<Var, Expr>>* names) const {
    const auto name_as = [&](const char* what, const Expr& value) {
      names->emplace_back(Var(what, value.dtype()), value);
      return Expr(names->back().first);
    };
    const auto name = [&](const Expr& value) { return name_as("row", value); };
    const LoadNode& load = *gather.nodes[0].As<LoadNode>();
    const Expr stride = load.indices[0].As<RampNode>()->stride;
    const Expr origin = gather.first.kind() == ExprKind::kIntImm
                            ? gather.first
                            : name_as("origin", Call(Intrinsic::kOpaque, {gather.first}));
    const Expr last = read.end.defined() ? name_as("last", read.end - 1) : Expr();
    // The last row stands for those after it.
    const auto offset_of = [&](std::int64_t row) {
      return stride * (read.end.defined() ? Min(row, last) : Expr(row));
    };
    const std::int64_t part = std::min<std::int64_t>(
        n, kPartBytes / static_cast<std::int64_t>(load.buffer->dtype.bytes()));
    // `count` elements of row `row` from column `column` on.
    const auto elements = [&](std::int64_t row, std::int64_t column, std::int64_t count) {
      const auto lanes_of = static_cast<int>(count);
      if (row >= read.count || column >= columns)
        return Broadcast(Constant(load.buffer->dtype, 0), lanes_of);
      const Expr mask = column + count <= columns ? Expr()
                                                  : Ramp(Expr(0), 1, lanes_of) <
                                                        Broadcast(Expr(columns - column), lanes_of);
      const Expr from = Ramp(Simplify(origin + offset_of(row) + column), 1, lanes_of);
      return Load(load.buffer, {from}, nullptr, mask);
    };
    return LoadsWholeRows(load) && columns > part
               ? ColumnsOfRows(elements, n, part, name)
               : ColumnsOfParts(elements, n, columns, part, name);
  }

  // `columns` iterations from `from` on, out of a block of n by n.
  std::optional<Stmt> Transpose(const ForNode& loop, const StoreNode& store, const Expr& from,
                                std::int64_t columns, std::int64_t lanes, std::int64_t n) const {
    const auto* to = store.indices[0].As<RampNode>();
    if (to == nullptr || !IsConstInt(to->stride, 1)) return std::nullopt;
    const std::optional<Gather> gather = GatherOf(loop, store, from, lanes);
    if (!gather) return std::nullopt;
    const Rows read = *RowsOf(*gather->nodes[0].As<LoadNode>(), loop, store);
    std::vector<std::pair<Var, Expr>> names;
    const std::vector<Expr> block = ColumnsOf(*gather, read, columns, n, &names);
    std::vector<int> first_lanes(static_cast<std::size_t>(lanes));
    std::iota(first_lanes.begin(), first_lanes.end(), 0);
    std::vector<Stmt> stores;
    for (std::int64_t i = 0; i < columns; ++i) {
      const Expr& column = block[static_cast<std::size_t>(i)];
      const Expr values = lanes == n ? column : Shuffle(column, column, first_lanes);
      ExprMap known = {{loop.var, Simplify(from + i)}};
      for (const Expr& node : gather->nodes) known.emplace(node, values);
      stores.push_back(Substitute(loop.body, known));
    }
    Stmt result = Seq(std::move(stores));
    for (auto it = names.rbegin(); it != names.rend(); ++it)
      result = LetStmt(it->first, it->second, result);
    if (!read.end.defined()) return result;
    const Stmt none =
        store.predicate.defined() ? Stmt() : For(loop.var, from, columns, loop.for_kind, loop.body);
    return If(0 < read.end, result, none);
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
