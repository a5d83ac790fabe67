// for t: for u: for s: for lane: if (c < n && i < m) y[base + n i + c] = f(x[.. + k c + i]), with
// c = a + u L + lane for vectors of L elements, a line each, i = b + t R + s, and rows of n
// elements that begin anywhere in a line, becomes
//   for t: for u, once more than before: for s: for lane: staged[i, c] = f(x[.. + k c + i])
//          for s: for u: for lane: if (c + skew < n) y[base + n i + c + skew] = staged[i, c + skew]
// where skew is how far the next line is from the base. Each row's lines are those that begin in
// the block; the last one ends in the next block. So neighbours read L columns twice, and parts of
// a line are written only at the ends of rows. Blocks that would reach beyond n or m are moved back
// to end there, so that all their tiles are whole, and write only what no other block does.
//
// What the next block reads is fetched, as FetchTransposes does.
#include <algorithm>
#include <optional>
#include <vector>

#include "tenon/loop/simplify/guards.h"
#include "tenon/loop/simplify/simplify.h"
#include "tenon/loop/transform/tile.h"
#include "tenon/loop/transform/transforms.h"
#include "tenon/loop/visit.h"
#include "tenon/support/arithmetic.h"

namespace tenon::loop {
namespace {

// Square tiles of a transposition, whose vectors are lines of the result.
struct Tiles : TileNest {
  std::int64_t line() const { return lane_count; }
  std::int64_t pitch() const { return (result_count + 1) * line(); }

  Position column;
  std::optional<Position> row;  // where a condition says that rows end
};

std::optional<Tiles> NestOf(const Stmt& stmt) {
  const std::optional<TileNest> nest = TileNestOf(stmt);
  if (!nest || nest->guard == nullptr || !StreamsLines(*nest)) return std::nullopt;
  return Tiles{*nest, {}, {}};
}

// The position of a block of tiles of `length` elements. `var` counts within each tile.
std::optional<Position> PositionUnder(const Expr& condition, const Var& var, const Var& tile,
                                      std::int64_t length) {
  std::optional<Position> found = PositionUnder(condition, var);
  if (!found || ToLinear(found->at, {}).CoefficientOf(tile) != length) return std::nullopt;
  found->at = Simplify(Substitute(found->at, {{tile, 0}}));
  return found;
}

// Whether the condition says only that tiles of `length` elements end where the axis does.
bool EndsTiles(const Expr& condition, const Var& tile, std::int64_t length,
               const Position& position) {
  const std::optional<Position> tiles = PositionUnder(condition, tile);
  return tiles && tiles->extent == tenon::CeilDiv(position.extent, length) &&
         IsConstInt(Simplify(tiles->at * length - position.at), 0);
}

// Takes positions from the conditions, all of which say that rows, columns or tiles end.
bool FindPositions(Tiles& tiles) {
  std::vector<Expr> conditions;
  SplitConjunction(tiles.guard->condition, &conditions);
  const Var &result_tile = tiles.results->var, &source_tile = tiles.sources->var;
  const auto column = [&](const Expr& condition) {
    return PositionUnder(condition, tiles.lanes->var, result_tile, tiles.line());
  };
  const auto row = [&](const Expr& condition) {
    return PositionUnder(condition, tiles.rows->var, source_tile, tiles.row_count);
  };
  for (const Expr& condition : conditions) {
    if (const std::optional<Position> found = column(condition)) tiles.column = *found;
    if (const std::optional<Position> found = row(condition)) tiles.row = found;
  }
  for (const Expr& condition : conditions) {
    const std::optional<Position> found = PositionUnder(condition, source_tile);
    if (found && !tiles.row)
      tiles.row = {Simplify(found->at * tiles.row_count), found->extent * tiles.row_count};
  }
  return std::all_of(conditions.begin(), conditions.end(), [&](const Expr& condition) {
    return column(condition) || row(condition) ||
           EndsTiles(condition, result_tile, tiles.line(), tiles.column) ||
           (tiles.row && EndsTiles(condition, source_tile, tiles.row_count, *tiles.row));
  });
}

// Whether moved blocks stay in the matrix, few columns are read twice, and what blocks stage stays
// in half of a first-level cache.
bool Fits(const Tiles& tiles) {
  constexpr std::int64_t kStagedBytes = 16 << 10;
  constexpr std::int64_t kBlocksOfRow = 4;
  const auto element = static_cast<std::int64_t>(tiles.store->value.dtype().bytes());
  return tiles.column.extent >= kBlocksOfRow * tiles.pitch() &&
         (!tiles.row || tiles.row->extent >= tiles.source_count * tiles.row_count) &&
         tiles.row_count * tiles.pitch() * element <= kStagedBytes;
}

// Whether the value reads what it needs at the moved places of tiles, and does not use them
// otherwise.
bool Moves(const Tiles& tiles, const Linear& place) {
  const Var &row = tiles.rows->var, &lane = tiles.lanes->var;
  const Position column{tiles.column.at + tiles.results->var * tiles.line(), tiles.column.extent};
  bool moves = true;
  ExprMap loads;
  VisitExpr(tiles.store->value, [&](const Expr& e) {
    const auto* load = e.As<LoadNode>();
    if (load == nullptr) return;
    loads.emplace(e, Constant(load->buffer->dtype, 0));
    const Linear offset = ToLinear(OffsetOf(load->buffer, load->indices), {});
    moves = moves && MovesWith(offset, place, lane, column) &&
            (!tiles.row || MovesWith(offset, place, row, *tiles.row));
  });
  const Expr others = Substitute(tiles.store->value, loads);
  return moves && !UsesVar(others, row) && !UsesVar(others, lane);
}

std::optional<Tiles> TilesOf(const Stmt& stmt) {
  std::optional<Tiles> tiles = NestOf(stmt);
  if (!tiles || !FindPositions(*tiles) || !Fits(*tiles) || CallsVectorMath(tiles->store->value))
    return std::nullopt;
  const Buffer& result = tiles->store->buffer;
  const Linear place = ToLinear(OffsetOf(result, tiles->store->indices), {});
  if (place.CoefficientOf(tiles->lanes->var) != 1 ||
      place.CoefficientOf(tiles->results->var) != tiles->line() ||
      place.CoefficientOf(tiles->rows->var) != tiles->column.extent || !Moves(*tiles, place))
    return std::nullopt;
  return tiles;
}

class TransposeAligner : public StmtMutator {
 protected:
  Expr Mutate(const Expr& e) override { return e; }

  Stmt MutateStmt(const Stmt& stmt) override {
    const std::optional<Tiles> tiles = TilesOf(stmt);
    if (!tiles) return MutateStmtChildren(stmt);
    const StoreNode& store = *tiles->store;
    const Expr base = Simplify(Substitute(OffsetOf(store.buffer, store.indices),
                                          {{tiles->lanes->var, 0}, {tiles->results->var, 0}}));
    const Expr next_line = FloorDiv(base + tiles->line() - 1, tiles->line()) * tiles->line();
    const Expr skew = Simplify(next_line - base);
    return IsConstInt(skew, 0) ? stmt : Staged(*tiles, skew);
  }

 private:
  static Stmt Staged(const Tiles& tiles, const Expr& skew) {
    const Buffer staged = Buffer::Make("staged", tiles.store->value.dtype(),
                                       {Expr(tiles.row_count * tiles.pitch())}, Memory::kStack);
    const Expr columns = ShiftOf(tiles.column, tiles.pitch());
    const Expr rows = tiles.row ? ShiftOf(*tiles.row, tiles.source_count * tiles.row_count) : 0;
    return For(tiles.sources->var, 0, tiles.source_count, ForKind::kSerial,
               Allocate(staged, Seq({Fill(tiles, staged, rows, columns),
                                     Copy(tiles, staged, rows, columns, skew)})));
  }

  static Stmt Fill(const Tiles& tiles, const Buffer& staged, const Expr& row_shift,
                   const Expr& column_shift) {
    const Var &row = tiles.rows->var, &tile = tiles.results->var, &lane = tiles.lanes->var;
    const Expr value =
        Substitute(tiles.store->value, {{row, row + row_shift}, {lane, lane + column_shift}});
    const Stmt store = Store(staged, value, {row * tiles.pitch() + tile * tiles.line() + lane});
    const Stmt square = For(row, 0, tiles.row_count, ForKind::kUnrolled,
                            For(lane, 0, tiles.line(), ForKind::kVectorized, store));
    return For(tile, 0, tiles.result_count + 1, ForKind::kSerial,
               Seq({FetchOfNextRows(tiles), square}));
  }

  static Stmt Copy(const Tiles& tiles, const Buffer& staged, const Expr& row_shift,
                   const Expr& column_shift, const Expr& skew) {
    const Var staged_row(tiles.rows->var.name()), tile(tiles.results->var.name()),
        lane(tiles.lanes->var.name());
    const Expr row = staged_row + row_shift;
    // Copies to column `column` of the block.
    const auto copy = [&](const Expr& column, StoreKind kind) {
      const ExprMap place = {
          {tiles.rows->var, row}, {tiles.results->var, 0}, {tiles.lanes->var, column}};
      std::vector<Expr> indices;
      for (const Expr& index : tiles.store->indices) indices.push_back(Substitute(index, place));
      const Expr from = staged_row * tiles.pitch() + column - column_shift;
      return If(tiles.column.at + column < tiles.column.extent,
                Store(tiles.store->buffer, Load(staged, {from}), std::move(indices), kind));
    };
    const Expr skew_of_row = Substitute(skew, {{tiles.rows->var, row}});
    const Stmt lines =
        For(tile, 0, tiles.result_count, ForKind::kSerial,
            For(lane, 0, tiles.line(), ForKind::kVectorized,
                copy(tile * tiles.line() + lane + skew_of_row, StoreKind::kStreaming)));
    // What lies before the first line that begins in the row.
    const Var first("first");
    const Stmt start =
        For(first, 0, tiles.line(), ForKind::kVectorized,
            If(tiles.column.at <= 0 && first < skew_of_row, copy(first, StoreKind::kPlain)));
    const Expr others = Min(Expr(tiles.row_count),
                            Max(Expr(0), 0 - row_shift - tiles.sources->var * tiles.row_count));
    return For(staged_row, others, tiles.row_count - others, ForKind::kSerial, Seq({start, lines}));
  }
};

}  // namespace

Stmt AlignTransposes(const Stmt& stmt) { return TransposeAligner()(stmt); }

}  // namespace tenon::loop
