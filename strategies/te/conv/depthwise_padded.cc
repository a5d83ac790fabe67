// A kernel for each channel, channels first, for images whose extents are expressions, for windows
// that step, and for large images. Tiles are several rows by one vector, as in TallConv. Taps of
// few neighbouring columns read the image under masks. Others read a copy of the channel with its
// padding, which is made while the channel is in the nearest cache. Its rows are whole vectors, so
// that no window asks where the image ends. Columns of windows that step are taken apart by
// shuffles, or by a second copy that holds the pixels of each place in a step together.
#include <algorithm>

#include "tenon/strategies/te/conv/conv.h"
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

// Rows of a tile: enough sums to hide the latency of one, few enough that little lies below images
// of few rows.
constexpr std::int64_t kRows = 4;
constexpr std::int64_t kMaxRows = 7;

std::int64_t UsualRows(const Size& rows) {
  if (!rows.is_number()) return kRows;
  return rows.planned <= kMaxRows ? rows.planned : TightestBlock(rows.planned, kRows, kMaxRows);
}

// The padded image, (image, channel, row, column).
Tensor PaddedImage(const Conv& conv, const Tensor& x, const Expr& rows, const Expr& columns) {
  return te::Compute(
      {x.shape()[0], x.shape()[1], rows, columns},
      [&](const std::vector<Var>& i) { return PaddedPixel(conv, x, i[0], i[1], i[2], i[3]); },
      "pad_image", te::TileInput{te::TileInputForm::kCopies});
}

// The same taken apart by the place in a step: (image, channel, row in the step, column in the
// step, row, column).
Tensor InSteps(const Conv& conv, const Tensor& padded, const Expr& rows, const Expr& columns) {
  const auto& [row_step, column_step] = conv.strides;
  return te::Compute(
      {padded.shape()[0], padded.shape()[1], row_step, column_step, rows, columns},
      [&](const std::vector<Var>& i) {
        return padded(i[0], i[1], i[4] * row_step + i[2], i[5] * column_step + i[3]);
      },
      "steps", te::TileInput{te::TileInputForm::kAlignedSteps});
}

// What taps read.
enum class Source {
  kImage,   // the image itself, under masks
  kPadded,  // a copy with its padding; shuffles take every second column
  kSteps,   // that copy, taken apart by places in a step
};

// With AVX-512, 3 x 3 taps under masks take 0.6 of the time with a copy for images of 20 to 60
// columns, and as long for larger ones. 5 x 5 taps take 0.7 of it for images of 5 x 7, 0.96 for 40
// x 30, and 1.01 from 160 x 160 on; where windows step by two rows they take 1.7. Shuffles take two
// thirds of the time with a second copy, and as long for 5 x 5 taps; masks beside them take longer.
Source SourceOf(const Conv& conv) {
  const std::int64_t max_columns = conv.strides[0] == 1 ? 5 : 3;
  if (conv.strides[1] == 1)
    return ReadsUnderMasks(conv, max_columns) ? Source::kImage : Source::kPadded;
  const bool shuffles = conv.strides[1] == 2 && conv.target.Has("avx512f");
  return shuffles ? Source::kPadded : Source::kSteps;
}

}  // namespace

Refusal RefusePadded(const Conv& conv, const TeCall& call) {
  constexpr std::int64_t kMaxSteps = 16;
  if (const Refusal refusal = RefuseDepthwise(conv, call)) return refusal;
  const Sizes shape = call.sizes();
  const bool numbers = shape[2].is_number() && shape[3].is_number();
  if (numbers && conv.target.Has("avx512f")) return "rows and columns are numbers";
  const bool steps = conv.strides != std::array<std::int64_t, 2>{1, 1};
  if (std::max(conv.strides[0], conv.strides[1]) > kMaxSteps)
    return StrCat("windows step by more than ", kMaxSteps, ", past most of a copy");
  if (numbers && !steps && !IsLargeImage(call))
    return "rows and columns are numbers, windows do not step, and a channel stays in cache";
  return RefuseManyTaps(conv);
}

Tensor PaddedConv(const Conv& conv, const TeCall& call) {
  const Sizes shape = call.sizes();
  const Tensor x = WithWidePixels(conv, call);
  const auto& strides = conv.strides;
  const std::int64_t lanes = conv.lanes();
  const std::int64_t rows =
      TileSideIn(call.config, "rows", UsualRows(shape[2]), shape[2].planned, conv.target);
  const Size row_tiles = BlocksOf(shape[2], rows), column_tiles = BlocksOf(shape[3], lanes);
  // Steps from the first tap to the last.
  const auto reach = [&](std::size_t axis) {
    return (conv.taps[axis] - 1) * conv.dilation[axis] / strides[axis];
  };
  const Expr height = row_tiles.expr * rows + reach(0);
  const Expr width = (column_tiles.expr + CeilDiv(reach(1), lanes)) * lanes;
  const Source source = SourceOf(conv);
  Tensor image = x;
  if (source != Source::kImage)
    image = PaddedImage(conv, x, height * strides[0], width * strides[1]);
  if (source == Source::kSteps) image = InSteps(conv, image, height, width);
  const TapAxesOfTile taps = TapsByColumn(conv, call);
  const auto pixel = [&](const Expr& n, const Expr& channel, const Expr& y, const Expr& column) {
    const Expr down = taps.row.var * conv.dilation[0], right = taps.column.var * conv.dilation[1];
    const Expr row = y * strides[0] + down, at = column * strides[1] + right;
    switch (source) {
      case Source::kImage:
        return PaddedPixel(conv, image, n, channel, row, at);
      case Source::kPadded:
        return image(n, channel, row, at);
      case Source::kSteps:
        break;
    }
    return image(n, channel, te::FloorMod(down, strides[0]), te::FloorMod(right, strides[1]),
                 y + te::FloorDiv(down, strides[0]), column + te::FloorDiv(right, strides[1]));
  };
  const Tensor sums = te::Compute(
      {shape[0].expr, shape[1].expr, row_tiles.expr, column_tiles.expr, rows, 1, lanes},
      [&](const std::vector<Var>& i) {
        const Expr read = pixel(i[0], te::FloorDiv(i[1], conv.group_outputs), i[2] * rows + i[4],
                                i[3] * lanes + i[6]);
        return te::Sum(
            te::Cast(conv.dtype, read) * conv.Weight(i[1], 0, taps.row.var, taps.column.var),
            taps.order);
      },
      conv.name, te::RegisterTile{.rows = te::TileRows::kTall});
  return te::Compute(
      ExprsOf(shape),
      [&](const Var& n, const Var& c, const Var& y, const Var& column) {
        return sums(n, c, te::FloorDiv(y, rows), te::FloorDiv(column, lanes), te::FloorMod(y, rows),
                    0, te::FloorMod(column, lanes));
      },
      conv.name);
}

}  // namespace tenon::strategies
