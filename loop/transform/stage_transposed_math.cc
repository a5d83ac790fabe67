// for i (unrolled): for l (vectorised): y[..] = f(x[.. + i + s l], b[i]) becomes
//   for l (unrolled): for i (vectorised): staged[l, i] = f(x[.. + i + s l], b[i])
//   for i (unrolled): for l (vectorised): y[..] = staged[l, i]
// where the vectors along i are longer than those along l. The copy is the transposition that
// TransposeTiles does in registers.
#include <cstdint>
#include <optional>

#include "tenon/loop/simplify/simplify.h"
#include "tenon/loop/transform/tile.h"
#include "tenon/loop/transform/transforms.h"
#include "tenon/loop/visit.h"

namespace tenon::loop {
namespace {

// Whether what differs by lane lies along the rows, and at least one value does.
bool ReadsAcross(const Tile& tile) {
  bool across = false, otherwise = false;
  VisitExpr(tile.store->value, [&](const Expr& e) {
    const auto* load = e.As<LoadNode>();
    if (load == nullptr) return;
    if (load->buffer == tile.store->buffer) otherwise = true;
    if (!UsesVar(e, tile.lanes->var)) return;
    const Linear index = ToLinear(load->indices[0], {});
    if (index.CoefficientOf(tile.rows->var) == 1 && index.CoefficientOf(tile.lanes->var) > 1)
      across = true;
    else
      otherwise = true;
  });
  return across && !otherwise;
}

class Stager : public StmtMutator {
 protected:
  Expr Mutate(const Expr& e) override { return e; }

  Stmt MutateStmt(const Stmt& stmt) override {
    const std::optional<Tile> tile = TileOf(stmt);
    if (!tile || tile->lane_count >= tile->row_count || !CallsVectorMath(tile->store->value) ||
        !ReadsAcross(*tile))
      return MutateStmtChildren(stmt);
    return Staged(*tile);
  }

 private:
  static Stmt Staged(const Tile& tile) {
    const StoreNode& store = *tile.store;
    const Var& row = tile.rows->var;
    const Var& lane = tile.lanes->var;
    const Buffer staged = Buffer::Make("staged", store.value.dtype(),
                                       {Expr(tile.row_count * tile.lane_count)}, Memory::kStack);
    const Expr at = (lane - tile.lanes->min) * tile.row_count + (Expr(row) - tile.rows->min);
    const auto guarded = [&](const Stmt& body) {
      return tile.guard == nullptr ? body : If(tile.guard->condition, body);
    };
    const Stmt compute = guarded(Store(staged, store.value, {at}));
    const Stmt copy = guarded(Store(store.buffer, Load(staged, {at}), store.indices));
    // Each of the two loop nests gets variables of its own.
    const Var row_of_copy(row.name()), lane_of_copy(lane.name());
    return Allocate(
        staged, Seq({For(lane, tile.lanes->min, tile.lane_count, ForKind::kUnrolled,
                         For(row, tile.rows->min, tile.row_count, ForKind::kVectorized, compute)),
                     Substitute(For(row_of_copy, tile.rows->min, tile.row_count, ForKind::kUnrolled,
                                    For(lane_of_copy, tile.lanes->min, tile.lane_count,
                                        ForKind::kVectorized, copy)),
                                {{row, row_of_copy}, {lane, lane_of_copy}})}));
  }
};

}  // namespace

Stmt StageTransposedMath(const Stmt& stmt) { return Stager()(stmt); }

}  // namespace tenon::loop
