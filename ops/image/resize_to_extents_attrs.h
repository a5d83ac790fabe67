// Attributes of image.resize_to_extents.
#ifndef TENON_OPS_IMAGE_RESIZE_TO_EXTENTS_ATTRS_H_
#define TENON_OPS_IMAGE_RESIZE_TO_EXTENTS_ATTRS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tenon/attrs/attrs.h"

namespace tenon::ops {

// Of any rank; the axes that change are resampled.
struct ResizeToExtentsAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.ResizeToExtentsAttrs";
  std::string shape = {};
  std::string method = "linear";
  std::string coordinate_transformation_mode = "half_pixel";
  std::string rounding_method = "round";
  double cubic_alpha = -0.5;
  std::int64_t cubic_exclude = 0;
  std::vector<double> roi = {};
  double extrapolation_value = 0;
  static constexpr auto Fields() {
    using A = ResizeToExtentsAttrs;
    return attrs::Fields(
        attrs::Field("shape", &A::shape,
                     "extents of the result as a type has them, in parentheses; x1_0 is the extent "
                     "of axis 0 of the tuple's field 1")
            .Required(),
        attrs::Field("method", &A::method, "how elements between those of the data are made")
            .OneOf("nearest_neighbor linear cubic"),
        attrs::Field("coordinate_transformation_mode", &A::coordinate_transformation_mode,
                     "where the elements of the result lie in the data")
            .OneOf("half_pixel align_corners asymmetric pytorch_half_pixel tf_half_pixel_for_nn "
                   "half_pixel_symmetric tf_crop_and_resize"),
        attrs::Field("rounding_method", &A::rounding_method, "which neighbour is the nearest")
            .OneOf("round round_prefer_floor round_prefer_ceil floor ceil"),
        attrs::Field("cubic_alpha", &A::cubic_alpha, "coefficient of the cubic kernel"),
        attrs::Field("cubic_exclude", &A::cubic_exclude,
                     "1: taps outside the data have no weight, instead of the edge's value"),
        attrs::Field(
            "roi", &A::roi,
            "of tf_crop_and_resize: where the region starts along each axis, then where it "
            "ends; 0 is the first element, 1 the last one"),
        attrs::Field("extrapolation_value", &A::extrapolation_value,
                     "of tf_crop_and_resize: the elements outside the data"));
  }
};

}  // namespace tenon::ops

#endif  // TENON_OPS_IMAGE_RESIZE_TO_EXTENTS_ATTRS_H_
