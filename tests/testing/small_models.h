// Narrow variants of the published models, quick enough to run in tests at every level.
#ifndef TENON_TESTS_TESTING_SMALL_MODELS_H_
#define TENON_TESTS_TESTING_SMALL_MODELS_H_

#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "tenon/models/densenet.h"
#include "tenon/models/efficientnet.h"
#include "tenon/models/inception.h"
#include "tenon/models/lstm.h"
#include "tenon/models/mlp.h"
#include "tenon/models/mobilenet.h"
#include "tenon/models/resnet.h"
#include "tenon/models/shufflenet.h"
#include "tenon/models/squeezenet.h"
#include "tenon/models/transformer.h"
#include "tenon/models/vgg.h"

namespace tenon::models {

struct SmallModel {
  std::string name;
  std::function<ir::Module()> build;
};
inline void PrintTo(const SmallModel& s, std::ostream* out) { *out << s.name; }

// Widths are odd multiples of little, images end in maps of one element.
inline constexpr ImageOptions kSmall = {.image_size = 32, .width_divisor = 16, .classes = 10};

inline std::vector<SmallModel> SmallModels() {
  return {
      {"vgg11",
       [] { return Vgg({.depth = 11, .image_size = 32, .width_divisor = 16, .classes = 10}); }},
      {"resnet18", [] { return ResNet(18, kSmall); }},
      {"resnet50", [] { return ResNet(50, kSmall); }},
      {"mobilenet_v2", [] { return MobileNetV2(kSmall); }},
      {"mobilenet_v3_large", [] { return MobileNetV3Large(kSmall); }},
      {"squeezenet", [] { return SqueezeNet(kSmall); }},
      {"densenet121", [] { return DenseNet121(kSmall); }},
      {"googlenet", [] { return GoogLeNet(kSmall); }},
      {"inception_v3",
       [] { return InceptionV3({.image_size = 75, .width_divisor = 16, .classes = 10}); }},
      {"efficientnet_b0", [] { return EfficientNetB0(kSmall); }},
      {"shufflenet_v2", [] { return ShuffleNetV2(kSmall); }},
      {"mlp", [] { return Mlp({.batch = 3}); }},
      {"lenet", [] { return LeNet({.batch = 2}); }},
      {"lstm", [] { return Lstm({.steps = 3, .batch = 2, .features = 7, .hidden = 5}); }},
      {"transformer",
       [] {
         return TransformerEncoder(
             {.layers = 1, .tokens = 13, .features = 24, .heads = 3, .hidden = 40});
       }},
  };
}

}  // namespace tenon::models

#endif  // TENON_TESTS_TESTING_SMALL_MODELS_H_
