// Layers with generated weights, from which the networks are built.
//
//   Layers layers({.classes = 10});
//   Features x = layers.ConvBnRelu(layers.Image(), {.channels = 64, .kernel = {7, 7}, .stride =
//   2}); ir::Module m = layers.Classifier(x);
#ifndef TENON_MODELS_LAYERS_H_
#define TENON_MODELS_LAYERS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "tenon/ir/module.h"
#include "tenon/models/image_options.h"
#include "tenon/models/weights.h"
#include "tenon/ops/ints.h"

namespace tenon::models {

// Images in the layout NCHW and the number of their channels.
struct Features {
  ir::Expr value;
  std::int64_t channels = 0;
};

struct ConvLayer {
  std::int64_t channels = 0;  // of the result, as given: see Layers::Width
  ops::Ints kernel = {1, 1};
  std::int64_t stride = 1;
  // Padding around height and width. If not given, half of the kernel, which keeps the size at
  // stride 1.
  std::optional<ops::Ints> padding;
  std::int64_t groups = 1;
  bool bias = false;
};

struct PoolLayer {
  std::int64_t size = 2;
  std::int64_t stride = 2;
  std::int64_t padding = 0;
  bool ceil_mode = false;
};

class Layers {
 public:
  explicit Layers(const ImageOptions& options, double batch_norm_epsilon = 1e-5);

  // The parameter %data.
  Features Image() const { return {data_, 3}; }
  // The number of channels after the division that the options ask for.
  std::int64_t Width(std::int64_t channels) const;

  Features Conv(const Features& x, const ConvLayer& layer);
  Features BatchNorm(const Features& x);
  Features ConvBn(const Features& x, const ConvLayer& layer);
  Features ConvBnRelu(const Features& x, const ConvLayer& layer);
  ir::Expr Dense(const ir::Expr& x, std::int64_t in, std::int64_t out);

  static Features Relu(const Features& x);
  static Features MaxPool(const Features& x, const PoolLayer& layer);
  // Padding counts in the divisor.
  static Features AveragePool(const Features& x, const PoolLayer& layer);
  static Features Concatenate(const std::vector<Features>& parts);
  // (batch, channels).
  static ir::Expr AverageOfImage(const Features& x);

  // Builds @main from %data: the average of each channel, dropout (if `dropout` is not 0) and a
  // dense layer to logits of shape (batch, classes).
  ir::Module Classifier(const Features& x, double dropout = 0);
  ir::Module Main(const ir::Expr& result) const;

 private:
  const ImageOptions options_;
  const double epsilon_;
  Weights weights_;
  ir::Var data_;
};

// x times the hard sigmoid of x: x * min(max(x + 3, 0), 6) / 6 (Howard et al., "Searching for
// MobileNetV3", 2019); and the hard sigmoid alone.
ir::Expr HardSwish(const ir::Expr& x);
ir::Expr HardSigmoid(const ir::Expr& x);

}  // namespace tenon::models

#endif  // TENON_MODELS_LAYERS_H_
