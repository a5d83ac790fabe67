// A kernel for each channel, channels last: lanes are channels, and a tile is a few neighbouring
// pixels of a row by a few vectors of channels. The taps of a tile are written out, so what
// neighbouring pixels read is loaded once.
#include <algorithm>
#include <span>

#include "tenon/strategies/te/conv/conv.h"
#include "tenon/support/arithmetic.h"
#include "tenon/support/strings.h"
#include "tenon/te/math.h"
#include "tenon/te/reduce.h"

namespace tenon::strategies {
namespace {

using te::Expr;
using te::IterVar;
using te::Tensor;
using te::Var;

// The tile of rows of pixels with the least estimated time; among equals the largest.
TileSize TileOf(const Target& target, std::int64_t columns, std::int64_t vectors) {
  constexpr TileSize kShapes[] = {{8, 2}, {7, 2}, {5, 3}, {4, 3}, {14, 1}, {8, 1}, {7, 1}};
  constexpr TileSize kIn16Registers[] = {{6, 2}, {5, 2}, {4, 2}, {3, 3}, {8, 1}, {7, 1}};
  const std::span<const TileSize> shapes = HasManyRegisters(target)
                                               ? std::span<const TileSize>(kShapes)
                                               : std::span<const TileSize>(kIn16Registers);
  const auto time = [&](const TileSize& tile) {
    return static_cast<double>(CeilDiv(columns, tile.rows) * CeilDiv(vectors, tile.vectors)) *
           TileStepTime(tile.vectors, tile.rows);
  };
  const TileSize best =
      *std::min_element(shapes.begin(), shapes.end(),
                        [&](const TileSize& a, const TileSize& b) { return time(a) < time(b); });
  return {std::min(best.rows, columns), std::min(best.vectors, vectors)};
}

// The image with its padding and zeros where tiles read past it.
Tensor ImageOf(const Conv& conv, const Tensor& x, const Shape& needed) {
  const Shape given = ShapeOf(x);
  if (given == needed && !conv.IsPadded()) return x;
  std::vector<std::size_t> padded = {1, 2};
  if (given[3] != needed[3]) padded.push_back(3);
  return te::Compute(
      ToExprs(needed),
      [&](const Var& n, const Var& y, const Var& column, const Var& channel) {
        return ReadPadded(x, {n, y - conv.padding[0], column - conv.padding[1], channel}, padded,
                          te::Cast(x.dtype(), 0));
      },
      "pad_image", te::Stored{});
}

// The weights, one vector of channels after the other.
Tensor WeightsOf(const Conv& conv, std::int64_t channels, std::int64_t vectors) {
  return te::Compute(
      ToExprs(Shape{vectors, conv.taps[0], conv.taps[1], conv.lanes()}),
      [&](const Var& vector, const Var& ry, const Var& rx, const Var& lane) {
        const Expr channel = vector * conv.lanes() + lane;
        const Expr value = conv.Weight(channel, 0, ry, rx);
        if (vectors * conv.lanes() == channels) return value;
        return te::IfThenElse(channel < Expr(channels), value, te::Cast(value.dtype(), 0));
      },
      "packed", te::Stored{});
}

}  // namespace

Refusal RefuseDepthwiseChannelsLast(const Conv& conv, const TeCall& call) {
  const Shape shape = call.shape();
  const std::vector<std::size_t> channels_last = {0, 3, 1, 2};
  if (conv.groups == 1 || conv.group_inputs != 1) return kNotDepthwise;
  if (conv.group_outputs != 1) return "a channel has several filters";
  if (conv.data != channels_last || conv.out != channels_last) return "channels do not come last";
  if (const Refusal refusal = conv.RefuseLanes(Sizes(shape.begin(), shape.end()))) return refusal;
  if (shape[3] < conv.lanes() / 2)
    return StrCat(shape[3], " channels fill less than half of the ", conv.lanes(), " lanes");
  return std::nullopt;
}

Tensor DepthwiseChannelsLast(const Conv& plain, const TeCall& call) {
  const Shape shape = call.shape();
  const std::int64_t all_vectors = CeilDiv(shape[3], plain.lanes());
  const TileSize tile =
      TileIn(call.config, {"pixels", "vectors"}, TileOf(plain.target, shape[2], all_vectors),
             {shape[2], all_vectors}, plain.target);
  const std::int64_t vectors = RoundUp(all_vectors, tile.vectors);
  const std::int64_t columns = RoundUp(shape[2], tile.rows), width = tile.vectors * plain.lanes();
  const auto reach = [&](std::size_t d, std::int64_t results) {
    return (results - 1) * plain.strides[d] + (plain.taps[d] - 1) * plain.dilation[d] + 1;
  };
  Conv conv = plain;
  conv.image = ImageOf(plain, call.input(0),
                       {shape[0], reach(0, shape[1]), reach(1, columns), vectors * plain.lanes()});
  const Tensor weights = call.Prepared(WeightsOf(conv, shape[3], vectors));
  const std::vector<IterVar> k = {te::ReduceAxis(0, conv.taps[0], "ry"),
                                  te::ReduceAxis(0, conv.taps[1], "rx")};
  const Tensor sums = te::Compute(
      ToExprs(Shape{shape[0], shape[1], columns / tile.rows, vectors / tile.vectors, tile.rows,
                    tile.vectors, conv.lanes()}),
      [&](const std::vector<Var>& i) {
        const Expr row = i[1] * conv.strides[0] + k[0].var * conv.dilation[0];
        const Expr column =
            (i[2] * tile.rows + i[4]) * conv.strides[1] + k[1].var * conv.dilation[1];
        const Expr vector = i[3] * tile.vectors + i[5];
        return te::Sum(conv.Pixel(i[0], vector * conv.lanes() + i[6], row, column) *
                           weights(vector, k[0].var, k[1].var, i[6]),
                       k);
      },
      conv.name, te::RegisterTile{.rows = te::TileRows::kUneven});
  return te::Compute(
      ToExprs(shape),
      [&](const Var& n, const Var& y, const Var& x, const Var& c) {
        return sums(n, y, te::FloorDiv(x, tile.rows), te::FloorDiv(c, width),
                    te::FloorMod(x, tile.rows),
                    te::FloorMod(te::FloorDiv(c, conv.lanes()), tile.vectors),
                    te::FloorMod(c, conv.lanes()));
      },
      conv.name);
}

}  // namespace tenon::strategies
