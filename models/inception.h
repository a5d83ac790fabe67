// Inception networks with generated weights, without the auxiliary classifiers, which only
// training uses: Szegedy et al., "Going Deeper with Convolutions", 2014, table 1, with batch norm
// and 3 x 3 in place of 5 x 5 as in torchvision's googlenet; Szegedy et al., "Rethinking the
// Inception Architecture for Computer Vision", 2015, as torchvision's inception_v3.
//
//   ir::Module m = InceptionV3({.image_size = 299});   // @main(%data) -> (1, 1000)
#ifndef TENON_MODELS_INCEPTION_H_
#define TENON_MODELS_INCEPTION_H_

#include "tenon/ir/module.h"
#include "tenon/models/image_options.h"

namespace tenon::models {

// Images are at least 32 wide; otherwise throws InvalidArgument.
ir::Module GoogLeNet(const ImageOptions& options = {});
// Images are at least 75 wide, 299 in the paper; otherwise throws InvalidArgument.
ir::Module InceptionV3(const ImageOptions& options = {.image_size = 299});

}  // namespace tenon::models

#endif  // TENON_MODELS_INCEPTION_H_
