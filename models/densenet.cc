#include "tenon/models/densenet.h"

#include <array>
#include <vector>

#include "tenon/models/layers.h"

namespace tenon::models {
namespace {

constexpr std::array<int, 4> kBlocks = {6, 12, 24, 16};

Features BnRelu(Layers& layers, const Features& x) { return Layers::Relu(layers.BatchNorm(x)); }

// Every layer reads all that the block made before it.
Features DenseBlock(Layers& layers, const Features& x, int count) {
  const std::int64_t growth = layers.Width(32);
  std::vector<Features> parts = {x};
  for (int i = 0; i < count; ++i) {
    Features y = parts.size() == 1 ? x : Layers::Concatenate(parts);
    y = layers.Conv(BnRelu(layers, y), {.channels = 4 * growth});
    parts.push_back(layers.Conv(BnRelu(layers, y), {.channels = growth, .kernel = {3, 3}}));
  }
  return Layers::Concatenate(parts);
}

}  // namespace

ir::Module DenseNet121(const ImageOptions& options) {
  CheckImageOptions(options, 32);
  Layers layers(options);
  Features x = layers.ConvBnRelu(layers.Image(),
                                 {.channels = layers.Width(64), .kernel = {7, 7}, .stride = 2});
  x = Layers::MaxPool(x, {.size = 3, .stride = 2, .padding = 1});
  for (std::size_t block = 0; block < kBlocks.size(); ++block) {
    x = DenseBlock(layers, x, kBlocks[block]);
    if (block + 1 == kBlocks.size()) break;
    x = layers.Conv(BnRelu(layers, x), {.channels = x.channels / 2});
    x = Layers::AveragePool(x, {.size = 2, .stride = 2});
  }
  return layers.Classifier(BnRelu(layers, x));
}

}  // namespace tenon::models
