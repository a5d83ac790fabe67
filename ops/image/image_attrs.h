// Attributes of operators that resample images.
#ifndef TENON_OPS_IMAGE_IMAGE_ATTRS_H_
#define TENON_OPS_IMAGE_IMAGE_ATTRS_H_

#include <string>
#include <vector>

#include "tenon/attrs/attrs.h"
#include "tenon/ops/ints.h"

namespace tenon::ops {

template <typename A>
constexpr auto ResizeFields() {
  return attrs::Fields(
      attrs::Field("size", &A::size,
                   "extents of the result's spatial axes; when empty, those of the data times the "
                   "scales, rounded down")
          .AtLeast(0),
      attrs::Field("roi", &A::roi,
                   "of tf_crop_and_resize: where the region starts along each spatial axis, then "
                   "where it ends, as fractions of the extents"),
      attrs::Field("layout", &A::layout, "order of the axes of the data"),
      attrs::Field("method", &A::method, "how elements between those of the data are made")
          .OneOf("nearest_neighbor linear cubic"),
      attrs::Field("coordinate_transformation_mode", &A::coordinate_transformation_mode,
                   "where the elements of the result lie in the data")
          .OneOf("half_pixel align_corners asymmetric pytorch_half_pixel tf_half_pixel_for_nn "
                 "tf_crop_and_resize half_pixel_symmetric"),
      attrs::Field("rounding_method", &A::rounding_method,
                   "which neighbour is the nearest; when empty, round if the corners are aligned, "
                   "else floor")
          .OneOf(" round round_prefer_floor round_prefer_ceil floor ceil"),
      attrs::Field("cubic_alpha", &A::cubic_alpha, "coefficient of the cubic kernel"),
      attrs::Field("cubic_exclude", &A::cubic_exclude,
                   "1: taps outside the data have no weight, instead of the edge's value"),
      attrs::Field("extrapolation_value", &A::extrapolation_value,
                   "of tf_crop_and_resize: the elements outside the data"),
      attrs::Field("out_dtype", &A::out_dtype,
                   "element type of the result; that of the data when void"),
      attrs::Field("scales", &A::scales,
                   "factors of the extents that coordinates are computed with; those of the sizes "
                   "when empty"));
}

struct Resize1DAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.Resize1DAttrs";
  static constexpr const char* kLetters = "NCW";
  Ints size;
  std::vector<double> roi;
  std::string layout = "NCW";
  std::string method = "linear";
  std::string coordinate_transformation_mode = "half_pixel";
  std::string rounding_method = "round";
  double cubic_alpha = -0.5;
  std::int64_t cubic_exclude = 0;
  double extrapolation_value = 0;
  DataType out_dtype = DataType::Void();
  std::vector<double> scales;
  static constexpr auto Fields() { return ResizeFields<Resize1DAttrs>(); }
};

struct Resize2DAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.Resize2DAttrs";
  static constexpr const char* kLetters = "NCHW";
  Ints size;
  std::vector<double> roi;
  std::string layout = "NCHW";
  std::string method = "linear";
  std::string coordinate_transformation_mode = "half_pixel";
  std::string rounding_method = "round";
  double cubic_alpha = -0.5;
  std::int64_t cubic_exclude = 0;
  double extrapolation_value = 0;
  DataType out_dtype = DataType::Void();
  std::vector<double> scales;
  static constexpr auto Fields() { return ResizeFields<Resize2DAttrs>(); }
};

struct Resize3DAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.Resize3DAttrs";
  static constexpr const char* kLetters = "NCDHW";
  Ints size;
  std::vector<double> roi;
  std::string layout = "NCDHW";
  std::string method = "linear";
  std::string coordinate_transformation_mode = "half_pixel";
  std::string rounding_method = "round";
  double cubic_alpha = -0.5;
  std::int64_t cubic_exclude = 0;
  double extrapolation_value = 0;
  DataType out_dtype = DataType::Void();
  std::vector<double> scales;
  static constexpr auto Fields() { return ResizeFields<Resize3DAttrs>(); }
};

struct GridSampleAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.GridSampleAttrs";
  std::string method = "bilinear";
  std::string layout = "NCHW";
  std::string padding_mode = "zeros";
  bool align_corners = true;
  double cubic_alpha = -0.75;
  static constexpr auto Fields() {
    return attrs::Fields(
        attrs::Field("method", &GridSampleAttrs::method,
                     "how elements between those of the data are made")
            .OneOf("nearest bilinear bicubic"),
        attrs::Field("layout", &GridSampleAttrs::layout, "order of the axes of the data")
            .OneOf("NCHW"),
        attrs::Field("padding_mode", &GridSampleAttrs::padding_mode, "what lies outside the data")
            .OneOf("zeros border reflection"),
        attrs::Field("align_corners", &GridSampleAttrs::align_corners,
                     "-1 and 1 are the middles of the outermost elements, not their sides"),
        attrs::Field("cubic_alpha", &GridSampleAttrs::cubic_alpha,
                     "coefficient of the cubic kernel"));
  }
};

}  // namespace tenon::ops

#endif  // TENON_OPS_IMAGE_IMAGE_ATTRS_H_
