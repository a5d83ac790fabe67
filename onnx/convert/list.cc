// As a value, a list is a tuple of its array and a mark that nothing else has.
#include "tenon/onnx/convert/list.h"

#include <limits>
#include <numeric>

#include "tenon/onnx/convert/moved_elements.h"
#include "tenon/onnx/convert/reshape_to.h"
#include "tenon/onnx/convert/run_time_loop.h"
#include "tenon/onnx/convert/symbolic_shapes.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/index_builders.h"
#include "tenon/ops/known_ops.h"
#include "tenon/ops/shape_rules.h"
#include "tenon/support/error.h"

namespace tenon::onnx_import {
namespace {

constexpr std::int64_t kMaxAxes = 64;

// Of lists that are joined along an axis, and in the first place of all others.
const std::vector<Expr>& Marks() {
  static const std::vector<Expr> marks = [] {
    std::vector<Expr> all;
    for (std::int64_t axis = -1; axis < kMaxAxes; ++axis) all.push_back(Integer(axis));
    return all;
  }();
  return marks;
}

// 0, 1, ... but the axis, which `put` puts into its place.
template <typename Put>
Expr Reordered(const Node& node, const Expr& x, std::int64_t axis, const Put& put) {
  Ints order(static_cast<std::size_t>(RankOf(x)));
  std::iota(order.begin(), order.end(), 0);
  order.erase(order.begin() + axis);
  put(&order);
  return MadeOf(node, node.Typed(ops::Transpose(x, order)), {x});
}

[[noreturn]] void RefuseJoined(const char* what) {
  throw Unimplemented(StrCat("the elements of a sequence whose length only a run knows have other ",
                             "extents in each turn of a loop; ", what, "; ", kFixingACondition));
}

}  // namespace

Expr ValueOf(const Node& node, const List& list) {
  const std::int64_t axis = list.joined_along.value_or(-1);
  if (axis >= kMaxAxes) throw Unimplemented("a sequence of tensors of more than 64 axes");
  return node.Typed(ir::Tuple::Make({list.array, Marks()[static_cast<std::size_t>(axis + 1)]}));
}

std::optional<List> ListIn(const Expr& value) {
  const auto* tuple = value.As<ir::TupleNode>();
  if (tuple == nullptr || tuple->fields.size() != 2) return std::nullopt;
  for (std::int64_t axis = -1; axis < kMaxAxes; ++axis) {
    if (!(tuple->fields[1] == Marks()[static_cast<std::size_t>(axis + 1)])) continue;
    return List{tuple->fields[0], axis < 0 ? std::nullopt : std::optional(axis)};
  }
  return std::nullopt;
}

List ListOf(const Node& node, const std::vector<Expr>& elements) {
  return {MadeOf(node, node.Typed(ops::Stack(elements, 0)), elements)};
}

List ListOfParts(const Node& node, const Expr& x, std::int64_t axis, bool keeps_axis) {
  const Expr first = axis == 0 ? x : Reordered(node, x, axis, [&](Ints* order) {
    order->insert(order->begin(), axis);
  });
  if (!keeps_axis) return {first};
  return {MadeOf(node, node.Typed(ops::ExpandDims(first, axis + 1)), {x})};
}

// The first or the last elements that reach to the place are taken, which needs so many.
Expr ElementAt(const Node& node, const List& list, std::int64_t place) {
  if (list.joined_along) RefuseJoined("they can be joined, but not read one by one");
  const std::int64_t before = place < 0 ? -(place + 1) : place;
  constexpr std::int64_t kMaxPlace = std::numeric_limits<std::int64_t>::max() - 1;
  const Dim length = DimsOf(list.array)[0];
  if (before > kMaxPlace || (length.is_static() && before >= length.value()))
    throw InvalidArgument(StrCat("input 1 is the place ", place, " in a sequence of ",
                                 length.ToString(), " elements"));
  const Expr from_it = place < 0 ? node.Typed(ops::Reverse(list.array)) : list.array;
  const Expr reaching = node.Typed(FirstOf(node.extents(), from_it, before + 1, 0));
  return MadeOf(node, node.Typed(ops::Take(reaching, Integer(before), {.axis = 0})), {list.array});
}

Expr ElementOf(const Node& node, const List& list, const Expr& place) {
  if (list.joined_along) RefuseJoined("they can be joined, but not read one by one");
  const Expr given = node.Typed(ops::Cast(node.Typed(ops::Reshape(place, Ints{})), Int64));
  const Expr is_negative = node.Typed(ir::Call::Make(ops::Known().less, {given, Integer(0)}));
  const Expr from_end = node.Typed(ops::Add(given, LengthOf(node, list)));
  const Expr at = node.Typed(ops::Where(is_negative, from_end, given));
  return MadeOf(node, node.Typed(ops::Take(list.array, at, {.axis = 0})), {list.array});
}

Expr LengthOf(const Node& node, const List& list) {
  if (list.joined_along) RefuseJoined("they can be joined, but not counted");
  return node.Typed(ExtentValue(list.array, 0));
}

Expr Joined(const Node& node, const List& list, std::int64_t axis, bool is_new) {
  const auto rank = static_cast<std::size_t>(RankOf(list.array));
  if (list.joined_along) {
    if (is_new || ops::NormalAxis(axis, rank) != *list.joined_along)
      RefuseJoined("they can be joined along the axis along which they differ");
    return list.array;
  }
  const std::int64_t normal = ops::NormalAxis(axis, is_new ? rank : rank - 1);
  const Expr moved = normal == 0 ? list.array : Reordered(node, list.array, 0, [&](Ints* order) {
    order->insert(order->begin() + normal, 0);
  });
  if (is_new) return moved;
  std::vector<Dim> shape = DimsOf(moved);
  const auto at = shape.begin() + normal;
  *at = *at * *(at + 1);
  shape.erase(at + 1);
  return MadeOf(node, node.Typed(ReshapeTo(node.extents(), moved, shape)), {moved});
}

}  // namespace tenon::onnx_import
