// for i (unrolled): for c (vectorised): if (r + i < m && s + c < n) y[r + i, s + c] = f(..)
// becomes, with i' = i + min(0, m - R - r) for tiles of R rows, and c' likewise,
//   if (r < m && s < n) for i (unrolled): for c (vectorised): y[r + i', s + c'] = f(..)
// Tiles that would reach beyond an axis end where it does, and store again what others do: Halide's
// ShiftInwards (Ragan-Kelley et al., 2013).
//
// That needs indices in which what moves occurs only as r + i (MovesWith).
#include <algorithm>
#include <optional>
#include <vector>

#include "tenon/loop/simplify/guards.h"
#include "tenon/loop/simplify/simplify.h"
#include "tenon/loop/transform/tile.h"
#include "tenon/loop/transform/transforms.h"
#include "tenon/loop/visit.h"

namespace tenon::loop {
namespace {

// The offsets in memory that a tile stores to and loads from. Nothing if the value uses indices in
// any other way, or reads what is stored.
std::optional<std::vector<Linear>> OffsetsOf(const Tile& tile) {
  const StoreNode& store = *tile.store;
  std::vector<Linear> offsets = {ToLinear(OffsetOf(store.buffer, store.indices), {})};
  bool gathers = false, reads_result = false;
  ExprMap loads;
  VisitExpr(store.value, [&](const Expr& e) {
    const auto* load = e.As<LoadNode>();
    if (load == nullptr) return;
    offsets.push_back(ToLinear(OffsetOf(load->buffer, load->indices), {}));
    gathers = gathers || offsets.back().CoefficientOf(tile.lanes->var) > 1;
    reads_result = reads_result || load->buffer == store.buffer;
    loads.emplace(e, Constant(load->buffer->dtype, 0));
  });
  const Expr others = Substitute(store.value, loads);
  if (!gathers || reads_result || UsesVar(others, tile.rows->var) ||
      UsesVar(others, tile.lanes->var))
    return std::nullopt;
  return offsets;
}

class TileShifter : public StmtMutator {
 protected:
  Expr Mutate(const Expr& e) override { return e; }

  Stmt MutateStmt(const Stmt& stmt) override {
    const std::optional<Tile> tile = TileOf(stmt);
    if (!tile || tile->guard == nullptr) return MutateStmtChildren(stmt);
    const std::optional<std::vector<Linear>> offsets = OffsetsOf(*tile);
    if (!offsets) return stmt;
    std::vector<Expr> conditions;
    SplitConjunction(tile->guard->condition, &conditions);
    ExprMap moved;
    Expr guard = True();
    for (const Expr& condition : conditions) {
      const bool of_rows = UsesVar(condition, tile->rows->var);
      const bool of_lanes = UsesVar(condition, tile->lanes->var);
      if (!of_rows && !of_lanes) {
        guard = guard && condition;
        continue;
      }
      if (of_rows && of_lanes) return stmt;
      const ForNode& loop = of_rows ? *tile->rows : *tile->lanes;
      const std::optional<Position> position = PositionUnder(condition, loop.var);
      const std::int64_t length = of_rows ? tile->row_count : tile->lane_count;
      if (!position || !IsConstInt(loop.min, 0) || position->extent < length ||
          moved.contains(loop.var) || offsets->front().CoefficientOf(loop.var) == 0 ||
          !std::all_of(offsets->begin(), offsets->end(), [&](const Linear& offset) {
            return MovesWith(offset, offsets->front(), loop.var, *position);
          }))
        return stmt;
      moved.emplace(loop.var, loop.var + ShiftOf(*position, length));
      guard = guard && position->at < position->extent;
    }
    if (moved.empty()) return stmt;
    const Stmt store = Substitute(tile->guard->then_case, moved);
    return If(guard, Around(*tile->rows, Around(*tile->lanes, store)));
  }
};

}  // namespace

Stmt ShiftTiles(const Stmt& stmt) { return TileShifter()(stmt); }

}  // namespace tenon::loop
