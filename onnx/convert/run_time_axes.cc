// Axis by axis, the reduced element is joined to the elements that it is made of. Either it or
// these are taken. So it does not matter that an axis may be empty, and no element is computed
// twice.
#include "tenon/onnx/convert/run_time_axes.h"

#include "tenon/onnx/convert/run_time_extent.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/known_ops.h"

namespace tenon::onnx_import {
namespace {

Expr Call(const Expr& op, std::vector<Expr> args) { return ir::Call::Make(op, std::move(args)); }

Expr Number(std::int64_t value) { return ops::Scalar(static_cast<double>(value), Int64); }

// How many elements of a vector of bool are true.
Expr TrueOnes(const Node& node, const Expr& flags) {
  return node.Typed(ops::Sum(node.Typed(ops::Cast(flags, Int64))));
}

}  // namespace

RunTimeAxes::RunTimeAxes(const Node& node, const Expr& x, const Expr& axes, bool is_all_if_empty)
    : node_(node) {
  const auto& known = ops::Known();
  const std::vector<Dim> extents = DimsOf(x);
  const auto rank = static_cast<std::int64_t>(extents.size());
  Expr given = node.Typed(ops::Cast(axes, Int64));
  if (RankOf(given) == 0) given = node.Typed(ops::ReshapeToExtents(given, {1}));
  // Axes that are not there, and those that are named more than once.
  Expr wrong =
      TrueOnes(node, Call(known.logical_or, {Call(known.less, {given, Number(-rank)}),
                                             Call(known.greater_equal, {given, Number(rank)})}));
  std::vector<Expr> named;  // how often, by axis
  for (std::int64_t i = 0; i < rank; ++i) {
    const Expr is_meant = Call(known.logical_or, {Call(known.equal, {given, Number(i)}),
                                                  Call(known.equal, {given, Number(i - rank)})});
    named.push_back(TrueOnes(node, is_meant));
    wrong = node.Typed(ops::Maximum(wrong, ops::Subtract(named.back(), Number(1))));
  }
  const Expr is_wrong = node.Typed(Call(known.greater, {wrong, Number(0)}));
  // Only an axis of unknown length may be empty; one without elements is a constant.
  Expr is_empty;
  if (const Dim length = DimsOf(given)[0]; is_all_if_empty && !length.is_static())
    is_empty = node.Typed(Call(known.equal, {ExtentValue(given, 0), Number(0)}));
  bool is_checked = false;
  for (std::int64_t i = 0; i < rank; ++i) {
    Axis axis{.from = extents[static_cast<std::size_t>(i)], .to = 1};
    axis.extent = node.Typed(ExtentValue(x, static_cast<std::size_t>(i)));
    axis.is_reduced =
        node.Typed(Call(known.greater, {named[static_cast<std::size_t>(i)], Number(0)}));
    if (is_empty) axis.is_reduced = node.Typed(Call(known.logical_or, {axis.is_reduced, is_empty}));
    if (!(axis.from == Dim(1))) {
      Expr count = node.Typed(ops::Where(axis.is_reduced, Number(1), axis.extent));
      // No extent is below 0, so the run is refused.
      if (!is_checked) count = node.Typed(ops::Where(is_wrong, Number(-1), count));
      is_checked = true;
      axis.to = ExtentOf(node, count);
    }
    axes_.push_back(std::move(axis));
  }
  if (is_checked || rank == 0) return;
  const Dim none = ExtentOf(node, node.Typed(ops::Where(is_wrong, Number(-1), Number(0))));
  only_place_ = node.Typed(
      ops::Reshape(node.Typed(ops::Sum(node.Typed(Places(node.extents(), none)))), Ints{1}));
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
    const Expr first = ops::Where(axis.is_reduced, axis.extent, Number(0));
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
    const Expr place = node_.Typed(ops::Where(axis.is_reduced, Number(0), places));
    y = node_.Typed(ops::Take(y, place, {.axis = static_cast<std::int64_t>(i)}));
  }
  return y;
}

Expr RunTimeAxes::Count() const {
  Expr count = Number(1);
  for (const Axis& axis : axes_)
    count = ops::Multiply(count, ops::Where(axis.is_reduced, axis.extent, Number(1)));
  return node_.Typed(count);
}

}  // namespace tenon::onnx_import
