// The lanes of a vector are the filters of a block, and a register tile is a few of a row's results
// by one or a few such blocks (Georganas et al., "Anatomy of High-Performance Deep Learning
// Convolutions on SIMD Architectures", SC 2018).
#include "tenon/strategies/te/conv/blocked_sum.h"

#include <algorithm>

#include "tenon/ops/layout/layout.h"
#include "tenon/strategies/schedule/register_tile.h"
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

struct TileShape {
  std::int64_t blocks, columns;
};

// The tile with the least estimated time, which includes columns past the end. Blocks of one tile
// read the same image, so they are of one group. A block may fill several vectors.
TileShape ChooseTile(const Target& target, std::int64_t group_blocks, std::int64_t columns,
                     std::int64_t block) {
  const std::int64_t vectors = CeilDiv(block, target.Lanes(4));
  const std::int64_t most_sums = EnoughSums(target) / vectors;
  const std::int64_t most_columns = (target.vector_registers - 4) / vectors;
  TileShape best{1, 1};
  double least = -1;
  for (const std::int64_t blocks : {1, 2, 4}) {
    if (group_blocks % blocks != 0) continue;
    for (std::int64_t wide = 1; wide <= std::min(columns, most_columns); ++wide) {
      const std::int64_t sums = blocks * wide;
      if (sums > (blocks == 1 ? most_columns : most_sums)) break;
      const auto tiles = static_cast<double>(CeilDiv(columns, wide) * (group_blocks / blocks));
      const double time = tiles * TileStepTime(blocks, wide);
      if (least < 0 || time < least) {
        least = time;
        best = {blocks, wide};
      }
    }
  }
  return best;
}

// Blocks of channels are outermost, then the taps, then the channels of a block. If each channel
// has a kernel of its own, there are the taps alone.
struct SumAxes {
  std::optional<IterVar> blocks, channels;
  std::vector<IterVar> taps;

  std::vector<IterVar> InOrder() const {
    std::vector<IterVar> axes = taps;
    if (blocks) axes.insert(axes.begin(), *blocks);
    if (channels) axes.push_back(*channels);
    return axes;
  }
};

SumAxes AxesOf(const BlockedSum& sum) {
  SumAxes axes{.blocks = {}, .channels = {}, .taps = TapAxes(sum.Taps())};
  if (sum.is_depthwise) return axes;
  axes.blocks = te::ReduceAxis(0, ExtentOf(sum.weight, 1), "rcb");
  axes.channels = te::ReduceAxis(0, ExtentOf(sum.weight, sum.dims() + 2), "rc");
  return axes;
}

}  // namespace

Shape BlockedSum::Taps() const {
  Shape taps;
  for (std::size_t d = 0; d < dims(); ++d) taps.push_back(ExtentOf(weight, d + 2));
  return taps;
}

Tensor SumOfBlocks(const BlockedSum& sum, const std::string& name, const te::Label& label) {
  const std::size_t dims = sum.dims();
  const Shape& shape = sum.shape;
  const std::int64_t width = shape[dims + 1], lanes = shape[dims + 2];
  const std::int64_t group_blocks = sum.is_depthwise ? 1 : shape[1] / sum.groups;
  const auto [blocks, columns] = ChooseTile(sum.target, group_blocks, width, lanes);
  const SumAxes axes = AxesOf(sum);
  // The axes are images, tiles of blocks, the axes before the last one, tiles of a row, and then a
  // tile.
  Shape grid = {shape[0], shape[1] / blocks};
  grid.insert(grid.end(), shape.begin() + 2, shape.end() - 2);
  grid.insert(grid.end(), {CeilDiv(width, columns), blocks, columns, lanes});
  const std::size_t tile = dims + 2;
  const Tensor sums = te::Compute(
      ToExprs(grid),
      [&](const std::vector<Var>& i) {
        std::vector<Expr> place(i.begin() + 2, i.begin() + static_cast<std::ptrdiff_t>(tile));
        place.back() = place.back() * columns + i[tile + 1];
        // Columns past the last one are computed from it and dropped.
        if (width % columns != 0) place.back() = te::Min(place.back(), width - 1);
        const Expr filter = i[1] * blocks + i[tile];
        Expr channels = filter, from = 0, channel = i[tile + 2], part = 0;
        if (!sum.is_depthwise) {
          from = channels = axes.blocks->var;
          part = channel = axes.channels->var;
          if (sum.groups > 1)
            channels = te::FloorDiv(i[1], group_blocks / blocks) * ExtentOf(sum.weight, 1) + from;
        }
        std::vector<Expr> pixel = {i[0], channels}, factor = {filter, from};
        for (std::size_t d = 0; d < dims; ++d) {
          pixel.push_back(place[d] * sum.strides[d] + axes.taps[d].var * sum.dilation[d]);
          factor.emplace_back(axes.taps[d].var);
        }
        pixel.push_back(channel);
        factor.insert(factor.end(), {part, Expr(i[tile + 2])});
        return te::Sum(
            te::Cast(sum.dtype, sum.image[pixel]) * te::Cast(sum.dtype, sum.weight[factor]),
            axes.InOrder());
      },
      name, te::RegisterTile{});
  return te::Compute(
      ToExprs(shape),
      [&](const std::vector<Var>& i) {
        const Expr column = i[dims + 1];
        std::vector<Expr> at(i.begin(), i.end() - 2);
        at[1] = te::FloorDiv(i[1], blocks);
        at.insert(at.end(), {te::FloorDiv(column, columns), te::FloorMod(i[1], blocks),
                             te::FloorMod(column, columns), Expr(i[dims + 2])});
        return sums[at];
      },
      name, label);
}

std::optional<std::string> RefuseBlockLayouts(const BlockLayouts& given,
                                              const BlockLayouts& whole) {
  const ops::Layout kernel = ops::Layout::Parse(given.kernel, "kernel_layout");
  const std::int64_t in = ops::Layout::Parse(given.data, "data_layout").BlockOf('C');
  const std::int64_t out = kernel.BlockOf('O'), weight_in = kernel.BlockOf('I');
  if (given.data != StrCat(whole.data, in, "c") ||
      given.kernel != StrCat(whole.kernel, weight_in, "i", out, "o"))
    return StrCat("it takes ", whole.data, "{n}c and ", whole.kernel, "{n}i{m}o, not ", given.data,
                  " and ", given.kernel);
  const std::string& result = given.out.empty() ? given.data : given.out;
  if (result != StrCat(whole.data, out, "c"))
    return StrCat("its result is in ", whole.data, out, "c");
  return std::nullopt;
}

std::optional<std::string> RefuseBlockedSum(const TeCall& call, std::int64_t groups,
                                            std::int64_t filters, std::int64_t channels) {
  if (call.dtype().bytes() != 4)
    return StrCat("sums of ", call.dtype().ToString(), " are not 32 bits wide");
  if (NumElements(call.shape()) == 0) return "the result has no elements";
  if (NumElements(ShapeOf(call.input(0))) == 0 || NumElements(ShapeOf(call.input(1))) == 0)
    return "there is nothing to sum";
  const std::size_t lane = call.shape().size() - 1;
  if (ExtentOf(call.input(0), lane) != ExtentOf(call.input(1), lane))
    return "blocks of the data and of the weight differ";
  if (filters % groups != 0 || channels != ExtentOf(call.input(0), 1))
    return "groups are no whole blocks";
  return std::nullopt;
}

}  // namespace tenon::strategies
