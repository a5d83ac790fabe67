// Attributes of upsampling.
#ifndef TENON_OPS_IMAGE_UPSAMPLING_ATTRS_H_
#define TENON_OPS_IMAGE_UPSAMPLING_ATTRS_H_

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
                     "the first and last elements of both images coincide"));
  }
};

struct UpSampling3DAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.UpSampling3DAttrs";
  double scale_d = 1;
  double scale_h = 1;
  double scale_w = 1;
  std::string layout = "NCDHW";
  std::string method = "nearest_neighbor";
  std::string coordinate_transformation_mode = "half_pixel";
  static constexpr auto Fields() {
    return attrs::Fields(
        attrs::Field("scale_d", &UpSampling3DAttrs::scale_d, "factor of the depth").Required(),
        attrs::Field("scale_h", &UpSampling3DAttrs::scale_h, "factor of the height").Required(),
        attrs::Field("scale_w", &UpSampling3DAttrs::scale_w, "factor of the width").Required(),
        attrs::Field("layout", &UpSampling3DAttrs::layout, "order of the axes of the data"),
        attrs::Field("method", &UpSampling3DAttrs::method, "how new elements are made")
            .OneOf("nearest_neighbor trilinear"),
        attrs::Field("coordinate_transformation_mode",
                     &UpSampling3DAttrs::coordinate_transformation_mode,
                     "where the elements of the result lie in the data")
            .OneOf("half_pixel align_corners asymmetric"));
  }
};

}  // namespace tenon::ops

#endif  // TENON_OPS_IMAGE_UPSAMPLING_ATTRS_H_
