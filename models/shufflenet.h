// ShuffleNet V2 1.0x with generated weights: Ma et al., "ShuffleNet V2: Practical Guidelines for
// Efficient CNN Architecture Design", 2018, table 5.
//
//   ir::Module m = ShuffleNetV2();   // @main(%data) -> (1, 1000)
#ifndef TENON_MODELS_SHUFFLENET_H_
#define TENON_MODELS_SHUFFLENET_H_

#include "tenon/ir/module.h"
#include "tenon/models/image_options.h"

namespace tenon::models {

// Throws InvalidArgument unless images are at least 32 wide and their size is a multiple of 32.
ir::Module ShuffleNetV2(const ImageOptions& options = {});

}  // namespace tenon::models

#endif  // TENON_MODELS_SHUFFLENET_H_
