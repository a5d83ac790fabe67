// ResNet with generated weights: He, Zhang, Ren and Sun, "Deep Residual Learning for Image
// Recognition", 2015, table 1. In bottlenecks the 3 x 3 convolution has the stride, as in
// torchvision.
//
//   ir::Module m = ResNet(50);   // @main(%data) -> (1, 1000)
#ifndef TENON_MODELS_RESNET_H_
#define TENON_MODELS_RESNET_H_

#include "tenon/ir/module.h"
#include "tenon/models/image_options.h"

namespace tenon::models {

// Throws InvalidArgument unless the depth is 18, 34, 50, 101 or 152 and images are at least 32
// wide.
ir::Module ResNet(int depth, const ImageOptions& options = {});

}  // namespace tenon::models

#endif  // TENON_MODELS_RESNET_H_
