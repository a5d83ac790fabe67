// Operators that make arrays of a shape or a count: ConstantOfShape, Expand, Range and Tile. Shapes
// are numbers, expressions of extents, or values of a run (run_time_extent.h).
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>

#include "tenon/onnx/convert/converters.h"
#include "tenon/onnx/convert/run_time_extent.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/index/index_attrs.h"
#include "tenon/ops/known_ops.h"
#include "tenon/ops/shape_rules.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::onnx_import {
namespace {

using attrs::Attrs;

template <typename T>
Expr Vector(const std::vector<T>& values) {
  return ir::Constant::Make(
      NDArray::FromVector({static_cast<std::int64_t>(values.size())}, values));
}

std::vector<Expr> ConstantOfShape(Node& node) {
  const auto given = node.TensorValue("value");
  const NDArray value = given ? given->Reshape({}) : NDArray::Scalar<float>(0);
  const NarrowType* narrow = given ? FindNarrowType(node.Find("value")->t().data_type()) : nullptr;
  const std::vector<Dim> extents = ExtentsAt(node, 0);
  Expr y;
  if (IsStatic(extents)) {
    const Ints shape = NumbersOf(extents);
    y = ir::Call::Make(ops::Known().full, {ir::Constant::Make(value)},
                       Attrs::Make(ops::InitOpAttrs{.shape = shape, .dtype = value.dtype()}));
  } else {
    y = BroadcastTo(node.extents(), ir::Constant::Make(value), extents);
  }
  y = node.Typed(y);
  return {narrow != nullptr ? node.OfNarrowType(y, *narrow) : y};
}

std::vector<Expr> Expand(Node& node) {
  const Expr& x = node.input(0);
  const auto known = DimsOfValue(node.input(1));
  const bool are_numbers =
      node.input(1).As<ir::ConstantNode>() != nullptr || (known && IsStatic(*known));
  if (!are_numbers || !IsStatic(DimsOf(x))) return {Expanded(node, x, 1)};
  const Shape from = ShapeOf(x);
  Ints target = NumbersOf(node.ShapeValue(1));
  // Broadcasting goes in both directions.
  while (target.size() < from.size()) target.insert(target.begin(), 1);
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::int64_t& extent = target[target.size() - from.size() + i];
    if (extent == 1) extent = from[i];
  }
  return {node.Typed(ir::Call::Make(ops::Known().broadcast_to, {node.input(0)},
                                    Attrs::Make(ops::InitOpAttrs{.shape = target})))};
}

std::vector<Expr> Tile(Node& node) {
  const std::vector<Dim> reps = ExtentsAt(node, 1);
  const std::vector<Dim> shape = DimsOf(node.input(0));
  if (!IsStatic(reps) && reps.size() == shape.size()) {
    // (a, b) as (1, a, 1, b), broadcast to (r, a, s, b), is (r * a, s * b).
    std::vector<Dim> apart, repeated, joined;
    for (std::size_t i = 0; i < shape.size(); ++i) {
      apart.insert(apart.end(), {1, shape[i]});
      repeated.insert(repeated.end(), {reps[i], shape[i]});
      joined.push_back(reps[i] * shape[i]);
    }
    const Expr x = node.Typed(ReshapeTo(node.extents(), node.input(0), apart));
    return {node.Typed(
        ReshapeTo(node.extents(), node.Typed(BroadcastTo(node.extents(), x, repeated)), joined))};
  }
  return {node.Typed(ir::Call::Make(ops::Known().tile, {node.input(0)},
                                    Attrs::Make(ops::TileAttrs{node.ConstantInts(1)})))};
}

Expr RealRange(double start, double limit, double step) {
  if (step == 0) throw InvalidArgument("the step is zero");
  const double count = std::ceil((limit - start) / step);
  RequireConstantSize(count);
  std::vector<double> values;
  for (double i = 0; i < count; ++i) values.push_back(start + i * step);
  return Vector(values);
}

// Unsigned, because the distance from start to limit may exceed an int64.
Expr IntegerRange(std::int64_t start, std::int64_t limit, std::int64_t step) {
  if (step == 0) throw InvalidArgument("the step is zero");
  const auto from = static_cast<std::uint64_t>(start), to = static_cast<std::uint64_t>(limit);
  const auto by = static_cast<std::uint64_t>(step);
  std::uint64_t count = 0;
  if (step > 0 && limit > start) count = (to - from - 1) / by + 1;
  if (step < 0 && limit < start) count = (from - to - 1) / (0 - by) + 1;
  RequireConstantSize(static_cast<double>(count));
  std::vector<std::int64_t> values;
  for (std::uint64_t i = 0; i < count; ++i)
    values.push_back(static_cast<std::int64_t>(from + i * by));
  return Vector(values);
}

// An input as an integer: itself, or what a whole real number was cast from. So an extent past 2^24
// stays what it is, where float32 would round it.
std::optional<Expr> WholeNumber(const Node& node, std::size_t i) {
  const Expr& e = node.input(i);
  const DataType type = DataTypeOf(e);
  if (!type.is_float()) return e;
  if (type.bits() < 32) return std::nullopt;
  if (e.As<ir::ConstantNode>() != nullptr) {
    const double number = node.ConstantScalar(i);
    if (std::trunc(number) != number || std::abs(number) >= 0x1p62) return std::nullopt;
    return Integer(static_cast<std::int64_t>(number));
  }
  const auto* cast = e.As<ir::CallNode>();
  if (cast == nullptr || !(cast->callee == ops::Known().cast)) return std::nullopt;
  return DataTypeOf(cast->args[0]).is_float() ? std::nullopt : std::optional(cast->args[0]);
}

// Between bounds that are numbers or expressions of extents; nothing for any others.
std::optional<Expr> RangeOfExtents(const Node& node) {
  std::vector<Dim> bounds;
  std::vector<Expr> integers;
  for (std::size_t i = 0; i < 3; ++i) {
    const std::optional<Expr> integer = WholeNumber(node, i);
    const auto value = integer ? DimsOfValue(*integer) : std::nullopt;
    if (!value || value->size() != 1) return std::nullopt;
    bounds.push_back((*value)[0]);
    integers.push_back(*integer);
  }
  if (IsStatic(bounds))
    return IntegerRange(bounds[0].value(), bounds[1].value(), bounds[2].value());
  const Dim& step = bounds[2];
  if (!step.is_static()) return std::nullopt;
  if (step.value() == 0) throw InvalidArgument("the step is zero");
  const Dim span = step.value() > 0 ? bounds[1] - bounds[0] : bounds[0] - bounds[1];
  const std::int64_t least =
      std::abs(std::clamp(step.value(), -ops::kLongestStep, ops::kLongestStep));
  const Dim steps = CeilDiv(span, least);
  const Dim count = node.extents().HasExtent(span) ? steps : Max(steps, 0);
  const auto wide = [&](std::size_t i) { return ops::Reshape(ops::Cast(integers[i], Int64), {1}); };
  const Expr places = node.Typed(Places(node.extents(), count));
  return ops::Add(ops::Multiply(places, node.Typed(wide(2))), node.Typed(wide(0)));
}

// What no count may be: a run refuses it.
constexpr std::int64_t kTooMany = std::numeric_limits<std::int64_t>::max();

// In int64, as the ceiling of (limit - start) / step. Where the difference might not fit, there are
// too many numbers or none.
Expr CountOfIntegers(const Node& node, const Expr& start, const Expr& limit, const Expr& step) {
  const auto& known = ops::Known();
  const auto call = TypedCalls(node);
  const auto real = [&](const Expr& e) { return node.Typed(ops::Cast(e, Float64)); };
  const Expr span = call(known.subtract, real(limit), real(start));
  const Expr is_small =
      call(known.less, node.Typed(ir::Call::Make(known.abs, {span})), ops::Scalar(0x1p62, Float64));
  const Expr goes_on =
      call(known.greater, call(known.multiply, span, real(step)), ops::Scalar(0, Float64));
  const Expr ceiling = call(known.subtract, Integer(0),
                            call(known.floor_divide, call(known.subtract, start, limit), step));
  const Expr large = node.Typed(ops::Where(goes_on, Integer(kTooMany), Integer(0)));
  return node.Typed(ops::Where(is_small, ceiling, large));
}

// Between values of a run. The count is clamped: a range that goes the other way is empty.
Expr RangeOfValues(const Node& node) {
  const DataType type = DataTypeOf(node.input(0));
  const DataType wide = type.is_float() ? Float64 : Int64;
  const auto value = [&](std::size_t i) {
    return node.Typed(ops::Cast(node.Typed(ops::Reshape(node.input(i), {})), wide));
  };
  const Expr start = value(0), limit = value(1), step = value(2);
  const auto is_known = [](const Expr& e, std::int64_t number) {
    const auto* constant = e.As<ir::ConstantNode>();
    return constant != nullptr && *constant->data.data<std::int64_t>() == number;
  };
  const bool counts_up = !type.is_float() && is_known(start, 0) && is_known(step, 1);
  Expr count = limit;
  if (type.is_float()) {
    const Expr turns = node.Typed(ops::Divide(node.Typed(ops::Subtract(limit, start)), step));
    count = node.Typed(ops::Cast(node.Typed(ir::Call::Make(ops::Known().ceil, {turns})), Int64));
  } else if (!counts_up) {
    count = CountOfIntegers(node, start, limit, step);
  }
  if (!counts_up) {
    const Expr is_zero =
        node.Typed(ir::Call::Make(ops::Known().equal, {step, ops::Scalar(0, wide)}));
    count = node.Typed(ops::Where(is_zero, Integer(kTooMany), count));
  }
  const Expr places =
      node.Typed(ops::Cast(node.Typed(Places(node.extents(), ExtentOf(node, count, true))), wide));
  if (counts_up) return node.Typed(ops::Cast(places, type));
  return node.Typed(
      ops::Cast(node.Typed(ops::Add(node.Typed(ops::Multiply(places, step)), start)), type));
}

std::vector<Expr> Range(Node& node) {
  const DataType dtype = DataTypeOf(node.input(0));
  if (const auto range = RangeOfExtents(node)) return {node.Typed(ops::Cast(*range, dtype))};
  if (std::ranges::any_of(node.all_inputs(), DependsOnInputs)) return {RangeOfValues(node)};
  const Expr numbers =
      dtype.is_float()
          ? RealRange(node.ConstantScalar(0), node.ConstantScalar(1), node.ConstantScalar(2))
          : IntegerRange(node.ConstantInt(0), node.ConstantInt(1), node.ConstantInt(2));
  return {node.Typed(ops::Cast(numbers, dtype))};
}

}  // namespace

void AddFillConverters(ConverterTable* table) {
  ConverterTable& t = *table;
  t["ConstantOfShape"] = ConstantOfShape;
  t["Expand"] = Expand;
  t["Range"] = Range;
  t["Tile"] = Tile;
}

}  // namespace tenon::onnx_import
