// Axis by axis, the reduced element is joined to the elements that it is made of. Either it or
// these are taken. So it does not matter that an axis may be empty, and no element is computed
// twice.
#include "tenon/onnx/convert/run_time_axes.h"

#include "tenon/onnx/convert/axes_of_run.h"
#include "tenon/onnx/convert/run_time_extent.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/known_ops.h"

namespace tenon::onnx_import {
namespace {

Expr Call(const Expr& op, std::vector<Expr> args) { return ir::Call::Make(op, std::move(args)); }

}  // namespace

RunTimeAxes::RunTimeAxes(const Node& node, const Expr& x, const Expr& axes, bool is_all_if_empty)
    : node_(node) {
  const auto& known = ops::Known();
  const std::vector<Dim> extents = DimsOf(x);
  const auto rank = static_cast<std::int64_t>(extents.size());
  const GivenAxes given = FindGivenAxes(node, axes, rank);
  // Only an axis of unknown length may be empty; one without elements is a constant.
  Expr is_empty;
  if (const Dim length = DimsOf(given.axes)[0]; is_all_if_empty && !length.is_static())
    is_empty = node.Typed(Call(known.equal, {ExtentValue(given.axes, 0), Integer(0)}));
  bool is_checked = false;
  for (std::int64_t i = 0; i < rank; ++i) {
    Axis axis{.from = extents[static_cast<std::size_t>(i)], .to = 1};
    axis.extent = node.Typed(ExtentValue(x, static_cast<std::size_t>(i)));
    axis.is_reduced =
        node.Typed(Call(known.greater, {given.times[static_cast<std::size_t>(i)], Integer(0)}));
    if (is_empty) axis.is_reduced = node.Typed(Call(known.logical_or, {axis.is_reduced, is_empty}));
    if (!(axis.from == Dim(1))) {
      Expr count = node.Typed(ops::Where(axis.is_reduced, Integer(1), axis.extent));
      // No extent is below 0, so the run is refused.
      if (!is_checked) count = node.Typed(ops::Where(given.is_wrong, Integer(-1), count));
      is_checked = true;
      axis.to = ExtentOf(node, count);
    }
    axes_.push_back(std::move(axis));
  }
  if (is_checked || rank == 0) return;
  only_place_ = node.Typed(ops::Reshape(ZeroUnlessWrong(node, given), Ints{1}));
}

Expr RunTimeAxes::Reduced(const Expr& op, const Expr& x) const {
  Expr y = only_place_ ? node_.Typed(ops::Take(x, only_place_, {.axis = 0})) : x;
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    const Axis& axis = axes_[i];
    if (axis.from == Dim(1)) continue;
    const auto at = static_cast<std::int64_t>(i);
    const Expr one = node_.Typed(ir::Call::Make(
        op, {y}, attrs::Attrs::Make(ops::ReduceAttrs{.axis = Ints{at}, .keepdims = true})));
    const Expr all = node_.Typed(ops::Concatenate({y, one}, at));
    const Expr places = node_.Typed(Places(node_.extents(), axis.to));
    const Expr first = ops::Where(axis.is_reduced, axis.extent, Integer(0));
    y = node_.Typed(ops::Take(all, node_.Typed(ops::Add(places, first)), {.axis = at}));
  }
  return y;
}

Expr RunTimeAxes::Spread(const Expr& reduced) const {
  Expr y = reduced;
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    const Axis& axis = axes_[i];
    if (axis.from == Dim(1)) continue;
    const Expr places = node_.Typed(Places(node_.extents(), axis.from));
    const Expr place = node_.Typed(ops::Where(axis.is_reduced, Integer(0), places));
    y = node_.Typed(ops::Take(y, place, {.axis = static_cast<std::int64_t>(i)}));
  }
  return y;
}

Expr RunTimeAxes::Count() const {
  Expr count = Integer(1);
  for (const Axis& axis : axes_)
    count = ops::Multiply(count, ops::Where(axis.is_reduced, axis.extent, Integer(1)));
  return node_.Typed(count);
}

}  // namespace tenon::onnx_import
