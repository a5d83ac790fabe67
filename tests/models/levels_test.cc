// What passes and fusion make of a model computes the same as the model without them.
#include <algorithm>
#include <cmath>
#include <functional>
#include <ostream>

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
#include "tenon/tests/strategies/graph_testing.h"

namespace tenon::models {
namespace {

using ir::Module;
using testing_graphs::ExpectClose;
using testing_graphs::Outcome;
using testing_graphs::RandomInputs;

// Widths are odd multiples of little, images end in maps of one element.
constexpr ImageOptions kSmall = {.image_size = 32, .width_divisor = 16, .classes = 10};

struct Small {
  std::string name;
  std::function<Module()> build;
};
void PrintTo(const Small& s, std::ostream* out) { *out << s.name; }

class LevelsTest : public ::testing::TestWithParam<Small> {};

TEST_P(LevelsTest, TheDefaultLevelComputesTheSameAsLevelZero) {
  const Module module = GetParam().build();
  const runtime::Inputs inputs = RandomInputs(module, 1);
  const std::vector<NDArray> expected = Outcome(module, inputs, {.opt_level = 0});
  // A network whose activations vanish would agree with anything.
  const float* values = expected[0].data<float>();
  float largest = 0;
  for (std::int64_t i = 0; i < expected[0].size(); ++i) {
    ASSERT_TRUE(std::isfinite(values[i]));
    largest = std::max(largest, std::abs(values[i]));
  }
  EXPECT_GT(largest, 0.1F);
  ExpectClose(Outcome(module, inputs), expected, 1e-4);
}

const Small kModels[] = {
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
INSTANTIATE_TEST_SUITE_P(Models, LevelsTest, ::testing::ValuesIn(kModels),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace tenon::models
