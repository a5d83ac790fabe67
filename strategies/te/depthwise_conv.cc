// A kernel for each channel: nothing is shared between channels, so lanes are pixels of one. What
// bounds these sums are loads, of which most cross a cache line.
#include <algorithm>

#include "tenon/strategies/te/conv.h"
#include "tenon/support/arithmetic.h"
#include "tenon/te/math.h"
#include "tenon/te/reduce.h"

namespace tenon::strategies {

using te::Expr;
using te::IterVar;
using te::Tensor;
using te::Var;

namespace {

// Vectors of sums in a tile, and results of one channel that stay in cache.
constexpr std::int64_t kMostVectors = 8;
constexpr std::int64_t kMostPixels = 1 << 16;
// Of a tile of whole columns: sums that leave registers for the operands.
constexpr std::int64_t kMostSums = 24;

// One kernel a channel, whose window covers all rows of the image wherever it stands: the sum runs
// over these rows rather than over taps, so that what is read of one serves all rows of the result,
// and only columns are padded.
Tensor CoveringConv(const Conv& plain, const TeCall& call) {
  const auto& padding = plain.padding;
  const Shape shape = call.shape();
  const Tensor& x = call.input(0);
  const std::int64_t all = CeilDiv(shape[3], kConvLanes);
  std::int64_t vectors = std::max<std::int64_t>(1, std::min(all, kMostSums / shape[2]));
  vectors = CeilDiv(all, CeilDiv(all, vectors));
  const std::int64_t tiles = CeilDiv(all, vectors);
  // The last tile reads past the image: zeros lie there.
  const std::int64_t more = tiles * vectors * kConvLanes - shape[3];
  Conv conv = plain;
  conv.image = PadImage(x, 2, 3, {0, padding[1], 0, padding[3] + more}, kTileInput);
  const std::vector<IterVar> k = {te::ReduceAxis(0, ExtentOf(x, 2), "row"),
                                  te::ReduceAxis(0, conv.taps[1], "rx")};
  const Tensor sums = te::Compute(
      {shape[0], shape[1], tiles, shape[2], vectors, kConvLanes},
      [&](const std::vector<Var>& i) {
        const Expr column = (i[2] * vectors + i[4]) * kConvLanes + i[5];
        const Expr tap = k[0].var + padding[0] - i[3] * conv.strides[0];
        return te::Sum(conv.Pixel(i[0], te::FloorDiv(i[1], conv.group_outputs), k[0].var,
                                  column + k[1].var * conv.dilation[1]) *
                           conv.Weight(i[1], 0, tap, k[1].var),
                       k);
      },
      "conv2d", kRegisterTile);
  return te::Compute(
      ToExprs(shape),
      [&](const Var& n, const Var& c, const Var& y, const Var& column) {
        return sums(n, c, te::FloorDiv(column, vectors * kConvLanes), y,
                    te::FloorMod(te::FloorDiv(column, kConvLanes), vectors),
                    te::FloorMod(column, kConvLanes));
      },
      "conv2d", "injective");
}

bool IsCovering(const Conv& conv, const TeCall& call) {
  const Shape shape = call.shape();
  return conv.strides[1] == 1 && conv.dilation[0] == 1 && shape[2] <= kMostSums &&
         shape[3] >= kConvLanes && conv.padding[0] >= (shape[2] - 1) * conv.strides[0] &&
         ExtentOf(call.input(0), 2) + conv.padding[0] <= conv.taps[0];
}

// One kernel a channel: lanes are pixels of the padded image taken as one long row, so that every
// tap reads whole vectors whatever the width; what falls on the margins is dropped. The zeros right
// of a row are the ones left of the next.
Tensor FlatConv(const Conv& plain, const TeCall& call) {
  const auto& padding = plain.padding;
  const Shape shape = call.shape();
  const Tensor& x = call.input(0);
  std::int64_t right = std::max<std::int64_t>(0, padding[3] - padding[1]);
  std::int64_t pitch = ExtentOf(x, 3) + padding[1] + right;
  // Rows that all began with a vector would leave its last lanes unused, and vectors be cut short.
  if (pitch % kConvLanes == 0 && shape[3] < kConvLanes) {
    ++right;
    ++pitch;
  }
  const std::int64_t pixels = (shape[2] - 1) * pitch + shape[3];
  std::int64_t vectors = kMostVectors;
  const auto covered = [&](std::int64_t v) { return CeilDiv(pixels, v * kConvLanes) * v; };
  for (std::int64_t v = kMostVectors - 1; v >= kMostVectors / 2; --v) {
    if (covered(v) < covered(vectors)) vectors = v;
  }
  const std::int64_t last = covered(vectors) * kConvLanes - 1 +
                            ((plain.taps[0] - 1) * plain.dilation[0]) * pitch +
                            (plain.taps[1] - 1) * plain.dilation[1];
  // The last tile reads past the image: rows of zeros lie there.
  const std::int64_t rows = ExtentOf(x, 2) + padding[0] + padding[2];
  const std::int64_t more = std::max<std::int64_t>(1, last / pitch + 1 - rows);
  Conv conv = plain;
  conv.image = PadImage(x, 2, 3, {padding[0], padding[1], padding[2] + more, right}, kTileInput);
  const std::vector<IterVar> k = {te::ReduceAxis(0, conv.taps[0], "ry"),
                                  te::ReduceAxis(0, conv.taps[1], "rx")};
  const Tensor sums = te::Compute(
      {shape[0], shape[1], covered(vectors) / vectors, 1, vectors, kConvLanes},
      [&](const std::vector<Var>& i) {
        const Expr at = (i[2] * vectors + i[4]) * kConvLanes + i[5] +
                        k[0].var * (conv.dilation[0] * pitch) + k[1].var * conv.dilation[1];
        return te::Sum(conv.Pixel(i[0], te::FloorDiv(i[1], conv.group_outputs),
                                  te::FloorDiv(at, pitch), te::FloorMod(at, pitch)) *
                           conv.Weight(i[1], 0, k[0].var, k[1].var),
                       k);
      },
      "conv2d", kRegisterTile);
  return te::Compute(
      ToExprs(shape),
      [&](const Var& n, const Var& c, const Var& y, const Var& column) {
        const Expr pixel = y * pitch + column;
        return sums(n, c, te::FloorDiv(pixel, vectors * kConvLanes), 0,
                    te::FloorMod(te::FloorDiv(pixel, kConvLanes), vectors),
                    te::FloorMod(pixel, kConvLanes));
      },
      "conv2d", "injective");
}

// With stride 1, on images whose rows follow each other, do not fill vectors, and of which one
// channel stays in cache.
bool IsFlat(const Conv& conv, const Shape& shape) {
  return conv.strides == std::array<std::int64_t, 2>{1, 1} && shape[3] % kConvLanes != 0 &&
         shape[2] * shape[3] >= kConvLanes && shape[2] * shape[3] <= kMostPixels;
}

}  // namespace

std::optional<Tensor> DepthwiseConv(const Conv& conv, const TeCall& call) {
  const Shape shape = call.shape();
  if (conv.groups == 1 || conv.group_inputs != 1 || !conv.IsNchw() || !conv.FillsLanes(shape))
    return std::nullopt;
  if (IsCovering(conv, call)) return CoveringConv(conv, call);
  if (IsFlat(conv, shape)) return FlatConv(conv, call);
  return std::nullopt;
}

}  // namespace tenon::strategies
