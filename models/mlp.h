// Small classifiers of digits with generated weights: a perceptron with two hidden layers, and
// LeNet-5 of LeCun et al., "Gradient-Based Learning Applied to Document Recognition", 1998, figure
// 2, with every map of the third layer connected and max pooling and relu as it is taught today.
//
//   ir::Module m = LeNet({.batch = 2});   // @main(%data) -> (2, 10)
#ifndef TENON_MODELS_MLP_H_
#define TENON_MODELS_MLP_H_

#include <cstdint>

#include "tenon/ir/module.h"

namespace tenon::models {

struct DigitOptions {
  std::int64_t batch = 1;
  std::uint64_t seed = 1;
};

// @main from %data of shape (batch, 784) over 128 and 64 features to logits of shape (batch, 10).
// Throws InvalidArgument for a batch under 1.
ir::Module Mlp(const DigitOptions& options = {});
// @main from images %data of shape (batch, 1, 32, 32) to logits of shape (batch, 10). As above.
ir::Module LeNet(const DigitOptions& options = {});

}  // namespace tenon::models

#endif  // TENON_MODELS_MLP_H_
