// An unrolled loop around a vectorised one that stores, as tiles of rows and lanes are made, and
// where a tile lies along an axis.
#ifndef TENON_LOOP_TRANSFORM_TILE_H_
#define TENON_LOOP_TRANSFORM_TILE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "tenon/loop/expr.h"
#include "tenon/loop/stmt.h"

namespace tenon::loop {

// Points into the statement that it was found in.
struct Tile {
  const ForNode *rows = nullptr, *lanes = nullptr;
  std::int64_t row_count = 0, lane_count = 0;
  const IfNode* guard = nullptr;  // around the store; null without
  const StoreNode* store = nullptr;

  // The loads in what is stored that differ by lane and are adjacent along the rows.
  std::vector<Expr> Gathers() const;
};

// Nothing when `stmt` is no such loops, with constant extents and one store in them.
std::optional<Tile> TileOf(const Stmt& stmt);

// Tiles that `sources` lay beside each other in what they read along their rows, and `results` in
// what they store.
struct TileNest : Tile {
  const ForNode *sources = nullptr, *results = nullptr;
  std::int64_t source_count = 0, result_count = 0;
};

// Of serial loops from 0 of constant extents, as TileOf.
std::optional<TileNest> TileNestOf(const Stmt& stmt);

// Whether each vector that is stored is as long as a line and goes past the caches.
bool StreamsLines(const Tile& tile);

// Of each tile of a nest: asks for what is read in the same places as here, but by the next
// `results` tiles, in the second level of the caches (lines of a column may fall into few sets of
// the first one). Tiles with fewer rows than fill a line ask for their share of whole lines.
Stmt FetchOfNextRows(const TileNest& nest);

// The tile begins at `at`, along an axis of `extent` elements.
struct Position {
  Expr at;
  std::int64_t extent = 0;
};

// The position when `condition` is at + v < extent for the tile's variable v, which `at` does not
// use; nothing when it has no such form.
std::optional<Position> PositionUnder(const Expr& condition, const Var& var);

// How far, at most 0, a tile of `length` elements moves so as not to reach beyond the axis.
Expr ShiftOf(const Position& position, std::int64_t length);

}  // namespace tenon::loop

#endif  // TENON_LOOP_TRANSFORM_TILE_H_
