#include "tenon/models/registry.h"

#include <functional>
#include <map>

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
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::models {
namespace {

const std::map<std::string, std::function<ir::Module()>>& Table() {
  static const auto& table = *[] {
    auto* models = new std::map<std::string, std::function<ir::Module()>>;
    for (const int depth : {11, 13, 16, 19}) {
      models->emplace(StrCat("vgg", depth), [depth] { return Vgg({.depth = depth}); });
      models->emplace(StrCat("vgg", depth, "_bn"),
                      [depth] { return Vgg({.depth = depth, .batch_norm = true}); });
    }
    for (const int depth : {18, 34, 50, 101, 152})
      models->emplace(StrCat("resnet", depth), [depth] { return ResNet(depth); });
    models->emplace("densenet121", [] { return DenseNet121(); });
    models->emplace("efficientnet_b0", [] { return EfficientNetB0(); });
    models->emplace("googlenet", [] { return GoogLeNet(); });
    models->emplace("inception_v3", [] { return InceptionV3(); });
    models->emplace("lenet", [] { return LeNet(); });
    models->emplace("lstm", [] { return Lstm(); });
    models->emplace("mlp", [] { return Mlp(); });
    models->emplace("mobilenet_v2", [] { return MobileNetV2(); });
    models->emplace("mobilenet_v3_large", [] { return MobileNetV3Large(); });
    models->emplace("shufflenet_v2", [] { return ShuffleNetV2(); });
    models->emplace("squeezenet1_1", [] { return SqueezeNet(); });
    models->emplace("transformer", [] { return TransformerEncoder(); });
    return models;
  }();
  return table;
}

}  // namespace

std::vector<std::string> Names() {
  std::vector<std::string> names;
  for (const auto& [name, unused] : Table()) names.push_back(name);
  return names;
}

ir::Module Build(const std::string& name) {
  const auto found = Table().find(name);
  if (found == Table().end())
    throw NotFound(StrCat("there is no model named ", name, "; models are ", StrJoin(Names(), ", "),
                          DidYouMean("; ", name, Names())));
  return found->second();
}

}  // namespace tenon::models
