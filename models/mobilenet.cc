#include "tenon/models/mobilenet.h"

#include <algorithm>
#include <array>

#include "tenon/models/layers.h"
#include "tenon/ops/builders.h"

namespace tenon::models {
namespace {

using ir::Expr;

Features Relu6(const Features& x) { return {ops::Clip(x.value, 0, 6), x.channels}; }

// t, c, n, s of the paper: expansion, channels, repetitions and stride of the first.
struct Stage {
  std::int64_t expansion, channels, repetitions, stride;
};
constexpr std::array<Stage, 7> kStages = {{{1, 16, 1, 1},
                                           {6, 24, 2, 2},
                                           {6, 32, 3, 2},
                                           {6, 64, 4, 2},
                                           {6, 96, 3, 1},
                                           {6, 160, 3, 2},
                                           {6, 320, 1, 1}}};

Features InvertedResidual(Layers& layers, const Features& x, std::int64_t expansion,
                          std::int64_t channels, std::int64_t stride) {
  const std::int64_t hidden = expansion * x.channels;
  Features y = expansion == 1 ? x : Relu6(layers.ConvBn(x, {.channels = hidden}));
  y = Relu6(
      layers.ConvBn(y, {.channels = hidden, .kernel = {3, 3}, .stride = stride, .groups = hidden}));
  y = layers.ConvBn(y, {.channels = channels});
  if (stride == 1 && x.channels == channels) y.value = ops::Add(x.value, y.value);
  return y;
}

// Kernel, expanded channels, channels, whether gated, whether hard-swish (if not, relu), stride.
struct Row {
  std::int64_t kernel, expanded, channels;
  bool gate, hard_swish;
  std::int64_t stride;
};
constexpr std::array<Row, 15> kRows = {{{3, 16, 16, false, false, 1},
                                        {3, 64, 24, false, false, 2},
                                        {3, 72, 24, false, false, 1},
                                        {5, 72, 40, true, false, 2},
                                        {5, 120, 40, true, false, 1},
                                        {5, 120, 40, true, false, 1},
                                        {3, 240, 80, false, true, 2},
                                        {3, 200, 80, false, true, 1},
                                        {3, 184, 80, false, true, 1},
                                        {3, 184, 80, false, true, 1},
                                        {3, 480, 112, true, true, 1},
                                        {3, 672, 112, true, true, 1},
                                        {5, 672, 160, true, true, 2},
                                        {5, 960, 160, true, true, 1},
                                        {5, 960, 160, true, true, 1}}};

Features Activate(const Features& x, bool hard_swish) {
  return {hard_swish ? HardSwish(x.value) : ops::Relu(x.value), x.channels};
}

// The nearest multiple of 8 that is at least 90 % of the value.
std::int64_t MultipleOf8(std::int64_t value) {
  const std::int64_t rounded = std::max<std::int64_t>(8, (value + 4) / 8 * 8);
  return 10 * rounded < 9 * value ? rounded + 8 : rounded;
}

Features Gate(Layers& layers, const Features& x) {
  Features g{ops::GlobalAvgPool2D(x.value), x.channels};
  g = Layers::Relu(layers.Conv(g, {.channels = MultipleOf8(x.channels / 4), .bias = true}));
  g = layers.Conv(g, {.channels = x.channels, .bias = true});
  return {ops::Multiply(x.value, HardSigmoid(g.value)), x.channels};
}

Features Bottleneck(Layers& layers, const Features& x, const Row& row) {
  const std::int64_t expanded = layers.Width(row.expanded);
  Features y = x;
  if (expanded != x.channels)
    y = Activate(layers.ConvBn(x, {.channels = expanded}), row.hard_swish);
  y = Activate(layers.ConvBn(y, {.channels = expanded,
                                 .kernel = {row.kernel, row.kernel},
                                 .stride = row.stride,
                                 .groups = expanded}),
               row.hard_swish);
  if (row.gate) y = Gate(layers, y);
  y = layers.ConvBn(y, {.channels = layers.Width(row.channels)});
  if (row.stride == 1 && y.channels == x.channels) y.value = ops::Add(x.value, y.value);
  return y;
}

}  // namespace

ir::Module MobileNetV2(const ImageOptions& options) {
  CheckImageOptions(options, 32);
  Layers layers(options);
  Features x = Relu6(
      layers.ConvBn(layers.Image(), {.channels = layers.Width(32), .kernel = {3, 3}, .stride = 2}));
  for (const Stage& stage : kStages) {
    for (std::int64_t i = 0; i < stage.repetitions; ++i)
      x = InvertedResidual(layers, x, stage.expansion, layers.Width(stage.channels),
                           i == 0 ? stage.stride : 1);
  }
  return layers.Classifier(Relu6(layers.ConvBn(x, {.channels = layers.Width(1280)})), 0.2);
}

ir::Module MobileNetV3Large(const ImageOptions& options) {
  CheckImageOptions(options, 32);
  Layers layers(options, 1e-3);
  Features x = Activate(
      layers.ConvBn(layers.Image(), {.channels = layers.Width(16), .kernel = {3, 3}, .stride = 2}),
      true);
  for (const Row& row : kRows) x = Bottleneck(layers, x, row);
  x = Activate(layers.ConvBn(x, {.channels = layers.Width(960)}), true);
  const std::int64_t hidden = layers.Width(1280);
  Expr y = HardSwish(layers.Dense(Layers::AverageOfImage(x), x.channels, hidden));
  y = ir::TupleGetItem::Make(ops::Dropout(y, 0.2), 0);
  return layers.Main(layers.Dense(y, hidden, options.classes));
}

}  // namespace tenon::models
