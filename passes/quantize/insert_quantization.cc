// Scales and zero points are those of Jacob et al., "Quantization and Training of Neural Networks
// for Efficient Integer-Arithmetic-Only Inference" (2018), section 2.1; weights are symmetrical,
// with a scale for each channel of the result.
#include "tenon/passes/quantize/insert_quantization.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <unordered_map>
#include <utility>

#include "tenon/ir/visit.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/quantize/qnn_builders.h"
#include "tenon/passes/infer_type.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::passes {
namespace {

using ir::Expr;

constexpr float kSteps = 255;    // of uint8
constexpr float kLargest = 127;  // of int8: -128 is not used, so that negation is exact
// Smaller scales are not normal numbers, and their reciprocals overflow.
constexpr float kMinScale = std::numeric_limits<float>::min() * 4;

void CheckRanges(const QuantizationPlan& plan, std::span<const ByteRange> ranges) {
  if (ranges.size() != plan.values.size())
    throw InvalidArgument(
        StrCat("there are ", ranges.size(), " ranges for ", plan.values.size(), " values"));
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const auto [low, high] = ranges[i];
    if (!std::isfinite(low) || !std::isfinite(high) || low > high)
      throw InvalidArgument(StrCat("the range of value ", i, " is from ", low, " to ", high,
                                   "; its ends must be finite and in order"));
  }
}

// The nearest byte to each end and 0 exactly.
ops::QnnParameters ParametersFor(const ByteRange& range) {
  const float low = std::min(range.low, 0.0F), high = std::max(range.high, 0.0F);
  const float scale = std::max(high / kSteps - low / kSteps, kMinScale);
  const float zero_point = std::clamp(std::nearbyint(-low / scale), 0.0F, kSteps);
  return {ops::Scalar(scale), ops::Scalar(zero_point, UInt8)};
}

// A weight as int8, with a scale for each channel along an axis or one for all.
class ByteWeight {
 public:
  ByteWeight(const NDArray& weight, std::optional<std::size_t> axis)
      : weight_(weight), axis_(axis) {
    channels_ = axis ? weight.shape()[*axis] : 1;
    for (std::size_t d = axis ? *axis + 1 : weight.shape().size(); d < weight.shape().size(); ++d)
      inner_ *= weight.shape()[d];
    scales_.assign(static_cast<std::size_t>(channels_), 0);
    for (std::int64_t i = 0; i < weight.size(); ++i)
      scales_[ChannelOf(i)] = std::max(scales_[ChannelOf(i)], std::fabs(Given(i)));
    for (float& scale : scales_) scale = std::max(scale / kLargest, kMinScale);
  }

  float Given(std::int64_t i) const { return weight_.data<float>()[i]; }
  float ByteOf(std::int64_t i) const {
    return std::clamp(std::nearbyint(Given(i) / scales_[ChannelOf(i)]), -kLargest, kLargest);
  }
  float Rounded(std::int64_t i) const { return ByteOf(i) * scales_[ChannelOf(i)]; }

  Expr Dequantized() const {
    NDArray bytes = NDArray::Empty(weight_.shape(), Int8);
    for (std::int64_t i = 0; i < weight_.size(); ++i)
      bytes.data<std::int8_t>()[i] = static_cast<std::int8_t>(ByteOf(i));
    const Shape shape = axis_ ? Shape{channels_} : Shape{};
    NDArray zeros = NDArray::Empty(shape, Int8);
    std::fill_n(zeros.data<std::int8_t>(), channels_, std::int8_t{0});
    return ops::QnnDequantize(ir::Constant::Make(std::move(bytes)),
                              ir::Constant::Make(NDArray::FromVector<float>(shape, scales_)),
                              ir::Constant::Make(std::move(zeros)),
                              {.axis = axis_ ? static_cast<std::int64_t>(*axis_) : -1});
  }

 private:
  std::size_t ChannelOf(std::int64_t i) const {
    return static_cast<std::size_t>(axis_ ? i / inner_ % channels_ : 0);
  }

  const NDArray weight_;
  const std::optional<std::size_t> axis_;
  std::int64_t channels_ = 1, inner_ = 1;
  std::vector<float> scales_;
};

class Inserter {
 public:
  Inserter(const QuantizationPlan& plan, std::span<const ByteRange> ranges) : ranges_(ranges) {
    for (const auto& operand : plan.operands)
      operands_[operand.call].emplace(operand.index, operand.value);
    for (const auto& weight : plan.weights)
      weights_[weight.call].emplace(weight.index, weight.axis);
  }

  Expr Rewrite(const Expr& original, const Expr& rebuilt) {
    const auto operands = operands_.find(original);
    const auto weights = weights_.find(original);
    if (operands == operands_.end() && weights == weights_.end()) return rebuilt;
    const auto* call = rebuilt.As<ir::CallNode>();
    std::vector<Expr> args = call->args;
    if (operands != operands_.end()) {
      const auto* tuple = args[0].As<ir::TupleNode>();
      std::vector<Expr> read = tuple == nullptr ? args : tuple->fields;
      for (const auto& [index, value] : operands->second) read[index] = Rounded(read[index], value);
      if (tuple == nullptr) {
        args = std::move(read);
      } else {
        args[0] = ir::Tuple::Make(std::move(read), args[0].span());
      }
    }
    if (weights != weights_.end()) {
      for (const auto& [index, axis] : weights->second)
        args[index] = ByteWeight(args[index].As<ir::ConstantNode>()->data, axis).Dequantized();
    }
    return ir::Call::Make(call->callee, std::move(args), call->attrs, rebuilt.span());
  }

 private:
  // dequantize(quantize(e)), one for all readers of the value.
  Expr Rounded(const Expr& e, std::size_t value) {
    Expr& rounded = rounded_[value];
    if (!rounded) {
      const auto [scale, zero_point] = ParametersFor(ranges_[value]);
      const Expr bytes = ops::QnnQuantize(e, scale, zero_point, {.out_dtype = UInt8});
      rounded = ops::QnnDequantize(bytes, scale, zero_point);
    }
    return rounded;
  }

  std::span<const ByteRange> ranges_;
  std::unordered_map<Expr, std::map<std::size_t, std::size_t>, ir::ExprHash> operands_;
  std::unordered_map<Expr, std::map<std::size_t, std::optional<std::size_t>>, ir::ExprHash>
      weights_;
  std::unordered_map<std::size_t, Expr> rounded_;
};

}  // namespace

double WeightNoise(const NDArray& weight, std::optional<std::size_t> axis) {
  const ByteWeight bytes(weight, axis);
  double error = 0, squares = 0;
  for (std::int64_t i = 0; i < weight.size(); ++i) {
    const double given = bytes.Given(i), off = given - static_cast<double>(bytes.Rounded(i));
    error += off * off;
    squares += given * given;
  }
  return squares == 0 ? 0 : error / squares;
}

ir::Module InsertQuantization(const ir::Module& module, const QuantizationPlan& plan,
                              std::span<const ByteRange> ranges) {
  CheckRanges(plan, ranges);
  Inserter inserter(plan, ranges);
  const Expr main =
      ir::RewritePostOrder(module.Get("main"), [&](const Expr& original, const Expr& rebuilt) {
        return inserter.Rewrite(original, rebuilt);
      });
  return InferType(module.With("main", main));
}

}  // namespace tenon::passes
