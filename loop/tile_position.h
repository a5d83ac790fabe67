// Where a tile lies along an axis, as the condition that the axis ends says.
#ifndef TENON_LOOP_TILE_POSITION_H_
#define TENON_LOOP_TILE_POSITION_H_

#include <cstdint>
#include <optional>

#include "tenon/loop/expr.h"

namespace tenon::loop {

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

#endif  // TENON_LOOP_TILE_POSITION_H_
