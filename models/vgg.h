// VGG with generated weights: Simonyan and Zisserman, "Very Deep Convolutional Networks for
// Large-Scale Image Recognition", 2014; its variants with batch norm are those of torchvision.
//
//   ir::Module m = Vgg({.depth = 16, .batch_norm = true});   // @main(%data) -> (1, 1000)
#ifndef TENON_MODELS_VGG_H_
#define TENON_MODELS_VGG_H_

#include <cstdint>

#include "tenon/ir/module.h"

namespace tenon::models {

struct VggOptions {
  int depth = 16;  // layers with weights: 11, 13, 16 or 19
  bool batch_norm = false;
  std::int64_t batch = 1;
  std::int64_t image_size = 224;   // a multiple of 32
  std::int64_t width_divisor = 1;  // of the channels and of the hidden features
  std::int64_t classes = 1000;
  std::uint64_t seed = 1;
};

// @main from float32 images %data of shape (batch, 3, image_size, image_size) to logits of shape
// (batch, classes). Throws InvalidArgument for impossible values.
ir::Module Vgg(const VggOptions& options = {});

}  // namespace tenon::models

#endif  // TENON_MODELS_VGG_H_
