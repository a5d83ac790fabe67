// Attributes of nn.conv2d.
#ifndef TENON_OPS_CONV_CONV2D_ATTRS_H_
#define TENON_OPS_CONV_CONV2D_ATTRS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "tenon/attrs/attrs.h"
#include "tenon/ops/ints.h"

namespace tenon::ops {

struct Conv2DAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.Conv2DAttrs";
  Ints strides = {1, 1};
  Ints padding = {0, 0};
  Ints dilation = {1, 1};
  std::int64_t groups = 1;
  std::optional<std::int64_t> channels;
  std::optional<Ints> kernel_size;
  std::string data_layout = "NCHW";
  std::string kernel_layout = "OIHW";
  std::string out_layout;
  DataType out_dtype = DataType::Void();
  // What a pass that rewrites layouts notes for those after it: the layout that it gave the weight,
  // and the shape that the weight had. No fields: not printed, compared or given by callers.
  std::string auto_scheduler_rewritten_layout = {};
  Ints meta_schedule_original_shape = {};
  static constexpr auto Fields() {
    return attrs::Fields(
        attrs::Field("strides", &Conv2DAttrs::strides, "step of the window along height and width")
            .AtLeast(1),
        attrs::Field("padding", &Conv2DAttrs::padding,
                     "zeros around the image: one value for all sides, two (top and bottom, left "
                     "and right) or four (top, left, bottom, right)")
            .AtLeast(0),
        attrs::Field("dilation", &Conv2DAttrs::dilation, "distance of neighbouring kernel taps")
            .AtLeast(1),
        attrs::Field("groups", &Conv2DAttrs::groups,
                     "the channels are convolved in this many separate groups")
            .AtLeast(1),
        attrs::Field("channels", &Conv2DAttrs::channels,
                     "output channels; taken from the weight when not given")
            .AtLeast(1),
        attrs::Field("kernel_size", &Conv2DAttrs::kernel_size,
                     "height and width of the kernel; taken from the weight when not given")
            .AtLeast(1),
        attrs::Field("data_layout", &Conv2DAttrs::data_layout,
                     "order of the axes of the data, maybe with blocks of channels: NCHW16c"),
        attrs::Field("kernel_layout", &Conv2DAttrs::kernel_layout,
                     "order of the axes of the weight; O: outputs, I: inputs; maybe with blocks: "
                     "OIHW16i16o"),
        attrs::Field("out_layout", &Conv2DAttrs::out_layout,
                     "order of the axes of the result; that of the data when empty"),
        attrs::Field("out_dtype", &Conv2DAttrs::out_dtype,
                     "element type of the sum and the result; that of the data when void"));
  }
};

}  // namespace tenon::ops

#endif  // TENON_OPS_CONV_CONV2D_ATTRS_H_
