// Register tiles: sums whose results stay in vector registers while they are added up.
//
// A compute with the tag kRegisterTile is a reduction with the axes (grid..., rows, vectors,
// lanes): the trailing three are a block of results that fits the register file, the leading ones
// say which block. Whatever is read of it is computed block by block inside the loops of its
// reader. Matrix products and blocked convolutions are written this way.
//
//   Tensor tile = te::Compute({n / 64, m / 4, 4, 4, 16}, ..., "product", kRegisterTile);
//   Tensor c = te::Compute({m, n}, [&](Var i, Var j) { return tile(j / 64, i / 4, i % 4, ...); });
#ifndef TENON_STRATEGIES_REGISTER_TILE_H_
#define TENON_STRATEGIES_REGISTER_TILE_H_

#include <vector>

#include "tenon/schedule/schedule.h"

namespace tenon::strategies {

inline constexpr const char* kRegisterTile = "register_tile";
// The tag of a copy in the order in which tiles read, which is stored rather than computed again at
// each read.
inline constexpr const char* kPacked = "packed";

bool IsRegisterTile(const te::OperationNode& op);

// The loops of the sum itself: reduction outside, the tile unrolled in vectors inside. Its grid
// axes stay outermost.
void ScheduleTile(schedule::Stage& tile);

// Walks `reader` block by block and computes `tile` for each, where every index that `reader` reads
// the grid at is an axis of it, a quotient of one or 0. Otherwise answers false and changes
// nothing. `indices`: of the one element that `reader` reads of `tile`. `parallel`: shares the
// blocks among the threads.
bool ScheduleByTiles(schedule::Stage& reader, schedule::Stage& tile,
                     const std::vector<loop::Expr>& indices, bool parallel);

}  // namespace tenon::strategies

#endif  // TENON_STRATEGIES_REGISTER_TILE_H_
