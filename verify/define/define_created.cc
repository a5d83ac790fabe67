// Operators that make arrays from attributes, or from the type of an argument.
#include <cmath>

#include "tenon/ops/extents/extent_attrs.h"
#include "tenon/ops/shape/transform_attrs.h"
#include "tenon/verify/array_values.h"
#include "tenon/verify/define/defined_places.h"
#include "tenon/verify/define/definition.h"

namespace tenon::verify {
namespace {

Definition Filled(const Shape& shape, const Number& value) {
  Definition made{.shape = shape};
  for (std::int64_t i = NumElements(shape); i > 0; --i) made.Add(value, 0);
  return made;
}

Define AllOf(std::int64_t number, bool is_like) {
  return [=](const DefinedCall& call) {
    const Shape& shape = is_like ? call.shape(0) : *call.call.attrs.As<ops::InitOpAttrs>().shape;
    return Definitions{Filled(shape, {.whole = number, .real = static_cast<Real>(number)})};
  };
}

Number Given(const NDArray& value, const DefinedCall& call) {
  return Converted(ElementAt(value, 0), value.dtype(), call.results[0].dtype());
}

Definitions Full(const DefinedCall& call) {
  return {Filled(*call.call.attrs.As<ops::InitOpAttrs>().shape, Given(call.args[0], call))};
}
Definitions FullLike(const DefinedCall& call) {
  return {Filled(call.shape(0), Given(call.args[1], call))};
}

// Start and step are numbers of the element type.
Definitions Arange(const DefinedCall& call) {
  const auto& attrs = call.call.attrs.As<ops::ArangeAttrs>();
  const NDArray& result = call.results[0];
  const DataType type = result.dtype();
  const double count = std::ceil((attrs.stop - attrs.start) / attrs.step);
  const Real unit = static_cast<Real>(RoundingError(type));
  const bool is_whole = std::trunc(attrs.start) == attrs.start &&
                        std::trunc(attrs.step) == attrs.step && std::abs(attrs.start) < 0x1p62 &&
                        std::abs(attrs.step) < 0x1p62;
  if (!type.is_float() && !is_whole) return {};
  Definition made{.shape = Shape{count > 0 ? static_cast<std::int64_t>(count) : 0}};
  for (std::int64_t i = 0; i < (*made.shape)[0]; ++i) {
    const Real start = Rounded(attrs.start, type.is_float() ? type : Float64),
               moved = static_cast<Real>(i) * Rounded(attrs.step, type.is_float() ? type : Float64);
    if (type.is_float()) {
      const Real magnitude = std::abs(start) + std::abs(moved);
      const bool is_lost =
          std::isinf(Rounded(moved, type)) || std::abs(attrs.step) < LeastNormal(type);
      made.Add({.real = start + moved}, is_lost ? HUGE_VALL : 4 * unit * magnitude);
    } else {
      made.Add({.whole = static_cast<Whole>(attrs.start) + static_cast<Whole>(attrs.step) * i}, 0);
    }
  }
  return {made};
}

Definitions ShapeOf(const DefinedCall& call) {
  const Shape& x = call.shape(0);
  Definition made{.shape = Shape{static_cast<std::int64_t>(x.size())}};
  for (const std::int64_t extent : x)
    made.Add(Converted({.whole = extent}, Int64, call.results[0].dtype()), 0);
  return {made};
}
Definitions NdarraySize(const DefinedCall& call) {
  const Number count =
      Converted({.whole = NumElements(call.shape(0))}, Int64, call.results[0].dtype());
  return {Filled({}, count)};
}

Definitions IndexAlong(const DefinedCall& call) {
  const auto& attrs = call.call.attrs.As<ops::IndexAlongAttrs>();
  const Shape& x = call.shape(0);
  const std::size_t axis = AxisOf(attrs.axis, x.size());
  Definition made{.shape = x};
  for (const Shape& at : AllPlaces(x))
    made.Add(Converted({.whole = at[axis]}, Int64, attrs.dtype), 0);
  return {made};
}

}  // namespace

void AddCreatedDefinitions(DefinitionTable* table) {
  DefinitionTable& t = *table;
  t["arange"] = Arange;
  t["full"] = Full;
  t["full_like"] = FullLike;
  t["index_along"] = IndexAlong;
  t["ndarray_size"] = NdarraySize;
  t["ones"] = AllOf(1, false);
  t["ones_like"] = AllOf(1, true);
  t["shape_of"] = ShapeOf;
  t["zeros"] = AllOf(0, false);
  t["zeros_like"] = AllOf(0, true);
}

}  // namespace tenon::verify
