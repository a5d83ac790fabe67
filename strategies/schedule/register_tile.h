// Register tiles: sums whose results stay in vector registers while they are added up.
//
// A compute with the hint te::RegisterTile is a reduction with the axes (grid..., rows, vectors,
// lanes): the trailing three are a block of results that fits the register file, the leading ones
// say which block. What is read of it is computed block by block inside the loops of its reader.
// Matrix products and blocked convolutions are written this way.
//
//   Tensor tile = te::Compute({n / 64, m / 4, 4, 4, 16}, ..., "product", te::RegisterTile{});
//   Tensor c = te::Compute({m, n}, [&](Var i, Var j) { return tile(j / 64, i / 4, i % 4, ...); });
#ifndef TENON_STRATEGIES_SCHEDULE_REGISTER_TILE_H_
#define TENON_STRATEGIES_SCHEDULE_REGISTER_TILE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tenon/schedule/schedule.h"
#include "tenon/strategies/config.h"
#include "tenon/support/target.h"

namespace tenon::strategies {

// The axes of a register tile by role: a block of results, and which block it is.
inline constexpr std::size_t kTileAxes = 3;
struct TileAxes {
  std::span<const te::IterVar> grid;
  const te::IterVar &rows, &vectors, &lanes;
};
TileAxes TileAxesOf(const te::OperationNode& tile);

// The most terms of a sum that are written out, those of 3 x 3 taps and 3 channels.
inline constexpr std::int64_t kMaxUnrolledTerms = 32;

// Whether there are as many registers as AVX-512 has, or half.
inline bool HasManyRegisters(const Target& target) { return target.vector_registers >= 32; }
// The most sums that leave registers for the operands: 24 of 32, 12 of 16.
inline std::int64_t MaxSums(const Target& target) { return target.vector_registers * 3 / 4; }
// Whether registers hold a tile of so many rows and vectors and the operands of a step: those of
// its shorter side, and one more. One register is left for what LLVM needs.
inline bool FitsRegisters(const Target& target, std::int64_t rows, std::int64_t vectors) {
  return rows * vectors + std::min(rows, vectors) + 1 < target.vector_registers;
}
// A tile of so many rows and vectors, or what `config` says instead: the choices `rows_name` and
// `vectors_name`, of the tiles that registers hold and that are no larger than the result.
// `vectors` divides `whole_vectors`, unless that is 0.
struct TileSize {
  std::int64_t rows, vectors;
};
struct TileNames {
  const char *rows, *vectors;
};
TileSize TileIn(Config* config, const TileNames& names, const TileSize& usual,
                const TileSize& largest, const Target& target, std::int64_t whole_vectors = 0);
// The same where a tile has one side only, whose sums registers hold: 1 to `largest`.
std::int64_t TileSideIn(Config* config, const std::string& name, std::int64_t usual,
                        std::int64_t largest, const Target& target);
// Why a tile of whole rows, a vector each, does not hold a result of so many rows and columns.
std::optional<std::string> RefuseRowsInRegisters(const Target& target, std::int64_t rows,
                                                 std::int64_t columns);
// So many sums that a tile with more would not load its operands less often.
inline std::int64_t EnoughSums(const Target& target) {
  return std::min<std::int64_t>(16, MaxSums(target));
}

// The estimated time of a tile for each step of its sums: its multiply-adds or the latency of one,
// and the loads of `left` operands that meet `right` ones. The unit is one multiply-add.
double TileStepTime(std::int64_t left, std::int64_t right, double left_load = 0.25,
                    double right_load = 0.25);

bool IsRegisterTile(const te::OperationNode& op);
// Whether a register tile has te::TileRows::kTall.
bool IsTallTile(const te::OperationNode& tile);
// Whether tiles add some terms in turn (te::RegisterTile::terms_at_once).
bool AddsInTurn(const te::OperationNode& tile);

// Schedules the loops of the sum itself: the reduction outside, the tile unrolled in vectors
// inside. Its grid axes stay outermost.
void ScheduleTile(schedule::Stage& tile);

// Walks `reader` block by block and computes `tile` for each: along every grid axis that `reader`
// reads at an axis of its own, at neighbouring ones taken as one, or at a quotient of these. What
// is read differently is computed whole inside. Answers false and changes nothing where there is no
// such axis. `indices` are those of the one element of `tile` that `reader` reads.
struct TileReaderTraits {
  const Target& target;
  bool parallel;    // shares the blocks among the threads
  bool calls_math;  // calls vector math, which is then done in whole vectors
  // The tiles along the last grid axis are a loop inside those that threads share, around which
  // something is computed that they all read.
  bool has_panels = false;
};
bool ScheduleByTiles(schedule::Stage& reader, schedule::Stage& tile,
                     const std::vector<loop::Expr>& indices, const TileReaderTraits& traits);

}  // namespace tenon::strategies

#endif  // TENON_STRATEGIES_SCHEDULE_REGISTER_TILE_H_
