// Attributes of operators on boxes in images.
#ifndef TENON_OPS_VISION_ATTRS_H_
#define TENON_OPS_VISION_ATTRS_H_

#include <string>

#include "tenon/attrs/attrs.h"
#include "tenon/ops/ints.h"

namespace tenon::ops {

struct RoiAlignAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.ROIAlignAttrs";
  Ints pooled_size;
  double spatial_scale = 1;
  std::int64_t sample_ratio = -1;
  std::string layout = "NCHW";
  std::string mode = "avg";
  bool aligned = false;
  static constexpr auto Fields() {
    return attrs::Fields(
        attrs::Field("pooled_size", &RoiAlignAttrs::pooled_size, "height and width of the result")
            .Required()
            .AtLeast(1),
        attrs::Field("spatial_scale", &RoiAlignAttrs::spatial_scale,
                     "elements of the data for one unit of the boxes")
            .Required(),
        attrs::Field("sample_ratio", &RoiAlignAttrs::sample_ratio,
                     "samples of a bin along each axis; its extent, rounded up, when not positive"),
        attrs::Field("layout", &RoiAlignAttrs::layout, "order of the axes of the data")
            .OneOf("NCHW"),
        attrs::Field("mode", &RoiAlignAttrs::mode,
                     "the mean of the samples, or the greatest weighted neighbour of one")
            .OneOf("avg max"),
        attrs::Field("aligned", &RoiAlignAttrs::aligned,
                     "pixels have their centres at halves, and boxes may be less than one wide"));
  }
};

struct AllClassNonMaximumSuppressionAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.AllClassNonMaximumSuppressionAttrs";
  std::string output_format = "onnx";
  static constexpr auto Fields() {
    return attrs::Fields(attrs::Field("output_format",
                                      &AllClassNonMaximumSuppressionAttrs::output_format,
                                      "form of the result")
                             .OneOf("onnx"));
  }
};

}  // namespace tenon::ops

#endif  // TENON_OPS_VISION_ATTRS_H_
