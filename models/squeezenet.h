// SqueezeNet 1.1 with generated weights: Iandola et al., "SqueezeNet: AlexNet-level accuracy with
// 50x fewer parameters", 2016, in the version of the authors' repository, which torchvision calls
// squeezenet1_1.
//
//   ir::Module m = SqueezeNet();   // @main(%data) -> (1, 1000)
#ifndef TENON_MODELS_SQUEEZENET_H_
#define TENON_MODELS_SQUEEZENET_H_

#include "tenon/ir/module.h"
#include "tenon/models/image_options.h"

namespace tenon::models {

// Throws InvalidArgument for images narrower than 17.
ir::Module SqueezeNet(const ImageOptions& options = {});

}  // namespace tenon::models

#endif  // TENON_MODELS_SQUEEZENET_H_
