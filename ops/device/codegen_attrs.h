// Attributes of the operators that mark regions for code generators.
#ifndef TENON_OPS_DEVICE_CODEGEN_ATTRS_H_
#define TENON_OPS_DEVICE_CODEGEN_ATTRS_H_

#include <string>

#include "tenon/attrs/attrs.h"

namespace tenon::ops {

struct CompilerAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.CompilerAttrs";
  std::string compiler;
  static constexpr auto Fields() {
    return attrs::Fields(attrs::Field("compiler", &CompilerAttrs::compiler,
                                      "the code generator; \"default\" is Tenon's own"));
  }
};

}  // namespace tenon::ops

#endif  // TENON_OPS_DEVICE_CODEGEN_ATTRS_H_
