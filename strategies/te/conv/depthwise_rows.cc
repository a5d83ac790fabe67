// A kernel for each channel, as in depthwise_conv.cc, where the rows of a result are several tiles.
#include <algorithm>
#include <numeric>

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

// Vectors of sums in a tile, and results of one channel that stay in cache.
constexpr std::int64_t kMaxVectors = 8;
constexpr std::int64_t kMaxPixels = 1 << 16;

// The padded image taken apart by the place of a pixel in a step of the window: (image, channel,
// row in the step, column in the step, step of rows, step of columns). What a tap reads for
// neighbouring results are neighbours there, whatever the strides.
Tensor SplitBySteps(const Conv& conv, const Tensor& x, const Expr& rows, const Expr& columns,
                    te::TileInputForm form = te::TileInputForm::kSteps) {
  const auto& [row_step, column_step] = conv.strides;
  return te::Compute(
      {x.shape()[0], x.shape()[1], row_step, column_step, rows, columns},
      [&](const std::vector<Var>& i) {
        const Expr row = i[4] * row_step + i[2];
        const Expr column = i[5] * column_step + i[3];
        return PaddedPixel(conv, x, i[0], i[1], row, column);
      },
      "pad_image", te::TileInput{form});
}

// Rows of a tile that is one vector wide: as many as divide those of the result, or 1. More rows
// than the most would hardly read less and would take longer to compile. Where a row of the image
// is read as it lies, 4 are best: tiles of more rows read too many places at once for the processor
// to foresee what comes next.
std::int64_t RowsOfTile(const Conv& conv, std::int64_t rows) {
  constexpr std::array<std::int64_t, 5> kTallFirst = {7, 6, 5, 4, 3}, kFourFirst = {4, 5, 3, 6, 7};
  const auto& order = ReadsUnderMasks(conv) ? kFourFirst : kTallFirst;
  const auto* const found = std::ranges::find_if(order, [&](auto r) { return rows % r == 0; });
  return found == order.end() ? 1 : *found;
}

// The distance of rows in the padded image as one long row. With stride 1 the zeros right of a row
// are the ones left of the next.
Size PitchOf(const Conv& conv, const TeCall& call) {
  const std::int64_t step = conv.strides[1];
  if (step == 1) return call.input(0).shape()[3] + std::max(conv.padding[1], conv.padding[3]);
  const std::int64_t reach = (conv.taps[1] - 1) * conv.dilation[1];
  return BlocksOf((call.sizes()[3].expr - 1) * step + (reach + 1), step);
}

}  // namespace

bool ReadsUnderMasks(const Conv& conv, std::int64_t max_columns) {
  return conv.taps[1] <= max_columns && conv.weight.dtype() != BFloat16 &&
         conv.target.Has("avx512f");
}

bool IsLargeImage(const TeCall& call) {
  const std::vector<Expr>& image = call.input(0).shape();
  const std::int64_t bytes = 4 * PlannedExtent(image[2]) * PlannedExtent(image[3]);
  return bytes > call.target.l2_bytes / 2;
}

// Suits images whose rows follow each other and do not fill vectors, and one channel of which stays
// in cache. Rows in steps are taken apart in any case.
Refusal RefuseFlat(const Conv& conv, const TeCall& call) {
  constexpr std::int64_t kMaxSteps = 2;
  // With three times as many zeros beside a row as it has pixels, the plain form takes half the
  // time.
  constexpr std::int64_t kMaxPitch = 4;
  if (const Refusal refusal = RefuseDepthwise(conv, call)) return refusal;
  const Sizes shape = call.sizes();
  const Size &height = shape[2], &width = shape[3];
  const std::int64_t pixels = height.planned * width.planned;
  const bool steps = conv.strides != std::array<std::int64_t, 2>{1, 1};
  if (std::max(conv.strides[0], conv.strides[1]) > kMaxSteps)
    return StrCat("windows step by more than ", kMaxSteps);
  if (!steps && width.IsMultipleOf(conv.lanes()))
    return StrCat("rows of ", width.planned, " pixels fill vectors of ", conv.lanes());
  if (pixels < conv.lanes())
    return StrCat(pixels, " pixels do not fill a vector of ", conv.lanes());
  if (pixels > kMaxPixels)
    return StrCat(pixels, " pixels of a channel are more than ", kMaxPixels,
                  ", which stay in cache");
  const std::int64_t pitch = PitchOf(conv, call).planned;
  if (pitch / kMaxPitch > width.planned)
    return StrCat("rows of ", width.planned, " pixels would be summed up as rows of ", pitch,
                  ", most of which are dropped");
  return std::nullopt;
}

// One kernel per channel. Lanes are pixels of the padded image taken as one long row, so that every
// tap reads whole vectors whatever the width. What falls on the margins is dropped. Extents may be
// expressions: only the lengths of loops and the distance of rows depend on them.
Tensor FlatConv(const Conv& conv, const TeCall& call) {
  const Sizes shape = call.sizes();
  const Tensor x = WithWidePixels(conv, call);
  const auto& strides = conv.strides;
  const std::array<std::int64_t, 2> reach = {(conv.taps[0] - 1) * conv.dilation[0],
                                             (conv.taps[1] - 1) * conv.dilation[1]};
  Size pitch = PitchOf(conv, call);
  // If all rows began at the same places of vectors, the last lanes would be unused and vectors
  // would be cut short.
  if (pitch.is_number() && std::gcd(pitch.planned, conv.lanes()) > shape[3].planned)
    pitch = pitch.planned + 1;
  const Size pixels = (shape[2].expr - 1) * pitch.expr + shape[3].expr;
  const Size filled = BlocksOf(pixels, conv.lanes());
  const std::int64_t vectors = TileSideIn(
      call.config, "vectors", TightestBlock(filled.planned, kMaxVectors / 2, kMaxVectors),
      filled.planned, conv.target);
  const Size tiles = BlocksOf(filled, vectors);
  // The last tile reads past the image: rows of zeros lie there.
  const Expr last = tiles.expr * (vectors * conv.lanes()) - 1 + reach[0] / strides[0] * pitch.expr +
                    reach[1] / strides[1];
  const Expr rows = te::FloorDiv(last, pitch.expr) + 1;
  const Tensor image = SplitBySteps(conv, x, rows, pitch.expr);
  const std::vector<IterVar> k = {te::ReduceAxis(0, conv.taps[0], "ry"),
                                  te::ReduceAxis(0, conv.taps[1], "rx")};
  const Tensor sums = te::Compute(
      {shape[0].expr, shape[1].expr, tiles.expr, 1, vectors, conv.lanes()},
      [&](const std::vector<Var>& i) {
        const Expr row = k[0].var * conv.dilation[0];
        const Expr column = k[1].var * conv.dilation[1];
        const Expr at = (i[2] * vectors + i[4]) * conv.lanes() + i[5] +
                        te::FloorDiv(row, strides[0]) * pitch.expr +
                        te::FloorDiv(column, strides[1]);
        const Expr pixel = image(i[0], te::FloorDiv(i[1], conv.group_outputs),
                                 te::FloorMod(row, strides[0]), te::FloorMod(column, strides[1]),
                                 te::FloorDiv(at, pitch.expr), te::FloorMod(at, pitch.expr));
        return te::Sum(te::Cast(conv.dtype, pixel) * conv.Weight(i[1], 0, k[0].var, k[1].var), k);
      },
      conv.name, te::RegisterTile{});
  return te::Compute(
      ExprsOf(shape),
      [&](const Var& n, const Var& c, const Var& y, const Var& column) {
        const Expr pixel = y * pitch.expr + column;
        return sums(n, c, te::FloorDiv(pixel, vectors * conv.lanes()), 0,
                    te::FloorMod(te::FloorDiv(pixel, conv.lanes()), vectors),
                    te::FloorMod(pixel, conv.lanes()));
      },
      conv.name);
}

// Suits convolutions where vectors are nearly filled and the taps are few enough to write out.
// Where shuffles take steps apart, no copy of the image needs to.
Refusal RefuseTall(const Conv& conv, const TeCall& call) {
  const std::array<std::int64_t, 2> ones = {1, 1}, twos = {2, 2};
  if (const Refusal refusal = RefuseDepthwise(conv, call)) return refusal;
  const Shape shape = ShapeOfImages(call);
  if (conv.strides != ones && (conv.strides != twos || !ReadsUnderMasks(conv)))
    return "windows step by more than one, and taps do not read the image where it lies";
  if (conv.dilation != ones) return "taps are apart";
  if (!ReadsUnderMasks(conv) && IsLargeImage(call))
    return "a channel of the image is more than half of the second-level cache";
  if (RowsOfTile(conv, shape[2]) == 1)
    return StrCat(shape[2], " rows are not divided by any number from 3 to 7");
  if (4 * RoundUp(shape[3], conv.lanes()) > 5 * shape[3] || shape[3] < conv.lanes())
    return StrCat("rows of ", shape[3], " pixels leave more than a fifth of vectors of ",
                  conv.lanes(), " empty");
  return RefuseManyTaps(conv);
}

// One kernel per channel, in tiles of several rows and one vector, written out. A vector that is
// read serves every row of the result whose window it lies in. If rows are padded, those of a block
// of tiles are padded while they are in the nearest cache.
Tensor TallConv(const Conv& conv, const TeCall& call) {
  const Shape shape = ShapeOfImages(call);
  const Tensor x = WithWidePixels(conv, call);
  std::int64_t rows = RowsOfTile(conv, shape[2]);
  if (call.config != nullptr)
    rows =
        call.config->Split("rows", shape[2], {.max = MaxSums(conv.target), .default_value = rows});
  const std::int64_t row_tiles = shape[2] / rows;
  const std::int64_t column_tiles = CeilDiv(shape[3], conv.lanes());
  std::optional<Tensor> image;
  if (!ReadsUnderMasks(conv)) {
    // The last tiles read past the image: zeros lie there. Rows start with a vector.
    const std::int64_t height = row_tiles * rows + conv.taps[0] - 1;
    const std::int64_t pitch =
        RoundUp(column_tiles * conv.lanes() + conv.taps[1] - 1, conv.lanes());
    image = SplitBySteps(conv, x, height, pitch, te::TileInputForm::kAlignedSteps);
  }
  const auto pixel = [&](const Expr& n, const Expr& channel, const Expr& row, const Expr& column) {
    if (image) return (*image)(n, channel, 0, 0, row, column);
    return PaddedPixel(conv, x, n, channel, row, column);
  };
  const TapAxesOfTile taps = TapsByColumn(conv, call);
  const Tensor sums = te::Compute(
      {x.shape()[0], shape[1], row_tiles, column_tiles, rows, 1, conv.lanes()},
      [&](const std::vector<Var>& i) {
        const Expr row = (i[2] * rows + i[4]) * conv.strides[0] + taps.row.var;
        const Expr column = (i[3] * conv.lanes() + i[6]) * conv.strides[1] + taps.column.var;
        const Expr read = pixel(i[0], te::FloorDiv(i[1], conv.group_outputs), row, column);
        return te::Sum(
            te::Cast(conv.dtype, read) * conv.Weight(i[1], 0, taps.row.var, taps.column.var),
            taps.order);
      },
      conv.name, te::RegisterTile{.rows = te::TileRows::kTall});
  return te::Compute(
      call.te_shape(),
      [&](const Var& n, const Var& c, const Var& y, const Var& column) {
        return sums(n, c, te::FloorDiv(y, rows), te::FloorDiv(column, conv.lanes()),
                    te::FloorMod(y, rows), 0, te::FloorMod(column, conv.lanes()));
      },
      conv.name);
}

}  // namespace tenon::strategies
