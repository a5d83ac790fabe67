// Attributes of operators that compute or follow the positions from which elements of an image are
// taken.
#ifndef TENON_OPS_IMAGE_WARP_ATTRS_H_
#define TENON_OPS_IMAGE_WARP_ATTRS_H_

#include <string>

#include "tenon/attrs/attrs.h"
#include "tenon/ops/ints.h"

namespace tenon::ops {

struct CropAndResizeAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.CropAndResizeAttrs";
  Ints crop_size;
  std::string layout = "NCHW";
  std::string method = "bilinear";
  double extrapolation_value = 0;
  DataType out_dtype = DataType::Void();
  static constexpr auto Fields() {
    return attrs::Fields(
        attrs::Field("crop_size", &CropAndResizeAttrs::crop_size, "height and width of the result")
            .AtLeast(1)
            .Required(),
        attrs::Field("layout", &CropAndResizeAttrs::layout, "order of the axes of the data")
            .OneOf("NCHW NHWC"),
        attrs::Field("method", &CropAndResizeAttrs::method,
                     "how elements between those of the data are made")
            .OneOf("bilinear nearest_neighbor"),
        attrs::Field("extrapolation_value", &CropAndResizeAttrs::extrapolation_value,
                     "elements outside the image"),
        attrs::Field("out_dtype", &CropAndResizeAttrs::out_dtype,
                     "element type of the result; that of the data when void"));
  }
};

struct AffineGridAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.AffineGridAttrs";
  Ints target_shape;
  static constexpr auto Fields() {
    return attrs::Fields(
        attrs::Field("target_shape", &AffineGridAttrs::target_shape, "height and width of the grid")
            .AtLeast(2)
            .Required());
  }
};

}  // namespace tenon::ops

#endif  // TENON_OPS_IMAGE_WARP_ATTRS_H_
