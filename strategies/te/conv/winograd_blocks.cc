#include "tenon/strategies/te/conv/winograd_blocks.h"

#include "tenon/strategies/schedule/register_tile.h"

namespace tenon::strategies {
namespace {

double LanesACycle(const Conv& conv) { return 2 * static_cast<double>(conv.lanes()); }

}  // namespace

double DirectTime(const Sizes& shape, const Conv& conv) {
  const std::int64_t sums = EnoughSums(conv.target);
  const double of_tile = TileStepTime(sums / 2, 2) / static_cast<double>(sums);
  const auto filters = static_cast<double>(RoundUp(shape[1].planned, conv.lanes()));
  return of_tile * 9 *
         static_cast<double>(shape[2].planned * shape[3].planned * conv.group_inputs) * filters /
         LanesACycle(conv);
}

double WinogradTime(const Sizes& shape, const Conv& conv, const WinogradBlocks& blocks) {
  constexpr double kOfChannel = 3.5, kOfFilter = 3;      // transformations of a tile
  constexpr double kBytesACycle = 16;                    // from the third-level cache
  const std::int64_t cached = conv.target.l2_bytes / 2;  // bytes that the second one keeps
  const double of_tile =
      TileStepTime(blocks.tall, blocks.vectors) / static_cast<double>(blocks.tall * blocks.vectors);
  const std::int64_t channels = conv.group_inputs;
  const std::int64_t filters = RoundUp(shape[1].planned, conv.lanes() * blocks.vectors);
  const std::int64_t row_blocks = blocks.row_blocks().planned;
  // Rows of any length leave half of their last register tile empty.
  const std::int64_t of_block = blocks.tiles().is_number()
                                    ? RoundUp(blocks.tiles().planned, blocks.tall)
                                    : blocks.tiles().planned + (blocks.tall - 1) / 2;
  const std::int64_t tiles = row_blocks * of_block;
  const std::int64_t weights = kWinogradPatch * kWinogradPatch * channels * filters;
  double time = of_tile * static_cast<double>(tiles * weights) / LanesACycle(conv);
  time += static_cast<double>(tiles) *
          (kOfChannel * static_cast<double>(channels) + kOfFilter * static_cast<double>(filters));
  if (weights * 4 > cached) time += static_cast<double>(row_blocks * weights * 4) / kBytesACycle;
  return time;
}

WinogradBlocks ChooseWinogradBlocks(const Sizes& shape, const Conv& conv) {
  constexpr std::int64_t kMaxBytes = 1 << 20, kMaxTiles = 56;
  const Size rows = BlocksOf(shape[2], kWinogradSide), columns = BlocksOf(shape[3], kWinogradSide);
  const std::int64_t vectors = CeilDiv(shape[1].planned, conv.lanes()) % 2 == 0 ? 2 : 1;
  const std::int64_t most_tall = EnoughSums(conv.target) / vectors;
  WinogradBlocks best{rows, columns, 1, most_tall, vectors};
  const std::int64_t most_rows = columns.is_number() ? rows.planned : 1;
  for (std::int64_t n = 1; n <= most_rows; ++n) {
    const std::int64_t bytes =
        n * columns.planned * conv.group_inputs * kWinogradPatch * kWinogradPatch * 4;
    if (n > 1 && (bytes > kMaxBytes || n * columns.planned > kMaxTiles)) break;
    for (std::int64_t tall = most_tall; tall >= most_tall * 3 / 4; --tall) {
      const WinogradBlocks blocks{rows, columns, n, tall, vectors};
      if (WinogradTime(shape, conv, blocks) < WinogradTime(shape, conv, best)) best = blocks;
    }
  }
  return best;
}

}  // namespace tenon::strategies
