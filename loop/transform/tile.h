// Tiles of rows and lanes: an unrolled loop around a vectorised one that stores. Also where a tile
// lies along an axis.
#ifndef TENON_LOOP_TRANSFORM_TILE_H_
#define TENON_LOOP_TRANSFORM_TILE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "tenon/loop/expr.h"
#include "tenon/loop/simplify/simplify.h"
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

// Nothing if `stmt` is not a pair of such loops, with constant extents and one store in them.
std::optional<Tile> TileOf(const Stmt& stmt);

// A nest of tiles. The loop `sources` lays them beside each other in what they read along their
// rows, and `results` in what they store.
struct TileNest : Tile {
  const ForNode *sources = nullptr, *results = nullptr;
  std::int64_t source_count = 0, result_count = 0;
};

// The nest of serial loops that start at 0 and have constant extents; nothing in the cases of
// TileOf.
std::optional<TileNest> TileNestOf(const Stmt& stmt);

// Whether each vector that is stored is as long as a line, and its store is non-temporal.
bool StreamsLines(const Tile& tile);

// For each tile of a nest, fetches what the next `results` tiles read in the same places. It goes
// to the second level of the caches, since lines of a column may fall into few sets of the first
// one. Tiles with fewer rows than fill a line fetch their share of whole lines.
Stmt FetchOfNextRows(const TileNest& nest);

// The tile begins at `at`, along an axis of `extent` elements.
struct Position {
  Expr at;
  std::int64_t extent = 0;
};

// The position, if `condition` is at + v < extent for the tile's variable v, which `at` does not
// use. Nothing if it does not have this form.
std::optional<Position> PositionUnder(const Expr& condition, const Var& var);

// Whether `var` occurs in an offset in memory as at + var alone, so that moving it moves the tile.
// Another term with variables of `at` may have been made from at + var while var was known to be in
// the tile, unless another term of the place that is stored to tells it: places are made of axes.
bool MovesWith(const Linear& offset, const Linear& place, const Var& var, const Position& position);

// How far a tile of `length` elements moves so as not to reach beyond the axis; at most 0.
Expr ShiftOf(const Position& position, std::int64_t length);

}  // namespace tenon::loop

#endif  // TENON_LOOP_TRANSFORM_TILE_H_
