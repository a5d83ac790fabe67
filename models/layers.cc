#include "tenon/models/layers.h"

#include <algorithm>
#include <vector>

#include "tenon/ops/builders.h"
#include "tenon/ops/known_ops.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::models {

using ir::Expr;

void CheckImageOptions(const ImageOptions& o, std::int64_t min_size) {
  if (o.batch < 1 || o.classes < 1)
    throw InvalidArgument(
        StrCat("batch is ", o.batch, " and classes ", o.classes, "; both must be at least 1"));
  if (o.image_size < min_size)
    throw InvalidArgument(
        StrCat("image_size is ", o.image_size, "; it must be at least ", min_size));
  if (o.width_divisor < 1 || o.width_divisor > 64)
    throw InvalidArgument(
        StrCat("width_divisor is ", o.width_divisor, "; it must be from 1 to 64"));
}

Layers::Layers(const ImageOptions& options, double batch_norm_epsilon)
    : options_(options),
      epsilon_(batch_norm_epsilon),
      weights_(options.seed),
      data_(ir::Var::Make(
          "data",
          ir::TensorType({options.batch, 3, options.image_size, options.image_size}, Float32))) {}

std::int64_t Layers::Width(std::int64_t channels) const {
  if (options_.width_divisor == 1) return channels;
  return std::max<std::int64_t>(2, channels / options_.width_divisor / 2 * 2);
}

Features Layers::Conv(const Features& x, const ConvLayer& layer) {
  const ops::Ints padding =
      layer.padding.value_or(ops::Ints{layer.kernel[0] / 2, layer.kernel[1] / 2});
  Expr y = ops::Conv2D(x.value,
                       weights_.Kernel({layer.channels, x.channels / layer.groups, layer.kernel[0],
                                        layer.kernel[1]}),
                       {.strides = {layer.stride, layer.stride},
                        .padding = padding,
                        .groups = layer.groups,
                        .channels = layer.channels,
                        .kernel_size = layer.kernel});
  if (layer.bias) y = ops::BiasAdd(y, weights_.Vector(layer.channels, -0.1, 0.1));
  return {y, layer.channels};
}

// The ranges keep the variance of activations near its value, even through a hundred layers.
Features Layers::BatchNorm(const Features& x) {
  const Expr gamma = weights_.Vector(x.channels, 0.5, 1.5);
  const Expr beta = weights_.Vector(x.channels, -0.2, 0.2);
  const Expr mean = weights_.Vector(x.channels, -0.2, 0.2);
  const Expr var = weights_.Vector(x.channels, 0.7, 1.7);
  return {ir::TupleGetItem::Make(
              ops::BatchNorm(x.value, gamma, beta, mean, var, {.epsilon = epsilon_}), 0),
          x.channels};
}

Features Layers::ConvBn(const Features& x, const ConvLayer& layer) {
  return BatchNorm(Conv(x, layer));
}

Features Layers::ConvBnRelu(const Features& x, const ConvLayer& layer) {
  return Relu(ConvBn(x, layer));
}

Expr Layers::Dense(const Expr& x, std::int64_t in, std::int64_t out) {
  const Expr weight = weights_.Kernel({out, in});
  return ops::BiasAdd(ops::Dense(x, weight, {.units = out}), weights_.Vector(out, -0.1, 0.1));
}

Features Layers::Relu(const Features& x) { return {ops::Relu(x.value), x.channels}; }

Features Layers::MaxPool(const Features& x, const PoolLayer& layer) {
  return {ops::MaxPool2D(x.value, {.pool_size = {layer.size, layer.size},
                                   .strides = {layer.stride, layer.stride},
                                   .padding = {layer.padding, layer.padding},
                                   .ceil_mode = layer.ceil_mode}),
          x.channels};
}

Features Layers::AveragePool(const Features& x, const PoolLayer& layer) {
  return {ops::AvgPool2D(x.value, {.pool_size = {layer.size, layer.size},
                                   .strides = {layer.stride, layer.stride},
                                   .padding = {layer.padding, layer.padding},
                                   .ceil_mode = layer.ceil_mode,
                                   .count_include_pad = true}),
          x.channels};
}

Features Layers::Concatenate(const std::vector<Features>& parts) {
  std::vector<Expr> values;
  std::int64_t channels = 0;
  for (const Features& part : parts) {
    values.push_back(part.value);
    channels += part.channels;
  }
  return {ops::Concatenate(std::move(values), 1), channels};
}

Expr Layers::AverageOfImage(const Features& x) {
  return ir::Call::Make(ops::Known().batch_flatten, {ops::GlobalAvgPool2D(x.value)});
}

ir::Module Layers::Classifier(const Features& x, double dropout) {
  Expr y = AverageOfImage(x);
  if (dropout > 0) y = ir::TupleGetItem::Make(ops::Dropout(y, dropout), 0);
  return Main(Dense(y, x.channels, options_.classes));
}

ir::Module Layers::Main(const Expr& result) const {
  return ir::Module().With("main", ir::Function::Make({data_}, result));
}

Expr HardSigmoid(const Expr& x) {
  return ops::Divide(ops::Clip(ops::Add(x, ops::Scalar(3)), 0, 6), ops::Scalar(6));
}

Expr HardSwish(const Expr& x) { return ops::Multiply(x, HardSigmoid(x)); }

}  // namespace tenon::models
