// A kernel for each channel, of uint8 by int8 and of bfloat16: lanes are pixels of a row, and one
// instruction adds four or two taps of the row to each (Intel SDM volume 2, VPDPBUSD and
// VDPBF16PS). The lanes read windows of so many pixels, which a shuffle makes of the row. A tile is
// several rows high, so that one window serves all rows of the result whose kernels it lies in.
#include <algorithm>

#include "tenon/strategies/te/conv/conv.h"
#include "tenon/strategies/te/matmul/product.h"
#include "tenon/support/arithmetic.h"
#include "tenon/te/math.h"
#include "tenon/te/reduce.h"

namespace tenon::strategies {
namespace {

using te::Expr;
using te::IterVar;
using te::Tensor;
using te::Var;

// The rows of a tile, chosen so that as few rows of tiles as possible lie below the image.
std::int64_t RowsOfTile(std::int64_t rows) {
  constexpr std::int64_t kMin = 4, kMax = 8;
  return rows <= kMax ? rows : TightestBlock(rows, kMin, kMax);
}

// The columns of the result in vectors. So many of them make a group that what they read of a row
// is one vector of pixels, which stays in a register.
struct Columns {
  std::int64_t lanes, per_group;
  std::int64_t pixels;  // of a row, for one group
};

// Nothing if one vector of results reads more than that.
std::optional<Columns> ColumnsOf(const Conv& conv, std::int64_t columns, std::int64_t taps,
                                 std::int64_t most_pixels) {
  constexpr std::int64_t kMinLanes = 4;
  const std::int64_t step = conv.strides[1];
  const std::int64_t lanes = std::min(BitCeil(std::max(columns, kMinLanes)), conv.lanes());
  const std::int64_t vectors = CeilDiv(columns, lanes);
  const auto pixels = [&](std::int64_t n) { return (n * lanes - 1) * step + taps; };
  if (pixels(1) > most_pixels) return std::nullopt;
  const std::int64_t most = (most_pixels - taps + step) / (lanes * step);
  const std::int64_t per_group = TightestBlock(vectors, 1, most);
  return Columns{lanes, per_group, BitCeil(pixels(per_group))};
}

// The weights as (filter, row, window, tap), with zeros where a window reaches beyond the last tap
// of a row.
Tensor WeightsOfWindows(const Conv& conv, std::int64_t windows, std::int64_t taps) {
  Conv stored = conv;
  stored.dtype = conv.weight.dtype();
  return te::Compute(
      {ExtentOf(conv.weight, conv.kernel[0]), conv.taps[0], windows, taps},
      [&](const Var& filter, const Var& ry, const Var& window, const Var& tap) {
        const Expr rx = window * taps + tap;
        const Expr value = stored.Weight(filter, 0, ry, rx);
        return te::IfThenElse(rx < Expr(conv.taps[1]), value, te::Cast(value.dtype(), 0));
      },
      "packed", te::Stored{});
}

std::optional<Columns> ColumnsOf(const Conv& conv, const TeCall& call, std::int64_t taps) {
  return ColumnsOf(conv, call.sizes()[3].planned, RoundUp(conv.taps[1], taps),
                   call.target.Lanes(call.input(0).dtype().bytes()));
}

// Taps that one instruction adds up.
std::int64_t TapsOf(const Conv& conv, const TeCall& call) {
  // Sliding windows by the words of AVX2 have not been measured against widened bytes.
  if (!call.target.Has("avx512vnni")) return 1;
  return DotGroup(call.target, call.input(0).dtype(), conv.weight.dtype(), conv.dtype);
}

}  // namespace

Refusal RefuseDepthwiseDot(const Conv& conv, const TeCall& call) {
  const std::int64_t taps = TapsOf(conv, call);
  if (taps == 1) return kNoDots;
  if (const Refusal refusal = RefuseDepthwise(conv, call)) return refusal;
  if (conv.dilation[1] != 1) return "taps of a row are apart";
  if (!ColumnsOf(conv, call, taps)) return "a vector of results reads more than a vector of pixels";
  return std::nullopt;
}

Tensor DepthwiseDotConv(const Conv& conv, const TeCall& call) {
  const Sizes shape = call.sizes();
  const Tensor& x = call.input(0);
  const std::int64_t taps = TapsOf(conv, call);
  const std::int64_t windows = CeilDiv(conv.taps[1], taps);
  const auto columns = ColumnsOf(conv, call, taps);
  const auto [lanes, per_group, pixels] = *columns;
  const std::int64_t rows = RowsOfTile(shape[2].planned);
  const Expr row_tiles = BlocksOf(shape[2], rows).expr;
  const Expr groups = BlocksOf(shape[3], per_group * lanes).expr;
  // The last tiles read past the image: zeros lie there.
  const Expr height =
      (row_tiles * rows - 1) * conv.strides[0] + (conv.taps[0] - 1) * conv.dilation[0] + 1;
  const Tensor image = te::Compute(
      {shape[0].expr, ExtentOf(x, 1), height, groups, pixels},
      [&](const std::vector<Var>& i) {
        const Expr column = i[3] * (per_group * lanes * conv.strides[1]) + i[4];
        return PaddedPixel(conv, x, i[0], i[1], i[2], column);
      },
      "pad_image", te::TileInput{te::TileInputForm::kVectors});
  const Tensor weights = call.Prepared(WeightsOfWindows(conv, windows, taps));
  const std::vector<IterVar> k = {te::ReduceAxis(0, windows, "window"),
                                  te::ReduceAxis(0, conv.taps[0], "ry"),
                                  te::ReduceAxis(0, taps, "rx")};
  const Tensor sums = te::Compute(
      {shape[0].expr, shape[1].expr, row_tiles, groups, per_group, rows, 1, lanes},
      [&](const std::vector<Var>& i) {
        const Expr row = (i[2] * rows + i[5]) * conv.strides[0] + k[1].var * conv.dilation[0];
        const Expr column = (i[4] * lanes + i[7]) * conv.strides[1] + k[0].var * taps + k[2].var;
        const Expr pixel = image(i[0], te::FloorDiv(i[1], conv.group_outputs), row, i[3], column);
        const Expr weight = weights(i[1], k[1].var, k[0].var, k[2].var);
        return te::Sum(te::Cast(conv.dtype, pixel) * te::Cast(conv.dtype, weight), k);
      },
      conv.name, te::RegisterTile{.rows = te::TileRows::kTall, .sum = te::TileSum::kDot});
  return te::Compute(
      ExprsOf(shape),
      [&](const Var& n, const Var& c, const Var& y, const Var& column) {
        return sums(n, c, te::FloorDiv(y, rows), te::FloorDiv(column, per_group * lanes),
                    te::FloorMod(te::FloorDiv(column, lanes), per_group), te::FloorMod(y, rows), 0,
                    te::FloorMod(column, lanes));
      },
      conv.name);
}

}  // namespace tenon::strategies
