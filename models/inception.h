// Inception networks with generated weights, without the auxiliary classifiers, which only training
// uses. GoogLeNet is that of Szegedy et al., "Going Deeper with Convolutions", 2014, table 1, with
// batch norm and with 3 x 3 instead of 5 x 5, as in torchvision's googlenet. Inception v3 is that
// of Szegedy et al., "Rethinking the Inception Architecture for Computer Vision", 2015, as in
// torchvision's inception_v3.
//
//   ir::Module m = InceptionV3({.image_size = 299});   // @main(%data) -> (1, 1000)
#ifndef TENON_MODELS_INCEPTION_H_
#define TENON_MODELS_INCEPTION_H_

#include "tenon/ir/module.h"
#include "tenon/models/image_options.h"

namespace tenon::models {

// Throws InvalidArgument for images narrower than 32.
ir::Module GoogLeNet(const ImageOptions& options = {});
// Throws InvalidArgument for images narrower than 75. The paper uses 299.
ir::Module InceptionV3(const ImageOptions& options = {.image_size = 299});

}  // namespace tenon::models

#endif  // TENON_MODELS_INCEPTION_H_
