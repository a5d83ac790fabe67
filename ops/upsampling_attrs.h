// Attributes of upsampling.
#ifndef TENON_OPS_UPSAMPLING_ATTRS_H_
#define TENON_OPS_UPSAMPLING_ATTRS_H_

#include <string>

#include "tenon/attrs/attrs.h"

namespace tenon::ops {

struct UpSamplingAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.UpSamplingAttrs";
  double scale_h = 1;
  double scale_w = 1;
  std::string layout = "NCHW";
  std::string method = "nearest_neighbor";
  bool align_corners = false;
  static constexpr auto Fields() {
    return attrs::Fields(
        attrs::Field("scale_h", &UpSamplingAttrs::scale_h, "factor of the height").Required(),
        attrs::Field("scale_w", &UpSamplingAttrs::scale_w, "factor of the width").Required(),
        attrs::Field("layout", &UpSamplingAttrs::layout, "order of the axes of the data"),
        attrs::Field("method", &UpSamplingAttrs::method, "how new elements are made")
            .OneOf("nearest_neighbor bilinear bicubic"),
        attrs::Field("align_corners", &UpSamplingAttrs::align_corners,
                     "the first and last elements of both images lie upon each other"));
  }
};

}  // namespace tenon::ops

#endif  // TENON_OPS_UPSAMPLING_ATTRS_H_
