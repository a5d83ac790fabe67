// Attributes of operators of early detectors: anchors, pooled regions, YOLO's reorganisation.
#ifndef TENON_OPS_BOXES_DETECTOR_ATTRS_H_
#define TENON_OPS_BOXES_DETECTOR_ATTRS_H_

#include <string>
#include <vector>

#include "tenon/attrs/attrs.h"
#include "tenon/ops/ints.h"

namespace tenon::ops {

struct MultiBoxPriorAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.MultiBoxPriorAttrs";
  std::vector<double> sizes = {1};
  std::vector<double> ratios = {1};
  std::vector<double> steps = {-1, -1};
  std::vector<double> offsets = {0.5, 0.5};
  bool clip = false;
  static constexpr auto Fields() {
    return attrs::Fields(
        attrs::Field("sizes", &MultiBoxPriorAttrs::sizes,
                     "heights of the first boxes of a position"),
        attrs::Field("ratios", &MultiBoxPriorAttrs::ratios,
                     "width by height of the other boxes, from the second value on"),
        attrs::Field(
            "steps", &MultiBoxPriorAttrs::steps,
            "distances of the positions down and across; not positive: they fill the image"),
        attrs::Field("offsets", &MultiBoxPriorAttrs::offsets,
                     "where the first position is, down and across, in steps"),
        attrs::Field("clip", &MultiBoxPriorAttrs::clip, "boxes end with the image"));
  }
};

struct ROIPoolAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.ROIPoolAttrs";
  Ints pooled_size;
  double spatial_scale = 1;
  std::string layout = "NCHW";
  static constexpr auto Fields() {
    return attrs::Fields(
        attrs::Field("pooled_size", &ROIPoolAttrs::pooled_size, "height and width of the result")
            .Required()
            .AtLeast(1),
        attrs::Field("spatial_scale", &ROIPoolAttrs::spatial_scale,
                     "elements of the data for one unit of the boxes")
            .Required(),
        attrs::Field("layout", &ROIPoolAttrs::layout, "order of the axes of the data")
            .OneOf("NCHW"));
  }
};

struct YoloReorgAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.YoloReorgAttrs";
  std::int64_t stride = 1;
  static constexpr auto Fields() {
    return attrs::Fields(
        attrs::Field("stride", &YoloReorgAttrs::stride, "rows and columns of a block").AtLeast(1));
  }
};

}  // namespace tenon::ops

#endif  // TENON_OPS_BOXES_DETECTOR_ATTRS_H_
