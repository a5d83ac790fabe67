// Operators that put elements around a tensor or cut them off.
#include <algorithm>
#include <cmath>

#include "tenon/onnx/convert/axes_of_run.h"
#include "tenon/onnx/convert/converters.h"
#include "tenon/onnx/convert/pad_by_places.h"
#include "tenon/onnx/convert/run_time_extent.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/known_ops.h"
#include "tenon/ops/shape_rules.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::onnx_import {
namespace {

Expr TakenAt(const Node& node, const Expr& x, std::size_t axis,
             const std::vector<std::int64_t>& places) {
  const Expr table =
      ir::Constant::Make(NDArray::FromVector({static_cast<std::int64_t>(places.size())}, places));
  return node.Typed(ops::Take(x, table, {.axis = static_cast<std::int64_t>(axis)}));
}

// Opset 19: the elements begin again after the last one, of those that negative widths leave.
Expr Wrapped(const Node& node, const Expr& x, std::int64_t extent, std::size_t axis,
             const Ints& width) {
  const std::int64_t before = width[0], after = width[1];
  RequireConstantSize(std::fabs(static_cast<double>(before)));
  RequireConstantSize(std::fabs(static_cast<double>(after)));
  const double length =
      static_cast<double>(extent) + static_cast<double>(before) + static_cast<double>(after);
  if (length < 0 || (extent == 0 && length > 0))
    throw InvalidArgument(StrCat("axis ", axis, " has ", extent, " elements, which cannot be ",
                                 "padded by ", before, " and ", after));
  RequireConstantSize(length);
  const std::int64_t first = std::max<std::int64_t>(-before, 0);
  const std::int64_t kept = extent - first - std::max<std::int64_t>(-after, 0);
  if (kept <= 0 && length > 0)
    throw InvalidArgument(StrCat("axis ", axis, " has ", extent, " elements, of which the widths ",
                                 before, " and ", after, " leave none to begin again"));
  std::vector<std::int64_t> places;
  for (std::int64_t i = 0; i < extent + before + after; ++i) {
    const std::int64_t place = (i - std::max<std::int64_t>(before, 0)) % kept;
    places.push_back(first + (place + kept) % kept);
  }
  return TakenAt(node, x, axis, places);
}

// Widths that one mirror at each edge does not fill: the elements go to and fro, as in NumPy.
bool TurnsOften(std::int64_t extent, const Ints& width) {
  const std::int64_t widest = std::max(width[0], width[1]);
  return extent > 0 && widest > 0 && widest > extent - 1;
}
Expr Mirrored(const Node& node, const Expr& x, std::int64_t extent, std::size_t axis,
              const Ints& width) {
  for (const std::int64_t side : width) RequireConstantSize(std::fabs(static_cast<double>(side)));
  const std::int64_t length = extent + width[0] + width[1];
  if (length < 0)
    throw InvalidArgument(StrCat("axis ", axis, " has ", extent, " elements, which cannot be ",
                                 "padded by ", width[0], " and ", width[1]));
  RequireConstantSize(static_cast<double>(length));
  // A single element is met again at each step.
  const std::int64_t period = std::max<std::int64_t>(2 * (extent - 1), 1);
  std::vector<std::int64_t> places;
  for (std::int64_t i = 0; i < length; ++i) {
    const std::int64_t forth = ((i - width[0]) % period + period) % period;
    places.push_back(std::min(forth, period - forth));
  }
  return TakenAt(node, x, axis, places);
}

// Padded by widths for each axis.
Expr Padded(const Node& node, const Expr& x, const std::vector<PadWidth>& widths,
            const std::string& mode, const Expr& value) {
  const std::vector<Dim> dims = DimsOf(x);
  std::vector<Ints> numbers(widths.size(), Ints{0, 0});
  Expr y = x;
  for (std::size_t axis = 0; axis < widths.size(); ++axis) {
    const PadWidth& width = widths[axis];
    const bool is_static = width.is_static();
    if (is_static) numbers[axis] = {width.before.value(), width.after.value()};
    const bool turns_often = is_static && mode == "reflect" && dims[axis].is_static() &&
                             TurnsOften(dims[axis].value(), numbers[axis]);
    if (turns_often) {
      y = Mirrored(node, y, dims[axis].value(), axis, numbers[axis]);
      numbers[axis] = {0, 0};
      continue;
    }
    if (is_static && (mode != "wrap" || numbers[axis] == Ints{0, 0})) continue;
    if (is_static && dims[axis].is_static()) {
      y = Wrapped(node, y, dims[axis].value(), axis, numbers[axis]);
    } else {
      y = PaddedByPlaces(node, y, axis, width, mode, value);
    }
  }
  if (mode == "wrap") return y;
  return node.Typed(
      ir::Call::Make(ops::Known().pad, {y, value},
                     attrs::Attrs::Make(ops::PadAttrs{.pad_width = numbers, .pad_mode = mode})));
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

// Widths for all axes where a run says to which they belong; others are not padded.
std::vector<PadWidth> WidthsAlongAxesOfRun(const Node& node, std::int64_t rank) {
  const AxesOfRun axes(node, node.input(3), rank);
  if (DimsOf(node.input(1)) != std::vector<Dim>{2 * axes.count()})
    throw InvalidArgument(
        StrCat("pads must have rank 1 and 2 values for each of ", axes.count(), " axes"));
  const Expr pads = node.Typed(ops::Cast(node.input(1), Int64));
  const auto part = [&](std::int64_t begin) {
    return node.Typed(ops::StridedSlice(
        pads,
        {.begin = {begin}, .end = {begin + axes.count()}, .strides = Ints{1}, .axes = Ints{0}}));
  };
  const Expr before = part(0), after = part(axes.count());
  std::vector<PadWidth> widths;
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(rank); ++axis)
    widths.push_back({NumberOf(node, axes.ValueAt(axis, before, Integer(0))),
                      NumberOf(node, axes.ValueAt(axis, after, Integer(0)))});
  return widths;
}

std::vector<Expr> Pad(Node& node) {
  const Expr& x = node.input(0);
  const std::string mode = node.String("mode", "constant");
  std::vector<Dim> pads;
  Expr value = node.Typed(ops::Scalar(0, DataTypeOf(x)));
  if (node.opset() < 11) {
    const Ints numbers = node.IntsOr("pads", {});
    pads.assign(numbers.begin(), numbers.end());
    value = node.Typed(ops::Scalar(node.Float("value", 0), DataTypeOf(x)));
  } else {
    pads = NumbersAt(node, 1);
    if (node.has_input(2)) value = node.input(2);
    if (RankOf(value) != 0) value = node.Typed(ops::ReshapeToExtents(value, {}));
  }
  const auto rank = static_cast<std::size_t>(RankOf(x));
  if (mode != "constant" && mode != "reflect" && mode != "edge" && mode != "wrap")
    throw Unimplemented(
        StrCat("the mode ", mode, " is not supported; constant, reflect, edge and wrap are"));
  if (node.opset() >= 18 && HasAxesOfRun(node, 3))
    return {Padded(node, x, WidthsAlongAxesOfRun(node, RankOf(x)), mode, value)};
  const Ints axes = AxesAt(node, 3, rank);
  if (pads.size() != 2 * axes.size())
    throw InvalidArgument(StrCat("pads has ", pads.size(), " values for ", axes.size(), " axes"));
  std::vector<PadWidth> widths(rank);
  for (std::size_t i = 0; i < axes.size(); ++i)
    widths[static_cast<std::size_t>(axes[i])] = {pads[i], pads[i + axes.size()]};
  return {Padded(node, x, widths, mode, value)};
}

// Opset 18. What is cut off or added in odd number is one more at the end.
std::vector<Expr> CenterCropPad(Node& node) {
  const Expr& x = node.input(0);
  const std::vector<Dim> dims = DimsOf(x);
  const std::vector<Dim> target = ExtentsAt(node, 1);
  Ints axes;
  for (const std::int64_t axis : node.IntsOr("axes", {}))
    axes.push_back(ops::NormalAxis(axis, dims.size()));
  if (axes.empty()) axes = AxesAt(node, node.num_inputs(), dims.size());
  if (target.size() != axes.size())
    throw InvalidArgument(
        StrCat("input 1 has ", target.size(), " extents for ", axes.size(), " axes"));
  std::vector<PadWidth> widths(dims.size());
  bool is_same = true;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<std::size_t>(axes[i]);
    if (target[i].is_static() && target[i].value() < 0)
      throw InvalidArgument(StrCat("input 1 has the extent ", target[i].value()));
    const Dim more = target[i] - dims[axis];
    const Dim before = FloorDiv(Max(more, 0), 2) - FloorDiv(Max(Dim(0) - more, 0), 2);
    widths[axis] = {before, more - before};
    is_same = is_same && more == Dim(0);
  }
  if (is_same) return {x};
  return {Padded(node, x, widths, "constant", node.Typed(ops::Scalar(0, DataTypeOf(x))))};
}

}  // namespace

void AddPadConverters(ConverterTable* table) {
  (*table)["CenterCropPad"] = CenterCropPad;
  (*table)["Pad"] = Converter(Pad).With({.other = "the number of axes is known at import"});
}

}  // namespace tenon::onnx_import
