// Attributes of correlation.
#ifndef TENON_OPS_CONV_CORRELATION_ATTRS_H_
#define TENON_OPS_CONV_CORRELATION_ATTRS_H_

#include <string>

#include "tenon/attrs/attrs.h"
#include "tenon/ops/ints.h"

namespace tenon::ops {

struct CorrelationAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.CorrelationAttrs";
  std::int64_t kernel_size = 1;
  std::int64_t max_displacement = 1;
  std::int64_t stride1 = 1;
  std::int64_t stride2 = 1;
  Ints padding = {0, 0};
  bool is_multiply = true;
  std::string layout = "NCHW";
  static constexpr auto Fields() {
    return attrs::Fields(
        attrs::Field("kernel_size", &CorrelationAttrs::kernel_size,
                     "rows and columns of a patch; odd")
            .AtLeast(1),
        attrs::Field("max_displacement", &CorrelationAttrs::max_displacement,
                     "maximum distance of a patch of the second image from that of the first")
            .AtLeast(0),
        attrs::Field("stride1", &CorrelationAttrs::stride1,
                     "elements from one patch of the first image to the next")
            .AtLeast(1),
        attrs::Field("stride2", &CorrelationAttrs::stride2,
                     "elements from one displacement to the next")
            .AtLeast(1),
        attrs::Field("padding", &CorrelationAttrs::padding,
                     "zeros around both images: one value, two for height and width, or top, "
                     "left, bottom and right")
            .AtLeast(0),
        attrs::Field("is_multiply", &CorrelationAttrs::is_multiply,
                     "the mean of products; else that of absolute differences"),
        attrs::Field("layout", &CorrelationAttrs::layout, "order of the axes of the images")
            .OneOf("NCHW"));
  }
};

// How many displacements there are along an axis.
inline std::int64_t DisplacementsOf(const CorrelationAttrs& attrs) {
  return 2 * (attrs.max_displacement / attrs.stride2) + 1;
}

}  // namespace tenon::ops

#endif  // TENON_OPS_CONV_CORRELATION_ATTRS_H_
