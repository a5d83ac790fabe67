// A register tile is a few filters by a few vectors of pixels that lie together. A convolution of
// one tap is the product of a matrix of filters by the image, and results leave the registers in
// the order of memory. Where the channels of a block of pixels do not stay in the first-level cache
// while all filters read them, they are packed first (Goto and van de Geijn, "Anatomy of
// high-performance matrix multiplication", TOMS 2008). Images of any extents are single rows whose
// last vectors are read under a mask.
#include <algorithm>
#include <variant>

#include "tenon/strategies/planned_extent.h"
#include "tenon/strategies/te/conv/conv.h"
#include "tenon/strategies/te/conv/conv_sum.h"
#include "tenon/support/arithmetic.h"
#include "tenon/support/strings.h"
#include "tenon/te/math.h"
#include "tenon/te/reduce.h"

namespace tenon::strategies {

using te::Expr;
using te::IterVar;
using te::Tensor;
using te::Var;

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
// So many filters pay for packing what they read, if the image has so many channels and bytes:
// beyond these, most rows of a block lie in other pages and outside the caches. Fewer channels do
// where rows end within vectors, since each pixel of the other forms has an address.
constexpr std::int64_t kMinFiltersToPack = 64;
constexpr std::int64_t kMinChannelsToPack = 128;
constexpr std::int64_t kMinRaggedChannelsToPack = 64;
constexpr std::int64_t kNearBytes = 1 << 20;
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

// Lanes are pixels of a row, and a register tile is a few filters by a few vectors of pixels.
struct RowTiles {
  bool open;    // rows and columns are expressions; flat
  bool flat;    // the image is taken as a single row
  bool packed;  // flat, and the channels of a block are copied to lie together
  std::int64_t rows, columns;
  std::int64_t filters, vectors;  // of a tile
  std::int64_t part;              // filters that share a packed block
  std::int64_t lanes;             // of a vector
  bool filters_first;             // all blocks of pixels for a tile of filters, or the other way

  std::int64_t block() const { return vectors * lanes; }
  // Where the grid of tiles has the blocks of pixels, the parts of the filters, and their tiles.
  std::size_t block_axis() const { return filters_first ? 4 : 2; }
  std::size_t part_axis() const { return filters_first ? 2 : 3; }
  std::size_t tile_axis() const { return part_axis() + 1; }
};

// The axes of the tiles, or what they are read at.
std::vector<Expr> AxesOf(const RowTiles& tiles, const Expr& image, const Expr& row,
                         const Expr& block, const Expr& part, const Expr& tile,
                         const std::array<Expr, 3>& in_tile) {
  std::vector<Expr> axes(5);
  axes[0] = image;
  axes[1] = row;
  axes[tiles.block_axis()] = block;
  axes[tiles.part_axis()] = part;
  axes[tiles.tile_axis()] = tile;
  axes.insert(axes.end(), in_tile.begin(), in_tile.end());
  return axes;
}

// Whether the filters read too much for the first-level cache, or every second pixel.
bool PaysToPack(const Conv& conv, const Shape& shape, std::int64_t columns) {
  if (shape[1] < kMinFiltersToPack) return false;
  // Vectors that step and go on in the next row would be gathered pixel by pixel.
  if (conv.strides != kOnes && shape[3] % conv.lanes() != 0) return false;
  const bool is_ragged = columns % conv.lanes() != 0;
  const std::int64_t least = is_ragged ? kMinRaggedChannelsToPack : kMinChannelsToPack;
  if (conv.group_inputs >= least && conv.group_inputs * columns * 4 > kNearBytes) return true;
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
std::int64_t ChoosePart(const Shape& shape, const RowTiles& tiles) {
  const std::int64_t blocks = shape[0] * CeilDiv(tiles.columns, tiles.block());
  const auto time = [&](std::int64_t parts) {
    return CeilDiv(blocks * parts, kSharers) * (shape[1] / parts + kPackWork);
  };
  std::int64_t best = 1;
  for (std::int64_t parts = 2; blocks < 2 * kSharers && parts <= kSharers; ++parts) {
    if (shape[1] / tiles.filters % parts == 0 && time(parts) < time(best)) best = parts;
  }
  return shape[1] / best;
}

// The shape of the result. Images of any extents count as one row that is neither long nor a
// multiple of vectors, so that tiles suit small ones, too.
Shape ShapeOfRows(const TeCall& call) {
  const Sizes sizes = call.sizes();
  return {sizes[0].planned, sizes[1].planned, 1, kPlannedExtent};
}

// The tile with the least estimated time, or why there is none.
std::variant<RowTiles, std::string> ChooseRowTiles(const Conv& conv, const TeCall& call) {
  const bool open =
      !call.sizes()[conv.out[2]].is_number() || !call.sizes()[conv.out[3]].is_number();
  const Shape shape = open ? ShapeOfRows(call) : ShapeOfImages(call);
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
  const std::int64_t most = MaxSums(conv.target);
  double least = 0;
  for (std::int64_t filters = 1; filters <= std::min(shape[1], kMaxFilters); ++filters) {
    if (shape[1] % filters != 0) continue;
    for (std::int64_t vectors = 1; filters * vectors <= most; ++vectors) {
      if (!FitsRegisters(conv.target, filters, vectors)) break;
      const std::int64_t count =
          CeilDiv(best.columns, vectors * conv.lanes()) * (shape[1] / filters);
      const double time =
          static_cast<double>(count) * TileStepTime(filters, vectors, kWeightLoad, kPixelLoad);
      if (best.filters > 0 && time >= least) continue;
      least = time;
      best.filters = filters;
      best.vectors = vectors;
    }
  }
  if (shape[1] >= conv.lanes() && best.filters < kMinFilters)
    return StrCat(shape[1], " filters leave tiles of fewer than ", kMinFilters,
                  ", which load their pixels too often");
  if (best.flat && !open && SharesOneSet(conv, best)) best.packed = true;
  if (best.packed) best.part = ChoosePart(shape, best);
  best.filters_first = best.flat && !best.packed && conv.group_inputs < kMinChannelsToKeep;
  return best;
}

// The channels of each block of pixels, as (image, block, channel, pixel), with zeros past the last
// pixel.
Tensor PackPixels(const Conv& conv, const RowTiles& tiles, const Expr& images, const Shape& shape) {
  return te::Compute(
      {images, CeilDiv(tiles.columns, tiles.block()), conv.group_inputs, tiles.block()},
      [&](const std::vector<Var>& i) {
        const Expr column = i[1] * tiles.block() + i[3];
        const Expr pixel = conv.Pixel(i[0], i[2], te::FloorDiv(column, shape[3]) * conv.strides[0],
                                      te::FloorMod(column, shape[3]) * conv.strides[1]);
        if (tiles.columns % tiles.block() == 0) return pixel;
        return te::IfThenElse(column < Expr(tiles.columns), pixel, te::Cast(conv.dtype, 0));
      },
      "panel", te::TileInput{});
}

// What a lane of a tile adds up. `i` are the indices of the tile.
Expr TermOf(const Conv& conv, const RowTiles& tiles, const std::vector<Expr>& shape,
            const Tensor& panel, const std::vector<IterVar>& k, const std::vector<Var>& i) {
  const Expr block = i[tiles.block_axis()];
  const Expr filter =
      i[tiles.part_axis()] * tiles.part + i[tiles.tile_axis()] * tiles.filters + i[5];
  const Expr weight = tiles.flat ? conv.Weight(filter, k[0].var, 0, 0)
                                 : conv.Weight(filter, k[0].var, k[1].var, k[2].var);
  if (tiles.packed) return panel(i[0], block, k[0].var, i[6] * conv.lanes() + i[7]) * weight;
  Expr vector = block * tiles.vectors + i[6];
  // Vectors past the last one are computed from it and dropped.
  if (!tiles.open && tiles.columns % tiles.block() != 0)
    vector = te::Min(vector, tiles.columns / conv.lanes() - 1);
  const Expr column = vector * conv.lanes() + i[7];
  const Expr y = tiles.flat ? te::FloorDiv(column, shape[3])
                            : i[1] * conv.strides[0] + k[1].var * conv.dilation[0];
  const Expr x = tiles.flat ? te::FloorMod(column, shape[3])
                            : column * conv.strides[1] + k[2].var * conv.dilation[1];
  const Expr pixel = conv.Pixel(i[0], k[0].var, y, x);
  if (!tiles.open) return pixel * weight;
  return te::IfThenElse(column < shape[2] * shape[3], pixel, te::Cast(conv.dtype, 0)) * weight;
}

}  // namespace

Refusal RefuseRowTiled(const Conv& conv, const TeCall& call) {
  const auto chosen = ChooseRowTiles(conv, call);
  const auto* refusal = std::get_if<std::string>(&chosen);
  return refusal == nullptr ? std::nullopt : Refusal(*refusal);
}

// Computes all filters of a block of pixels in turn, so that its channels stay in cache.
Tensor RowTiledConv(const Conv& conv, const TeCall& call) {
  const auto tiles = std::get<RowTiles>(ChooseRowTiles(conv, call));
  const Shape shape = tiles.open ? ShapeOfRows(call) : ShapeOfImages(call);
  const std::vector<Expr> result = call.te_shape();
  const Expr columns = tiles.open ? result[2] * result[3] : Expr(tiles.columns);
  const std::int64_t block = tiles.block();
  const std::vector<IterVar> k = conv.ReduceAxes();
  const Tensor panel = tiles.packed ? PackPixels(conv, tiles, result[0], shape) : Tensor();
  const Tensor sums = te::Compute(
      AxesOf(tiles, result[0], tiles.rows, BlocksOf(columns, block).expr, shape[1] / tiles.part,
             tiles.part / tiles.filters, {tiles.filters, tiles.vectors, conv.lanes()}),
      [&](const std::vector<Var>& i) {
        return te::Sum(TermOf(conv, tiles, result, panel, k, i),
                       tiles.flat ? std::vector<IterVar>{k[0]} : k);
      },
      conv.name, te::RegisterTile{tiles.packed ? te::TileRows::kTall : te::TileRows::kEven});
  return te::Compute(
      result,
      [&](const Var& n, const Var& filter, const Var& y, const Var& x) {
        const Expr row = tiles.flat ? Expr(0) : Expr(y);
        const Expr column = tiles.flat ? y * result[3] + x : Expr(x);
        const bool is_one_part = tiles.part == shape[1];
        const Expr part = is_one_part ? Expr(0) : te::FloorDiv(filter, tiles.part);
        const Expr in_part = is_one_part ? Expr(filter) : te::FloorMod(filter, tiles.part);
        return sums[AxesOf(tiles, n, row, te::FloorDiv(column, block), part,
                           te::FloorDiv(in_part, tiles.filters),
                           {te::FloorMod(filter, tiles.filters),
                            te::FloorMod(te::FloorDiv(column, conv.lanes()), tiles.vectors),
                            te::FloorMod(column, conv.lanes())})];
      },
      conv.name);
}

}  // namespace tenon::strategies
