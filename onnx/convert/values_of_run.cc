// A run is refused by a count below 0, which the numbers that count_up makes cannot have.
#include "tenon/onnx/convert/values_of_run.h"

#include <algorithm>
#include <utility>

#include "tenon/onnx/convert/known_extents.h"
#include "tenon/onnx/convert/part_of_value.h"
#include "tenon/onnx/convert/run_time_extent.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/index_builders.h"
#include "tenon/ops/known_ops.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::onnx_import {
namespace {

Expr Call(const Expr& op, const Expr& a, const Expr& b) { return ir::Call::Make(op, {a, b}); }

// A vector of int64 scalars.
Expr Joined(const Node& node, const std::vector<Expr>& scalars) {
  std::vector<Expr> parts;
  for (const Expr& scalar : scalars)
    parts.push_back(node.Typed(ops::Reshape(node.Typed(scalar), Ints{1})));
  return parts.size() == 1 ? parts[0] : node.Typed(ops::Concatenate(std::move(parts), 0));
}
Expr Integers(const Node& node, std::size_t input) {
  return node.Typed(ops::Cast(node.input(input), Int64));
}
Expr ProductOf(const Node& node, const Expr& values) {
  return node.Typed(
      ir::Call::Make(ops::Known().prod, {values}, attrs::Attrs::Make(ops::ReduceAttrs{})));
}

// The target without 0 and -1, except where it is refused.
Expr Resolved(const Node& node, std::size_t length, bool allowzero) {
  const auto& known = ops::Known();
  const Expr& x = node.input(0);
  const auto rank = static_cast<std::size_t>(RankOf(x));
  std::vector<Expr> extents, own;
  for (std::size_t i = 0; i < rank; ++i) extents.push_back(node.Typed(ExtentValue(x, i)));
  for (std::size_t i = 0; i < length; ++i) own.push_back(i < rank ? extents[i] : Integer(-2));
  const Expr total = rank == 0 ? Integer(1) : ProductOf(node, Joined(node, extents));
  Expr given = Integers(node, 1);
  if (!allowzero)
    given = node.Typed(
        ops::Where(node.Typed(Call(known.equal, given, Integer(0))), Joined(node, own), given));
  const Expr is_rest = node.Typed(Call(known.equal, given, Integer(-1)));
  const Expr rests = node.Typed(ops::Sum(node.Typed(ops::Cast(is_rest, Int64))));
  const Expr others = ProductOf(node, node.Typed(ops::Where(is_rest, Integer(1), given)));
  const Expr rest = Call(known.floor_divide, total, ops::Maximum(others, Integer(1)));
  const Expr one_rest =
      node.Typed(ops::Where(Call(known.greater, rests, Integer(1)), Integer(-2), rest));
  return node.Typed(ops::Where(is_rest, one_rest, given));
}

// Parts whose lengths follow from extents. The relation of the reshape compares their sum with the
// extent.
std::vector<Expr> PartsOfExtents(const Node& node, std::int64_t axis,
                                 const std::vector<Dim>& lengths) {
  const Expr& x = node.input(0);
  Dim sum = 0;
  for (const Dim& length : lengths) sum = sum + length;
  std::vector<Dim> shape = DimsOf(x);
  shape[static_cast<std::size_t>(axis)] = sum;
  const Expr whole = node.Typed(ReshapeTo(node.extents(), x, shape));
  std::vector<Expr> parts;
  Dim begin = 0;
  for (const Dim& length : lengths) {
    parts.push_back(PartAlong(node, whole, axis, begin, length));
    begin = begin + length;
  }
  return parts;
}

}  // namespace

bool IsOfRun(const Node& node, std::size_t input) {
  if (!node.has_input(input) || !DependsOnInputs(node.input(input))) return false;
  const auto known = PartOfValue(node.input(input));
  if (!known) return false;
  for (const Dim& value : *known) {
    if (value.is_any()) return true;
  }
  return false;
}

Expr ReshapedByValues(const Node& node, bool allowzero) {
  const Expr& x = node.input(0);
  const std::vector<Dim> from = DimsOf(x), known = *PartOfValue(node.input(1));
  const Expr resolved = Resolved(node, known.size(), allowzero);
  std::vector<Dim> target;
  for (std::size_t i = 0; i < known.size(); ++i) {
    const Dim& value = known[i];
    if (value.is_static() && value.value() < -1)
      throw InvalidArgument(
          StrCat("the shape has the extent ", value.value(), "; it must be at least -1"));
    const bool is_own = value == Dim(0) && !allowzero;
    if (is_own && i >= from.size())
      throw InvalidArgument(
          StrCat("the shape has 0 at place ", i, ", where the input has no axis"));
    if (is_own) {
      target.push_back(from[i]);
    } else if (value.is_any() || value == Dim(-1)) {
      target.push_back(
          ExtentOf(node, node.Typed(ElementAlong(resolved, static_cast<std::int64_t>(i), 0))));
    } else {
      target.push_back(value);
    }
  }
  return node.Typed(ReshapeTo(node.extents(), x, target));
}

Dim CountAt(const Node& node, std::size_t input) {
  const Expr& value = node.input(input);
  const std::optional<std::vector<Dim>> known = DimsOfValue(value);
  if (known && known->size() == 1) return (*known)[0];
  return ExtentOf(node, node.Typed(ops::Reshape(value, Ints{})));
}

Expr PartAlong(const Node& node, const Expr& x, std::int64_t axis, const Dim& begin,
               const Dim& length) {
  Expr places = node.Typed(Places(node.extents(), length));
  if (!(begin == Dim(0))) places = node.Typed(ops::Add(places, ValueOfCount(node, begin)));
  return node.Typed(ops::Take(x, places, {.axis = axis}));
}

std::vector<Expr> SplitByValues(const Node& node, std::int64_t axis) {
  const Expr& x = node.input(0);
  const std::vector<Dim> known = *PartOfValue(node.input(1));
  const Expr lengths = Integers(node, 1);
  // There is nothing to take from, and so nothing to compare with.
  if (DimsOf(x)[static_cast<std::size_t>(axis)] == Dim(0))
    return std::vector<Expr>(known.size(), x);
  if (std::ranges::none_of(known, &Dim::is_any)) return PartsOfExtents(node, axis, known);
  const Expr fits = node.Typed(Call(ops::Known().equal, node.Typed(ops::Sum(lengths)),
                                    node.Typed(ExtentValue(x, static_cast<std::size_t>(axis)))));
  const std::string rule = StrCat("whose lengths must add up to the extent of axis ", axis);
  std::vector<Expr> parts;
  Expr start = Integer(0);
  for (std::size_t i = 0; i < known.size(); ++i) {
    const Expr length = node.Typed(ElementAlong(lengths, static_cast<std::int64_t>(i), 0));
    const Dim extent =
        known[i].is_static()
            ? known[i]
            : ExtentOf(node, node.Typed(ops::Where(fits, length, Integer(-1))), false, rule);
    const Expr places = ops::Add(node.Typed(Places(node.extents(), extent)), start);
    parts.push_back(node.Typed(ops::Take(x, node.Typed(places), {.axis = axis})));
    start = node.Typed(ops::Add(start, length));
  }
  return parts;
}

Expr AlongAxisOfRun(const Node& node, const Expr& axis, std::int64_t rank,
                    const std::function<Expr(std::int64_t axis)>& make) {
  const auto& known = ops::Known();
  const Expr given = node.Typed(ops::Cast(node.Typed(ops::Reshape(axis, Ints{})), Int64));
  const Expr is_outside = node.Typed(Call(known.logical_or, Call(known.less, given, Integer(-rank)),
                                          Call(known.greater_equal, given, Integer(rank))));
  const Dim none =
      ExtentOf(node, node.Typed(ops::Where(is_outside, Integer(-1), Integer(0))), false,
               StrCat("whose axis must be at least ", -rank, " and below ", rank));
  // The axis, and the sum of no numbers.
  const Expr checked = node.Typed(ops::Add(Call(known.floor_mod, given, Integer(rank)),
                                           ops::Sum(node.Typed(Places(node.extents(), none)))));
  Expr y = make(rank - 1);
  for (std::int64_t at = rank - 1; at-- > 0;) {
    const Expr is_meant = node.Typed(Call(known.equal, checked, Integer(at)));
    const Expr made = make(at);
    y = node.loops() == nullptr ? node.Typed(ops::Where(is_meant, made, y))
                                : ir::If::Make(is_meant, made, y, node.span(), made.checked_type());
  }
  return y;
}

}  // namespace tenon::onnx_import
