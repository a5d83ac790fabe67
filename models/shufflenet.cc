#include "tenon/models/shufflenet.h"

#include <array>

#include "tenon/models/layers.h"
#include "tenon/ops/builders.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::models {
namespace {

using ir::Expr;

struct Stage {
  std::int64_t channels;
  int blocks;
};
constexpr std::array<Stage, 3> kStages = {{{116, 4}, {232, 8}, {464, 4}}};

// Interleaves the channels of the two halves.
Expr Shuffle(const Features& x, std::int64_t batch, std::int64_t side) {
  Expr y = ops::Reshape(x.value, {batch, 2, x.channels / 2, side, side});
  y = ops::Transpose(y, ops::Ints{0, 2, 1, 3, 4});
  return ops::Reshape(y, {batch, x.channels, side, side});
}

Features Depthwise(Layers& layers, const Features& x, std::int64_t stride) {
  return layers.ConvBn(
      x, {.channels = x.channels, .kernel = {3, 3}, .stride = stride, .groups = x.channels});
}

Features Branch(Layers& layers, const Features& x, std::int64_t width, std::int64_t stride) {
  const Features y = Depthwise(layers, layers.ConvBnRelu(x, {.channels = width}), stride);
  return layers.ConvBnRelu(y, {.channels = width});
}

// Each of the two branches makes half of the result's channels.
Features Block(Layers& layers, const Features& x, std::int64_t half, bool first) {
  if (first) {
    const Features left = layers.ConvBnRelu(Depthwise(layers, x, 2), {.channels = half});
    return Layers::Concatenate({left, Branch(layers, x, half, 2)});
  }
  const Expr halves = ops::Split(x.value, {.indices_or_sections = std::int64_t{2}, .axis = 1});
  const Features right{ir::TupleGetItem::Make(halves, 1), half};
  return Layers::Concatenate(
      {{ir::TupleGetItem::Make(halves, 0), half}, Branch(layers, right, half, 1)});
}

}  // namespace

ir::Module ShuffleNetV2(const ImageOptions& options) {
  CheckImageOptions(options, 32);
  if (options.image_size % 32 != 0)
    throw InvalidArgument(
        StrCat("image_size is ", options.image_size, "; it must be a multiple of 32"));
  Layers layers(options);
  Features x = layers.ConvBnRelu(layers.Image(),
                                 {.channels = layers.Width(24), .kernel = {3, 3}, .stride = 2});
  x = Layers::MaxPool(x, {.size = 3, .stride = 2, .padding = 1});
  std::int64_t side = options.image_size / 4;
  for (const Stage& stage : kStages) {
    side /= 2;
    const std::int64_t half = layers.Width(stage.channels / 2);
    for (int i = 0; i < stage.blocks; ++i) {
      x = Block(layers, x, half, i == 0);
      x.value = Shuffle(x, options.batch, side);
    }
  }
  return layers.Classifier(layers.ConvBnRelu(x, {.channels = layers.Width(1024)}));
}

}  // namespace tenon::models
