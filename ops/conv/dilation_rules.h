// The attributes of grey-scale dilation of images, and what they say about each axis, for type
// relation and compute.
#ifndef TENON_OPS_CONV_DILATION_RULES_H_
#define TENON_OPS_CONV_DILATION_RULES_H_

#include <array>
#include <string>
#include <vector>

#include "tenon/attrs/attrs.h"
#include "tenon/ops/ints.h"
#include "tenon/ops/shape_rules.h"

namespace tenon::ops {

struct Dilation2DAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.Dilation2DAttrs";
  Ints strides = {1, 1};
  Ints padding = {0, 0};
  Ints dilations = {1, 1};
  std::string data_layout = "NCHW";
  std::string kernel_layout = "IHW";
  DataType out_dtype = DataType::Void();
  static constexpr auto Fields() {
    return attrs::Fields(
        attrs::Field("strides", &Dilation2DAttrs::strides, "step of the window").AtLeast(1),
        attrs::Field("padding", &Dilation2DAttrs::padding, "one, two or four values").AtLeast(0),
        attrs::Field("dilations", &Dilation2DAttrs::dilations, "distance of neighbouring taps")
            .AtLeast(1),
        attrs::Field("data_layout", &Dilation2DAttrs::data_layout, "order of the axes of the data"),
        attrs::Field("kernel_layout", &Dilation2DAttrs::kernel_layout,
                     "order of the axes of the weight; I: channels"),
        attrs::Field("out_dtype", &Dilation2DAttrs::out_dtype,
                     "element type of the result; that of the data when void"));
  }
};

struct DilationRules {
  std::vector<std::size_t> data;    // positions of N, C, H, W
  std::vector<std::size_t> kernel;  // positions of I, H, W
  std::array<std::int64_t, 2> strides, dilations;
  std::array<std::int64_t, 4> padding;  // top, left, bottom, right
};

// Throws InvalidArgument that says what is wrong.
inline DilationRules DilationRulesOf(const Dilation2DAttrs& attrs) {
  return {.data = LayoutPositions(attrs.data_layout, "NCHW", "data_layout"),
          .kernel = LayoutPositions(attrs.kernel_layout, "IHW", "kernel_layout"),
          .strides = Pair(attrs.strides, "strides"),
          .dilations = Pair(attrs.dilations, "dilations"),
          .padding = FourPaddings(attrs.padding)};
}

}  // namespace tenon::ops

#endif  // TENON_OPS_CONV_DILATION_RULES_H_
