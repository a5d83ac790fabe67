// DenseNet-121 with generated weights: Huang et al., "Densely Connected Convolutional Networks",
// 2016, table 1.
//
//   ir::Module m = DenseNet121();   // @main(%data) -> (1, 1000)
#ifndef TENON_MODELS_DENSENET_H_
#define TENON_MODELS_DENSENET_H_

#include "tenon/ir/module.h"
#include "tenon/models/image_options.h"

namespace tenon::models {

// Throws InvalidArgument for images narrower than 32.
ir::Module DenseNet121(const ImageOptions& options = {});

}  // namespace tenon::models

#endif  // TENON_MODELS_DENSENET_H_
