// Attributes of pooling over one and three spatial axes, and into a given number of bins; those
// over windows of two axes are in nn_attrs.h.
#ifndef TENON_OPS_POOL_ATTRS_H_
#define TENON_OPS_POOL_ATTRS_H_

#include <string>

#include "tenon/attrs/attrs.h"
#include "tenon/ops/ints.h"

namespace tenon::ops {

// The layout of data with this number of spatial axes.
inline std::string PooledLayout(std::size_t dims) {
  return std::string("NC") + ("DHW" + (3 - dims));
}

// Lists hold one value for all spatial axes or one for each; padding also one for each side, the
// leading ones first.
template <std::size_t kDims>
struct MaxPoolAttrs {
  static constexpr const char* kTypeKey =
      kDims == 1 ? "relay.attrs.MaxPool1DAttrs" : "relay.attrs.MaxPool3DAttrs";
  Ints pool_size;
  Ints strides = Ints(kDims, 1);
  Ints dilation = Ints(kDims, 1);
  Ints padding = Ints(kDims, 0);
  std::string layout = PooledLayout(kDims);
  std::string out_layout;
  bool ceil_mode = false;
  static constexpr auto Fields() {
    return attrs::Fields(
        attrs::Field("pool_size", &MaxPoolAttrs::pool_size, "extents of the window")
            .AtLeast(1)
            .Required(),
        attrs::Field("strides", &MaxPoolAttrs::strides, "step of the window").AtLeast(1),
        attrs::Field("dilation", &MaxPoolAttrs::dilation, "distance of neighbouring taps")
            .AtLeast(1),
        attrs::Field("padding", &MaxPoolAttrs::padding,
                     "one value, one a spatial axis, or one a side (leading sides first)")
            .AtLeast(0),
        attrs::Field("layout", &MaxPoolAttrs::layout, "order of the axes of the data"),
        attrs::Field("out_layout", &MaxPoolAttrs::out_layout, "order of the axes of the result"),
        attrs::Field("ceil_mode", &MaxPoolAttrs::ceil_mode, "round the output size up"));
  }
};

template <std::size_t kDims>
struct AvgPoolAttrs {
  static constexpr const char* kTypeKey =
      kDims == 1 ? "relay.attrs.AvgPool1DAttrs" : "relay.attrs.AvgPool3DAttrs";
  Ints pool_size;
  Ints strides = Ints(kDims, 1);
  Ints dilation = Ints(kDims, 1);
  Ints padding = Ints(kDims, 0);
  std::string layout = PooledLayout(kDims);
  std::string out_layout;
  bool ceil_mode = false;
  bool count_include_pad = false;
  static constexpr auto Fields() {
    return attrs::Fields(
        attrs::Field("pool_size", &AvgPoolAttrs::pool_size, "extents of the window")
            .AtLeast(1)
            .Required(),
        attrs::Field("strides", &AvgPoolAttrs::strides, "step of the window").AtLeast(1),
        attrs::Field("dilation", &AvgPoolAttrs::dilation, "distance of neighbouring taps")
            .AtLeast(1),
        attrs::Field("padding", &AvgPoolAttrs::padding,
                     "one value, one a spatial axis, or one a side (leading sides first)")
            .AtLeast(0),
        attrs::Field("layout", &AvgPoolAttrs::layout, "order of the axes of the data"),
        attrs::Field("out_layout", &AvgPoolAttrs::out_layout, "order of the axes of the result"),
        attrs::Field("ceil_mode", &AvgPoolAttrs::ceil_mode, "round the output size up"),
        attrs::Field("count_include_pad", &AvgPoolAttrs::count_include_pad,
                     "padding counts in the divisor"));
  }
};

template <std::size_t kDims>
struct AdaptivePoolAttrs {
  static constexpr const char* kTypeKey = kDims == 1   ? "relay.attrs.AdaptivePool1DAttrs"
                                          : kDims == 2 ? "relay.attrs.AdaptivePool2DAttrs"
                                                       : "relay.attrs.AdaptivePool3DAttrs";
  static constexpr std::size_t kSpatialAxes = kDims;
  Ints output_size;
  std::string layout = PooledLayout(kDims);
  std::string out_layout;
  static constexpr auto Fields() {
    return attrs::Fields(
        attrs::Field("output_size", &AdaptivePoolAttrs::output_size,
                     "bins of each spatial axis, or one value for all; as many as there are "
                     "elements when empty")
            .AtLeast(1),
        attrs::Field("layout", &AdaptivePoolAttrs::layout, "order of the axes of the data"),
        attrs::Field("out_layout", &AdaptivePoolAttrs::out_layout,
                     "order of the axes of the result"));
  }
};

}  // namespace tenon::ops

#endif  // TENON_OPS_POOL_ATTRS_H_
