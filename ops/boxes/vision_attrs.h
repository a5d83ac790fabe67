// Attributes of operators on boxes in images.
#ifndef TENON_OPS_BOXES_VISION_ATTRS_H_
#define TENON_OPS_BOXES_VISION_ATTRS_H_

#include <optional>
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
                     "samples of a bin along each axis; its extent, rounded up, when not positive")
            .AtMost(4096),
        attrs::Field("layout", &RoiAlignAttrs::layout, "order of the axes of the data")
            .OneOf("NCHW"),
        attrs::Field(
            "mode", &RoiAlignAttrs::mode,
            "the mean of the samples, or the maximum of the weighted neighbours of a sample")
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

struct GetValidCountsAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.GetValidCountsAttrs";
  std::optional<double> score_threshold;
  std::int64_t id_index = 0;
  std::int64_t score_index = 1;
  static constexpr auto Fields() {
    return attrs::Fields(
        attrs::Field("score_threshold", &GetValidCountsAttrs::score_threshold,
                     "score above which a box counts, instead of the second input"),
        attrs::Field("id_index", &GetValidCountsAttrs::id_index,
                     "element of a box that is its class, which must not be negative; -1: none")
            .AtLeast(-1),
        attrs::Field("score_index", &GetValidCountsAttrs::score_index,
                     "element of a box that is its score")
            .AtLeast(0));
  }
};

struct NonMaximumSuppressionAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.NonMaximumSuppressionAttrs";
  bool force_suppress = false;
  std::int64_t top_k = -1;
  std::int64_t coord_start = 2;
  std::int64_t score_index = 1;
  std::int64_t id_index = 0;
  bool return_indices = true;
  bool invalid_to_bottom = false;
  static constexpr auto Fields() {
    return attrs::Fields(
        attrs::Field("force_suppress", &NonMaximumSuppressionAttrs::force_suppress,
                     "boxes of other classes are dropped too"),
        attrs::Field(
            "top_k", &NonMaximumSuppressionAttrs::top_k,
            "only this many boxes with the best scores are considered; all when not positive"),
        attrs::Field("coord_start", &NonMaximumSuppressionAttrs::coord_start,
                     "first of the four elements of a box that are two opposite corners")
            .AtLeast(0),
        attrs::Field("score_index", &NonMaximumSuppressionAttrs::score_index,
                     "element of a box that is its score")
            .AtLeast(0),
        attrs::Field("id_index", &NonMaximumSuppressionAttrs::id_index,
                     "element of a box that is its class; -1: none")
            .AtLeast(-1),
        attrs::Field("return_indices", &NonMaximumSuppressionAttrs::return_indices,
                     "which boxes are kept and how many, not the boxes"),
        attrs::Field("invalid_to_bottom", &NonMaximumSuppressionAttrs::invalid_to_bottom,
                     "boxes that are kept come first"));
  }
};

}  // namespace tenon::ops

#endif  // TENON_OPS_BOXES_VISION_ATTRS_H_
