// Attributes of neural-network operators.
#ifndef TENON_OPS_NN_ATTRS_H_
#define TENON_OPS_NN_ATTRS_H_

#include <optional>
#include <string>
#include <vector>

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
        attrs::Field("data_layout", &Conv2DAttrs::data_layout, "order of the axes of the data"),
        attrs::Field("kernel_layout", &Conv2DAttrs::kernel_layout,
                     "order of the axes of the weight; O: outputs, I: inputs"),
        attrs::Field("out_layout", &Conv2DAttrs::out_layout,
                     "order of the axes of the result; that of the data when empty"),
        attrs::Field("out_dtype", &Conv2DAttrs::out_dtype,
                     "element type of the sum and the result; that of the data when void"));
  }
};

struct DenseAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.DenseAttrs";
  std::optional<std::int64_t> units;
  DataType out_dtype = DataType::Void();
  static constexpr auto Fields() {
    return attrs::Fields(
        attrs::Field("units", &DenseAttrs::units, "output features; taken from the weight if None")
            .AtLeast(1)
            .NoDefault(),
        attrs::Field("out_dtype", &DenseAttrs::out_dtype,
                     "element type of the sum and the result"));
  }
};

struct MatmulAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.MatmulAttrs";
  std::optional<std::int64_t> units;
  DataType out_dtype = DataType::Void();
  bool transpose_a = false;
  bool transpose_b = false;
  static constexpr auto Fields() {
    return attrs::Fields(
        attrs::Field("units", &MatmulAttrs::units, "columns of the result").AtLeast(1).NoDefault(),
        attrs::Field("out_dtype", &MatmulAttrs::out_dtype,
                     "element type of the sum and the result"),
        attrs::Field("transpose_a", &MatmulAttrs::transpose_a, "the left operand is transposed"),
        attrs::Field("transpose_b", &MatmulAttrs::transpose_b, "the right operand is transposed"));
  }
};

struct BatchMatmulAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.BatchMatmulAttrs";
  DataType out_dtype = DataType::Void();
  bool transpose_a = false;
  bool transpose_b = false;
  static constexpr auto Fields() {
    return attrs::Fields(attrs::Field("out_dtype", &BatchMatmulAttrs::out_dtype,
                                      "element type of the sum and the result"),
                         attrs::Field("transpose_a", &BatchMatmulAttrs::transpose_a,
                                      "the left operand is transposed"),
                         attrs::Field("transpose_b", &BatchMatmulAttrs::transpose_b,
                                      "the right operand is transposed"));
  }
};

struct BiasAddAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.BiasAddAttrs";
  std::int64_t axis = 1;
  static constexpr auto Fields() {
    return attrs::Fields(
        attrs::Field("axis", &BiasAddAttrs::axis, "axis that the bias runs along"));
  }
};

struct BatchNormAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.BatchNormAttrs";
  std::int64_t axis = 1;
  double epsilon = 1e-5;
  bool center = true;
  bool scale = true;
  static constexpr auto Fields() {
    return attrs::Fields(attrs::Field("axis", &BatchNormAttrs::axis, "axis of the channels"),
                         attrs::Field("epsilon", &BatchNormAttrs::epsilon, "added to the variance"),
                         attrs::Field("center", &BatchNormAttrs::center, "add beta"),
                         attrs::Field("scale", &BatchNormAttrs::scale, "multiply by gamma"));
  }
};

struct LayerNormAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.LayerNormAttrs";
  std::int64_t axis = -1;
  double epsilon = 1e-5;
  bool center = true;
  bool scale = true;
  static constexpr auto Fields() {
    return attrs::Fields(attrs::Field("axis", &LayerNormAttrs::axis, "axis that is normalised"),
                         attrs::Field("epsilon", &LayerNormAttrs::epsilon, "added to the variance"),
                         attrs::Field("center", &LayerNormAttrs::center, "add beta"),
                         attrs::Field("scale", &LayerNormAttrs::scale, "multiply by gamma"));
  }
};

struct GroupNormAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.GroupNormAttrs";
  std::int64_t num_groups = 0;
  std::int64_t axis = 1;
  double epsilon = 1e-5;
  bool center = true;
  bool scale = true;
  static constexpr auto Fields() {
    return attrs::Fields(
        attrs::Field("num_groups", &GroupNormAttrs::num_groups, "groups that the channels make")
            .AtLeast(1)
            .Required(),
        attrs::Field("axis", &GroupNormAttrs::axis, "axis of the channels"),
        attrs::Field("epsilon", &GroupNormAttrs::epsilon, "added to the variance"),
        attrs::Field("center", &GroupNormAttrs::center, "add beta"),
        attrs::Field("scale", &GroupNormAttrs::scale, "multiply by gamma"));
  }
};

struct InstanceNormAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.InstanceNormAttrs";
  std::int64_t axis = 1;
  double epsilon = 1e-5;
  bool center = true;
  bool scale = true;
  static constexpr auto Fields() {
    return attrs::Fields(
        attrs::Field("axis", &InstanceNormAttrs::axis, "axis of the channels"),
        attrs::Field("epsilon", &InstanceNormAttrs::epsilon, "added to the variance"),
        attrs::Field("center", &InstanceNormAttrs::center, "add beta"),
        attrs::Field("scale", &InstanceNormAttrs::scale, "multiply by gamma"));
  }
};

struct SoftmaxAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.SoftmaxAttrs";
  std::int64_t axis = -1;
  static constexpr auto Fields() {
    return attrs::Fields(attrs::Field("axis", &SoftmaxAttrs::axis, "axis that is normalised"));
  }
};

struct DropoutAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.DropoutAttrs";
  double rate = 0.5;
  static constexpr auto Fields() {
    return attrs::Fields(attrs::Field("rate", &DropoutAttrs::rate, "share of elements dropped")
                             .AtLeast(0)
                             .AtMost(1));
  }
};

// The windows of pooling; padding as in Conv2DAttrs.
struct MaxPool2DAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.MaxPool2DAttrs";
  Ints pool_size;
  Ints strides = {1, 1};
  Ints dilation = {1, 1};
  Ints padding = {0, 0};
  std::string layout = "NCHW";
  std::string out_layout;
  bool ceil_mode = false;
  static constexpr auto Fields() {
    return attrs::Fields(
        attrs::Field("pool_size", &MaxPool2DAttrs::pool_size, "height and width of the window")
            .AtLeast(1)
            .Required(),
        attrs::Field("strides", &MaxPool2DAttrs::strides, "step of the window").AtLeast(1),
        attrs::Field("dilation", &MaxPool2DAttrs::dilation, "distance of neighbouring taps")
            .AtLeast(1),
        attrs::Field("padding", &MaxPool2DAttrs::padding, "one, two or four values").AtLeast(0),
        attrs::Field("layout", &MaxPool2DAttrs::layout, "order of the axes of the data"),
        attrs::Field("out_layout", &MaxPool2DAttrs::out_layout, "order of the axes of the result"),
        attrs::Field("ceil_mode", &MaxPool2DAttrs::ceil_mode, "round the output size up"));
  }
};

struct AvgPool2DAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.AvgPool2DAttrs";
  Ints pool_size;
  Ints strides = {1, 1};
  Ints dilation = {1, 1};
  Ints padding = {0, 0};
  std::string layout = "NCHW";
  std::string out_layout;
  bool ceil_mode = false;
  bool count_include_pad = false;
  static constexpr auto Fields() {
    return attrs::Fields(
        attrs::Field("pool_size", &AvgPool2DAttrs::pool_size, "height and width of the window")
            .AtLeast(1)
            .Required(),
        attrs::Field("strides", &AvgPool2DAttrs::strides, "step of the window").AtLeast(1),
        attrs::Field("dilation", &AvgPool2DAttrs::dilation, "distance of neighbouring taps")
            .AtLeast(1),
        attrs::Field("padding", &AvgPool2DAttrs::padding, "one, two or four values").AtLeast(0),
        attrs::Field("layout", &AvgPool2DAttrs::layout, "order of the axes of the data"),
        attrs::Field("out_layout", &AvgPool2DAttrs::out_layout, "order of the axes of the result"),
        attrs::Field("ceil_mode", &AvgPool2DAttrs::ceil_mode, "round the output size up"),
        attrs::Field("count_include_pad", &AvgPool2DAttrs::count_include_pad,
                     "padding counts in the divisor"));
  }
};

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

struct L2NormalizeAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.L2NormalizeAttrs";
  double eps = 0;
  Ints axis;
  static constexpr auto Fields() {
    return attrs::Fields(
        attrs::Field("eps", &L2NormalizeAttrs::eps, "least sum of squares to divide by").Required(),
        attrs::Field("axis", &L2NormalizeAttrs::axis, "axes that are summed over").Required());
  }
};

struct LRNAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.LRNAttrs";
  std::int64_t size = 5;
  std::int64_t axis = 1;
  double bias = 2;
  double alpha = 0.0001;
  double beta = 0.75;
  static constexpr auto Fields() {
    return attrs::Fields(
        attrs::Field("size", &LRNAttrs::size, "elements that a window spans, an odd number")
            .AtLeast(1),
        attrs::Field("axis", &LRNAttrs::axis, "axis that windows lie along"),
        attrs::Field("bias", &LRNAttrs::bias, "added to the scaled sum of squares"),
        attrs::Field("alpha", &LRNAttrs::alpha, "factor of the mean of squares"),
        attrs::Field("beta", &LRNAttrs::beta, "exponent of the divisor"));
  }
};

struct UpSamplingAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.UpSamplingAttrs";
  double scale_h = 1;
  double scale_w = 1;
  std::string layout = "NCHW";
  std::string method = "nearest_neighbor";
  bool align_corners = false;
  static constexpr auto Fields() {
    return attrs::Fields(
        attrs::Field("scale_h", &UpSamplingAttrs::scale_h, "factor of the height").Required(),
        attrs::Field("scale_w", &UpSamplingAttrs::scale_w, "factor of the width").Required(),
        attrs::Field("layout", &UpSamplingAttrs::layout, "order of the axes of the data"),
        attrs::Field("method", &UpSamplingAttrs::method, "how new elements are made")
            .OneOf("nearest_neighbor bilinear bicubic"),
        attrs::Field("align_corners", &UpSamplingAttrs::align_corners,
                     "the first and last elements of both images lie upon each other"));
  }
};

}  // namespace tenon::ops

#endif  // TENON_OPS_NN_ATTRS_H_
