#include "tenon/models/inception.h"

#include "tenon/models/layers.h"

namespace tenon::models {
namespace {

const ops::Ints kNoPadding = {0, 0};

// Layers with channels as published; all have batch norm and relu.
class Builder {
 public:
  explicit Builder(const ImageOptions& options) : layers_(options, 1e-3) {}

  Layers& layers() { return layers_; }
  Features Conv(const Features& x, ConvLayer layer) {
    layer.channels = layers_.Width(layer.channels);
    return layers_.ConvBnRelu(x, layer);
  }
  Features One(const Features& x, std::int64_t channels) { return Conv(x, {.channels = channels}); }
  Features Three(const Features& x, std::int64_t channels) {
    return Conv(x, {.channels = channels, .kernel = {3, 3}});
  }
  Features Halving(const Features& x, std::int64_t channels) {
    return Conv(x, {.channels = channels, .kernel = {3, 3}, .stride = 2, .padding = kNoPadding});
  }
  Features Wide(const Features& x, std::int64_t channels, std::int64_t width) {
    return Conv(x, {.channels = channels, .kernel = {1, width}});
  }
  Features High(const Features& x, std::int64_t channels, std::int64_t height) {
    return Conv(x, {.channels = channels, .kernel = {height, 1}});
  }
  Features PoolProjection(const Features& x, std::int64_t channels) {
    return One(Layers::AveragePool(x, {.size = 3, .stride = 1, .padding = 1}), channels);
  }

 private:
  Layers layers_;
};

// The columns of the paper's table: #1x1, #3x3 reduce, #3x3, #5x5 reduce, #5x5, pool proj.
struct Row {
  std::int64_t one, three_reduce, three, five_reduce, five, pool;
};

Features Module(Builder& b, const Features& x, const Row& row) {
  return Layers::Concatenate(
      {b.One(x, row.one), b.Three(b.One(x, row.three_reduce), row.three),
       b.Three(b.One(x, row.five_reduce), row.five),
       b.One(Layers::MaxPool(x, {.size = 3, .stride = 1, .padding = 1, .ceil_mode = true}),
             row.pool)});
}

// The names of torchvision's modules, in the order of the paper's figures 5 to 7.
Features ModuleA(Builder& b, const Features& x, std::int64_t pool) {
  return Layers::Concatenate({b.One(x, 64),
                              b.Conv(b.One(x, 48), {.channels = 64, .kernel = {5, 5}}),
                              b.Three(b.Three(b.One(x, 64), 96), 96), b.PoolProjection(x, pool)});
}

Features ModuleB(Builder& b, const Features& x) {
  return Layers::Concatenate({b.Halving(x, 384), b.Halving(b.Three(b.One(x, 64), 96), 96),
                              Layers::MaxPool(x, {.size = 3, .stride = 2})});
}

Features ModuleC(Builder& b, const Features& x, std::int64_t width) {
  const Features seven = b.High(b.Wide(b.One(x, width), width, 7), 192, 7);
  Features twice = b.Wide(b.High(b.One(x, width), width, 7), width, 7);
  twice = b.Wide(b.High(twice, width, 7), 192, 7);
  return Layers::Concatenate({b.One(x, 192), seven, twice, b.PoolProjection(x, 192)});
}

Features ModuleD(Builder& b, const Features& x) {
  const Features seven = b.High(b.Wide(b.One(x, 192), 192, 7), 192, 7);
  return Layers::Concatenate({b.Halving(b.One(x, 192), 320), b.Halving(seven, 192),
                              Layers::MaxPool(x, {.size = 3, .stride = 2})});
}

Features ModuleE(Builder& b, const Features& x) {
  const auto both = [&](const Features& y) {
    return Layers::Concatenate({b.Wide(y, 384, 3), b.High(y, 384, 3)});
  };
  return Layers::Concatenate({b.One(x, 320), both(b.One(x, 384)), both(b.Three(b.One(x, 448), 384)),
                              b.PoolProjection(x, 192)});
}

}  // namespace

ir::Module GoogLeNet(const ImageOptions& options) {
  CheckImageOptions(options, 32);
  constexpr PoolLayer kPool = {.size = 3, .stride = 2, .ceil_mode = true};
  Builder b(options);
  Features x = b.Conv(b.layers().Image(), {.channels = 64, .kernel = {7, 7}, .stride = 2});
  x = Layers::MaxPool(x, kPool);
  x = Layers::MaxPool(b.Three(b.One(x, 64), 192), kPool);
  x = Module(b, x, {64, 96, 128, 16, 32, 32});
  x = Module(b, x, {128, 128, 192, 32, 96, 64});
  x = Layers::MaxPool(x, kPool);
  x = Module(b, x, {192, 96, 208, 16, 48, 64});
  x = Module(b, x, {160, 112, 224, 24, 64, 64});
  x = Module(b, x, {128, 128, 256, 24, 64, 64});
  x = Module(b, x, {112, 144, 288, 32, 64, 64});
  x = Module(b, x, {256, 160, 320, 32, 128, 128});
  x = Layers::MaxPool(x, {.size = 2, .stride = 2, .ceil_mode = true});
  x = Module(b, x, {256, 160, 320, 32, 128, 128});
  x = Module(b, x, {384, 192, 384, 48, 128, 128});
  return b.layers().Classifier(x, 0.2);
}

ir::Module InceptionV3(const ImageOptions& options) {
  CheckImageOptions(options, 75);
  Builder b(options);
  Features x = b.Halving(b.layers().Image(), 32);
  x = b.Conv(x, {.channels = 32, .kernel = {3, 3}, .padding = kNoPadding});
  x = Layers::MaxPool(b.Three(x, 64), {.size = 3, .stride = 2});
  x = b.Conv(b.One(x, 80), {.channels = 192, .kernel = {3, 3}, .padding = kNoPadding});
  x = Layers::MaxPool(x, {.size = 3, .stride = 2});
  x = ModuleA(b, x, 32);
  x = ModuleA(b, x, 64);
  x = ModuleA(b, x, 64);
  x = ModuleB(b, x);
  for (const std::int64_t width : {128, 160, 160, 192}) x = ModuleC(b, x, width);
  x = ModuleD(b, x);
  x = ModuleE(b, ModuleE(b, x));
  return b.layers().Classifier(x, 0.5);
}

}  // namespace tenon::models
