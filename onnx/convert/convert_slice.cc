// Slices. Bounds that are numbers, or places counted from the end of their axis, go into one slice.
// Along axes whose bounds are other expressions of extents, or values that only a run gives, the
// elements are taken by their places.
#include <algorithm>
#include <limits>

#include "tenon/onnx/convert/axes_of_run.h"
#include "tenon/onnx/convert/converters.h"
#include "tenon/onnx/convert/part_of_value.h"
#include "tenon/onnx/convert/run_time_extent.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/known_ops.h"
#include "tenon/ops/shape_rules.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::onnx_import {
namespace {

// Clamps the bounds of a slice to the axis. For a negative step, the standard always begins at an
// element, so a start before the first element becomes the first one. An end before it is written
// as a very small integer.
void Clamp(std::int64_t extent, std::int64_t step, std::int64_t* start, std::int64_t* end) {
  constexpr std::int64_t kBeforeFirst = std::numeric_limits<std::int32_t>::min();
  const auto from_front = [&](std::int64_t bound) { return bound < 0 ? bound + extent : bound; };
  if (step > 0) {
    *start = std::clamp<std::int64_t>(from_front(*start), 0, extent);
    *end = std::clamp<std::int64_t>(from_front(*end), 0, extent);
    return;
  }
  *start = std::min(std::max<std::int64_t>(from_front(*start), 0), extent - 1);
  *end = std::min(from_front(*end), extent - 1);
  if (extent == 0) *start = *end = 0;
  if (*end < 0) *end = kBeforeFirst;
}

// What the inputs say of the slice along one axis. Null ones are values of a run.
struct AxisSlice {
  std::int64_t axis = 0;
  std::optional<Dim> start, end;
  std::optional<std::int64_t> step = 1;
  std::size_t place = 0;  // in the inputs
};

bool IsCountedFromFront(const Dim& bound) {
  const std::optional<std::int64_t> least = bound.LowerBound();
  return least && *least >= 0;
}

// A bound as a slice has it, where that is a number whatever the extent. One below 0 for some
// extents counts from the end of these alone.
std::optional<std::int64_t> NumberOf(const std::optional<Dim>& bound, const Dim& extent) {
  if (!bound) return std::nullopt;
  if (bound->is_static()) return bound->value();
  const Dim from_end = *bound - extent;
  if (!from_end.is_static() || from_end.value() > 0 || !IsCountedFromFront(*bound))
    return std::nullopt;
  return from_end.value() == 0 ? std::numeric_limits<std::int32_t>::max() : from_end.value();
}

// Where a slice by a known step begins. On the way down, an element counted from the end must be
// there for all extents. Without elements, the last one is as good as any. Where it may not be
// there, the standard begins at the first one. That is right for any extent if the number is as
// small as exporters write it; with others, smaller extents have no such number.
std::optional<std::int64_t> StartOf(std::int64_t step, std::int64_t start, const Dim& extent) {
  if (step > 0 || start >= -1) return start;
  if (start <= -std::numeric_limits<std::int32_t>::max()) return 0;
  const std::optional<std::int64_t> least = extent.LowerBound();
  if (least && *least >= -start) return start;
  return std::nullopt;
}

// The steps, null where only a run knows them.
std::vector<std::optional<std::int64_t>> StepsOf(const Node& node) {
  std::vector<std::optional<std::int64_t>> steps;
  if (!node.has_input(4)) return steps;
  const auto add = [&](std::int64_t step) {
    steps.emplace_back(std::clamp(step, -ops::kLongestStep, ops::kLongestStep));
  };
  const Expr& value = node.input(4);
  if (!DependsOnInputs(value)) {
    for (const std::int64_t step : node.ConstantInts(4)) add(step);
    return steps;
  }
  const Shape shape = ShapeOf(value);
  if (shape.size() != 1) throw InvalidArgument("input 4 must have rank 1");
  steps.resize(static_cast<std::size_t>(shape[0]));
  const auto known = PartOfValue(value);
  for (std::size_t i = 0; known && i < steps.size(); ++i) {
    if ((*known)[i].is_static())
      steps[i] = std::clamp((*known)[i].value(), -ops::kLongestStep, ops::kLongestStep);
  }
  return steps;
}

std::vector<AxisSlice> SlicesOf(Node& node) {
  std::optional<std::vector<Dim>> starts, ends;
  std::optional<Ints> axes;
  const auto dims = [](const Ints& numbers) {
    return std::vector<Dim>(numbers.begin(), numbers.end());
  };
  std::size_t count = 0;
  if (node.opset() < 10) {
    starts = dims(node.IntsOr("starts", {}));
    ends = dims(node.IntsOr("ends", {}));
    axes = node.OptionalInts("axes");
    count = starts->size();
    if (ends->size() != count) throw InvalidArgument("starts and ends have different lengths");
  } else {
    if (node.has_input(3)) axes = node.ConstantInts(3);
    const auto length = [&](std::size_t i) {
      const Shape shape = ShapeOf(node.input(i));
      if (shape.size() != 1) throw InvalidArgument(StrCat("input ", i, " must have rank 1"));
      return static_cast<std::size_t>(shape[0]);
    };
    count = length(1);
    if (length(2) != count) throw InvalidArgument("starts and ends have different lengths");
    starts = DimsOfValue(node.input(1));
    ends = DimsOfValue(node.input(2));
  }
  std::vector<std::optional<std::int64_t>> steps = StepsOf(node);
  if (steps.empty()) steps.assign(count, 1);
  if (steps.size() != count) throw InvalidArgument("starts and steps have different lengths");
  if (axes && axes->size() != count)
    throw InvalidArgument("starts and axes have different lengths");
  std::vector<AxisSlice> slices;
  const auto rank = static_cast<std::size_t>(RankOf(node.input(0)));
  for (std::size_t i = 0; i < count; ++i) {
    AxisSlice slice{.axis = ops::NormalAxis(axes ? (*axes)[i] : static_cast<std::int64_t>(i), rank),
                    .step = steps[i],
                    .place = i};
    if (std::ranges::find(slices, slice.axis, &AxisSlice::axis) != slices.end())
      throw InvalidArgument(StrCat("axes names the axis ", slice.axis, " twice"));
    if (starts) slice.start = (*starts)[i];
    if (ends) slice.end = (*ends)[i];
    slices.push_back(std::move(slice));
  }
  return slices;
}

// Whether the bounds are expressions of elements counted from the front, and the step is known and
// goes up.
bool IsBetween(const AxisSlice& slice) {
  return slice.start && slice.end && slice.step && *slice.step >= 1 &&
         IsCountedFromFront(*slice.start) && IsCountedFromFront(*slice.end);
}

// The elements at start, start + step, ..., as many as the bounds, which are expressions, say.
Expr TakeBetween(const Node& node, const Expr& x, const AxisSlice& slice) {
  const Dim extent = DimsOf(x)[static_cast<std::size_t>(slice.axis)];
  const Dim start = Min(*slice.start, extent), end = Min(*slice.end, extent);
  const Dim count = Max(CeilDiv(end - start, *slice.step), 0);
  Expr places = node.Typed(Places(node.extents(), count));
  if (*slice.step != 1) places = ops::Multiply(places, Integer(*slice.step));
  if (!(start == Dim(0))) {
    const Expr first = slice.start->is_static() ? ops::Scalar(slice.start->value(), Int64)
                                                : ElementAlong(node.input(1), slice.place, 0);
    places = ops::Add(places, ops::Cast(first, Int64));
  }
  return node.Typed(ops::Take(x, node.Typed(places), {.axis = slice.axis}));
}

// A bound, an int64 of rank 1, in [0, extent].
Expr Bounded(const Node& node, const Expr& bound, const Expr& extent) {
  const Expr given = node.Typed(ops::Reshape(node.Typed(bound), {1}));
  const Expr zero = ops::Scalar(0, Int64);
  const Expr is_negative = ir::Call::Make(ops::Known().less, {given, zero});
  const Expr counted = ops::Where(is_negative, ops::Add(given, extent), given);
  return node.Typed(ops::Minimum(ops::Maximum(counted, zero), extent));
}

// What a run says of a slice along one axis: scalars of int64.
struct BoundsOfRun {
  std::size_t axis;
  Expr start, end;
  std::int64_t step = 1;
  bool begins_at_first = false;
};

// All that may be taken, cut to the count.
Expr CutBetween(const Node& node, const Expr& x, const BoundsOfRun& bounds) {
  const Dim extent = DimsOf(x)[bounds.axis];
  const auto axis = static_cast<std::int64_t>(bounds.axis);
  const Expr length = node.Typed(ExtentValue(x, bounds.axis));
  const Expr start = Bounded(node, bounds.start, length), end = Bounded(node, bounds.end, length);
  const Expr step = ops::Scalar(static_cast<double>(bounds.step), Int64);
  const Expr one = ops::Scalar(1, Int64), zero = ops::Scalar(0, Int64);
  const Expr span = ops::Add(ops::Subtract(end, start), ops::Subtract(step, one));
  const Expr count = node.Typed(ops::Maximum(
      node.Typed(ir::Call::Make(ops::Known().floor_divide, {node.Typed(span), step})), zero));
  Expr whole = x;
  if (!bounds.begins_at_first || bounds.step != 1) {
    const Expr places =
        ops::Multiply(node.Typed(Places(node.extents(), CeilDiv(extent, bounds.step))), step);
    const Expr last = ops::Maximum(ops::Subtract(length, one), zero);
    whole = node.Typed(
        ops::Take(x, node.Typed(ops::Minimum(ops::Add(places, start), last)), {.axis = axis}));
  }
  return FirstAlong(node, whole, count, axis);
}

// A slice whose bounds and step are scalars of int64, of either sign. The places are computed. A
// run with a step of 0 is refused.
Expr TakeBySteps(const Node& node, const Expr& x, std::size_t axis, const Expr& from,
                 const Expr& to, const Expr& by) {
  const auto& known = ops::Known();
  const auto call = TypedCalls(node);
  const auto choose = [&](const Expr& condition, const Expr& a, const Expr& b) {
    return node.Typed(ops::Where(condition, a, b));
  };
  const Expr zero = Integer(0), one = Integer(1);
  const Expr length = ValueOfCount(node, DimsOf(x)[axis]);
  const Expr last = call(known.subtract, length, one);
  const Expr step = call(known.maximum, call(known.minimum, by, Integer(ops::kLongestStep)),
                         Integer(-ops::kLongestStep));
  const Expr falls = call(known.less, step, zero), is_none = call(known.equal, step, zero);
  // On the way down, a slice begins at an element and may end before the first.
  const auto bounded = [&](const Expr& bound, const Expr& least) {
    const Expr counted =
        choose(call(known.less, bound, zero), call(known.add, bound, length), bound);
    return call(known.minimum, call(known.maximum, counted, least), choose(falls, last, length));
  };
  const Expr start = bounded(from, zero), end = bounded(to, choose(falls, Integer(-1), zero));
  const Expr ahead = call(known.subtract, end, start);
  const Expr span = choose(falls, call(known.subtract, zero, ahead), ahead);
  const Expr size = choose(falls, call(known.subtract, zero, step), choose(is_none, one, step));
  const Expr steps =
      call(known.floor_divide, call(known.add, span, call(known.subtract, size, one)), size);
  const Expr count = choose(is_none, Integer(-1), call(known.maximum, steps, zero));
  const Expr places =
      node.Typed(Places(node.extents(), ExtentOf(node, count, false, "whose steps must not be 0")));
  const Expr at = call(known.add, call(known.multiply, places, step), start);
  return node.Typed(ops::Take(x, at, {.axis = static_cast<std::int64_t>(axis)}));
}

Expr CutBetween(const Node& node, const Expr& x, const AxisSlice& slice) {
  const auto axis = static_cast<std::size_t>(slice.axis);
  const auto given = [&](std::size_t input) {
    return node.Typed(ops::Cast(
        ElementAlong(node.input(input), static_cast<std::int64_t>(slice.place), 0), Int64));
  };
  if (!slice.step) return TakeBySteps(node, x, axis, given(1), given(2), given(4));
  if (*slice.step < 1) return TakeBySteps(node, x, axis, given(1), given(2), Integer(*slice.step));
  return CutBetween(node, x,
                    BoundsOfRun{.axis = axis,
                                .start = given(1),
                                .end = given(2),
                                .step = *slice.step,
                                .begins_at_first = slice.start && *slice.start == Dim(0)});
}

// Every axis is cut. Those that a run does not name are cut to all of their elements.
Expr SliceAlongAxesOfRun(const Node& node) {
  const Expr& x = node.input(0);
  const std::vector<std::optional<std::int64_t>> given = StepsOf(node);
  const bool has_steps = std::ranges::any_of(given, [](const auto& step) { return step != 1; });
  const std::int64_t rank = RankOf(x);
  const AxesOfRun axes(node, node.input(3), rank);
  const auto bounds = [&](std::size_t input) {
    if (DimsOf(node.input(input)) != std::vector<Dim>{axes.count()})
      throw InvalidArgument(
          StrCat("input ", input, " must have rank 1 and as many bounds as axes"));
    return node.Typed(ops::Cast(node.input(input), Int64));
  };
  const Expr starts = bounds(1), ends = bounds(2);
  const Expr steps = has_steps ? bounds(4) : Expr();
  Expr y = x;
  for (std::int64_t at = 0; at < rank; ++at) {
    const auto axis = static_cast<std::size_t>(at);
    const Expr all = Integer(std::numeric_limits<std::int32_t>::max());
    const Expr start = axes.ValueAt(axis, starts, Integer(0)), end = axes.ValueAt(axis, ends, all);
    y = has_steps ? TakeBySteps(node, y, axis, start, end, axes.ValueAt(axis, steps, Integer(1)))
                  : CutBetween(node, y, BoundsOfRun{.axis = axis, .start = start, .end = end});
  }
  return y;
}

std::vector<Expr> Slice(Node& node) {
  if (node.opset() >= 10 && HasAxesOfRun(node, 3)) return {SliceAlongAxesOfRun(node)};
  const Expr& x = node.input(0);
  const std::vector<Dim> shape = DimsOf(x);
  ops::StridedSliceAttrs by_numbers{.begin = {}, .end = {}, .strides = Ints{}, .axes = Ints{}};
  std::vector<AxisSlice> others;
  for (const AxisSlice& slice : SlicesOf(node)) {
    const Dim& extent = shape[static_cast<std::size_t>(slice.axis)];
    std::optional<std::int64_t> start = NumberOf(slice.start, extent);
    std::optional<std::int64_t> end = NumberOf(slice.end, extent);
    // Of an expression, the operator clamps them itself.
    if (slice.step && start && !extent.is_static()) start = StartOf(*slice.step, *start, extent);
    if (!slice.step || !start || !end) {
      others.push_back(slice);
      continue;
    }
    if (extent.is_static()) Clamp(extent.value(), *slice.step, &*start, &*end);
    by_numbers.begin.push_back(*start);
    by_numbers.end.push_back(*end);
    by_numbers.strides.push_back(*slice.step);
    by_numbers.axes->push_back(slice.axis);
  }
  Expr y = x;
  if (!by_numbers.begin.empty() || others.empty()) y = node.Typed(ops::StridedSlice(y, by_numbers));
  for (const AxisSlice& slice : others)
    y = IsBetween(slice) ? TakeBetween(node, y, slice) : CutBetween(node, y, slice);
  return {y};
}

}  // namespace

void AddSliceConverters(ConverterTable* table) {
  (*table)["Slice"] = Converter(Slice).With({.other = "the number of axes is known at import"});
}

}  // namespace tenon::onnx_import
