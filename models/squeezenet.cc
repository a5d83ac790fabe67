#include "tenon/models/squeezenet.h"

#include "tenon/models/layers.h"
#include "tenon/ops/builders.h"

namespace tenon::models {
namespace {

Features Fire(Layers& layers, const Features& x, std::int64_t squeeze, std::int64_t expand) {
  const Features s =
      Layers::Relu(layers.Conv(x, {.channels = layers.Width(squeeze), .bias = true}));
  const std::int64_t width = layers.Width(expand);
  const Features one = Layers::Relu(layers.Conv(s, {.channels = width, .bias = true}));
  const Features three =
      Layers::Relu(layers.Conv(s, {.channels = width, .kernel = {3, 3}, .bias = true}));
  return Layers::Concatenate({one, three});
}

}  // namespace

ir::Module SqueezeNet(const ImageOptions& options) {
  CheckImageOptions(options, 17);
  constexpr PoolLayer kPool = {.size = 3, .stride = 2, .ceil_mode = true};
  Layers layers(options);
  Features x = Layers::Relu(layers.Conv(layers.Image(), {.channels = layers.Width(64),
                                                         .kernel = {3, 3},
                                                         .stride = 2,
                                                         .padding = ops::Ints{0, 0},
                                                         .bias = true}));
  x = Layers::MaxPool(x, kPool);
  x = Fire(layers, Fire(layers, x, 16, 64), 16, 64);
  x = Layers::MaxPool(x, kPool);
  x = Fire(layers, Fire(layers, x, 32, 128), 32, 128);
  x = Layers::MaxPool(x, kPool);
  x = Fire(layers, Fire(layers, x, 48, 192), 48, 192);
  x = Fire(layers, Fire(layers, x, 64, 256), 64, 256);
  x.value = ir::TupleGetItem::Make(ops::Dropout(x.value), 0);
  x = Layers::Relu(layers.Conv(x, {.channels = options.classes, .bias = true}));
  return layers.Main(Layers::AverageOfImage(x));
}

}  // namespace tenon::models
