#include "tenon/strategies/te/conv/filter_tiles.h"

#include <algorithm>
#include <span>
#include <vector>

#include "tenon/strategies/te/conv/tile_taps.h"
#include "tenon/support/arithmetic.h"

namespace tenon::strategies {
namespace {

// Results of one filter below which a tile holds all of them.
constexpr std::int64_t kMinPixels = 4;

// Whether tiles may add channels in turn: the number of pixels is known, and no group or word says
// which channels belong together.
bool MayAddInTurn(const ConvSum& conv) {
  return conv.groups == 1 && conv.channels_of_word == 1 && AreNumbers(conv.Spatial());
}

// A tile that adds all its channels at once loads each line of a small image from the next cache
// for a few pixels. So all tiles of an image add a few channels before they add more. These few lie
// in the nearest cache, and their terms are written out without a loop. With 32 registers tiles
// have more to do for each line, and gain nothing.
constexpr std::int64_t kChannelsInTurn = 8;
// Sums that leave out taps read less of each channel, and ask for each part of them.
constexpr std::int64_t kChannelsInTurnOfFewTaps = 16;
constexpr FilterTile kTileInTurn = {2, 4};

std::int64_t InTurn(const ConvSum& conv) {
  return conv.inside.empty() ? kChannelsInTurn : kChannelsInTurnOfFewTaps;
}

// Whether that pays. It takes more channels, sums that stay in the second-level cache, and tiles of
// filters for all threads.
bool PaysInTurn(const ConvSum& conv, std::int64_t vectors) {
  constexpr std::int64_t kMinTurns = 8;
  if (HasManyRegisters(conv.target) || !MayAddInTurn(conv)) return false;
  const std::int64_t pixels = ElementsOf(conv.Spatial()).planned;
  const std::int64_t shared =
      conv.shape[conv.out[0]].planned * CeilDiv(vectors, kTileInTurn.vectors);
  const std::int64_t sum_bytes = 4 * kTileInTurn.vectors * conv.lanes() * pixels;
  return pixels >= kMinPixels && conv.group_inputs % InTurn(conv) == 0 &&
         conv.group_inputs >= kMinTurns * InTurn(conv) && sum_bytes <= conv.target.l2_bytes / 2 &&
         shared >= 2 * conv.target.cores;
}

// If an image has few pixels, a tile holds all of them, and so many filters that the latency of an
// addition is hidden. Of such numbers it is the one that leaves the fewest vectors beyond the last
// filter.
FilterTile TileOfFewPixels(const ConvSum& conv, std::int64_t vectors, std::int64_t pixels) {
  const std::int64_t most = MaxSums(conv.target) / (kMinPixels - 1);
  if (conv.groups > 1) return {1, pixels};
  if (vectors <= most) return {vectors, pixels};
  return {TightestBlock(vectors, most / 2, most), pixels};
}

// Whether a tile loads no pixels, since each is an operand of its only multiply-add. That pays with
// 32 registers, where a tile's pixels are a line of each channel, and where the channels are a
// loop. The last tile of an image of any extents is not whole, but most images have many tiles.
bool MultipliesFromMemory(const ConvSum& conv, const FilterTile& tile) {
  const Size pixels = ElementsOf(conv.Spatial());
  return HasManyRegisters(conv.target) && tile.vectors == 1 && tile.pixels == conv.lanes() &&
         (!pixels.is_number() || pixels.IsMultipleOf(conv.lanes())) &&
         NumElements(conv.taps) == 1 && conv.group_inputs > kMaxUnrolledTerms;
}

// The estimated time of all tiles of a shape, a multiply-add being 1. In each step a vector of
// weights is a line. Pixels lie together unless a step or the end of a row parts them; they are
// near in any case where the tile reads few channels. With one tap and no steps the image is one
// row; with 32 registers the shapes were measured without that. Results are transposed on their way
// to memory, in squares if there are as many pixels as that takes, or nearly.
double TimeOf(const ConvSum& conv, std::int64_t vectors, std::int64_t pixels,
              const FilterTile& tile) {
  constexpr double kWeights = 0.4, kNearPixel = 0.15, kFarPixel = 0.5;
  constexpr double kInSquares = 1.5, kInParts = 5, kTurn = 0.5;
  const bool in_turn = PaysInTurn(conv, vectors);
  const bool many = HasManyRegisters(conv.target);
  const bool is_row = !many && NumElements(conv.taps) == 1 &&
                      std::ranges::count(conv.strides, 1) == std::ssize(conv.strides);
  const bool is_near = conv.group_inputs < conv.lanes() || is_row || in_turn ||
                       (conv.strides.back() == 1 && FitsRows(conv, tile.pixels));
  const std::int64_t square = conv.lanes() / 2;
  // 7 pixels leave as a square of 8 would, under a mask; 3 leave one by one.
  const bool in_squares = tile.pixels % square == 0 || (many && tile.pixels % (square - 1) == 0);
  const auto sums = static_cast<double>(tile.vectors * tile.pixels);
  const double pixel = is_near ? kNearPixel : kFarPixel;
  const double step = TileStepTime(tile.vectors, tile.pixels, kWeights,
                                   MultipliesFromMemory(conv, tile) ? 0 : pixel);
  const double steps = static_cast<double>(conv.group_inputs * NumElements(conv.taps)) *
                       PartOfTaps(conv, tile.pixels);
  const double turns = in_turn ? static_cast<double>(conv.group_inputs / InTurn(conv)) : 0;
  return static_cast<double>(CeilDiv(vectors, tile.vectors) * CeilDiv(pixels, tile.pixels)) *
         (steps * step + (kTurn * turns + (in_squares ? kInSquares : kInParts)) * sums);
}

// With 16 registers, 8 sums leave some for the addresses of pixels and for those of the next tap.
// 12 take twice the time. One pixel less pays where rows begin with a tile, unless the last tile is
// whole anyhow.
std::int64_t PixelsOfGroupTile(const ConvSum& conv, std::int64_t vectors, std::int64_t pixels) {
  const std::int64_t usual = 8 / vectors;
  const bool shorter = vectors == 1 && pixels % usual != 0 && FitsRows(conv, usual - 1);
  return shorter ? usual - 1 : usual;
}

// Pixels are loaded when their turn comes, and those of several taps may be kept for the next one:
// with one tap more sums fit into the registers, if pixels need no addresses of their own.
FilterTile UsualTile(const ConvSum& conv, std::int64_t vectors, std::int64_t pixels) {
  constexpr std::int64_t kShallow = 64;
  constexpr FilterTile kShapes[] = {{2, 8}, {2, 7}, {3, 8}, {3, 7}, {4, 6}, {1, 16}, {1, 14}};
  constexpr FilterTile kIn16Registers[] = {{2, 6}, {2, 4}, {3, 3}, {1, 12}, {1, 8}};
  // LLVM keeps pixels for the next tap, and 12 sums leave their registers for them.
  constexpr FilterTile kOfTapsIn16Registers[] = {{2, 5}, {2, 4}, {3, 3}, {1, 8}};
  constexpr FilterTile kOfOneTap = {2, 14};
  const bool many = HasManyRegisters(conv.target);
  if (pixels < kMinPixels) return TileOfFewPixels(conv, vectors, pixels);
  const bool skips = !conv.inside.empty();
  if (PaysInTurn(conv, vectors) && !skips) return kTileInTurn;
  const auto better = [&](const FilterTile& a, const FilterTile& b) {
    return TimeOf(conv, vectors, pixels, a) < TimeOf(conv, vectors, pixels, b);
  };
  if (conv.groups > 1) {
    const std::int64_t most = conv.group_outputs % (2 * conv.lanes()) == 0 ? 2 : 1;
    if (!many) return {most, PixelsOfGroupTile(conv, most, pixels)};
    const std::int64_t sums = EnoughSums(conv.target);
    return std::min(FilterTile{most, sums / most}, FilterTile{most, (sums - 2) / most}, better);
  }
  // The instruction reads a word for all lanes itself, and results leave in squares.
  if (conv.channels_of_word > 1 && pixels % conv.lanes() == 0) return {1, conv.lanes()};
  const std::int64_t taps = NumElements(conv.taps);
  // Sums that are short beside their way to memory leave in squares of whole cache lines.
  if (conv.group_inputs * taps <= kShallow && conv.shape[conv.out[1]].IsMultipleOf(conv.lanes()) &&
      conv.shape[conv.out.back()].IsMultipleOf(conv.lanes()))
    return {1, conv.lanes()};
  const std::span<const FilterTile> shapes = many ? std::span<const FilterTile>(kShapes)
                                             : taps > 1 && !skips
                                                 ? std::span<const FilterTile>(kOfTapsIn16Registers)
                                                 : std::span<const FilterTile>(kIn16Registers);
  const FilterTile best = *std::min_element(shapes.begin(), shapes.end(), better);
  const bool takes_more = many && taps == 1 && FitsRows(conv, kOfOneTap.pixels);
  return takes_more && better(kOfOneTap, best) ? kOfOneTap : best;
}

}  // namespace

FilterTile FilterTileOf(const ConvSum& conv, std::int64_t vectors, std::int64_t pixels,
                        Config* config) {
  const FilterTile usual = UsualTile(conv, vectors, pixels);
  if (conv.channels_of_word > 1) return usual;
  const TileSize tile =
      TileIn(config, {"pixels", "vectors"}, {usual.pixels, usual.vectors}, {pixels, vectors},
             conv.target, conv.groups > 1 ? conv.group_outputs / conv.lanes() : 0);
  return {tile.vectors, tile.rows};
}

double FilterTileTime(const ConvSum& conv, std::int64_t vectors, std::int64_t pixels) {
  return TimeOf(conv, vectors, pixels, UsualTile(conv, vectors, pixels));
}

std::int64_t ChannelsAtOnce(const ConvSum& conv, std::int64_t vectors, Config* config) {
  if (!MayAddInTurn(conv)) return 0;
  const std::int64_t usual = PaysInTurn(conv, vectors) ? InTurn(conv) : 0;
  std::vector<std::int64_t> choices = {0};
  for (std::int64_t channels = kChannelsInTurn; channels < conv.group_inputs; channels *= 2) {
    if (conv.group_inputs % channels == 0) choices.push_back(channels);
  }
  return KnobOf(config, "channels", choices, usual);
}

bool FitsRows(const ConvSum& conv, std::int64_t pixels) {
  const Size& row = conv.shape[conv.out.back()];
  return row.IsMultipleOf(pixels) || (row.is_number() && pixels % row.planned == 0);
}

}  // namespace tenon::strategies
