// Operators that put elements around a tensor or cut them off.
#include <algorithm>
#include <cmath>

#include "tenon/onnx/convert/converters.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/known_ops.h"
#include "tenon/ops/shape_rules.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::onnx_import {
namespace {

// Opset 19: the elements begin again after the last one. Cutting off works alike.
Expr Wrapped(const Node& node, const Expr& x, const std::vector<Ints>& width) {
  const Shape shape = ShapeOf(x);
  Expr y = x;
  for (std::size_t axis = 0; axis < width.size(); ++axis) {
    const std::int64_t extent = shape[axis], before = width[axis][0], after = width[axis][1];
    if (before == 0 && after == 0) continue;
    RequireConstantSize(std::fabs(static_cast<double>(before)));
    RequireConstantSize(std::fabs(static_cast<double>(after)));
    const double length =
        static_cast<double>(extent) + static_cast<double>(before) + static_cast<double>(after);
    if (length < 0 || (extent == 0 && length > 0))
      throw InvalidArgument(StrCat("axis ", axis, " has ", extent, " elements, which cannot be ",
                                   "padded by ", before, " and ", after));
    RequireConstantSize(length);
    std::vector<std::int64_t> places;
    for (std::int64_t i = 0; i < extent + before + after; ++i)
      places.push_back(((i - before) % extent + extent) % extent);
    const Expr table =
        ir::Constant::Make(NDArray::FromVector({static_cast<std::int64_t>(places.size())}, places));
    y = node.Typed(ops::Take(y, table, {.axis = static_cast<std::int64_t>(axis)}));
  }
  return y;
}

// The axes at input `i`, or all of them.
Ints AxesAt(const Node& node, std::size_t i, std::size_t rank) {
  Ints axes;
  if (node.has_input(i)) {
    for (const std::int64_t axis : node.ConstantInts(i))
      axes.push_back(ops::NormalAxis(axis, rank));
    return axes;
  }
  for (std::size_t axis = 0; axis < rank; ++axis) axes.push_back(static_cast<std::int64_t>(axis));
  return axes;
}

std::vector<Expr> Pad(Node& node) {
  const Expr& x = node.input(0);
  const std::string mode = node.String("mode", "constant");
  Ints pads;
  Expr value = ops::Scalar(0, DataTypeOf(x));
  if (node.opset() < 11) {
    pads = node.IntsOr("pads", {});
    value = ops::Scalar(node.Float("value", 0), DataTypeOf(x));
  } else {
    pads = node.ConstantInts(1);
    if (node.has_input(2)) value = node.input(2);
    if (RankOf(value) != 0) value = node.Typed(ops::ReshapeToExtents(value, {}));
  }
  const auto rank = static_cast<std::size_t>(RankOf(x));
  if (mode != "constant" && mode != "reflect" && mode != "edge" && mode != "wrap")
    throw Unimplemented(
        StrCat("the mode ", mode, " is not supported; constant, reflect, edge and wrap are"));
  const Ints axes = AxesAt(node, 3, rank);
  if (pads.size() != 2 * axes.size())
    throw InvalidArgument(StrCat("pads has ", pads.size(), " values for ", axes.size(), " axes"));
  std::vector<Ints> width(rank, Ints{0, 0});
  for (std::size_t i = 0; i < axes.size(); ++i)
    width[static_cast<std::size_t>(axes[i])] = {pads[i], pads[i + axes.size()]};
  if (mode == "wrap") return {Wrapped(node, x, width)};
  return {node.Typed(
      ir::Call::Make(ops::Known().pad, {x, value},
                     attrs::Attrs::Make(ops::PadAttrs{.pad_width = width, .pad_mode = mode})))};
}

// Opset 18. What is cut off or added in odd number is one more at the end.
std::vector<Expr> CenterCropPad(Node& node) {
  const Expr& x = node.input(0);
  const Shape shape = ShapeOf(x);
  const Ints target = node.ConstantInts(1);
  Ints axes;
  for (const std::int64_t axis : node.IntsOr("axes", {}))
    axes.push_back(ops::NormalAxis(axis, shape.size()));
  if (axes.empty()) axes = AxesAt(node, node.num_inputs(), shape.size());
  if (target.size() != axes.size())
    throw InvalidArgument(
        StrCat("input 1 has ", target.size(), " extents for ", axes.size(), " axes"));
  Ints begin(shape.size(), 0), end(shape.begin(), shape.end());
  std::vector<Ints> width(shape.size(), Ints{0, 0});
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<std::size_t>(axes[i]);
    if (target[i] < 0) throw InvalidArgument(StrCat("input 1 has the extent ", target[i]));
    const std::int64_t more = target[i] - shape[axis];
    if (more > 0) width[axis] = {more / 2, more - more / 2};
    if (more < 0) {
      begin[axis] = -more / 2;
      end[axis] = begin[axis] + target[i];
    }
  }
  Expr y = x;
  if (end != shape) y = node.Typed(ops::StridedSlice(y, {.begin = begin, .end = end}));
  if (ShapeOf(y) != shape || target != shape) y = node.Typed(ops::Pad(y, width, 0, DataTypeOf(x)));
  return {y};
}

}  // namespace

void AddPadConverters(ConverterTable* table) {
  (*table)["CenterCropPad"] = CenterCropPad;
  (*table)["Pad"] = Pad;
}

}  // namespace tenon::onnx_import
