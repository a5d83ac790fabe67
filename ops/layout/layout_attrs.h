// Attributes of operators on layouts.
#ifndef TENON_OPS_LAYOUT_LAYOUT_ATTRS_H_
#define TENON_OPS_LAYOUT_LAYOUT_ATTRS_H_

#include <string>

#include "tenon/attrs/attrs.h"

namespace tenon::ops {

struct LayoutTransformAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.LayoutTransformAttrs";
  std::string src_layout;
  std::string dst_layout;
  static constexpr auto Fields() {
    return attrs::Fields(
        attrs::Field("src_layout", &LayoutTransformAttrs::src_layout, "layout of the data")
            .Required(),
        attrs::Field("dst_layout", &LayoutTransformAttrs::dst_layout, "layout of the result")
            .Required());
  }
};

}  // namespace tenon::ops

#endif  // TENON_OPS_LAYOUT_LAYOUT_ATTRS_H_
