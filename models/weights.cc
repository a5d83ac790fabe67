// Numbers come from SplitMix64 (Steele, Lea, Flood: "Fast Splittable Pseudorandom Number
// Generators", 2014), two floats of 24 bits per step.
#include "tenon/models/weights.h"

#include <cmath>

namespace tenon::models {

ir::Expr Weights::Kernel(Shape shape) {
  std::int64_t fan_in = 1;
  for (std::size_t i = 1; i < shape.size(); ++i) fan_in *= shape[i];
  const auto bound = static_cast<float>(std::sqrt(6.0 / static_cast<double>(fan_in)));
  return Uniform(std::move(shape), -bound, bound);
}

ir::Expr Weights::Vector(std::int64_t size, double low, double high) {
  return Uniform({size}, static_cast<float>(low), static_cast<float>(high));
}

ir::Expr Weights::Uniform(Shape shape, float low, float high) {
  NDArray values = NDArray::Empty(std::move(shape), Float32);
  float* out = values.data<float>();
  const float step = (high - low) * 0x1p-24F;
  std::uint64_t bits = 0;
  for (std::int64_t i = 0; i < values.size(); ++i) {
    if (i % 2 == 0) {
      state_ += 0x9E3779B97F4A7C15U;
      bits = state_;
      bits = (bits ^ (bits >> 30U)) * 0xBF58476D1CE4E5B9U;
      bits = (bits ^ (bits >> 27U)) * 0x94D049BB133111EBU;
      bits ^= bits >> 31U;
    } else {
      bits >>= 32U;
    }
    out[i] = low + step * static_cast<float>(bits & 0xFFFFFFU);
  }
  return ir::Constant::Make(values);
}

}  // namespace tenon::models
