#include "tenon/passes/quantize/quantized_form.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "tenon/ops/builders.h"
#include "tenon/ops/elementwise/elementwise_attrs.h"
#include "tenon/ops/known_ops.h"
#include "tenon/ops/pool/pool_attrs.h"
#include "tenon/ops/pool/pool_rules.h"
#include "tenon/ops/quantize/qnn_attrs.h"
#include "tenon/ops/shape/transform_attrs.h"
#include "tenon/ops/shape_rules.h"
#include "tenon/passes/quantize/qnn_arithmetic.h"

namespace tenon::passes {
namespace {

using ir::CallNode;
using ir::Expr;
using Rules = std::unordered_map<Expr, FormRule, ir::ExprHash>;

std::optional<std::vector<double>> Floats(const Expr& e) {
  const auto* constant = e.As<ir::ConstantNode>();
  if (constant == nullptr || constant->data.dtype() != Float32) return std::nullopt;
  const float* first = constant->data.data<float>();
  return std::vector<double>(first, first + constant->data.size());
}

// Kernels take a denormal scale for 0.
bool IsScale(double value) { return value > 0 && std::isnormal(static_cast<float>(value)); }

// Scale and zero point from the arguments 1 and 2.
std::optional<QuantizedForm> ParametersOf(const CallNode& call, DataType dtype, std::int64_t axis,
                                          const Shape& shape) {
  const auto scale = Floats(call.args[1]);
  const auto zero_point = Integers(call.args[2]);
  if (!scale || !zero_point || scale->empty() || zero_point->empty()) return std::nullopt;
  if (!std::all_of(scale->begin(), scale->end(), IsScale)) return std::nullopt;
  QuantizedForm form{.data = {},
                     .dtype = dtype,
                     .shape = shape,
                     .scale = *scale,
                     .zero_point = *zero_point,
                     .axis = 0};
  const std::size_t channels = std::max(scale->size(), zero_point->size());
  if (channels == 1) return form;
  form.axis = static_cast<std::size_t>(ops::NormalAxis(axis, shape.size()));
  if (form.scale.size() == 1) form.scale.assign(channels, form.scale[0]);
  if (form.zero_point.size() == 1) form.zero_point.assign(channels, form.zero_point[0]);
  return form;
}

template <typename T>
Expr ConstantOf(const Shape& shape, DataType dtype, const std::vector<T>& values) {
  NDArray array = NDArray::Empty(shape, dtype);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (dtype == Float32) array.data<float>()[i] = static_cast<float>(values[i]);
    if (dtype == Int32) array.data<std::int32_t>()[i] = static_cast<std::int32_t>(values[i]);
    if (dtype == Int8) array.data<std::int8_t>()[i] = static_cast<std::int8_t>(values[i]);
    if (dtype == UInt8) array.data<std::uint8_t>()[i] = static_cast<std::uint8_t>(values[i]);
    if (dtype == Int16) array.data<std::int16_t>()[i] = static_cast<std::int16_t>(values[i]);
    if (dtype == UInt16) array.data<std::uint16_t>()[i] = static_cast<std::uint16_t>(values[i]);
  }
  return ir::Constant::Make(std::move(array));
}

double LowestOf(DataType type) { return type.is_int() ? -std::ldexp(1.0, type.bits() - 1) : 0; }
double HighestOf(DataType type) {
  return std::ldexp(1.0, type.is_int() ? type.bits() - 1 : type.bits()) - 1;
}

// The integer that stands for `value` in a channel, which the type may not hold.
double IntegerFor(const QuantizedForm& form, std::size_t channel, double value) {
  return std::nearbyint(value / form.scale[channel]) +
         static_cast<double>(form.zero_point[channel]);
}

// The integers of `value`, as a constant that broadcasts against the data.
Expr IntegersOf(const QuantizedForm& form, double value) {
  std::vector<double> whole;
  for (std::size_t c = 0; c < form.scale.size(); ++c) {
    whole.push_back(std::min(std::max(IntegerFor(form, c, value), LowestOf(form.dtype)),
                             HighestOf(form.dtype)));
  }
  Shape shape;
  if (!form.is_single()) {
    shape.assign(form.shape.size() - form.axis, 1);
    shape[0] = static_cast<std::int64_t>(whole.size());
  }
  return ConstantOf(shape, form.dtype, whole);
}

Expr CallOver(const CallNode& call, const Expr& data) {
  std::vector<Expr> args = call.args;
  args[0] = data;
  return ir::Call::Make(call.callee, std::move(args), call.attrs);
}

std::optional<QuantizedForm> Move(const CallNode& call, const QuantizedForm& form,
                                  const Shape& shape) {
  if (!form.is_single()) return std::nullopt;
  return form.With(CallOver(call, form.data), shape);
}

// Of no elements, the extremum of floats is infinite, and that of integers is the end of their
// type, which stands for some number.
bool IsOfNoElements(const QuantizedForm& form, const Shape& shape) {
  return NumElements(form.shape) == 0 && NumElements(shape) != 0;
}

std::optional<QuantizedForm> Extremum(const CallNode& call, const QuantizedForm& form,
                                      const Shape& shape) {
  return IsOfNoElements(form, shape) ? std::nullopt : Move(call, form, shape);
}

std::optional<QuantizedForm> Transpose(const CallNode& call, const QuantizedForm& form,
                                       const Shape& shape) {
  QuantizedForm moved = form.With(CallOver(call, form.data), shape);
  if (form.is_single()) return moved;
  const auto& axes = call.attrs.As<ops::TransposeAttrs>().axes;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const std::size_t from =
        axes ? static_cast<std::size_t>(ops::NormalAxis((*axes)[d], shape.size()))
             : shape.size() - 1 - d;
    if (from == form.axis) moved.axis = d;
  }
  return moved;
}

// The form of an operator over windows along the spatial axes of `layout`, which leaves channels
// where they are. Blocks of channels cut the axis of several parameters.
std::optional<QuantizedForm> Window(const CallNode& call, const QuantizedForm& form,
                                    const Shape& shape, const std::string& layout) {
  if (shape.size() != form.shape.size() ||
      (!form.is_single() && (layout.size() != shape.size() || layout[form.axis] != 'C')))
    return std::nullopt;
  return form.With(CallOver(call, form.data), shape);
}

// Whether every window surely has an element of the data, not only padding.
bool MeetsData(const ops::MaxPool2DAttrs& attrs) {
  const ops::PoolRules rules = ops::PoolRulesOf(attrs);
  for (std::size_t d = 0; d < rules.dims; ++d) {
    const std::int64_t step = attrs.ceil_mode ? rules.strides[d] : 1;
    // Dilated taps may lie around the data.
    const bool is_plain = rules.dilation[d] == 1 || rules.size[d] == 1 ||
                          (rules.before[d] == 0 && rules.after[d] == 0 && !attrs.ceil_mode);
    if (!is_plain || rules.before[d] >= rules.size[d] || rules.after[d] > rules.size[d] - step)
      return false;
  }
  return true;
}

std::optional<QuantizedForm> MaxPool(const CallNode& call, const QuantizedForm& form,
                                     const Shape& shape) {
  const auto& attrs = call.attrs.As<ops::MaxPool2DAttrs>();
  if (IsOfNoElements(form, shape) || !MeetsData(attrs)) return std::nullopt;
  return Window(call, form, shape, attrs.layout);
}

std::optional<QuantizedForm> GlobalMaxPool(const CallNode& call, const QuantizedForm& form,
                                           const Shape& shape) {
  if (IsOfNoElements(form, shape)) return std::nullopt;
  return Window(call, form, shape, call.attrs.As<ops::GlobalPool2DAttrs>().layout);
}

std::optional<QuantizedForm> Pad(const CallNode& call, const QuantizedForm& form,
                                 const Shape& shape) {
  if (!form.is_single()) return std::nullopt;
  std::vector<Expr> args = {form.data, IntegersOf(form, 0)};
  if (call.attrs.As<ops::PadAttrs>().pad_mode == "constant") {
    const auto value = Floats(call.args[1]);
    const auto zero = static_cast<double>(form.zero_point[0]);
    if (!value || value->size() != 1 || (*value)[0] != 0 || zero < LowestOf(form.dtype) ||
        zero > HighestOf(form.dtype))
      return std::nullopt;
  }
  return form.With(ir::Call::Make(call.callee, std::move(args), call.attrs), shape);
}

std::optional<QuantizedForm> Relu(const CallNode& /*call*/, const QuantizedForm& form,
                                  const Shape& shape) {
  // Where no number of the type stands for 0, all that do are below it.
  if (std::any_of(form.zero_point.begin(), form.zero_point.end(),
                  [&](auto z) { return static_cast<double>(z) > HighestOf(form.dtype); }))
    return std::nullopt;
  const bool is_min = std::all_of(form.zero_point.begin(), form.zero_point.end(), [&](auto z) {
    return static_cast<double>(z) <= LowestOf(form.dtype);
  });
  if (is_min) return form;
  return form.With(ops::Maximum(form.data, IntegersOf(form, 0)), shape);
}

// Whether some number of each channel is not below `low`, and some is not above `high`. Where all
// are on one side, the result is a bound that no number of the type stands for.
bool MayReach(const QuantizedForm& form, double low, double high) {
  for (std::size_t c = 0; c < form.scale.size(); ++c) {
    if (IntegerFor(form, c, low) > HighestOf(form.dtype) ||
        IntegerFor(form, c, high) < LowestOf(form.dtype))
      return false;
  }
  return true;
}

// How many quanta the integers of a bound are off. One beyond the type bounds nothing.
double RoundedOff(const QuantizedForm& form, double bound) {
  double most = 0;
  for (std::size_t c = 0; c < form.scale.size(); ++c) {
    const double integer = IntegerFor(form, c, bound), exact = bound / form.scale[c];
    if (integer < LowestOf(form.dtype) || integer > HighestOf(form.dtype)) continue;
    most = std::max(most, std::fabs(exact - std::nearbyint(exact)));
  }
  return most;
}

std::optional<QuantizedForm> Clip(const CallNode& call, const QuantizedForm& form,
                                  const Shape& shape) {
  const auto& attrs = call.attrs.As<ops::ClipAttrs>();
  if (std::isnan(attrs.a_min) || std::isnan(attrs.a_max) || attrs.a_min > attrs.a_max ||
      !MayReach(form, attrs.a_min, attrs.a_max))
    return std::nullopt;
  const Expr above = ops::Maximum(form.data, IntegersOf(form, attrs.a_min));
  QuantizedForm clipped = form.With(ops::Minimum(above, IntegersOf(form, attrs.a_max)), shape);
  clipped.most = QuantizedForm::kInt32End;  // a limit may be any number
  clipped.error += std::max(RoundedOff(form, attrs.a_min), RoundedOff(form, attrs.a_max));
  return clipped;
}

// Integers are multiplied by the largest power of two that keeps their sums within int32. What the
// division drops is less than one of the result, whose quantum is as many times smaller.
std::optional<QuantizedForm> Mean(const CallNode& call, const QuantizedForm& form,
                                  const Shape& shape) {
  // A zero point far outside of bytes makes differences that int32 may not hold.
  if (!form.is_single() || !form.is_byte() || std::abs(form.zero_point[0]) > 256)
    return std::nullopt;
  std::int64_t terms = NumElements(form.shape) / std::max<std::int64_t>(1, NumElements(shape));
  if (call.callee == ops::Known().avg_pool2d) {
    const auto& pool = call.attrs.As<ops::AvgPool2DAttrs>().pool_size;
    terms = pool.size() == 1 ? pool[0] * pool[0] : pool[0] * pool[1];
  }
  std::int64_t factor = 256;
  while (factor > 8 && terms > (std::int64_t{1} << 22) / factor) factor /= 2;
  const double scale = form.scale[0] / static_cast<double>(factor);
  if (factor == 8 || !IsScale(scale)) return std::nullopt;
  Expr data = ops::Cast(form.data, Int32);
  if (!form.is_centered())
    data = ops::Subtract(data, ops::Scalar(static_cast<double>(form.zero_point[0]), Int32));
  data = ops::Multiply(data, ops::Scalar(static_cast<double>(factor), Int32));
  QuantizedForm mean = form.With(CallOver(call, data), shape);
  mean.dtype = Int32;
  mean.scale[0] = scale;
  mean.zero_point[0] = 0;
  mean.error = 1 + form.error * static_cast<double>(factor);
  mean.most = 512.0 * static_cast<double>(factor);  // a byte and its zero point
  return mean;
}

Rules MakeMovingRules() {
  const auto& known = ops::Known();
  Rules rules;
  for (const Expr& op :
       {known.reshape, known.squeeze, known.expand_dims, known.strided_slice, known.batch_flatten,
        known.broadcast_to, known.take, known.tile, known.reverse, known.copy})
    rules.emplace(op, Move);
  for (const Expr& op : {known.max, known.min}) rules.emplace(op, Extremum);
  rules.emplace(known.max_pool2d, MaxPool);
  rules.emplace(known.global_max_pool2d, GlobalMaxPool);
  rules.emplace(known.transpose, Transpose);
  rules.emplace(known.pad, Pad);
  rules.emplace(known.relu, Relu);
  rules.emplace(known.clip, Clip);
  return rules;
}

const FormRule* RuleIn(const Rules& rules, const Expr& op) {
  const auto found = rules.find(op);
  return found == rules.end() ? nullptr : &found->second;
}

}  // namespace

bool QuantizedForm::is_centered() const {
  return std::all_of(zero_point.begin(), zero_point.end(), [](auto z) { return z == 0; });
}

bool QuantizedForm::SameParameters(const QuantizedForm& other) const {
  return dtype == other.dtype && scale == other.scale && zero_point == other.zero_point &&
         (is_single() || axis == other.axis);
}

bool QuantizedForm::IsWithinHalfQuantumOf(const QuantizedForm& target) const {
  return std::all_of(scale.begin(), scale.end(),
                     [&](double own) { return error * own <= target.scale[0] / 2; });
}

bool QuantizedForm::HasFactorTo(const QuantizedForm& target) const {
  return std::all_of(scale.begin(), scale.end(), [&](double own) {
    return std::isfinite(static_cast<float>(own) / static_cast<float>(target.scale[0]));
  });
}

double QuantizedForm::LargestNumber() const {
  double largest = 0;
  for (std::size_t c = 0; c < scale.size(); ++c) {
    const auto zero = static_cast<double>(zero_point[c]);
    largest =
        std::max(largest, scale[c] * std::max(HighestOf(dtype) - zero, zero - LowestOf(dtype)));
  }
  return largest;
}

ops::QnnParameters QuantizedForm::Parameters() const {
  const Shape channels = is_single() ? Shape{} : Shape{static_cast<std::int64_t>(scale.size())};
  return {ConstantOf(channels, Float32, scale),
          is_centered() ? ops::Scalar(0, Int32) : ConstantOf(channels, Int32, zero_point)};
}

QuantizedForm QuantizedForm::With(Expr other, Shape to) const {
  QuantizedForm form = *this;
  form.data = std::move(other);
  form.shape = std::move(to);
  return form;
}

double MostOf(const Expr& integers) {
  const auto numbers = Integers(integers);
  if (!numbers) return QuantizedForm::kInt32End;
  double most = 0;
  for (const std::int64_t number : *numbers)
    most = std::max(most, std::abs(static_cast<double>(number)));
  return most;
}

std::optional<QuantizedForm> DequantizedForm(const CallNode& call, const Shape& shape) {
  const auto& attrs = call.attrs.As<ops::DequantizeAttrs>();
  const auto* type = call.args[0].checked_type().As<ir::TensorTypeNode>();
  if (attrs.out_dtype != Float32 || type == nullptr) return std::nullopt;
  auto form = ParametersOf(call, type->dtype, attrs.axis, shape);
  if (!form) return std::nullopt;
  form->data = call.args[0];
  form->most = MostOf(call.args[0]);
  return form;
}

std::optional<QuantizedForm> QuantizeTarget(const CallNode& call, const Shape& shape) {
  const auto& attrs = call.attrs.As<ops::QuantizeAttrs>();
  return ParametersOf(call, attrs.out_dtype, attrs.axis, shape);
}

Expr Dequantize(const QuantizedForm& form) {
  const auto [scale, zero_point] = form.Parameters();
  return ops::QnnDequantize(
      form.data, scale, zero_point,
      {.out_dtype = Float32, .axis = form.is_single() ? -1 : static_cast<std::int64_t>(form.axis)});
}

Expr Requantize(const QuantizedForm& form, const QuantizedForm& target) {
  if (form.SameParameters(target)) return form.data;
  const auto [scale, zero_point] = form.Parameters();
  const auto [to_scale, to_zero_point] = target.Parameters();
  return ops::QnnRequantize(form.data, scale, zero_point, to_scale, to_zero_point,
                            {.axis = form.is_single() ? -1 : static_cast<std::int64_t>(form.axis),
                             .out_dtype = target.dtype});
}

const FormRule* MovingRule(const Expr& op) {
  static const Rules rules = MakeMovingRules();
  return RuleIn(rules, op);
}

const FormRule* MeanRule(const Expr& op) {
  static const Rules rules = [] {
    const auto& known = ops::Known();
    Rules made;
    for (const Expr& mean : {known.avg_pool2d, known.global_avg_pool2d, known.mean})
      made.emplace(mean, Mean);
    return made;
  }();
  return RuleIn(rules, op);
}

}  // namespace tenon::passes
