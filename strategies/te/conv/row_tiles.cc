// Tiles share the filters and the channels of a block of pixels (Goto and van de Geijn, "Anatomy of
// high-performance matrix multiplication", TOMS 2008): which tiles registers hold, what packing
// pays for, and who goes first.
#include "tenon/strategies/te/conv/row_tiles.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "tenon/strategies/planned_extent.h"
#include "tenon/strategies/schedule/register_tile.h"
#include "tenon/support/arithmetic.h"
#include "tenon/support/strings.h"

namespace tenon::strategies {
namespace {

// With fewer filters in a tile its pixels are loaded too often, and with more LLVM leaves its sums
// in memory.
constexpr std::int64_t kMinFilters = 4;
constexpr std::int64_t kMaxFilters = 8;
// A tile's pixels of so many channels stay in the first-level cache for all filters. There are
// fewer where the channels' distance makes them share a few of its sets.
constexpr std::int64_t kMaxChannels = 256;
constexpr std::int64_t kMaxAliasingChannels = 64;
constexpr std::int64_t kAliasingBytes = 4096;
// So many filters pay for packing what they read, if the image has so many channels and more bytes
// than the second-level cache: then most rows of a block lie in other pages and outside the caches.
// Fewer channels do where rows end within vectors, since each pixel of the other forms has an
// address.
constexpr std::int64_t kMinFiltersToPack = 64;
constexpr std::int64_t kMinChannelsToPack = 128;
constexpr std::int64_t kMinRaggedChannelsToPack = 64;
// From so many channels on, with 32 registers, tiles whose lanes are filters take 0.85 to 0.94 of
// the time. With fewer channels, results are transposed too often for what they cost to sum up.
constexpr std::int64_t kMinChannelsOfFilterLanes = 32;
// Fewer channels are read again for each tile of filters. If the result is not in the caches, that
// takes 0.58 to 0.95 of the time of all filters by block of pixels, which writes to as many places
// at once as there are filters. If it is, it takes as long.
constexpr std::int64_t kMinChannelsToKeep = 32;
// The threads that few blocks are shared out among, and what packing a vector costs in
// multiply-adds.
constexpr std::int64_t kSharers = 4;
constexpr std::int64_t kPackWork = 8;

// What loading a weight and a vector of pixels costs in multiply-adds. The channels of a block come
// from the second-level cache, while weights are broadcast from the nearest. So among tiles of as
// many sums the narrower ones are faster, which read a vector for more filters.
constexpr double kWeightLoad = 0.25, kPixelLoad = 0.5;

constexpr std::array<std::int64_t, 2> kOnes = {1, 1};

// Lines of a set of the first-level cache.
constexpr std::int64_t kWays = 8;

// Whether the same pixels of all channels, of so many columns each, share sets of the cache.
bool Aliases(std::int64_t columns) { return columns * 4 % kAliasingBytes == 0; }

std::int64_t MostNearChannels(std::int64_t columns) {
  return Aliases(columns) ? kMaxAliasingChannels : kMaxChannels;
}

// Whether the filters read too much for the first-level cache, or every second pixel.
bool PaysToPack(const Conv& conv, const Shape& shape, std::int64_t columns) {
  if (shape[1] < kMinFiltersToPack) return false;
  // Vectors that step and go on in the next row would be gathered pixel by pixel.
  if (conv.strides != kOnes && shape[3] % conv.lanes() != 0) return false;
  const bool is_ragged = columns % conv.lanes() != 0;
  const std::int64_t least = is_ragged ? kMinRaggedChannelsToPack : kMinChannelsToPack;
  if (conv.group_inputs >= least && conv.group_inputs * columns * 4 > conv.target.l2_bytes)
    return true;
  return !is_ragged && (conv.strides != kOnes || conv.group_inputs > MostNearChannels(columns));
}

// Whether the channels of a block share one set of the first-level cache and do not fit into it,
// while tiles have too few sums to wait for the next cache. A packed block takes half of the time.
bool SharesOneSet(const Conv& conv, const RowTiles& tiles) {
  return Aliases(tiles.columns) && conv.group_inputs > kWays && !HasManyRegisters(conv.target) &&
         tiles.filters * tiles.vectors <= conv.target.vector_registers / 2;
}

// Whether there are enough filters, channels and pixels for tiles whose lanes are filters.
bool FillLanesWithFilters(const Conv& conv, const Shape& shape, const RowTiles& tiles) {
  return HasManyRegisters(conv.target) && tiles.flat && shape[1] % conv.lanes() == 0 &&
         conv.group_inputs >= kMinChannelsOfFilterLanes &&
         tiles.rows * tiles.columns >= kMinPixelsToPack;
}

// Refuses where lanes that are filters are better: they share their vectors among all pixels and
// taps.
Refusal RefuseTiles(const Conv& conv, const Shape& shape, const RowTiles& tiles) {
  if (!conv.IsNchw()) return "channels do not come first";
  if (conv.groups != 1) return "filters are in groups";
  if (const Refusal refusal = conv.RefuseLanes(Sizes(shape.begin(), shape.end()))) return refusal;
  if (tiles.open && !tiles.flat) return "places in rows of any length are quotients by it";
  if (tiles.open && !conv.target.Has("avx512f")) return "the target has no loads under masks";
  if (!tiles.open && tiles.columns % conv.lanes() != 0 && !tiles.packed)
    return StrCat("rows of ", tiles.columns, " pixels end within vectors of ", conv.lanes());
  if (FillLanesWithFilters(conv, shape, tiles))
    return StrCat(shape[1], " filters fill vectors, and sums of ", conv.group_inputs,
                  " channels pay for transposing them");
  if (shape[1] < conv.lanes() || tiles.packed) return std::nullopt;
  if (!tiles.flat)
    return StrCat(shape[1], " filters fill vectors, which serve every pixel and tap");
  if (conv.group_inputs > MostNearChannels(tiles.columns))
    return StrCat("the ", conv.group_inputs,
                  " channels of a tile's pixels leave the nearest cache");
  return std::nullopt;
}

// Few blocks of pixels are shared out among more threads if parts of the filters each pack them.
std::int64_t ChoosePart(const Shape& shape, const RowTiles& tiles, Config* config) {
  const std::int64_t blocks = shape[0] * CeilDiv(tiles.columns, tiles.block());
  const auto time = [&](std::int64_t parts) {
    return CeilDiv(blocks * parts, kSharers) * (shape[1] / parts + kPackWork);
  };
  std::vector<std::int64_t> all;
  for (std::int64_t parts = 1; parts <= kSharers; ++parts) {
    if (shape[1] / tiles.filters % parts == 0) all.push_back(parts);
  }
  const std::int64_t usual =
      blocks < 2 * kSharers ? *std::ranges::min_element(all, {}, time) : std::int64_t{1};
  return shape[1] / (all.size() < 2 ? usual : KnobOf(config, "parts", std::move(all), usual));
}

// The numbers of filters that tiles may have.
std::vector<std::int64_t> FiltersOfTiles(std::int64_t filters) {
  std::vector<std::int64_t> all;
  for (std::int64_t rows = 1; rows <= std::min(filters, kMaxFilters); ++rows) {
    if (filters % rows == 0) all.push_back(rows);
  }
  return all;
}

// The numbers of vectors that tiles of so many filters may have.
std::vector<std::int64_t> VectorsOfTiles(const Target& target, std::int64_t filters) {
  std::vector<std::int64_t> all;
  for (std::int64_t vectors = 1; filters * vectors <= MaxSums(target); ++vectors) {
    if (!FitsRegisters(target, filters, vectors)) break;
    all.push_back(vectors);
  }
  return all;
}

struct Tile {
  std::int64_t filters, vectors;
};

// The one with the least estimated time.
Tile UsualTile(const Conv& conv, std::int64_t filters, std::int64_t columns) {
  Tile best{0, 0};
  double least = 0;
  for (const std::int64_t rows : FiltersOfTiles(filters)) {
    for (const std::int64_t vectors : VectorsOfTiles(conv.target, rows)) {
      const std::int64_t count = CeilDiv(columns, vectors * conv.lanes()) * (filters / rows);
      const double time =
          static_cast<double>(count) * TileStepTime(rows, vectors, kWeightLoad, kPixelLoad);
      if (best.filters > 0 && time >= least) continue;
      least = time;
      best = {rows, vectors};
    }
  }
  return best;
}

// The same, or what `config` says instead. Vectors beyond the row would be computed for nothing.
Tile TileOf(const Conv& conv, std::int64_t filters, std::int64_t columns, Config* config) {
  const Tile usual = UsualTile(conv, filters, columns);
  if (config == nullptr || usual.filters == 0) return usual;
  Tile tile = usual;
  const std::vector<std::int64_t> rows = FiltersOfTiles(filters);
  if (rows.size() > 1) tile.filters = config->Knob("filters", rows, usual.filters);
  std::vector<std::int64_t> vectors = VectorsOfTiles(conv.target, tile.filters);
  const std::int64_t most = CeilDiv(columns, conv.lanes());
  std::erase_if(vectors, [&](std::int64_t v) { return v > most && v != usual.vectors; });
  const bool fits = std::ranges::find(vectors, usual.vectors) != vectors.end();
  const std::int64_t near = fits ? usual.vectors : vectors.back();
  tile.vectors = vectors.size() > 1 ? config->Knob("vectors", vectors, near) : near;
  return tile;
}

bool YesOrNo(Config* config, const std::string& name, bool usual) {
  return KnobOf(config, name, {0, 1}, usual ? 1 : 0) == 1;
}

}  // namespace

Shape ShapeOfRows(const TeCall& call, bool open) {
  if (!open) return ShapeOfImages(call);
  const Sizes sizes = call.sizes();
  return {sizes[0].planned, sizes[1].planned, 1, kPlannedExtent};
}

std::variant<RowTiles, std::string> RowTilesOf(const Conv& conv, const TeCall& call,
                                               Config* config) {
  const bool open =
      !call.sizes()[conv.out[2]].is_number() || !call.sizes()[conv.out[3]].is_number();
  const Shape shape = ShapeOfRows(call, open);
  RowTiles best{.open = open,
                .flat = conv.taps == kOnes && !conv.IsPadded(),
                .packed = false,
                .rows = shape[conv.out[2]],
                .columns = shape[conv.out[3]],
                .filters = 0,
                .vectors = 0,
                .part = shape[1],
                .lanes = conv.lanes(),
                .filters_first = false};
  best.packed = best.flat && !open && PaysToPack(conv, shape, best.rows * best.columns);
  best.flat = best.packed || (best.flat && conv.strides == kOnes);
  if (best.flat) {
    best.columns *= best.rows;
    best.rows = 1;
  }
  if (const Refusal refusal = RefuseTiles(conv, shape, best)) return *refusal;
  if (shape[1] >= conv.lanes() && UsualTile(conv, shape[1], best.columns).filters < kMinFilters)
    return StrCat(shape[1], " filters leave tiles of fewer than ", kMinFilters,
                  ", which load their pixels too often");
  const Tile tile = TileOf(conv, shape[1], best.columns, config);
  best.filters = tile.filters;
  best.vectors = tile.vectors;
  if (best.flat && !open && SharesOneSet(conv, best)) best.packed = true;
  // Pixels that are read where they are lie in whole vectors.
  if (best.flat && !open && conv.strides == kOnes && best.columns % conv.lanes() == 0)
    best.packed = YesOrNo(config, "packed", best.packed);
  if (best.packed) best.part = ChoosePart(shape, best, config);
  if (best.flat && !best.packed)
    best.filters_first = YesOrNo(config, "filters_first", conv.group_inputs < kMinChannelsToKeep);
  return best;
}

}  // namespace tenon::strategies
