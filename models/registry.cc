#include "tenon/models/registry.h"

#include <functional>
#include <map>

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
