// A kernel for each channel. Nothing is shared between channels, so lanes are pixels of one. These
// sums are bound by loads, most of which cross a cache line. Here are the forms whose tiles hold
// all rows of a channel's result; depthwise_rows.cc has the others.
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

Refusal RefuseDepthwise(const Conv& conv, const TeCall& call) {
  if (conv.groups == 1 || conv.group_inputs != 1) return kNotDepthwise;
  if (!conv.IsNchw()) return "channels do not come first";
  return conv.RefuseLanes(call.sizes());
}

Refusal RefuseManyTaps(const Conv& conv) {
  const std::int64_t taps = conv.taps[0] * conv.taps[1];
  if (taps > kMaxUnrolledTerms)
    return StrCat(taps, " taps are more than ", kMaxUnrolledTerms, ", which are written out");
  return std::nullopt;
}

Shape ShapeOfImages(const TeCall& call) {
  const Sizes sizes = call.sizes();
  if (!AreNumbers(std::span(sizes).subspan(1))) return call.shape();
  Shape shape;
  for (const Size& size : sizes) shape.push_back(size.planned);
  return shape;
}

Tensor WithWidePixels(const Conv& conv, const TeCall& call) {
  const Tensor& given = call.input(0);
  return given.dtype().is_float() ? AsType(given, conv.dtype) : given;
}

Refusal RefuseCovering(const Conv& conv, const TeCall& call) {
  if (const Refusal refusal = RefuseDepthwise(conv, call)) return refusal;
  const Shape shape = ShapeOfImages(call);
  if (conv.padding[0] < (shape[2] - 1) * conv.strides[0] ||
      ExtentOf(call.input(0), 2) + conv.padding[0] > conv.taps[0])
    return "some windows do not cover all rows of the image";
  if (conv.strides[1] != 1) return "windows step by more than a column";
  if (conv.dilation[0] != 1) return "rows of the kernel are apart";
  if (shape[2] > MaxSums(conv.target))
    return StrCat(shape[2], " rows of the result are more than ", MaxSums(conv.target),
                  ", which registers hold");
  if (shape[3] < conv.lanes())
    return StrCat("rows of ", shape[3], " pixels do not fill a vector of ", conv.lanes());
  return std::nullopt;
}

// One kernel per channel, whose window covers all rows of the image wherever it stands. The sum
// runs over these rows rather than over taps, so that what is read of a row serves all rows of the
// result, and only columns are padded.
Tensor CoveringConv(const Conv& plain, const TeCall& call) {
  const Shape shape = ShapeOfImages(call);
  const Tensor x = WithWidePixels(plain, call);
  const auto& padding = plain.padding;
  const std::int64_t lanes = plain.lanes();
  const std::int64_t all = CeilDiv(shape[3], lanes);
  std::int64_t vectors = std::max<std::int64_t>(1, std::min(all, MaxSums(plain.target) / shape[2]));
  while (vectors > 1 && !FitsRegisters(plain.target, shape[2], vectors)) --vectors;
  const std::int64_t most = vectors;
  vectors =
      TileSideIn(call.config, "vectors", CeilDiv(all, CeilDiv(all, most)), most, plain.target);
  const std::int64_t tiles = CeilDiv(all, vectors);
  // The last tile reads past the image: zeros lie there.
  const std::int64_t more = tiles * vectors * lanes - shape[3];
  Conv conv = plain;
  conv.image = PadImage(x, 2, 3, {0, padding[1], 0, padding[3] + more}, te::TileInput{});
  const std::vector<IterVar> k = {te::ReduceAxis(0, ExtentOf(x, 2), "row"),
                                  te::ReduceAxis(0, conv.taps[1], "rx")};
  const Tensor sums = te::Compute(
      {x.shape()[0], shape[1], tiles, shape[2], vectors, conv.lanes()},
      [&](const std::vector<Var>& i) {
        const Expr column = (i[2] * vectors + i[4]) * conv.lanes() + i[5];
        const Expr tap = k[0].var + padding[0] - i[3] * conv.strides[0];
        return te::Sum(conv.Pixel(i[0], te::FloorDiv(i[1], conv.group_outputs), k[0].var,
                                  column + k[1].var * conv.dilation[1]) *
                           conv.Weight(i[1], 0, tap, k[1].var),
                       k);
      },
      conv.name, te::RegisterTile{});
  return te::Compute(
      call.te_shape(),
      [&](const Var& n, const Var& c, const Var& y, const Var& column) {
        return sums(n, c, te::FloorDiv(column, vectors * conv.lanes()), y,
                    te::FloorMod(te::FloorDiv(column, conv.lanes()), vectors),
                    te::FloorMod(column, conv.lanes()));
      },
      conv.name);
}

// Suits convolutions where registers hold the result, the taps are few enough to write out, and
// neighbouring results read what one or two vectors of a row hold.
Refusal RefuseSmallImage(const Conv& conv, const TeCall& call) {
  if (const Refusal refusal = RefuseDepthwise(conv, call)) return refusal;
  const Shape shape = ShapeOfImages(call);
  if (conv.strides[1] > 2) return "windows step by more than two columns";
  if (Refusal refusal = RefuseRowsInRegisters(conv.target, shape[2], shape[3])) return refusal;
  return RefuseManyTaps(conv);
}

// One kernel per channel of a small image. A tile is all rows of the result, a vector each, and
// stays in registers. Taps read the image itself, under masks that are the same for all channels;
// padding it would cost more than the sums do.
Tensor SmallImageConv(const Conv& conv, const TeCall& call) {
  const Shape shape = ShapeOfImages(call);
  const Tensor& x = call.input(0);
  const std::int64_t lanes = BitCeil(shape[3]);
  const auto [ry, rx, k] = TapsByColumn(conv, call);
  const Tensor sums = te::Compute(
      {x.shape()[0], shape[1], shape[2], 1, lanes},
      [&](const std::vector<Var>& i) {
        const auto at = [&](const Var& result, std::size_t axis, const Var& tap) {
          return result * conv.strides[axis] + tap * conv.dilation[axis];
        };
        const Expr pixel = PaddedPixel(conv, x, i[0], te::FloorDiv(i[1], conv.group_outputs),
                                       at(i[2], 0, ry.var), at(i[4], 1, rx.var));
        return te::Sum(te::Cast(conv.dtype, pixel) * conv.Weight(i[1], 0, ry.var, rx.var), k);
      },
      conv.name, te::RegisterTile{.rows = te::TileRows::kOfReader});
  return te::Compute(
      call.te_shape(),
      [&](const Var& n, const Var& c, const Var& y, const Var& column) {
        return sums(n, c, y, 0, column);
      },
      conv.name);
}

}  // namespace tenon::strategies
