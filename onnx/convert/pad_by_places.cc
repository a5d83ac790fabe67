#include "tenon/onnx/convert/pad_by_places.h"

#include "tenon/onnx/convert/run_time_extent.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/known_ops.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::onnx_import {
namespace {

// ValueOfCount of any expression.
Expr ValueOf(const Node& node, const Dim& number) {
  if (number.is_static()) return Integer(number.value());
  const Expr above = ValueOfCount(node, Max(number, 0));
  const Dim below = Max(Dim(0) - number, 0);
  if (below == Dim(0)) return above;
  return node.Typed(ops::Subtract(above, ValueOfCount(node, below)));
}

Expr Binary(const Node& node, const Expr& op, const Expr& a, const Expr& b) {
  return node.Typed(ir::Call::Make(op, {a, b}));
}

// The places among `extent` elements in which a walk to and fro is at `places`.
Expr Reflected(const Node& node, const Expr& places, const Expr& extent) {
  const auto& known = ops::Known();
  // A single element is met again at each step.
  const Expr last = Binary(node, known.subtract, extent, Integer(1));
  const Expr period = Binary(node, known.maximum, Binary(node, known.add, last, last), Integer(1));
  const Expr forth = Binary(node, known.floor_mod, places, period);
  return Binary(node, known.minimum, forth, Binary(node, known.subtract, period, forth));
}

}  // namespace

Expr PaddedByPlaces(const Node& node, const Expr& x, std::size_t axis, const PadWidth& width,
                    const std::string& mode, const Expr& value) {
  const std::vector<Dim> dims = DimsOf(x);
  const Dim length = dims[axis] + width.before + width.after;
  const Expr extent = node.Typed(ExtentValue(x, axis));
  const Expr from_start = node.Typed(Places(node.extents(), length));
  const Expr places = node.Typed(ops::Subtract(from_start, ValueOf(node, width.before)));
  const auto taken = [&](const Expr& from, const Expr& at, const char* outside) {
    return node.Typed(
        ops::Take(from, at, {.axis = static_cast<std::int64_t>(axis), .mode = outside}));
  };
  if (mode == "wrap") {
    const Dim first = Max(Dim(0) - width.before, 0), last = Max(Dim(0) - width.after, 0);
    if (first == Dim(0) && last == Dim(0)) return taken(x, places, "wrap");
    // Among the elements that negative widths leave. A run refuses if there are none.
    const Dim others = dims[axis] - first - last - 1;
    if (others.is_static() && others.value() < 0)
      throw InvalidArgument(
          StrCat("the widths of axis ", axis, " leave no element to begin again"));
    const Expr kept = Binary(node, ops::Known().add, ValueOfCount(node, others), Integer(1));
    const Expr from_kept =
        Binary(node, ops::Known().subtract, from_start, ValueOf(node, Max(width.before, 0)));
    const Expr place = Binary(node, ops::Known().floor_mod, from_kept, kept);
    return taken(x, Binary(node, ops::Known().add, place, ValueOf(node, first)), "clip");
  }
  if (mode == "reflect") return taken(x, Reflected(node, places, extent), "clip");
  if (mode == "edge") return taken(x, places, "clip");
  const auto& known = ops::Known();
  const Expr is_inside =
      Binary(node, known.logical_and, Binary(node, known.greater_equal, places, Integer(0)),
             Binary(node, known.less, places, extent));
  const std::optional<std::int64_t> least = dims[axis].LowerBound();
  if (!least || *least < 1) {
    // From an axis without elements none can be taken, so it gets one.
    std::vector<Dim> one = dims;
    one[axis] = 1;
    const Expr filled = node.Typed(ops::Concatenate(
        {x, node.Typed(BroadcastTo(node.extents(), value, one))}, static_cast<std::int64_t>(axis)));
    return taken(filled, node.Typed(ops::Where(is_inside, places, extent)), "clip");
  }
  const auto after = static_cast<std::int64_t>(dims.size() - 1 - axis);
  const Expr along = node.Typed(ops::ExpandDims(is_inside, 1, after));
  return node.Typed(ops::Where(along, taken(x, places, "clip"), value));
}

}  // namespace tenon::onnx_import
