// Attributes of operators that list the boxes which a detector found.
#ifndef TENON_OPS_BOXES_DETECTION_ATTRS_H_
#define TENON_OPS_BOXES_DETECTION_ATTRS_H_

#include <vector>

#include "tenon/attrs/attrs.h"
#include "tenon/ops/ints.h"

namespace tenon::ops {

// Boxes at each place of a feature map. The extents of each are written out in the code.
inline constexpr std::int64_t kMaxBoxesOfPlace = 256;

struct MultiBoxTransformLocAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.MultiBoxTransformLocAttrs";
  bool clip = true;
  double threshold = 0.01;
  std::vector<double> variances = {0.1, 0.1, 0.2, 0.2};
  bool keep_background = false;
  static constexpr auto Fields() {
    return attrs::Fields(
        attrs::Field("clip", &MultiBoxTransformLocAttrs::clip, "boxes end with the image"),
        attrs::Field("threshold", &MultiBoxTransformLocAttrs::threshold,
                     "minimum probability of a box that counts"),
        attrs::Field("variances", &MultiBoxTransformLocAttrs::variances,
                     "factors of predicted offsets across and down, and of logarithms of widths "
                     "and heights"),
        attrs::Field("keep_background", &MultiBoxTransformLocAttrs::keep_background,
                     "boxes of the background, class 0, are listed as well, so all boxes are"));
  }
};

struct RegularNonMaximumSuppressionAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.RegularNonMaximumSuppressionAttrs";
  std::int64_t max_detections_per_class = 1;
  std::int64_t max_detections = 1;
  std::int64_t num_classes = 1;
  double iou_threshold = 0;
  double score_threshold = 0;
  static constexpr auto Fields() {
    using A = RegularNonMaximumSuppressionAttrs;
    return attrs::Fields(
        attrs::Field("max_detections_per_class", &A::max_detections_per_class,
                     "maximum number of boxes of a class to keep")
            .Required()
            .AtLeast(1),
        attrs::Field("max_detections", &A::max_detections, "boxes of the result")
            .Required()
            .AtLeast(1),
        attrs::Field("num_classes", &A::num_classes, "number of classes, without the background")
            .Required()
            .AtLeast(1),
        attrs::Field("iou_threshold", &A::iou_threshold, "overlap above which a box is dropped")
            .Required(),
        attrs::Field("score_threshold", &A::score_threshold, "minimum score of a box that counts")
            .Required());
  }
};

struct ProposalAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.ProposalAttrs";
  std::vector<double> scales = {4, 8, 16, 32};
  std::vector<double> ratios = {0.5, 1, 2};
  std::int64_t feature_stride = 16;
  double threshold = 0.7;
  std::int64_t rpn_pre_nms_top_n = 6000;
  std::int64_t rpn_post_nms_top_n = 300;
  std::int64_t rpn_min_size = 16;
  bool iou_loss = false;
  static constexpr auto Fields() {
    using A = ProposalAttrs;
    return attrs::Fields(
        attrs::Field("scales", &A::scales, "factors of the anchors' extents; they run fastest"),
        attrs::Field("ratios", &A::ratios, "heights of the anchors by their widths"),
        attrs::Field("feature_stride", &A::feature_stride,
                     "elements of the image for one element of the feature map")
            .AtLeast(1),
        attrs::Field("threshold", &A::threshold, "overlap above which a box is dropped"),
        attrs::Field("rpn_pre_nms_top_n", &A::rpn_pre_nms_top_n,
                     "boxes with the best scores that are considered; all when not positive"),
        attrs::Field("rpn_post_nms_top_n", &A::rpn_post_nms_top_n, "boxes of the result, per image")
            .AtLeast(1),
        attrs::Field("rpn_min_size", &A::rpn_min_size,
                     "minimum width and height of a box, times the scale of the image"),
        attrs::Field("iou_loss", &A::iou_loss,
                     "corners are predicted, not the centre and logarithms of width and height"));
  }
};

}  // namespace tenon::ops

#endif  // TENON_OPS_BOXES_DETECTION_ATTRS_H_
