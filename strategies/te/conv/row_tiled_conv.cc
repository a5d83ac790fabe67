// A register tile is a few filters by a few vectors of pixels that lie together. A convolution of
// one tap is the product of a matrix of filters by the image, and results leave the registers in
// the order of memory. Where the channels of a block of pixels do not stay in the first-level cache
// while all filters read them, they are packed first (Goto and van de Geijn, "Anatomy of
// high-performance matrix multiplication", TOMS 2008). Images of any extents are single rows whose
// last vectors are read under a mask.
#include <array>
#include <variant>

#include "tenon/strategies/te/conv/conv.h"
#include "tenon/strategies/te/conv/conv_sum.h"
#include "tenon/strategies/te/conv/row_tiles.h"
#include "tenon/support/arithmetic.h"
#include "tenon/te/math.h"
#include "tenon/te/reduce.h"

namespace tenon::strategies {

using te::Expr;
using te::IterVar;
using te::Tensor;
using te::Var;

namespace {

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
  const auto chosen = RowTilesOf(conv, call, nullptr);
  const auto* refusal = std::get_if<std::string>(&chosen);
  return refusal == nullptr ? std::nullopt : Refusal(*refusal);
}

// Computes all filters of a block of pixels in turn, so that its channels stay in cache.
Tensor RowTiledConv(const Conv& conv, const TeCall& call) {
  const auto tiles = std::get<RowTiles>(RowTilesOf(conv, call, call.config));
  const Shape shape = ShapeOfRows(call, tiles.open);
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
