// How Winograd's algorithm shares its tiles out, and the time that it takes.
//
//   const WinogradBlocks blocks = ChooseWinogradBlocks(shape, conv);
//   if (WinogradTime(shape, conv, blocks) < DirectTime(shape, conv)) ...
#ifndef TENON_STRATEGIES_TE_CONV_WINOGRAD_BLOCKS_H_
#define TENON_STRATEGIES_TE_CONV_WINOGRAD_BLOCKS_H_

#include <cstdint>

#include "tenon/strategies/planned_extent.h"
#include "tenon/strategies/te/conv/conv.h"
#include "tenon/support/arithmetic.h"

namespace tenon::strategies {

inline constexpr std::int64_t kWinogradSide = 2;  // results of a tile along an axis
inline constexpr std::int64_t kWinogradPatch = kWinogradSide + 3 - 1;  // pixels

// Tiles and how they are shared out.
struct WinogradBlocks {
  Size rows, columns;       // tiles of the image
  std::int64_t block_rows;  // rows of tiles of a block
  std::int64_t tall;        // tiles of a register tile
  std::int64_t vectors;     // of filters of a register tile

  // WinogradBlocks of filters, which are register tiles wide.
  std::int64_t filter_blocks(const Sizes& shape, std::int64_t lanes) const {
    return CeilDiv(shape[1].planned, lanes * vectors);
  }
  Size row_blocks() const { return BlocksOf(rows, block_rows); }
  Size tiles() const { return columns.expr * block_rows; }  // of a block
  Size register_tiles() const { return BlocksOf(tiles(), tall); }
  // Tiles of a row that are transformed. Rows of any length are filled up to whole register tiles
  // and whole vectors, so that nothing asks where they end.
  Size filled(std::int64_t lanes) const {
    if (columns.is_number()) return columns;
    const Size whole = register_tiles().expr * tall;
    return BlocksOf(whole, lanes).expr * lanes;
  }
};

// The fastest blocks whose transformed pixels stay in cache. If rows are expressions, a block is
// one row of tiles, so that no place is a quotient by an expression.
WinogradBlocks ChooseWinogradBlocks(const Sizes& shape, const Conv& conv);

// Estimated times of an image, in cycles of two multiply-adds of vectors each: of the algorithm,
// and of the sum as it is defined.
double WinogradTime(const Sizes& shape, const Conv& conv, const WinogradBlocks& blocks);
double DirectTime(const Sizes& shape, const Conv& conv);

}  // namespace tenon::strategies

#endif  // TENON_STRATEGIES_TE_CONV_WINOGRAD_BLOCKS_H_
