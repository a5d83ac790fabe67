// Small digit classifiers with generated weights: a perceptron with two hidden layers, and LeNet-5
// (LeCun et al., "Gradient-Based Learning Applied to Document Recognition", 1998, figure 2). Here
// every map of LeNet's third layer is connected, and it uses max pooling and relu, as it is taught
// today.
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

// @main from %data of shape (batch, 784) through 128 and 64 features to logits of shape (batch,
// 10). Throws InvalidArgument for a batch below 1.
ir::Module Mlp(const DigitOptions& options = {});
// @main from images %data of shape (batch, 1, 32, 32) to logits of shape (batch, 10). As above.
ir::Module LeNet(const DigitOptions& options = {});

}  // namespace tenon::models

#endif  // TENON_MODELS_MLP_H_
