// Operators that sample images at computed positions, or add patches up to an image.
#include <algorithm>
#include <cmath>

#include "tenon/onnx/convert/converters.h"
#include "tenon/onnx/convert/matmul.h"
#include "tenon/onnx/convert/sample.h"
#include "tenon/onnx/convert/window.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/known_ops.h"
#include "tenon/ops/shape_rules.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::onnx_import {
namespace {

Expr TableOf(const Shape& shape, const std::vector<double>& values) {
  return ir::Constant::Make(NDArray::FromVector(shape, values));
}

// --- GridSample

// Mirrors positions at the bounds low and high until they lie between them.
Expr Reflected(const Node& node, const Expr& x, double low, double high) {
  const DataType type = DataTypeOf(x);
  const auto number = [&](double n) { return ops::Scalar(n, type); };
  const double range = high - low;
  if (range <= 0) return node.Typed(ops::Multiply(x, number(0)));
  const auto& known = ops::Known();
  const Expr far = ops::Abs(ops::Subtract(x, number(low)));
  const Expr within = ir::Call::Make(known.floor_mod, {far, number(2 * range)});
  const Expr mirrored = ops::Subtract(number(2 * range), within);
  return node.Typed(ops::Add(ops::Minimum(within, mirrored), number(low)));
}

// Over three spatial axes, the last axis of the grid holds x, y and z from -1 to 1.
Expr GridSampleVolume(Node& node, const ops::GridSampleAttrs& attrs) {
  const Expr &x = node.input(0), &grid = node.input(1);
  const Shape shape = ShapeOf(x), to = ShapeOf(grid);
  if (to.size() != 5 || to[4] != 3 || to[0] != shape[0])
    throw InvalidArgument(StrCat("input 1 has the shape (", StrJoin(to, ", "), "); it must be (",
                                 shape[0], ", depth, height, width, 3)"));
  if (attrs.method == "bicubic")
    throw Unimplemented("cubic sampling of volumes is not supported; linear and nearest are");
  const DataType type = DataTypeOf(x);
  std::vector<Expr> positions;
  for (std::size_t d = 0; d < 3; ++d) {
    const auto extent = static_cast<double>(shape[d + 2]);
    const Expr given = node.Typed(ElementAlong(grid, 2 - static_cast<std::int64_t>(d), 4));
    Expr at = node.Typed(ops::Cast(node.Typed(ops::ReshapeToExtents(given, {to[0], -1})), type));
    const double scale = (attrs.align_corners ? extent - 1 : extent) / 2;
    at = node.Typed(
        ops::Add(ops::Multiply(at, ops::Scalar(scale, type)), ops::Scalar((extent - 1) / 2, type)));
    if (attrs.padding_mode == "reflection")
      at = attrs.align_corners ? Reflected(node, at, 0, extent - 1)
                               : Reflected(node, at, -0.5, extent - 0.5);
    if (attrs.padding_mode != "zeros") at = node.Typed(ops::Clip(at, 0, extent - 1));
    positions.push_back(at);
  }
  const Expr y =
      Sampled(node, x, positions, attrs.method == "nearest" ? Between::kNearest : Between::kLinear);
  return node.Typed(ops::ReshapeToExtents(y, {shape[0], shape[1], to[1], to[2], to[3]}));
}

std::vector<Expr> GridSample(Node& node) {
  const std::int64_t rank = RankOf(node.input(0));
  std::string mode = node.String("mode", node.opset() < 20 ? "bilinear" : "linear");
  if (mode == "linear") mode = "bilinear";
  if (mode == "cubic") mode = "bicubic";
  ops::GridSampleAttrs attrs{.method = mode,
                             .padding_mode = node.String("padding_mode", "zeros"),
                             .align_corners = node.Int("align_corners", 0) != 0};
  if (rank == 5) return {GridSampleVolume(node, attrs)};
  if (rank != 4)
    throw Unimplemented(StrCat("input 0 has rank ", rank, "; two and three spatial axes (rank 4 ",
                               "and 5) are supported"));
  const Expr grid = ops::Transpose(node.input(1), Ints{0, 3, 1, 2});
  return {node.Typed(
      ir::Call::Make(ops::Known().grid_sample, {node.input(0), grid}, attrs::Attrs::Make(attrs)))};
}

// --- AffineGrid

// The points of a grid from -1 to 1 with a 1 at their end, [points, axes + 1], the last axis first.
Expr Points(const Node& node, const Ints& extents, bool align_corners, DataType type) {
  double count = static_cast<double>(extents.size()) + 1;
  for (const std::int64_t extent : extents) count *= static_cast<double>(extent);
  RequireConstantSize(count);
  const std::int64_t points = NumElements(extents);
  std::vector<double> values;
  for (std::int64_t point = 0; point < points; ++point) {
    std::int64_t rest = point;
    for (std::size_t d = extents.size(); d-- > 0;) {
      const auto n = static_cast<double>(extents[d]), i = static_cast<double>(rest % extents[d]);
      rest /= extents[d];
      const double aligned = n == 1 ? 0 : 2 * i / (n - 1) - 1;
      values.push_back(align_corners ? aligned : (2 * i + 1) / n - 1);
    }
    values.push_back(1);
  }
  return node.Typed(
      ops::Cast(TableOf({points, static_cast<std::int64_t>(extents.size()) + 1}, values), type));
}

std::vector<Expr> AffineGrid(Node& node) {
  const Expr& theta = node.input(0);
  const Ints size = node.ConstantInts(1);
  const auto dims = static_cast<std::int64_t>(size.size()) - 2;
  const Shape wanted = {size.empty() ? 0 : size[0], dims, dims + 1};
  if ((dims != 2 && dims != 3) || ShapeOf(theta) != wanted)
    throw InvalidArgument(StrCat("input 0 has the shape (", StrJoin(ShapeOf(theta), ", "),
                                 ") for a size of (", StrJoin(size, ", "),
                                 "); they must be (n, 2, 3) and (n, channels, height, width), or "
                                 "(n, 3, 4) and (n, channels, depth, height, width)"));
  const Ints extents(size.begin() + 2, size.end());
  for (const std::int64_t extent : extents)
    if (extent < 1) throw InvalidArgument(StrCat("input 1 has the extent ", extent));
  const Expr points = Points(node, extents, node.Int("align_corners", 0) != 0, DataTypeOf(theta));
  const Expr maps = node.Typed(ops::Transpose(theta, Ints{0, 2, 1}));
  Ints shape = {size[0]};
  shape.insert(shape.end(), extents.begin(), extents.end());
  shape.push_back(dims);
  return {node.Typed(ops::ReshapeToExtents(ProductOfAnyRank(node, points, maps), shape))};
}

// --- Col2Im

// Each element of the image is the sum of the columns' elements that lie there. A table says which
// these are; an element that is missing is one of zero after the others.
std::vector<Expr> Col2Im(Node& node) {
  const Expr& x = node.input(0);
  const Shape shape = ShapeOf(x);
  const Ints image = node.ConstantInts(1), block = node.ConstantInts(2);
  const std::size_t dims = image.size();
  const Ints dilations = node.IntsOr("dilations", Ints(dims, 1)),
             strides = node.IntsOr("strides", Ints(dims, 1)),
             pads = node.IntsOr("pads", Ints(2 * dims, 0));
  if (shape.size() != 3 || dims == 0 || block.size() != dims || dilations.size() != dims ||
      strides.size() != dims || pads.size() != 2 * dims)
    throw InvalidArgument(
        StrCat("input 0 must have rank 3, and image_shape, block_shape, strides "
               "and dilations ",
               dims, " values, pads twice as many"));
  std::int64_t taps = 1, blocks = 1, pixels = 1;
  Ints counts;  // of blocks along each axis
  for (std::size_t d = 0; d < dims; ++d) {
    constexpr std::int64_t kMost = std::int64_t{1} << 30;
    const std::int64_t sizes[] = {block[d], strides[d], dilations[d], image[d]};
    for (const std::int64_t size : sizes)
      if (size < 1 || size > kMost)
        throw InvalidArgument(StrCat("extents, strides and dilations must be 1 to ", kMost));
    for (const std::int64_t pad : {pads[d], pads[d + dims]})
      if (pad < -kMost || pad > kMost)
        throw InvalidArgument(StrCat("pads must be ", -kMost, " to ", kMost));
    const double room = static_cast<double>(image[d]) + static_cast<double>(pads[d]) +
                        static_cast<double>(pads[d + dims]) -
                        static_cast<double>(dilations[d]) * static_cast<double>(block[d] - 1) - 1;
    if (!(room >= 0 && room < 0x1p31))
      throw InvalidArgument(
          StrCat("blocks of ", block[d], " do not fit axis ", d, " of ", image[d], " elements"));
    counts.push_back(static_cast<std::int64_t>(room) / strides[d] + 1);
    RequireConstantSize(static_cast<double>(taps) * static_cast<double>(block[d]) *
                        static_cast<double>(pixels) * static_cast<double>(image[d]));
    RequireConstantSize(static_cast<double>(blocks) * static_cast<double>(counts[d]));
    taps *= block[d];
    blocks *= counts[d];
    pixels *= image[d];
  }
  if (shape[2] != blocks || shape[1] % taps != 0)
    throw InvalidArgument(StrCat("input 0 has the shape (", StrJoin(shape, ", "), "); there are ",
                                 blocks, " blocks of ", taps, " elements for each channel"));
  std::vector<std::int64_t> table;
  for (std::int64_t pixel = 0; pixel < pixels; ++pixel) {
    for (std::int64_t tap = 0; tap < taps; ++tap) {
      std::int64_t at = pixel, of_block = tap, column = 0, scale = 1;
      bool exists = true;
      for (std::size_t d = dims; d-- > 0;) {
        const std::int64_t start = at % image[d] + pads[d] - of_block % block[d] * dilations[d];
        exists = exists && start >= 0 && start % strides[d] == 0 && start / strides[d] < counts[d];
        column += exists ? start / strides[d] * scale : 0;
        scale *= counts[d];
        at /= image[d];
        of_block /= block[d];
      }
      table.push_back(exists ? tap * blocks + column : taps * blocks);
    }
  }
  const std::int64_t channels = shape[1] / taps;
  const Expr flat = node.Typed(ops::ReshapeToExtents(x, {shape[0], channels, taps * blocks}));
  const Expr padded = node.Typed(ops::Pad(flat, {{0, 0}, {0, 0}, {0, 1}}, 0, DataTypeOf(x)));
  const Expr places = ir::Constant::Make(NDArray::FromVector({pixels, taps}, table));
  const Expr sums =
      node.Typed(ops::Sum(node.Typed(ops::Take(padded, places, {.axis = 2})), {.axis = Ints{3}}));
  Ints result = {shape[0], channels};
  result.insert(result.end(), image.begin(), image.end());
  return {node.Typed(ops::ReshapeToExtents(sums, result))};
}

// --- DeformConv

// A convolution whose taps are moved by offsets and multiplied by a mask: the taps are sampled, and
// a matrix product sums them up (Dai et al., "Deformable convolutional networks", 2017).
std::vector<Expr> DeformConv(Node& node) {
  const Expr &x = node.input(0), &weight = node.input(1), &offset = node.input(2);
  const Shape in = ShapeOf(x), w = ShapeOf(weight), off = ShapeOf(offset);
  const std::int64_t groups = node.Int("group", 1), parts = node.Int("offset_group", 1);
  if (in.size() != 4 || w.size() != 4 || off.size() != 4)
    throw Unimplemented("input 0, 1 and 2 must have rank 4: two spatial axes are supported");
  if (node.IntsOr("kernel_shape", {w[2], w[3]}) != Ints{w[2], w[3]})
    throw InvalidArgument("kernel_shape is not that of input 1");
  const Window window = ReadAttributes(node, DimsOf(x), {w[2], w[3]});
  const std::int64_t taps = w[2] * w[3], places = off[2] * off[3];
  const bool has_groups = groups >= 1 && parts >= 1 && in[1] % groups == 0 &&
                          w[1] == in[1] / groups && w[0] % groups == 0 && in[1] % parts == 0;
  if (!has_groups || taps < 1 || off[0] != in[0] || off[1] % (2 * taps) != 0 ||
      off[1] / (2 * taps) != parts)
    throw InvalidArgument(StrCat("the shapes (", StrJoin(in, ", "), "), (", StrJoin(w, ", "),
                                 ") and (", StrJoin(off, ", "), ") do not fit ", groups,
                                 " groups and ", parts, " groups of offsets"));
  for (std::size_t d = 0; d < 2; ++d) {
    const std::int64_t span = ops::WindowSpan(w[d + 2], window.dilations[d]);
    const std::int64_t room =
        ops::PaddedExtent(in[d + 2], window.before[d], window.after[d]) - span;
    if (room < 0 || off[d + 2] != room / window.strides[d] + 1)
      throw InvalidArgument(StrCat("input 2 has ", off[d + 2], " offsets along axis ", d + 2,
                                   ", which are not as many as there are windows"));
  }
  const DataType type = DataTypeOf(x);
  // [batch * groups of offsets, taps, axis, height, width]
  const Expr moved =
      node.Typed(ops::ReshapeToExtents(offset, {in[0] * parts, taps, 2, off[2], off[3]}));
  std::vector<Expr> positions;
  for (std::size_t d = 0; d < 2; ++d) {
    RequireConstantSize(static_cast<double>(taps) * static_cast<double>(places));
    std::vector<double> base;
    for (std::int64_t tap = 0; tap < taps; ++tap) {
      const std::int64_t step = d == 0 ? tap / w[3] : tap % w[3];
      for (std::int64_t place = 0; place < places; ++place) {
        const std::int64_t at = d == 0 ? place / off[3] : place % off[3];
        base.push_back(static_cast<double>(at * window.strides[d] - window.before[d] +
                                           step * window.dilations[d]));
      }
    }
    const Expr grid = node.Typed(ops::Cast(TableOf({1, taps, off[2], off[3]}, base), type));
    const Expr by = ElementAlong(moved, static_cast<std::int64_t>(d), 2);
    const Expr at = node.Typed(ops::Add(grid, by));
    positions.push_back(node.Typed(ops::ReshapeToExtents(at, {in[0] * parts, taps * places})));
  }
  const std::int64_t each = in[1] / parts;
  const Expr images = node.Typed(ops::ReshapeToExtents(x, {in[0] * parts, each, in[2], in[3]}));
  Expr columns = Sampled(node, images, positions, Between::kLinear);
  if (node.has_input(4)) {
    const Expr mask =
        node.Typed(ops::ReshapeToExtents(node.input(4), {in[0] * parts, 1, taps * places}));
    columns = node.Typed(ops::Multiply(columns, mask));
  }
  columns = node.Typed(ops::ReshapeToExtents(columns, {in[0], groups, w[1] * taps, places}));
  const Expr matrices =
      node.Typed(ops::ReshapeToExtents(weight, {groups, w[0] / groups, w[1] * taps}));
  Expr y = ProductOfAnyRank(node, matrices, columns);
  y = node.Typed(ops::ReshapeToExtents(y, {in[0], w[0], off[2], off[3]}));
  if (node.has_input(3)) y = node.Typed(ops::BiasAdd(y, node.input(3)));
  return {y};
}

}  // namespace

void AddSampleConverters(ConverterTable* table) {
  ConverterTable& t = *table;
  t["AffineGrid"] = AffineGrid;
  t["Col2Im"] = Col2Im;
  t["DeformConv"] = DeformConv;
  t["GridSample"] = GridSample;
}

}  // namespace tenon::onnx_import
