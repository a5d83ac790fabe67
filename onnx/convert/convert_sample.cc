// Operators that sample images at computed positions, and such positions.
#include <algorithm>
#include <cmath>

#include "tenon/ir/parse_extents.h"
#include "tenon/onnx/convert/converters.h"
#include "tenon/onnx/convert/matmul.h"
#include "tenon/onnx/convert/reshape_to.h"
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

// --- GridSample

// Mirrors positions at the bounds low and high until they lie between them.
Expr Reflected(const Node& node, const Expr& x, const Expr& low, const Expr& high) {
  const auto& known = ops::Known();
  const Expr zero = ops::Scalar(0, DataTypeOf(x));
  const Expr range = node.Typed(ops::Subtract(high, low));
  const Expr far = ops::Abs(ops::Subtract(x, low));
  const Expr within = ir::Call::Make(known.floor_mod, {far, ops::Add(range, range)});
  const Expr mirrored = ops::Subtract(ops::Add(range, range), within);
  const Expr at = node.Typed(ops::Add(ops::Minimum(within, mirrored), low));
  // All positions are the only one, except those that are no numbers.
  const Expr is_range = node.Typed(ir::Call::Make(known.greater, {range, zero}));
  return node.Typed(ops::Where(is_range, at, ops::Multiply(x, zero)));
}

// Over three spatial axes, the last axis of the grid holds x, y and z from -1 to 1.
Expr GridSampleVolume(Node& node, const ops::GridSampleAttrs& attrs) {
  const Expr &x = node.input(0), &grid = node.input(1);
  const std::vector<Dim> shape = DimsOf(x), to = DimsOf(grid);
  const bool fits = to.size() == 5 && to[4] == Dim(3);
  if (!fits || (IsStatic({shape[0], to[0]}) && !(shape[0] == to[0])))
    throw InvalidArgument(StrCat("input 1 has the shape ", ir::ToText(to), "; it must be (",
                                 shape[0].ToString(), ", depth, height, width, 3)"));
  if (attrs.method == "bicubic")
    throw Unimplemented("cubic sampling of volumes is not supported; linear and nearest are");
  const DataType type = PositionType(DataTypeOf(x), DataTypeOf(grid));
  const auto number = [&](double n) { return ops::Scalar(n, type); };
  const auto sum = [&](const Expr& a, const Expr& b) { return node.Typed(ops::Add(a, b)); };
  const std::vector<Dim> points = {shape[0], ops::Product({to.begin() + 1, to.begin() + 4})};
  std::vector<Expr> positions;
  for (std::size_t d = 0; d < 3; ++d) {
    const Expr last = LastPlace(node, x, d + 2, type);
    const Expr half = node.Typed(ops::Multiply(last, number(0.5)));
    const Expr given = node.Typed(ElementAlong(grid, 2 - static_cast<std::int64_t>(d), 4));
    Expr at = node.Typed(ops::Cast(node.Typed(ReshapeTo(node.extents(), given, points)), type));
    const Expr scale = attrs.align_corners ? half : sum(half, number(0.5));
    at = sum(ops::Multiply(at, scale), half);
    if (attrs.padding_mode == "reflection")
      at = attrs.align_corners ? Reflected(node, at, number(0), last)
                               : Reflected(node, at, number(-0.5), sum(last, number(0.5)));
    if (attrs.padding_mode != "zeros")
      at = node.Typed(ops::Minimum(node.Typed(ops::Maximum(at, number(0))), last));
    positions.push_back(at);
  }
  const Expr y =
      Sampled(node, x, positions, attrs.method == "nearest" ? Between::kNearest : Between::kLinear);
  const Expr rounded = node.Typed(ops::Cast(y, DataTypeOf(x)));
  return node.Typed(ReshapeTo(node.extents(), rounded, {shape[0], shape[1], to[1], to[2], to[3]}));
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

// The numbers of a convolution whose taps are moved by offsets.
struct DeformForm {
  // Throws InvalidArgument where shapes and attributes do not fit, and Unimplemented for other
  // ranks and for channels that are not numbers.
  explicit DeformForm(Node& node);

  const std::vector<Dim> in, off;  // extents of the image and of the offsets
  const Shape w;
  const std::int64_t groups, parts;  // of channels, and of offsets
  Window window;
  std::int64_t taps = 0;
  std::vector<Dim> windows;  // along the two axes
};

DeformForm::DeformForm(Node& node)
    : in(DimsOf(node.input(0))),
      off(DimsOf(node.input(2))),
      w(ShapeOf(node.input(1))),
      groups(node.Int("group", 1)),
      parts(node.Int("offset_group", 1)) {
  if (in.size() != 4 || w.size() != 4 || off.size() != 4)
    throw Unimplemented("input 0, 1 and 2 must have rank 4: two spatial axes are supported");
  if (node.IntsOr("kernel_shape", {w[2], w[3]}) != Ints{w[2], w[3]})
    throw InvalidArgument("kernel_shape is not that of input 1");
  if (!in[1].is_static() || !off[1].is_static())
    throw Unimplemented("the channels of input 0 and 2 must be numbers");
  window = ReadAttributes(node, in, {w[2], w[3]});
  taps = w[2] * w[3];
  const std::int64_t channels = in[1].value();
  const bool has_groups = groups >= 1 && parts >= 1 && channels % groups == 0 &&
                          w[1] == channels / groups && w[0] % groups == 0 && channels % parts == 0;
  const bool is_other_batch = IsStatic({in[0], off[0]}) && !(in[0] == off[0]);
  if (!has_groups || taps < 1 || is_other_batch || off[1].value() % (2 * taps) != 0 ||
      off[1].value() / (2 * taps) != parts)
    throw InvalidArgument(StrCat("the shapes ", ir::ToText(in), ", (", StrJoin(w, ", "), ") and ",
                                 ir::ToText(off), " do not fit ", groups, " groups and ", parts,
                                 " groups of offsets"));
  for (std::size_t d = 0; d < 2; ++d) {
    const std::int64_t span = ops::WindowSpan(w[d + 2], window.dilations[d]);
    const Dim room = in[d + 2] + (window.before[d] + window.after[d] - span);
    windows.push_back(FloorDiv(room, window.strides[d]) + 1);
    const bool is_number = IsStatic({room, off[d + 2]});
    if (is_number && (room.value() < 0 || !(off[d + 2] == windows[d])))
      throw InvalidArgument(StrCat("input 2 has ", off[d + 2].ToString(), " offsets along axis ",
                                   d + 2, ", which are not as many as there are windows"));
  }
}

// Where taps are read along each axis of the image, (images, windows * taps), in `type`.
std::vector<Expr> TapPositions(const Node& node, const DeformForm& form, DataType type) {
  const auto& [in, off, w, groups, parts, window, taps, windows] = form;
  const auto in_type = [&](const Expr& e) { return node.Typed(ops::Cast(e, type)); };
  const auto reshaped = [&](const Expr& e, const std::vector<Dim>& to) {
    return node.Typed(ReshapeTo(node.extents(), e, to));
  };
  const Dim images = in[0] * parts, places = windows[0] * windows[1];
  // A run refuses offsets that are not as many as there are windows.
  const Expr moved = reshaped(node.input(2), {images, taps, 2, windows[0], windows[1]});
  std::vector<Expr> positions;
  for (std::size_t d = 0; d < 2; ++d) {
    std::vector<std::int64_t> of_tap;
    for (std::int64_t tap = 0; tap < taps; ++tap)
      of_tap.push_back((d == 0 ? tap / w[3] : tap % w[3]) * window.dilations[d] - window.before[d]);
    const Expr steps = ir::Constant::Make(NDArray::FromVector({1, taps, 1, 1}, of_tap));
    const Expr begins = node.Typed(
        ops::Multiply(PlacesAlong(node, 4, d + 2, windows[d]), Integer(window.strides[d])));
    const Expr grid = in_type(node.Typed(ops::Add(begins, steps)));
    const Expr by = in_type(node.Typed(ElementAlong(moved, static_cast<std::int64_t>(d), 2)));
    positions.push_back(reshaped(node.Typed(ops::Add(grid, by)), {images, places * taps}));
  }
  return positions;
}

// A convolution whose taps are moved by offsets and multiplied by a mask: the taps are sampled, and
// a matrix product sums them up (Dai et al., "Deformable convolutional networks", 2017).
std::vector<Expr> DeformConv(Node& node) {
  const DeformForm form(node);
  const auto& [in, off, w, groups, parts, window, taps, windows] = form;
  const Expr &x = node.input(0), &weight = node.input(1);
  const DataType type = PositionType(DataTypeOf(x), DataTypeOf(node.input(2)));
  const auto in_type = [&](const Expr& e) { return node.Typed(ops::Cast(e, type)); };
  const auto reshaped = [&](const Expr& e, const std::vector<Dim>& to) {
    return node.Typed(ReshapeTo(node.extents(), e, to));
  };
  const Dim images = in[0] * parts, places = windows[0] * windows[1];
  const std::vector<Expr> positions = TapPositions(node, form, type);
  const Expr image = reshaped(x, {images, in[1].value() / parts, in[2], in[3]});
  Expr columns = Sampled(node, image, positions, Between::kLinear);
  if (node.has_input(4))
    columns = node.Typed(
        ops::Multiply(columns, in_type(reshaped(node.input(4), {images, 1, places * taps}))));
  columns = node.Typed(ops::Cast(columns, DataTypeOf(x)));
  columns = reshaped(columns, {in[0], groups, w[1] * taps, places});
  const Expr matrices =
      node.Typed(ops::ReshapeToExtents(weight, {groups, w[0] / groups, w[1] * taps}));
  Expr y =
      reshaped(ProductOfAnyRank(node, matrices, columns), {in[0], w[0], windows[0], windows[1]});
  if (node.has_input(3)) y = node.Typed(ops::BiasAdd(y, node.input(3)));
  return {y};
}

}  // namespace

void AddSampleConverters(ConverterTable* table) {
  ConverterTable& t = *table;
  t["AffineGrid"] = AffineGrid;
  t["DeformConv"] = Converter(DeformConv)
                        .With({.other = "two spatial axes; weights and channels of known extents"});
  t["GridSample"] =
      Converter(GridSample)
          .With({.other = "two and three spatial axes; no cubic sampling of volumes"});
}

}  // namespace tenon::onnx_import
