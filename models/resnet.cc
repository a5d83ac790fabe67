#include "tenon/models/resnet.h"

#include <array>

#include "tenon/models/layers.h"
#include "tenon/ops/builders.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::models {
namespace {

struct Depth {
  int layers;
  std::array<int, 4> blocks;
  bool bottleneck;
};
constexpr std::array<Depth, 5> kDepths = {{{18, {2, 2, 2, 2}, false},
                                           {34, {3, 4, 6, 3}, false},
                                           {50, {3, 4, 6, 3}, true},
                                           {101, {3, 4, 23, 3}, true},
                                           {152, {3, 8, 36, 3}, true}}};

const Depth& FindDepth(int layers) {
  for (const Depth& depth : kDepths) {
    if (depth.layers == layers) return depth;
  }
  throw InvalidArgument(
      StrCat("there is no ResNet of depth ", layers, "; depths are 18, 34, 50, 101, 152"));
}

Features Block(Layers& layers, const Features& x, std::int64_t width, std::int64_t stride,
               bool bottleneck) {
  Features y = x;
  if (bottleneck) {
    y = layers.ConvBnRelu(y, {.channels = width});
    y = layers.ConvBnRelu(y, {.channels = width, .kernel = {3, 3}, .stride = stride});
    y = layers.ConvBn(y, {.channels = 4 * width});
  } else {
    y = layers.ConvBnRelu(y, {.channels = width, .kernel = {3, 3}, .stride = stride});
    y = layers.ConvBn(y, {.channels = width, .kernel = {3, 3}});
  }
  Features shortcut = x;
  if (stride != 1 || x.channels != y.channels)
    shortcut = layers.ConvBn(x, {.channels = y.channels, .stride = stride});
  return {ops::Relu(ops::Add(y.value, shortcut.value)), y.channels};
}

}  // namespace

ir::Module ResNet(int depth, const ImageOptions& options) {
  const Depth& found = FindDepth(depth);
  CheckImageOptions(options, 32);
  Layers layers(options);
  Features x = layers.ConvBnRelu(layers.Image(),
                                 {.channels = layers.Width(64), .kernel = {7, 7}, .stride = 2});
  x = Layers::MaxPool(x, {.size = 3, .stride = 2, .padding = 1});
  for (std::size_t stage = 0; stage < found.blocks.size(); ++stage) {
    for (int block = 0; block < found.blocks[stage]; ++block)
      x = Block(layers, x, layers.Width(std::int64_t{64} << stage), stage > 0 && block == 0 ? 2 : 1,
                found.bottleneck);
  }
  return layers.Classifier(x);
}

}  // namespace tenon::models
