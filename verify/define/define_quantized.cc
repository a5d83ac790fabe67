// Quantised operators except products: q stands for (q - zero_point) * scale.
//
// Where all scales are powers of two and integers have 8 bits, nothing is rounded on the way, so
// that the result is known to the last bit. Elsewhere it may be either neighbour of a number that
// lies close to their middle.
#include <algorithm>
#include <cmath>
#include <functional>
#include <string>

#include "tenon/ops/elementwise/elementwise_attrs.h"
#include "tenon/ops/norm/nn_attrs.h"
#include "tenon/ops/pool/pool_attrs.h"
#include "tenon/ops/quantize/qnn_attrs.h"
#include "tenon/ops/shape/transform_attrs.h"
#include "tenon/verify/array_values.h"
#include "tenon/verify/define/definition.h"
#include "tenon/verify/define/places_by_layout.h"

namespace tenon::verify {
namespace {

// Relative, of a number before it is rounded to an integer: a few operations in float32.
constexpr Real kError = 1e-5L;

std::size_t AxisOf(std::int64_t axis, const Shape& shape) {
  return static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(shape.size()) : axis);
}

// The place of element `i` of `shape` along the axis.
std::int64_t Along(std::int64_t i, const Shape& shape, std::int64_t axis) {
  std::int64_t inner = 1;
  const std::size_t at = AxisOf(axis, shape);
  for (std::size_t d = at + 1; d < shape.size(); ++d) inner *= shape[d];
  return i / inner % shape[at];
}

// The element of an operand that is broadcast to `shape`.
std::int64_t Broadcast(std::int64_t i, const Shape& shape, const Shape& operand) {
  std::int64_t place = 0, stride = 1;
  for (std::size_t d = shape.size(), o = operand.size(); o > 0;) {
    --d, --o;
    if (operand[o] != 1) place += i % shape[d] * stride;
    i /= shape[d];
    stride *= operand[o];
  }
  return place;
}

// Scale and zero point of an argument, from argument `scale` on.
struct Parameters {
  const DefinedCall& call;
  std::size_t scale = 0;
  std::int64_t axis = -1;

  Real Of(std::size_t arg, std::int64_t i, const Shape& shape) const {
    return call.Arg(arg, call.shape(arg).empty() ? 0 : Along(i, shape, axis));
  }
  Real ScaleOf(std::int64_t i, const Shape& shape) const { return Of(scale, i, shape); }
  Real ZeroPointOf(std::int64_t i, const Shape& shape) const { return Of(scale + 1, i, shape); }
  // What element `i` of argument `data` stands for.
  Real RealOf(std::size_t data, std::int64_t i) const {
    const Shape& shape = call.shape(data);
    return (call.Arg(data, i) - ZeroPointOf(i, shape)) * ScaleOf(i, shape);
  }
};

bool IsPower(Real x) {
  int exponent = 0;
  return std::frexp(x, &exponent) == 0.5L;
}

// Whether no operation in float32 rounds.
bool IsExact(const DefinedCall& call) {
  for (const NDArray& array : call.args) {
    const bool is_scale = array.dtype().is_float();
    for (std::int64_t i = 0; i < array.size(); ++i) {
      const Real x = RealAt(array, i);
      if (is_scale ? !IsPower(x) : std::abs(x) > 1000) return false;
    }
  }
  return true;
}

// Half to even, with the zero point added after that.
Number Integer(Real scaled, Real zero_point, DataType type) {
  const Real rounded = std::nearbyint(scaled) + zero_point;
  return {.whole = Saturated(rounded, type), .real = scaled + zero_point};
}
Real ToleranceOf(Real scaled, Real relative = kError) {
  return std::isfinite(scaled) ? relative * (std::abs(scaled) + 1) : 1;
}

// Each element of the result is `number` with the parameters of the result, from argument `scale`.
std::vector<Definition> Each(const DefinedCall& call, std::size_t scale, bool is_exact,
                             const std::function<Real(std::int64_t)>& number) {
  const NDArray& result = call.results.at(0);
  Definition made;
  for (std::int64_t i = 0; i < result.size(); ++i) {
    const Real scaled = number(i) / call.Arg(scale);
    made.Add(Integer(scaled, call.Arg(scale + 1), result.dtype()),
             is_exact ? 0 : ToleranceOf(scaled));
  }
  return {made};
}

std::vector<Definition> Quantize(const DefinedCall& call) {
  const NDArray& x = call.args[0];
  const Parameters to{call, 1, call.call.attrs.As<ops::QuantizeAttrs>().axis};
  bool is_exact = x.dtype() == Float32 || x.dtype() == Float64;
  for (std::int64_t i = 0; i < call.args[1].size(); ++i) is_exact &= IsPower(call.Arg(1, i));
  // The scale is rounded to the type of the data, as their quotient is.
  const Real relative = std::max(kError, 8 * static_cast<Real>(RoundingError(x.dtype())));
  Definition made;
  for (std::int64_t i = 0; i < x.size(); ++i) {
    const Real scaled = call.Arg(0, i) / to.ScaleOf(i, x.shape());
    made.Add(Integer(scaled, to.ZeroPointOf(i, x.shape()), call.results[0].dtype()),
             is_exact ? 0 : ToleranceOf(scaled, relative));
  }
  return {made};
}

std::vector<Definition> Dequantize(const DefinedCall& call) {
  const Parameters from{call, 1, call.call.attrs.As<ops::DequantizeAttrs>().axis};
  const Real unit = static_cast<Real>(
      std::max(RoundingError(call.results[0].dtype()), RoundingError(call.args[1].dtype())));
  Definition made;
  for (std::int64_t i = 0; i < call.args[0].size(); ++i) {
    const Real real = from.RealOf(0, i);
    made.Add({.real = real}, 4 * unit * std::abs(real));
  }
  return {made};
}

// Of a stored number; half to even with the zero point added before, as in ONNX's QLinearConv.
struct Rescaled {
  Real scale, zero_point, to_scale, to_zero_point;
  bool is_exact = false;

  void Add(Real stored, const std::string& rounding, DataType type, Definition* to) const {
    const Real scaled = (stored - zero_point) * (scale / to_scale);
    const Real rounded = rounding == "UPWARD"      ? std::floor(scaled + 0.5L) + to_zero_point
                         : rounding == "TONEAREST" ? std::round(scaled) + to_zero_point
                                                   : std::nearbyint(scaled + to_zero_point);
    to->Add({.whole = Saturated(rounded, type), .real = scaled + to_zero_point},
            is_exact ? 0 : ToleranceOf(scaled));
  }
};

std::vector<Definition> Requantize(const DefinedCall& call) {
  const auto& attrs = call.call.attrs.As<ops::RequantizeAttrs>();
  const Parameters from{call, 1, attrs.axis};
  const bool is_exact = IsExact(call);
  const Shape& shape = call.shape(0);
  Definition made;
  for (std::int64_t i = 0; i < call.args[0].size(); ++i) {
    const Rescaled to{from.ScaleOf(i, shape), from.ZeroPointOf(i, shape), call.Arg(3), call.Arg(4),
                      is_exact};
    to.Add(call.Arg(0, i), attrs.rounding, call.results[0].dtype(), &made);
  }
  return {made};
}

// Arguments: the tensors, their scales, their zero points, then those of the result.
std::vector<Definition> Concatenate(const DefinedCall& call) {
  const std::size_t count = (call.args.size() - 2) / 3;
  const NDArray& result = call.results[0];
  const std::int64_t axis = call.call.attrs.As<ops::ConcatenateAttrs>().axis;
  const std::size_t at = AxisOf(axis, result.shape());
  const bool is_exact = IsExact(call);
  std::int64_t inner = 1;
  for (std::size_t d = at + 1; d < result.shape().size(); ++d) inner *= result.shape()[d];
  Definition made;
  for (std::int64_t i = 0; i < result.size(); ++i) {
    std::int64_t place = Along(i, result.shape(), axis);
    std::size_t field = 0;
    while (place >= call.shape(field)[at]) place -= call.shape(field++)[at];
    const std::int64_t outer = i / (inner * result.shape()[at]);
    const std::int64_t from = (outer * call.shape(field)[at] + place) * inner + i % inner;
    const Rescaled to{call.Arg(count + field), call.Arg(2 * count + field), call.Arg(3 * count),
                      call.Arg(3 * count + 1), is_exact};
    to.Add(call.Arg(field, from), "None", result.dtype(), &made);
  }
  return {made};
}

Define Binary(Real (*of)(Real a, Real b)) {
  return [of](const DefinedCall& call) {
    const auto& attrs = call.call.attrs.As<ops::QnnBinaryAttrs>();
    const Parameters left{call, 2, attrs.lhs_axis}, right{call, 4, attrs.rhs_axis};
    const Shape& shape = call.results[0].shape();
    return Each(call, 6, IsExact(call), [&](std::int64_t i) {
      return of(left.RealOf(0, Broadcast(i, shape, call.shape(0))),
                right.RealOf(1, Broadcast(i, shape, call.shape(1))));
    });
  };
}

Define Unary(Real (*of)(Real x), bool is_exact = false) {
  return [of, is_exact](const DefinedCall& call) {
    const Parameters from{call, 1};
    return Each(call, 3, is_exact && IsExact(call),
                [&](std::int64_t i) { return of(from.RealOf(0, i)); });
  };
}

std::vector<Definition> LeakyRelu(const DefinedCall& call) {
  const auto alpha = static_cast<Real>(call.call.attrs.As<ops::LeakyReluAttrs>().alpha);
  const Parameters from{call, 1};
  return Each(call, 3, false, [&](std::int64_t i) {
    const Real x = from.RealOf(0, i);
    return x < 0 ? alpha * x : x;
  });
}

std::vector<Definition> Softmax(const DefinedCall& call) {
  const std::int64_t axis = call.call.attrs.As<ops::SoftmaxAttrs>().axis;
  const Shape& shape = call.shape(0);
  const std::size_t at = AxisOf(axis, shape);
  const Parameters from{call, 1};
  std::int64_t inner = 1;
  for (std::size_t d = at + 1; d < shape.size(); ++d) inner *= shape[d];
  return Each(call, 3, false, [&](std::int64_t i) {
    const std::int64_t first = i - Along(i, shape, axis) * inner;
    const Real x = from.RealOf(0, i);
    Real sum = 0;
    for (std::int64_t k = 0; k < shape[at]; ++k)
      sum += std::exp(from.RealOf(0, first + k * inner) - x);
    return 1 / sum;
  });
}

// Means of stored numbers, without their fraction. Padding that counts is a stored 0.
std::vector<Definition> AvgPool2D(const DefinedCall& call) {
  const auto& attrs = call.call.attrs.As<ops::AvgPool2DAttrs>();
  const NDArray& result = call.results[0];
  const PlacesByLayout from(call.shape(0), attrs.layout), to(result.shape(), attrs.layout);
  const std::int64_t extents[2] = {from.Extent('H'), from.Extent('W')};
  const auto after = [&](std::size_t d) {
    return attrs.padding.size() == 4 ? attrs.padding[d + 2] : OfAxis(attrs.padding, d);
  };
  const Rescaled rescaled{call.Arg(1), call.Arg(2), call.Arg(3), call.Arg(4), IsExact(call)};
  std::vector<Real> means(static_cast<std::size_t>(result.size()));
  const auto mean = [&](std::int64_t image, std::int64_t channel, std::int64_t h, std::int64_t w) {
    std::int64_t sum = 0, inside = 0, counted = 0;
    for (std::int64_t kh = 0; kh < OfAxis(attrs.pool_size, 0); ++kh) {
      for (std::int64_t kw = 0; kw < OfAxis(attrs.pool_size, 1); ++kw) {
        std::int64_t at[2];
        bool is_inside = true, is_padded = true;
        for (std::size_t d = 0; d < 2; ++d) {
          at[d] = (d == 0 ? h : w) * OfAxis(attrs.strides, d) +
                  (d == 0 ? kh : kw) * OfAxis(attrs.dilation, d) - OfAxis(attrs.padding, d);
          is_inside &= at[d] >= 0 && at[d] < extents[d];
          is_padded &= at[d] < extents[d] + after(d);
        }
        counted += is_padded ? 1 : 0;
        if (!is_inside) continue;
        ++inside;
        sum += IndexAt(call.args[0], from.At("NCHW", {image, channel, at[0], at[1]}));
      }
    }
    return sum / std::max<std::int64_t>(attrs.count_include_pad ? counted : inside, 1);
  };
  for (std::int64_t n = 0; n < to.Extent('N'); ++n)
    for (std::int64_t c = 0; c < to.Extent('C'); ++c)
      for (std::int64_t h = 0; h < to.Extent('H'); ++h)
        for (std::int64_t w = 0; w < to.Extent('W'); ++w)
          means[static_cast<std::size_t>(to.At("NCHW", {n, c, h, w}))] =
              static_cast<Real>(mean(n, c, h, w));
  Definition made;
  for (const Real value : means) rescaled.Add(value, "None", result.dtype(), &made);
  return {made};
}

}  // namespace

void AddQuantizedDefinitions(DefinitionTable* table) {
  DefinitionTable& t = *table;
  t["qnn.abs"] = Unary([](Real x) { return std::abs(x); }, true);
  t["qnn.add"] = Binary([](Real a, Real b) { return a + b; });
  t["qnn.avg_pool2d"] = AvgPool2D;
  t["qnn.concatenate"] = Concatenate;
  t["qnn.dequantize"] = Dequantize;
  t["qnn.erf"] = Unary([](Real x) { return std::erf(x); });
  t["qnn.exp"] = Unary([](Real x) { return std::exp(x); });
  t["qnn.hardswish"] =
      Unary([](Real x) { return x * std::min(std::max(x + 3, Real{0}), Real{6}) / 6; });
  t["qnn.leaky_relu"] = LeakyRelu;
  t["qnn.log"] = Unary([](Real x) { return std::log(x); });
  t["qnn.mul"] = Binary([](Real a, Real b) { return a * b; });
  t["qnn.quantize"] = Quantize;
  t["qnn.requantize"] = Requantize;
  t["qnn.rsqrt"] = Unary([](Real x) { return 1 / std::sqrt(x); });
  t["qnn.sigmoid"] = Unary([](Real x) { return 1 / (1 + std::exp(-x)); });
  t["qnn.softmax"] = Softmax;
  t["qnn.sqrt"] = Unary([](Real x) { return std::sqrt(x); });
  t["qnn.subtract"] = Binary([](Real a, Real b) { return a - b; });
  t["qnn.tanh"] = Unary([](Real x) { return std::tanh(x); });
}

}  // namespace tenon::verify
