// Attributes by the key of their type, for callers that name types by text.
//
// A key names one struct: "relay.attrs.Conv2DAttrs" that of nn.conv2d. The keys are those of the
// operators that the registry has.
//
//   attrs::Attrs a = AttrsOfKey("relay.attrs.Conv2DAttrs", R"({"strides": [2, 2]})");
//   a.ToJson();   // every field, with the defaults of those not given
#ifndef TENON_OPS_ATTRS_BY_KEY_H_
#define TENON_OPS_ATTRS_BY_KEY_H_

#include <string>
#include <vector>

#include "tenon/ops/registry.h"

namespace tenon::ops {

// Sorted.
std::vector<std::string> AttrsKeys(const OpRegistry& registry = OpRegistry::Global());
// Throws NotFound with the nearest key.
const attrs::Schema& SchemaOfKey(const std::string& key,
                                 const OpRegistry& registry = OpRegistry::Global());
// Throws as SchemaOfKey and attrs::Attrs::FromJson do.
attrs::Attrs AttrsOfKey(const std::string& key, const std::string& json,
                        const OpRegistry& registry = OpRegistry::Global());

}  // namespace tenon::ops

#endif  // TENON_OPS_ATTRS_BY_KEY_H_
