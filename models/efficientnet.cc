#include "tenon/models/efficientnet.h"

#include <algorithm>
#include <array>

#include "tenon/models/layers.h"
#include "tenon/ops/builders.h"

namespace tenon::models {
namespace {

// Expansion, kernel, stride of the first layer, channels and layers of the stages 2 to 8.
struct Stage {
  std::int64_t expansion, kernel, stride, channels, layers;
};
constexpr std::array<Stage, 7> kStages = {{{1, 3, 1, 16, 1},
                                           {6, 3, 2, 24, 2},
                                           {6, 5, 2, 40, 2},
                                           {6, 3, 2, 80, 3},
                                           {6, 5, 1, 112, 3},
                                           {6, 5, 2, 192, 4},
                                           {6, 3, 1, 320, 1}}};

Features Silu(const Features& x) {
  return {ops::Multiply(x.value, ops::Sigmoid(x.value)), x.channels};
}

// The gate has a quarter of the channels that the block gets.
Features Gate(Layers& layers, const Features& x, std::int64_t squeezed) {
  Features g{ops::GlobalAvgPool2D(x.value), x.channels};
  g = Silu(layers.Conv(g, {.channels = squeezed, .bias = true}));
  g = layers.Conv(g, {.channels = x.channels, .bias = true});
  return {ops::Multiply(x.value, ops::Sigmoid(g.value)), x.channels};
}

Features Block(Layers& layers, const Features& x, const Stage& stage, std::int64_t stride) {
  const std::int64_t hidden = stage.expansion * x.channels;
  Features y = stage.expansion == 1 ? x : Silu(layers.ConvBn(x, {.channels = hidden}));
  y = Silu(layers.ConvBn(y, {.channels = hidden,
                             .kernel = {stage.kernel, stage.kernel},
                             .stride = stride,
                             .groups = hidden}));
  y = Gate(layers, y, std::max<std::int64_t>(1, x.channels / 4));
  y = layers.ConvBn(y, {.channels = layers.Width(stage.channels)});
  if (stride == 1 && y.channels == x.channels) y.value = ops::Add(x.value, y.value);
  return y;
}

}  // namespace

ir::Module EfficientNetB0(const ImageOptions& options) {
  CheckImageOptions(options, 32);
  Layers layers(options);
  Features x = Silu(
      layers.ConvBn(layers.Image(), {.channels = layers.Width(32), .kernel = {3, 3}, .stride = 2}));
  for (const Stage& stage : kStages) {
    for (std::int64_t i = 0; i < stage.layers; ++i)
      x = Block(layers, x, stage, i == 0 ? stage.stride : 1);
  }
  return layers.Classifier(Silu(layers.ConvBn(x, {.channels = layers.Width(1280)})), 0.2);
}

}  // namespace tenon::models
