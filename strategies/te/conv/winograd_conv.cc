// Minimal filtering F(2 x 2, 3 x 3): Winograd, "Arithmetic Complexity of Computations", 1980; Lavin
// and Gray, "Fast Algorithms for Convolutional Neural Networks", 2015. A tile of 2 x 2 results
// takes 16 multiplications per channel and filter instead of 36. With 4 x 4 pixels d and a kernel g
// it is A^T [(G g G^T) . (B^T d B)] A, where the products are summed over channels. All factors are
// 0, 1, -1 and 1/2, so results are about as precise as those of the plain sum. Tiles are counted
// row by row in blocks of rows whose transformed pixels stay in cache.
#include <algorithm>
#include <array>
#include <cmath>

#include "tenon/strategies/te/conv/conv.h"
#include "tenon/strategies/te/conv/winograd_blocks.h"
#include "tenon/strategies/te/conv/winograd_schedule.h"
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

// One of four values, picked by an index that unrolled loops make a constant.
Expr Pick(const Expr& index, const std::array<Expr, 4>& values) {
  Expr picked = values[3];
  for (int i = 2; i >= 0; --i)
    picked = te::Select(index == Expr(i), values[static_cast<std::size_t>(i)], picked);
  return picked;
}

// Element `row` of B^T d.
Expr TransformedPixel(const Expr& row, const std::array<Expr, 4>& d) {
  return Pick(row, {d[0] - d[2], d[1] + d[2], d[2] - d[1], d[1] - d[3]});
}
// Element `row` of G g.
Expr TransformedWeight(const Expr& row, const std::array<Expr, 3>& g) {
  const Expr half = te::Cast(g[0].dtype(), 0.5);
  const Expr ends = (g[0] + g[2]) * half, middle = g[1] * half;
  return Pick(row, {g[0], ends + middle, ends - middle, g[2]});
}
// Element `row` of A^T m.
Expr Result(const Expr& row, const std::array<Expr, 4>& m) {
  return te::Select(row == Expr(0), m[0] + m[1] + m[2], m[1] - m[2] - m[3]);
}

template <std::size_t n, typename Value>
std::array<Expr, n> ArrayOf(const Value& value) {
  std::array<Expr, n> values;
  for (std::size_t i = 0; i < n; ++i) values[i] = value(static_cast<std::int64_t>(i));
  return values;
}

// Computed in double precision until the end.
Tensor TransformedWeights(const Conv& conv, std::int64_t filters, std::int64_t vectors) {
  return te::Compute(
      ToExprs(WinogradWeights<std::int64_t>{.vector = vectors,
                                            .row = kWinogradPatch,
                                            .column = kWinogradPatch,
                                            .channel = conv.group_inputs,
                                            .filter = conv.lanes()}
                  .List()),
      [&](const std::vector<Var>& axes) {
        const auto i = ByRole<WinogradWeights>(axes);
        const Expr filter = i.vector * conv.lanes() + i.filter;
        const auto weight = [&](std::int64_t y, std::int64_t x) {
          return te::Cast(Float64, conv.Weight(filter, i.channel, y, x));
        };
        const Expr value = TransformedWeight(
            i.row, ArrayOf<3>([&](std::int64_t y) {
              return TransformedWeight(i.column,
                                       ArrayOf<3>([&](std::int64_t x) { return weight(y, x); }));
            }));
        const Expr rounded = te::Cast(conv.dtype, value);
        if (vectors * conv.lanes() == filters) return rounded;
        return te::IfThenElse(filter < Expr(filters), rounded, te::Cast(conv.dtype, 0));
      },
      "packed", te::WinogradStage{te::WinogradPart::kWeights});
}

// The image with zeros around it and after it, which the patches of all tiles cover.
Tensor PatchedImage(const Conv& conv, const Tensor& x, const WinogradBlocks& blocks) {
  constexpr te::WinogradStage kImage{te::WinogradPart::kImage};
  const Size rows = blocks.row_blocks().expr * blocks.block_rows;
  const auto covered = [](const Size& tiles) {
    return tiles.expr * kWinogradSide + (kWinogradPatch - kWinogradSide);
  };
  if (rows.is_number() && blocks.columns.is_number()) {
    const auto after = [&](const Size& tiles, std::size_t axis, std::int64_t before) {
      return Size(covered(tiles)).planned - ExtentOf(x, axis) - before;
    };
    return PadImage(x, {2, 3}, {conv.padding[0], conv.padding[1]},
                    {after(rows, 2, conv.padding[0]), after(blocks.columns, 3, conv.padding[1])},
                    kImage);
  }
  return te::Compute(
      {x.shape()[0], x.shape()[1], covered(rows), covered(blocks.filled(conv.lanes()))},
      [&](const std::vector<Var>& i) {
        return ReadPadded(x, {i[0], i[1], i[2] - conv.padding[0], i[3] - conv.padding[1]}, {2, 3},
                          te::Cast(x.dtype(), 0));
      },
      "pad_image", kImage);
}

Tensor TransformedTiles(const Conv& conv, const TeCall& call, const WinogradBlocks& blocks) {
  const Tensor& x = call.input(0);
  const Tensor image = PatchedImage(conv, x, blocks);
  return te::Compute(
      WinogradTiles<Expr>{.image = x.shape()[0],
                          .row_block = blocks.row_blocks().expr,
                          .row = kWinogradPatch,
                          .column = kWinogradPatch,
                          .channel = conv.group_inputs,
                          .tile_row = blocks.block_rows,
                          .tile = blocks.filled(conv.lanes()).expr}
          .List(),
      [&](const std::vector<Var>& axes) {
        const auto i = ByRole<WinogradTiles>(axes);
        const Expr y = (i.row_block * blocks.block_rows + i.tile_row) * kWinogradSide;
        const Expr column = i.tile * kWinogradSide;
        const auto pixel = [&](std::int64_t a, std::int64_t b) {
          return image(i.image, i.channel, y + a, column + b);
        };
        return TransformedPixel(i.column, ArrayOf<4>([&](std::int64_t b) {
                                  return TransformedPixel(i.row, ArrayOf<4>([&](std::int64_t a) {
                                                            return pixel(a, b);
                                                          }));
                                }));
      },
      "tiles", te::WinogradStage{te::WinogradPart::kTiles});
}

// The products of transformed weights and tiles, summed over channels.
Tensor Products(const Conv& conv, const Sizes& shape, const WinogradBlocks& blocks,
                const Tensor& weights, const Tensor& tiles) {
  const IterVar rc = te::ReduceAxis(0, conv.group_inputs, "rc");
  const Expr& columns = blocks.columns.expr;
  const bool is_row = !blocks.columns.is_number();
  return te::Compute(
      WinogradProduct<Expr>{.image = shape[0].expr,
                            .row_block = blocks.row_blocks().expr,
                            .filter_block = blocks.filter_blocks(shape, conv.lanes()),
                            .row = kWinogradPatch,
                            .column = kWinogradPatch,
                            .tile_block = blocks.register_tiles().expr,
                            .vector = blocks.vectors,
                            .tile = blocks.tall,
                            .filter = conv.lanes()}
          .List(),
      [&](const std::vector<Var>& axes) {
        const auto i = ByRole<WinogradProduct>(axes);
        Expr tile = i.tile_block * blocks.tall + i.tile;
        // Tiles past the last one are computed from it and dropped.
        if (!is_row && !blocks.tiles().IsMultipleOf(blocks.tall))
          tile = te::Min(tile, blocks.tiles().expr - 1);
        const Expr pixel =
            tiles[WinogradTiles<Expr>{.image = i.image,
                                      .row_block = i.row_block,
                                      .row = i.row,
                                      .column = i.column,
                                      .channel = rc.var,
                                      .tile_row = is_row ? 0 : te::FloorDiv(tile, columns),
                                      .tile = is_row ? tile : te::FloorMod(tile, columns)}
                      .List()];
        const Expr weight =
            weights[WinogradWeights<Expr>{.vector = i.filter_block * blocks.vectors + i.vector,
                                          .row = i.row,
                                          .column = i.column,
                                          .channel = rc.var,
                                          .filter = i.filter}
                        .List()];
        return te::Sum(pixel * weight, {rc});
      },
      "product", te::WinogradStage{te::WinogradPart::kProduct});
}

// The results of tiles: the products, transformed back.
Tensor TileResults(const Conv& conv, const Sizes& shape, const WinogradBlocks& blocks,
                   const Tensor& product) {
  const Expr& columns = blocks.columns.expr;
  return te::Compute(
      WinogradResults<Expr>{.image = shape[0].expr,
                            .row_block = blocks.row_blocks().expr,
                            .filter_block = blocks.filter_blocks(shape, conv.lanes()),
                            .row = kWinogradSide * blocks.block_rows,
                            .vector = blocks.vectors,
                            .column = columns * kWinogradSide,
                            .filter = conv.lanes()}
          .List(),
      [&](const std::vector<Var>& axes) {
        const auto i = ByRole<WinogradResults>(axes);
        const Expr tile =
            te::FloorDiv(i.row, kWinogradSide) * columns + te::FloorDiv(i.column, kWinogradSide);
        const auto element = [&](std::int64_t a, std::int64_t b) {
          return product[WinogradProduct<Expr>{.image = i.image,
                                               .row_block = i.row_block,
                                               .filter_block = i.filter_block,
                                               .row = a,
                                               .column = b,
                                               .tile_block = te::FloorDiv(tile, blocks.tall),
                                               .vector = i.vector,
                                               .tile = te::FloorMod(tile, blocks.tall),
                                               .filter = i.filter}
                             .List()];
        };
        return Result(te::FloorMod(i.column, kWinogradSide), ArrayOf<4>([&](std::int64_t b) {
                        return Result(te::FloorMod(i.row, kWinogradSide),
                                      ArrayOf<4>([&](std::int64_t a) { return element(a, b); }));
                      }));
      },
      "results", te::WinogradStage{te::WinogradPart::kResults});
}

}  // namespace

Refusal RefuseWinograd(const Conv& conv, const TeCall& call) {
  constexpr std::array<std::int64_t, 2> kOnes = {1, 1}, kThree = {3, 3};
  constexpr double kMargin = 1.1;
  if (!RefuseWords(conv, call)) return "the target adds up several products by one instruction";
  if (conv.taps != kThree || conv.strides != kOnes || conv.dilation != kOnes || conv.groups != 1)
    return "it is for kernels of 3 x 3 with strides and dilation 1 in one group";
  if (!conv.IsNchw()) return "channels do not come first";
  if (conv.dtype != Float32 || SumType(call.input(0).dtype()) != Float32)
    return "it is for float32";
  if (!call.IsConstant(1)) return "the weights are not constant";
  const Sizes shape = call.sizes();
  if (!shape[1].is_number()) return "the number of filters is not known";
  if (ElementsOf(shape).planned == 0) return "the result has no elements";
  const double speedup =
      DirectTime(shape, conv) / WinogradTime(shape, conv, ChooseWinogradBlocks(shape, conv));
  if (speedup < kMargin)
    return StrCat("the plain sum is about as fast (estimated speed-up ",
                  FormatShortest(std::round(speedup * 100) / 100), ")");
  return std::nullopt;
}

double WinogradCycles(const Conv& conv, const TeCall& call) {
  const Sizes shape = call.sizes();
  return static_cast<double>(shape[0].planned) *
         WinogradTime(shape, conv, ChooseWinogradBlocks(shape, conv));
}

Tensor WinogradConv(const Conv& conv, const TeCall& call) {
  const Sizes shape = call.sizes();
  const WinogradBlocks blocks = ChooseWinogradBlocks(shape, conv);
  const Tensor weights = call.Prepared(TransformedWeights(
      conv, shape[1].planned, blocks.filter_blocks(shape, conv.lanes()) * blocks.vectors));
  const Tensor tiles = TransformedTiles(conv, call, blocks);
  const Tensor product = Products(conv, shape, blocks, weights, tiles);
  const Tensor results = TileResults(conv, shape, blocks, product);
  const std::int64_t rows = kWinogradSide * blocks.block_rows;
  return te::Compute(
      ExprsOf(shape),
      [&](const Var& n, const Var& k, const Var& y, const Var& x) {
        return results[WinogradResults<Expr>{
            .image = n,
            .row_block = te::FloorDiv(y, rows),
            .filter_block = te::FloorDiv(k, blocks.vectors * conv.lanes()),
            .row = te::FloorMod(y, rows),
            .vector = te::FloorMod(te::FloorDiv(k, conv.lanes()), blocks.vectors),
            .column = x,
            .filter = te::FloorMod(k, conv.lanes())}
                           .List()];
      },
      conv.name);
}

}  // namespace tenon::strategies
