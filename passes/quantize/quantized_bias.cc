#include "tenon/passes/quantize/quantized_bias.h"

#include <algorithm>
#include <cmath>

namespace tenon::passes {

using ir::Expr;

namespace {

// How much the scales of a bias may differ from those of its product.
constexpr double kSameScale = 1e-5;

}  // namespace

std::optional<std::size_t> AxisOf(const Shape& shape, std::size_t rank) {
  std::optional<std::size_t> axis;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == 1) continue;
    if (axis) return std::nullopt;
    axis = rank - shape.size() + d;
  }
  return axis ? axis : std::optional(rank - 1);
}

std::optional<double> DistanceOfScales(const QuantizedForm& form, const QuantizedForm& bias) {
  if (bias.scale.size() != 1 && bias.scale.size() != form.scale.size()) return std::nullopt;
  double distance = 0;
  for (std::size_t c = 0; c < form.scale.size(); ++c) {
    const double scale = bias.scale[bias.is_single() ? 0 : c];
    distance = std::max(distance, std::fabs(scale - form.scale[c]) / form.scale[c]);
  }
  return distance <= kSameScale ? std::optional(distance) : std::nullopt;
}

std::optional<RoundedNumbers> RoundedBias(const QuantizedForm& form, const NDArray& bias) {
  if (bias.dtype() != Float32) return std::nullopt;
  const auto count = static_cast<std::size_t>(bias.size());
  if (count == 0 || (!form.is_single() && count != form.scale.size() && count != 1))
    return std::nullopt;
  const std::size_t channels = std::max(count, form.scale.size());
  NDArray rounded = NDArray::Empty({static_cast<std::int64_t>(channels)}, Int32);
  double error = 0;
  for (std::size_t c = 0; c < channels; ++c) {
    const double exact = static_cast<double>(bias.data<float>()[count == 1 ? 0 : c]) /
                         form.scale[form.is_single() ? 0 : c];
    const double value = std::nearbyint(exact);
    // With a larger bias, the sum itself would not fit.
    if (!(std::fabs(value) < std::ldexp(1.0, 30))) return std::nullopt;
    rounded.data<std::int32_t>()[c] = static_cast<std::int32_t>(value);
    error = std::max(error, std::fabs(exact - value));
  }
  return RoundedNumbers{ir::Constant::Make(std::move(rounded)), error};
}

}  // namespace tenon::passes
