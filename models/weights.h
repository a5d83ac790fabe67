// Generated weights, the same on every machine and in every run.
//
//   Weights weights(7);
//   ir::Expr w = weights.Kernel({64, 3, 3, 3});
#ifndef TENON_MODELS_WEIGHTS_H_
#define TENON_MODELS_WEIGHTS_H_

#include <cstdint>

#include "tenon/ir/expr.h"

namespace tenon::models {

class Weights {
 public:
  explicit Weights(std::uint64_t seed) : state_(seed) {}

  // A weight of shape (outputs, inputs, ...), uniform with variance 2 / fan-in, which keeps the
  // variance of activations through relu (He et al., "Delving Deep into Rectifiers", 2015).
  ir::Expr Kernel(Shape shape);
  // A vector, uniform in [low, high).
  ir::Expr Vector(std::int64_t size, double low, double high);

 private:
  ir::Expr Uniform(Shape shape, float low, float high);
  std::uint64_t state_;
};

}  // namespace tenon::models

#endif  // TENON_MODELS_WEIGHTS_H_
