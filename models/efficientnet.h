// EfficientNet-B0 with generated weights: Tan and Le, "EfficientNet: Rethinking Model Scaling for
// Convolutional Neural Networks", 2019, table 1.
//
//   ir::Module m = EfficientNetB0();   // @main(%data) -> (1, 1000)
#ifndef TENON_MODELS_EFFICIENTNET_H_
#define TENON_MODELS_EFFICIENTNET_H_

#include "tenon/ir/module.h"
#include "tenon/models/image_options.h"

namespace tenon::models {

// Throws InvalidArgument for images narrower than 32.
ir::Module EfficientNetB0(const ImageOptions& options = {});

}  // namespace tenon::models

#endif  // TENON_MODELS_EFFICIENTNET_H_
