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

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tenon/schedule/schedule.h"
#include "tenon/strategies/config.h"
#include "tenon/support/target.h"

namespace tenon::strategies {

// Rows, vectors and lanes.
inline constexpr std::size_t kTileAxes = 3;
inline constexpr const char* kRegisterTile = "register_tile";
// The tag of a register tile whose rows read at uneven distances: pixels of several image rows.
inline constexpr const char* kUnevenTile = "uneven_register_tile";
// The tag of a kUnevenTile that is computed for all of the last grid axis in each block of the
// others.
inline constexpr const char* kTallTile = "tall_register_tile";
// The tag of a kUnevenTile whose rows are those of its reader, which takes them out of registers.
inline constexpr const char* kRowsTile = "rows_register_tile";
// The tag of a tile whose innermost reduction axis is what one instruction adds up in each lane: 4
// products of uint8 by int8 in int32, or 2 of bfloat16 in float32. It reads the left operand in a
// row of memory and the right one as (..., lane, group).
inline constexpr const char* kDotTile = "dot_tile";
// The tag of a kDotTile whose left operand is a word of int32.
inline constexpr const char* kWordDotTile = "word_dot_tile";
// The tag of a kTallTile whose innermost reduction axis is taps along a row, of which one
// instruction adds up as many as of a kDotTile. Lanes step through the row.
inline constexpr const char* kTallDotTile = "tall_dot_tile";
// The tag of a copy in the order in which tiles read, which is stored rather than computed again at
// each read.
inline constexpr const char* kPacked = "packed";

// The tag of a stored stage whose lines are written out where they are few vectors, so that what a
// vector reads is known beforehand.
inline constexpr const char* kWrittenOut = "written_out";

// The tag of what a tile reads of its own block alone: it is computed where the tile is.
inline constexpr const char* kTileInput = "tile_input";
// The tag of a kTileInput of the axes (..., place, place, step, step): its loops over places are
// unrolled, as where a line is inside the image depends on them.
inline constexpr const char* kTileSteps = "tile_steps";

// The tag of a kTileSteps whose rows start with a vector.
inline constexpr const char* kTileRows = "tile_rows";
// The tag of a kTileInput of the axes (..., row, group, lane), of whole vectors that stay in
// registers.
inline constexpr const char* kTileVectors = "tile_vectors";

// Terms of a sum that are written out: those of 3 x 3 taps and 3 channels.
inline constexpr std::int64_t kMaxUnrolledTerms = 32;

// Whether registers are as many as those of AVX-512, or half.
inline bool HasManyRegisters(const Target& target) { return target.vector_registers >= 32; }
// Sums that leave registers for the operands: 24 of 32, 12 of 16.
inline std::int64_t MaxSums(const Target& target) { return target.vector_registers * 3 / 4; }
// Whether registers hold a tile of so many rows and vectors and the operands of a step: those of
// its shorter side, and one more. One register is left for what LLVM needs.
inline bool FitsRegisters(const Target& target, std::int64_t rows, std::int64_t vectors) {
  return rows * vectors + std::min(rows, vectors) + 1 < target.vector_registers;
}
// A tile of so many rows and vectors, or what `config` says instead: the choices `rows_name` and
// `vectors_name`, of the tiles that registers hold and that are no larger than the result.
// `vectors` divides `whole_vectors`, unless that is 0.
struct RegisterTile {
  std::int64_t rows, vectors;
};
struct TileNames {
  const char *rows, *vectors;
};
RegisterTile TileIn(Config* config, const TileNames& names, const RegisterTile& usual,
                    const RegisterTile& largest, const Target& target,
                    std::int64_t whole_vectors = 0);
// Sums of a tile that loads its operands no more often for having more of them.
inline std::int64_t EnoughSums(const Target& target) {
  return std::min<std::int64_t>(16, MaxSums(target));
}

// The estimated time of a tile for each step of its sums: its multiply-adds or the latency of one,
// and the loads of `left` operands that meet `right` ones. The unit is one multiply-add.
double TileStepTime(std::int64_t left, std::int64_t right, double left_load = 0.25,
                    double right_load = 0.25);

bool IsRegisterTile(const te::OperationNode& op);
bool IsTallTile(const te::OperationNode& op);
bool IsTileInput(const te::OperationNode& op);

// The loops of the sum itself: reduction outside, the tile unrolled in vectors inside. Its grid
// axes stay outermost.
void ScheduleTile(schedule::Stage& tile);

// Walks `reader` block by block and computes `tile` for each: along every grid axis that `reader`
// reads at an axis of its own, at neighbouring ones taken as one, or at a quotient of these. What
// is read otherwise is computed whole inside. Answers false and changes nothing where there is no
// such axis. `indices`: of the one element that `reader` reads of `tile`.
struct TileReaderTraits {
  const Target& target;
  bool parallel;    // shares the blocks among the threads
  bool calls_math;  // calls vector math, which is then done in whole vectors
};
bool ScheduleByTiles(schedule::Stage& reader, schedule::Stage& tile,
                     const std::vector<loop::Expr>& indices, const TileReaderTraits& traits);

}  // namespace tenon::strategies

#endif  // TENON_STRATEGIES_REGISTER_TILE_H_
