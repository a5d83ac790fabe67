// Elementwise operators beside those of verify/define/plain_definition.cc, sums down to a shape,
// and variances. Halves are computed in float32 and rounded once.
#include <algorithm>
#include <cmath>
#include <functional>

#include "tenon/ops/boxes/detector_attrs.h"
#include "tenon/ops/elementwise/elementwise_attrs.h"
#include "tenon/ops/norm/nn_attrs.h"
#include "tenon/ops/quantize/fixed_point_attrs.h"
#include "tenon/ops/reduce/reduce_attrs.h"
#include "tenon/verify/define/defined_places.h"
#include "tenon/verify/define/defined_sums.h"
#include "tenon/verify/define/definition.h"

namespace tenon::verify {
namespace {

Real StepOf(DataType type) {
  return static_cast<Real>(RoundingError(type.is_half() ? Float32 : type));
}

// Of floats, with errors of 16 roundings.
Define Function(Real (*of)(Real)) {
  return [of](const DefinedCall& call) -> std::vector<Definition> {
    const DataType type = call.results[0].dtype();
    if (!type.is_float()) return {};
    const Real unit = 16 * StepOf(type) + 2 * static_cast<Real>(RoundingError(type));
    Definition made;
    for (std::int64_t i = 0; i < call.args[0].size(); ++i) {
      const Real value = of(call.Arg(0, i));
      made.Add({.real = value}, unit * std::abs(value));
    }
    return {made};
  };
}

Define Test(bool (*of)(Real)) {
  return [of](const DefinedCall& call) -> std::vector<Definition> {
    if (!call.args[0].dtype().is_float()) return {};
    Definition made;
    for (std::int64_t i = 0; i < call.args[0].size(); ++i)
      made.Add({.whole = of(call.Arg(0, i)) ? 1 : 0}, 0);
    return {made};
  };
}

using Binary = std::function<Number(const Number& x, const Number& y, DataType type)>;
Define Broadcast(Binary of) {
  return [of](const DefinedCall& call) -> std::vector<Definition> {
    const DataType type = call.args[0].dtype();
    if (type.is_bool()) return {};
    const Real unit =
        16 * StepOf(type) + 2 * static_cast<Real>(RoundingError(call.results[0].dtype()));
    Definition made;
    for (const Shape& at : AllPlaces(call.results[0].shape())) {
      const Number value = of(ElementOf(call.args[0], BroadcastPlace(call.shape(0), at)),
                              ElementOf(call.args[1], BroadcastPlace(call.shape(1), at)), type);
      made.Add(value, type.is_float() ? unit * std::abs(value.real) : 0);
    }
    return {made};
  };
}

// Powers of integers wrap around. A negative exponent gives 1 / x^n, rounded toward zero, and 0 of
// 0.
Number Power(const Number& x, const Number& y, DataType type) {
  if (type.is_float()) return {.real = std::pow(x.real, y.real)};
  if (y.whole < 0) {
    const bool is_odd = y.whole % 2 != 0;
    return {.whole = x.whole == 1 ? 1 : x.whole == -1 ? (is_odd ? -1 : 1) : 0};
  }
  Whole value = 1, power = x.whole;
  for (Whole rest = y.whole; rest > 0; rest /= 2) {
    // Products of 64 bits without sign fit in 128 bits without sign.
    const auto times = [&](Whole a, Whole b) {
      return Wrapped(
          static_cast<Whole>(static_cast<unsigned __int128>(a) * static_cast<unsigned __int128>(b)),
          type);
    };
    if (rest % 2 != 0) value = times(value, power);
    power = times(power, power);
  }
  return {.whole = value};
}

// Distances count modulo the number of bits.
Whole DistanceOf(const Number& y, DataType type) {
  const Whole rest = y.whole % type.bits();
  return rest < 0 ? rest + type.bits() : rest;
}
Number LeftShift(const Number& x, const Number& y, DataType type) {
  const Whole factor = Whole{1} << DistanceOf(y, type);
  return {.whole = x.whole * factor};
}
Number RightShift(const Number& x, const Number& y, DataType type) {
  return {.whole = x.whole >> DistanceOf(y, type)};
}

// Rounded half up, in 64 bits that wrap around.
std::vector<Definition> FixedPointMultiply(const DefinedCall& call) {
  const auto& attrs = call.call.attrs.As<ops::FixedPointMultiplyAttrs>();
  const std::int64_t left = std::max<std::int64_t>(attrs.shift, 0),
                     right = std::max<std::int64_t>(-attrs.shift, 0);
  Definition made;
  for (std::int64_t i = 0; i < call.args[0].size(); ++i) {
    const Whole x = ElementAt(call.args[0], i).whole;
    const Whole wide = Wrapped(x * (Whole{1} << left) * attrs.multiplier, Int64),
                half = Whole{1} << (right + 30);
    made.Add({.whole = Wrapped(wide + half, Int64) >> (right + 31)}, 0);
  }
  return {made};
}

std::int64_t ChannelOf(const DefinedCall& call, std::int64_t axis, std::int64_t i) {
  const Shape& shape = call.shape(0);
  std::size_t d = AxisOf(axis, shape.size());
  const std::int64_t extent = shape[d];
  while (++d < shape.size()) i /= shape[d];
  return i % extent;
}

std::vector<Definition> BiasAdd(const DefinedCall& call) {
  const std::int64_t axis = call.call.attrs.As<ops::BiasAddAttrs>().axis;
  if (call.results[0].dtype().is_bool()) return {};
  const Real unit = 2 * static_cast<Real>(RoundingError(call.results[0].dtype()));
  Definition made;
  for (std::int64_t i = 0; i < call.args[0].size(); ++i) {
    const Number x = ElementAt(call.args[0], i),
                 b = ElementAt(call.args[1], ChannelOf(call, axis, i));
    made.Add({x.whole + b.whole, x.real + b.real}, unit * std::abs(x.real + b.real));
  }
  return {made};
}

// Above 0 the element, else it times a slope; NaN stays.
using SlopeOf = std::function<Real(std::int64_t i)>;
std::vector<Definition> Sloped(const DefinedCall& call, const SlopeOf& slope_of) {
  const DataType type = call.results[0].dtype();
  if (!type.is_float()) return {};
  const Real unit = 2 * static_cast<Real>(RoundingError(type)) + 2 * StepOf(type);
  Definition made;
  for (std::int64_t i = 0; i < call.args[0].size(); ++i) {
    const Real x = call.Arg(0, i), value = x > 0 ? x : x * slope_of(i);
    made.Add({.real = value}, x > 0 ? 0 : unit * std::abs(value));
  }
  return {made};
}
std::vector<Definition> LeakyRelu(const DefinedCall& call) {
  const auto& attrs = call.call.attrs.As<ops::LeakyReluAttrs>();
  const DataType type = call.results[0].dtype();
  // A constant of the type in which halves are computed.
  return Sloped(
      call, [&](std::int64_t) { return Rounded(attrs.alpha, type.is_half() ? Float32 : type); });
}
std::vector<Definition> PRelu(const DefinedCall& call) {
  const std::int64_t axis = call.call.attrs.As<ops::PReluAttrs>().axis;
  return Sloped(call, [&](std::int64_t i) { return call.Arg(1, ChannelOf(call, axis, i)); });
}

// Elements that the result has once for several of them are added up.
std::vector<Definition> CollapsedSum(const DefinedCall& call) {
  const NDArray& result = call.results[0];
  if (call.args[0].dtype().is_bool()) return {};
  DefinedSums sums(result);
  std::int64_t i = 0;
  for (const Shape& at : AllPlaces(call.shape(0))) {
    const Shape to = BroadcastPlace(result.shape(), at);
    sums.Add(PlaceOf(to, result.shape()), ElementAs(call.args[0], i++, result.dtype()));
  }
  return sums.Take();
}

// The mean of squared deviations from the given mean.
std::vector<Definition> Variance(const DefinedCall& call) {
  const auto& attrs = call.call.attrs.As<ops::VarianceAttrs>();
  const Shape& shape = call.shape(0);
  const DataType type = call.args[0].dtype();
  std::vector<bool> is_reduced(shape.size(), !attrs.axis);
  for (const std::int64_t axis : attrs.axis.value_or(ops::Ints{}))
    is_reduced[AxisOf(axis, shape.size())] = true;
  if (attrs.axis && attrs.exclude) is_reduced.flip();
  Shape kept = shape;
  std::int64_t count = 1;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (!is_reduced[d]) continue;
    count *= shape[d];
    kept[d] = 1;
  }
  const std::int64_t divisor = count - (attrs.unbiased ? 1 : 0);
  // Sums of wide integers wrap around, and quotients by 0 are those of the element type.
  if (divisor <= 0 || type.is_bool() || (!type.is_float() && type.bits() > 16)) return {};
  std::vector<Number> sums(At(NumElements(kept)));
  std::int64_t i = 0;
  for (const Shape& at : AllPlaces(shape)) {
    const Number x = ElementAt(call.args[0], i++),
                 mean = ElementOf(call.args[1], BroadcastPlace(call.shape(1), at));
    Number& sum = sums[At(PlaceOf(BroadcastPlace(kept, at), kept))];
    // The mean is converted to the numbers that the data has.
    const Number given = Converted(mean, call.args[1].dtype(), type.is_float() ? Float64 : Int64);
    const Whole whole = x.whole - given.whole;
    const Real deviation = x.real - given.real;
    sum = {sum.whole + whole * whole, sum.real + deviation * deviation};
  }
  Definition made;
  const Real unit = StepOf(type) * static_cast<Real>(count + 8) +
                    2 * static_cast<Real>(RoundingError(call.results[0].dtype()));
  for (const Number& sum : sums) {
    const Real value = sum.real / static_cast<Real>(divisor);
    made.Add({sum.whole / divisor, value}, unit * std::abs(value));
  }
  return {made};
}

// Boxes at every position: each size with ratio 1, then the first size with each other ratio.
std::vector<Definition> MultiBoxPrior(const DefinedCall& call) {
  const auto& attrs = call.call.attrs.As<ops::MultiBoxPriorAttrs>();
  const std::int64_t rows = call.shape(0)[2], columns = call.shape(0)[3];
  Definition made;
  for (std::int64_t y = 0; y < rows; ++y)
    for (std::int64_t x = 0; x < columns; ++x) {
      const auto middle = [&](std::int64_t at, std::size_t axis, std::int64_t extent) {
        const Real step =
            attrs.steps[axis] > 0 ? Real{attrs.steps[axis]} : 1 / static_cast<Real>(extent);
        return (static_cast<Real>(at) + attrs.offsets[axis]) * step;
      };
      const Real cx = middle(x, 1, columns), cy = middle(y, 0, rows);
      const auto add = [&](Real size, Real ratio) {
        const Real wide = size * static_cast<Real>(rows) / static_cast<Real>(columns) *
                          std::sqrt(ratio) / 2,
                   high = size / std::sqrt(ratio) / 2;
        for (const auto& [at, half] : {std::pair(cx, -wide), {cy, -high}, {cx, wide}, {cy, high}}) {
          const Real corner = at + half;
          made.Add({.real = attrs.clip ? std::clamp<Real>(corner, 0, 1) : corner},
                   1e-6L * (std::abs(at) + std::abs(half) + 1e-3L));
        }
      };
      for (const double size : attrs.sizes) add(size, 1);
      for (std::size_t k = 1; k < attrs.ratios.size(); ++k) add(attrs.sizes[0], attrs.ratios[k]);
    }
  return {made};
}

}  // namespace

void AddScalarDefinitions(DefinitionTable* table) {
  DefinitionTable& t = *table;
  t["acos"] = Function([](Real x) { return std::acos(x); });
  t["acosh"] = Function([](Real x) { return std::acosh(x); });
  t["asin"] = Function([](Real x) { return std::asin(x); });
  t["atanh"] = Function([](Real x) { return std::atanh(x); });
  t["fast_erf"] = Function([](Real x) { return std::erf(x); });
  t["fast_exp"] = Function([](Real x) { return std::exp(x); });
  t["fast_tanh"] = Function([](Real x) { return std::tanh(x); });
  t["tan"] = Function([](Real x) { return std::tan(x); });
  t["isfinite"] = Test([](Real x) { return std::isfinite(x); });
  t["isinf"] = Test([](Real x) { return std::isinf(x); });
  t["power"] = Broadcast(Power);
  t["left_shift"] = Broadcast(LeftShift);
  t["right_shift"] = Broadcast(RightShift);
  t["fixed_point_multiply"] = FixedPointMultiply;
  t["nn.bias_add"] = BiasAdd;
  t["nn.leaky_relu"] = LeakyRelu;
  t["nn.prelu"] = PRelu;
  t["vision.multibox_prior"] = MultiBoxPrior;
}

void AddCollapsedDefinitions(DefinitionTable* table) {
  (*table)["collapse_sum_like"] = CollapsedSum;
  (*table)["collapse_sum_to"] = CollapsedSum;
  (*table)["variance"] = Variance;
}

}  // namespace tenon::verify
