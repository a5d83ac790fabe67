// Options that all image classifiers have.
//
//   ir::Module m = ResNet(18, {.image_size = 64, .width_divisor = 8, .classes = 10});
#ifndef TENON_MODELS_IMAGE_OPTIONS_H_
#define TENON_MODELS_IMAGE_OPTIONS_H_

#include <cstdint>

namespace tenon::models {

struct ImageOptions {
  std::int64_t batch = 1;
  std::int64_t image_size = 224;   // height and width
  std::int64_t width_divisor = 1;  // of the channels; above 1, they become even, at least 2
  std::int64_t classes = 1000;
  std::uint64_t seed = 1;
};

// Throws InvalidArgument for impossible values, including an image smaller than `min_size`.
void CheckImageOptions(const ImageOptions& options, std::int64_t min_size);

}  // namespace tenon::models

#endif  // TENON_MODELS_IMAGE_OPTIONS_H_
