// Models by name: "model:vgg16_bn" on the command line.
//
//   ir::Module m = Build("vgg16_bn");
#ifndef TENON_MODELS_REGISTRY_H_
#define TENON_MODELS_REGISTRY_H_

#include <string>
#include <vector>

#include "tenon/ir/module.h"

namespace tenon::models {

std::vector<std::string> Names();  // sorted
// Throws NotFound with the nearest name.
ir::Module Build(const std::string& name);

}  // namespace tenon::models

#endif  // TENON_MODELS_REGISTRY_H_
