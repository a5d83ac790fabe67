// Operators that sample images at computed positions, and such positions.
#include <algorithm>
#include <cmath>

#include "tenon/ir/parse_extents.h"
#include "tenon/onnx/convert/converters.h"
#include "tenon/onnx/convert/matmul.h"
#include "tenon/onnx/convert/run_time_extent.h"
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

// The coordinates of that many points from -1 to 1, in float64. Aligned corners are the first and
// the last point; a single one is in the middle.
Expr Coordinates(const Node& node, const Dim& extent, bool align_corners) {
  const auto real = [](double value) { return ops::Scalar(value, Float64); };
  const Expr places = PlacesAlong(node, 1, 0, extent);
  const Expr i = ops::Cast(places, Float64);
  const Expr n = node.Typed(ops::Cast(node.Typed(ExtentValue(places, 0)), Float64));
  const Expr twice = ops::Multiply(i, real(2));
  if (!align_corners)
    return node.Typed(
        ops::Subtract(ops::Divide(ops::Add(twice, real(1)), ops::Maximum(n, real(1))), real(1)));
  const Expr steps = ops::Maximum(ops::Subtract(n, real(1)), real(1));
  const Expr is_single = node.Typed(ir::Call::Make(ops::Known().less_equal, {n, real(1)}));
  return node.Typed(
      ops::Where(is_single, real(0), ops::Subtract(ops::Divide(twice, steps), real(1))));
}

// Each component of a point is a sum over the columns of its matrix: the coordinates along the axes
// from the last one on, and 1.
std::vector<Expr> AffineGrid(Node& node) {
  Expr theta = node.input(0);
  const std::vector<Dim> size = ExtentsAt(node, 1), maps = DimsOf(theta);
  const auto dims = static_cast<std::int64_t>(size.size()) - 2;
  const bool has_matrices = maps.size() == 3 && maps[1] == Dim(dims) && maps[2] == Dim(dims + 1);
  if ((dims != 2 && dims != 3) || !has_matrices ||
      (IsStatic({maps[0], size[0]}) && !(maps[0] == size[0])))
    throw InvalidArgument(StrCat("input 0 has the shape ", ir::ToText(maps), " for a size of ",
                                 ir::ToText(size),
                                 "; they must be (n, 2, 3) and (n, channels, height, width), or "
                                 "(n, 3, 4) and (n, channels, depth, height, width)"));
  std::vector<Dim> shape = size;
  shape.erase(shape.begin() + 1);
  shape.push_back(dims);
  for (const Dim& extent : shape)
    if (extent.is_static() && extent.value() < 0)
      throw InvalidArgument(StrCat("input 1 has the extent ", extent.value()));
  // A run refuses matrices of another batch. Grids would not tell: one of no points has any batch.
  if (!(maps[0] == size[0]))
    theta = node.Typed(ReshapeTo(node.extents(), theta, {size[0], maps[1], maps[2]}));
  const bool align_corners = node.Int("align_corners", 0) != 0;
  const auto column = [&](std::int64_t i) {
    return node.Typed(ops::ExpandDims(node.Typed(ElementAlong(theta, i, 2)), 1, dims));
  };
  Expr sum;
  for (std::int64_t i = 0; i < dims; ++i) {
    const Dim& extent = shape[static_cast<std::size_t>(dims - i)];
    const Expr line =
        node.Typed(ops::Cast(Coordinates(node, extent, align_corners), DataTypeOf(theta)));
    const Expr term =
        node.Typed(ops::Multiply(column(i), node.Typed(ops::ExpandDims(line, 1, i + 1))));
    sum = sum ? node.Typed(ops::Add(sum, term)) : term;
  }
  return {node.Typed(ops::Add(sum, column(dims)))};
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
  t["DeformConv"] =
      Converter(DeformConv).With({.other = "two spatial axes; extents that are numbers"});
  t["GridSample"] = Converter(GridSample)
                        .With({.other = "two and three spatial axes; no cubic sampling of volumes; "
                                        "volumes of extents that are numbers"});
}

}  // namespace tenon::onnx_import
