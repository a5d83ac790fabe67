#include "tenon/ops/attrs_by_key.h"

#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::ops {
namespace {

std::map<std::string, const attrs::Schema*> Schemas(const OpRegistry& registry) {
  std::map<std::string, const attrs::Schema*> schemas;
  for (const std::string& name : registry.Names()) {
    const attrs::Schema* schema = OpOf(registry.Get(name))->attrs_schema();
    if (schema != nullptr) schemas.emplace(schema->name, schema);
  }
  return schemas;
}

}  // namespace

std::vector<std::string> AttrsKeys(const OpRegistry& registry) {
  std::vector<std::string> keys;
  for (const auto& [key, schema] : Schemas(registry)) keys.push_back(key);
  return keys;
}

const attrs::Schema& SchemaOfKey(const std::string& key, const OpRegistry& registry) {
  const auto schemas = Schemas(registry);
  const auto found = schemas.find(key);
  if (found != schemas.end()) return *found->second;
  throw NotFound(StrCat("there are no attributes of the type ", key,
                        DidYouMean("; ", key, AttrsKeys(registry))));
}

attrs::Attrs AttrsOfKey(const std::string& key, const std::string& json,
                        const OpRegistry& registry) {
  return attrs::Attrs::FromJson(SchemaOfKey(key, registry), json);
}

}  // namespace tenon::ops
