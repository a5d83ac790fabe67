// MobileNets with generated weights: Sandler et al., "MobileNetV2: Inverted Residuals and Linear
// Bottlenecks", 2018, table 2; Howard et al., "Searching for MobileNetV3", 2019, table 1.
//
//   ir::Module m = MobileNetV2();   // @main(%data) -> (1, 1000)
#ifndef TENON_MODELS_MOBILENET_H_
#define TENON_MODELS_MOBILENET_H_

#include "tenon/ir/module.h"
#include "tenon/models/image_options.h"

namespace tenon::models {

// Both throw InvalidArgument for images narrower than 32.
ir::Module MobileNetV2(const ImageOptions& options = {});
// Gates have a quarter of the expanded channels, rounded to a multiple of 8, as in torchvision.
ir::Module MobileNetV3Large(const ImageOptions& options = {});

}  // namespace tenon::models

#endif  // TENON_MODELS_MOBILENET_H_
