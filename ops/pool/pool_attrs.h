// Attributes of pooling: over windows of one to three spatial axes, into a given number of bins,
// and over whole images.
#ifndef TENON_OPS_POOL_POOL_ATTRS_H_
#define TENON_OPS_POOL_POOL_ATTRS_H_

#include <string>
#include <tuple>

#include "tenon/attrs/attrs.h"
#include "tenon/ops/ints.h"
#include "tenon/support/strings.h"

namespace tenon::ops {

// The layout of data with this number of spatial axes.
inline std::string PooledLayout(std::size_t dims) {
  return StrCat("NC", std::string_view("DHW").substr(3 - dims));
}

// The fields of all windows. A list holds one value for all spatial axes or one per axis. Padding
// may also have one value per side, the leading ones first.
template <typename AttrsType>
constexpr auto WindowFields() {
  return attrs::Fields(
      attrs::Field("pool_size", &AttrsType::pool_size, "extents of the window")
          .AtLeast(1)
          .Required(),
      attrs::Field("strides", &AttrsType::strides, "step of the window").AtLeast(1),
      attrs::Field("dilation", &AttrsType::dilation, "distance of neighbouring taps").AtLeast(1),
      attrs::Field("padding", &AttrsType::padding,
                   "one value, one per spatial axis, or one per side (leading sides first)")
          .AtLeast(0),
      attrs::Field("layout", &AttrsType::layout, "order of the axes of the data"),
      attrs::Field("out_layout", &AttrsType::out_layout, "order of the axes of the result"),
      attrs::Field("ceil_mode", &AttrsType::ceil_mode, "round the output size up"));
}

template <std::size_t kDims>
struct MaxPoolAttrs {
  static constexpr const char* kTypeKey = kDims == 1   ? "relay.attrs.MaxPool1DAttrs"
                                          : kDims == 2 ? "relay.attrs.MaxPool2DAttrs"
                                                       : "relay.attrs.MaxPool3DAttrs";
  Ints pool_size;
  Ints strides = Ints(kDims, 1);
  Ints dilation = Ints(kDims, 1);
  Ints padding = Ints(kDims, 0);
  std::string layout = PooledLayout(kDims);
  std::string out_layout;
  bool ceil_mode = false;
  static constexpr auto Fields() { return WindowFields<MaxPoolAttrs>(); }
};

template <std::size_t kDims>
struct AvgPoolAttrs {
  static constexpr const char* kTypeKey = kDims == 1   ? "relay.attrs.AvgPool1DAttrs"
                                          : kDims == 2 ? "relay.attrs.AvgPool2DAttrs"
                                                       : "relay.attrs.AvgPool3DAttrs";
  Ints pool_size;
  Ints strides = Ints(kDims, 1);
  Ints dilation = Ints(kDims, 1);
  Ints padding = Ints(kDims, 0);
  std::string layout = PooledLayout(kDims);
  std::string out_layout;
  bool ceil_mode = false;
  bool count_include_pad = false;
  static constexpr auto Fields() {
    return std::tuple_cat(
        WindowFields<AvgPoolAttrs>(),
        attrs::Fields(
            attrs::Field("count_include_pad", &AvgPoolAttrs::count_include_pad,
                         "padding counts in the divisor; what ceil_mode adds after it does not")));
  }
};

using MaxPool1DAttrs = MaxPoolAttrs<1>;
using MaxPool2DAttrs = MaxPoolAttrs<2>;
using MaxPool3DAttrs = MaxPoolAttrs<3>;
using AvgPool1DAttrs = AvgPoolAttrs<1>;
using AvgPool2DAttrs = AvgPoolAttrs<2>;
using AvgPool3DAttrs = AvgPoolAttrs<3>;

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

using AdaptivePool1DAttrs = AdaptivePoolAttrs<1>;
using AdaptivePool2DAttrs = AdaptivePoolAttrs<2>;
using AdaptivePool3DAttrs = AdaptivePoolAttrs<3>;

struct GlobalPool2DAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.GlobalPool2DAttrs";
  std::string layout = "NCHW";
  std::string out_layout;
  static constexpr auto Fields() {
    return attrs::Fields(
        attrs::Field("layout", &GlobalPool2DAttrs::layout, "order of the axes of the data"),
        attrs::Field("out_layout", &GlobalPool2DAttrs::out_layout,
                     "order of the axes of the result"));
  }
};

}  // namespace tenon::ops

#endif  // TENON_OPS_POOL_POOL_ATTRS_H_
