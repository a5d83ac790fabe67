// Operators on boxes in images, and operators whose number of result rows is known only at run
// time.
#include <limits>
#include <numeric>

#include "tenon/onnx/convert/converters.h"
#include "tenon/onnx/convert/half_floats.h"
#include "tenon/ops/boxes/detector_attrs.h"
#include "tenon/ops/boxes/vision_attrs.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/index/index_attrs.h"
#include "tenon/ops/index/sort_attrs.h"
#include "tenon/ops/index_builders.h"
#include "tenon/ops/known_ops.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::onnx_import {
namespace {

template <typename AttrsType>
Expr Call(const char* op, std::vector<Expr> args, AttrsType attrs) {
  return ir::Call::Make(ops::OpRegistry::Global().Get(op), std::move(args),
                        attrs::Attrs::Make(std::move(attrs)));
}

std::vector<Expr> RoiAlign(Node& node) {
  const DataType type = DataTypeOf(node.input(0));
  const Expr batch = node.Typed(ops::ExpandDims(node.Typed(ops::Cast(node.input(2), type)), 1));
  const Expr rois = node.Typed(ops::Concatenate({batch, node.input(1)}, 1));
  const std::string otherwise = node.opset() < 16 ? "output_half_pixel" : "half_pixel";
  const std::string mode = node.String("coordinate_transformation_mode", otherwise);
  if (mode != "half_pixel" && mode != "output_half_pixel")
    throw InvalidArgument(StrCat("coordinate_transformation_mode is ", mode,
                                 "; it may be half_pixel or output_half_pixel"));
  const std::string pooling = node.String("mode", "avg");
  if (pooling != "avg" && pooling != "max")
    throw InvalidArgument(StrCat("mode is ", pooling, "; it may be avg or max"));
  return {node.Typed(Call(
      "vision.roi_align", {node.input(0), rois},
      ops::RoiAlignAttrs{.pooled_size = {node.Int("output_height", 1), node.Int("output_width", 1)},
                         .spatial_scale = node.Float("spatial_scale", 1),
                         .sample_ratio = node.Int("sampling_ratio", 0),
                         .mode = pooling,
                         .aligned = mode == "half_pixel"}))};
}

std::vector<Expr> MaxRoiPool(Node& node) {
  const Ints pooled = node.IntsOr("pooled_shape", {});
  if (pooled.size() != 2 || pooled[0] < 1 || pooled[1] < 1)
    throw InvalidArgument(StrCat("pooled_shape is (", StrJoin(pooled, ", "),
                                 "); it must be a height and a width of at least 1"));
  return {node.Typed(
      ops::RoiPool(node.input(0), node.input(1),
                   {.pooled_size = pooled, .spatial_scale = node.Float("spatial_scale", 1)}))};
}

// Boxes given by centre and size, as corners. A box of negative size has no area, and so nothing in
// common with others: corners the wrong way round would be put in order.
Expr CornersOf(const Node& node, const Expr& boxes) {
  const std::vector<Expr> parts = PartsAlong(node, boxes, {2}, 2);
  const Expr &centre = parts[0],
             half = ops::Maximum(ops::Multiply(parts[1], ops::Scalar(0.5)), ops::Scalar(0));
  const Expr x_first =
      node.Typed(ops::Concatenate({ops::Subtract(centre, half), ops::Add(centre, half)}, 2));
  const Expr order = ir::Constant::Make(NDArray::FromVector<std::int64_t>({4}, {1, 0, 3, 2}));
  return node.Typed(ops::Take(x_first, order, {.axis = 2}));
}

// The result has a row per box that is kept: an extent known only at run time.
std::vector<Expr> NonMaxSuppression(Node& node) {
  const auto parameter = [&](std::size_t i, double otherwise, DataType type) {
    return node.has_input(i) ? node.input(i) : node.Typed(ops::Scalar(otherwise, type));
  };
  const std::int64_t format = node.Int("center_point_box", 0);
  if (format != 0 && format != 1)
    throw InvalidArgument(StrCat("center_point_box is ", format, "; it may be 0 or 1"));
  const Expr boxes = format == 0 ? node.input(0) : CornersOf(node, node.input(0));
  const Expr found =
      node.Typed(Call("vision.all_class_non_max_suppression",
                      {boxes, node.input(1), parameter(2, 0, Int64), parameter(3, 0, Float32),
                       parameter(4, -std::numeric_limits<double>::infinity(), Float32)},
                      ops::AllClassNonMaximumSuppressionAttrs{}));
  return {FirstAlong(node, node.Typed(ir::TupleGetItem::Make(found, 0)),
                     node.Typed(ir::TupleGetItem::Make(found, 1)), 0)};
}

// The flat places of nonzero elements come first in the order, and are taken apart. The cut is
// last, so that a model may end with it.
std::vector<Expr> NonZero(Node& node) {
  const Expr& x = node.input(0);
  const std::vector<Dim> shape = DimsOf(x);
  if (shape.empty()) throw Unimplemented("tensors of rank 0 are not supported");
  if (ops::Product(shape) == Dim(0))
    return {ir::Constant::Make(NDArray::Zeros({RankOf(x), 0}, Int64))};
  const auto& known = ops::Known();
  const Expr flat = node.Typed(ops::Reshape(x, {-1}));
  const Expr zero = node.Typed(ops::Scalar(0, DataTypeOf(x)));
  const Expr flags =
      node.Typed(DataTypeOf(x).is_bool() ? flat : ir::Call::Make(known.not_equal, {flat, zero}));
  const PlacedFlags placed = PlacedFirst(node, flags);
  std::vector<Expr> extents;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) extents.push_back(ExtentValue(x, axis));
  std::vector<Expr> coordinates = ops::CoordinatesOf(placed.order, extents);
  for (Expr& coordinate : coordinates) coordinate = ops::ExpandDims(coordinate, 0);
  const Expr all = node.Typed(ops::Concatenate(std::move(coordinates), 0));
  return {FirstAlong(node, all, placed.count, 1)};
}

// `x` with an axis moved to the front, or the other way round.
Expr WithAxisMoved(const Node& node, const Expr& x, std::int64_t from, std::int64_t to) {
  if (from == to) return x;
  Ints order(static_cast<std::size_t>(RankOf(x)));
  std::iota(order.begin(), order.end(), 0);
  order.erase(order.begin() + from);
  order.insert(order.begin() + to, from);
  return node.Typed(ops::Transpose(x, order));
}

// The result has an element, or slice along the axis, per distinct value: an extent known only at
// run time.
std::vector<Expr> Unique(Node& node) {
  const Expr& x = node.input(0);
  const std::int64_t sorted = node.Int("sorted", 1);
  if (sorted != 0 && sorted != 1)
    throw InvalidArgument(StrCat("sorted is ", sorted, "; it may be 0 or 1"));
  const std::int64_t axis = node.Has("axis") ? AxisOf(node, 0) : 0;
  const Expr data =
      node.Has("axis") ? WithAxisMoved(node, x, axis, 0) : node.Typed(ops::Reshape(x, {-1}));
  const Expr found = node.Typed(ops::Unique(data, {.sorted = sorted != 0, .return_counts = true}));
  const auto field = [&](int i) { return node.Typed(ir::TupleGetItem::Make(found, i)); };
  const auto wide = [&](int i) { return node.Typed(ops::Cast(field(i), Int64)); };
  const Expr count = wide(3);
  const auto first = [&](const Expr& e, std::int64_t along) {
    return FirstAlong(node, e, count, along);
  };
  return {first(WithAxisMoved(node, field(0), 0, axis), axis), first(wide(1), 0), wide(2),
          first(wide(4), 0)};
}

}  // namespace

void AddVisionConverters(ConverterTable* table) {
  ConverterTable& t = *table;
  t["MaxRoiPool"] = Converter(MaxRoiPool).With({.other = "not of float64"});
  t["NonMaxSuppression"] =
      Converter(NonMaxSuppression)
          .With({.other = "values decide the number of rows "
                          "([shapes.md](shapes.md#extents-that-values-decide))"});
  t["NonZero"] =
      Converter(NonZero).With({.other = "rank 1 and more; values decide the number of columns "
                                        "([shapes.md](shapes.md#extents-that-values-decide))"});
  // A half has no number for each image of a large batch.
  t["RoiAlign"] = InFloat32(RoiAlign).With({.other = "sampling_ratio up to 4096; not of float64"});
  t["Unique"] =
      Converter(Unique).With({.other = "values decide the number of elements "
                                       "([shapes.md](shapes.md#extents-that-values-decide))"});
}

}  // namespace tenon::onnx_import
