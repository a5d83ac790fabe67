// Attributes of convolutions over one and three spatial axes and of transposed convolutions; those
// of nn.conv2d are in conv2d_attrs.h.
//
// Lists with one value per spatial axis may also have a single value for all of them. Padding is
// one value for all sides, one per spatial axis, or the leading sides of all axes and then the
// trailing ones.
#ifndef TENON_OPS_CONV_CONV_ATTRS_H_
#define TENON_OPS_CONV_CONV_ATTRS_H_

#include <optional>
#include <string>

#include "tenon/attrs/attrs.h"
#include "tenon/ops/ints.h"

namespace tenon::ops {

template <typename A>
constexpr auto ConvFields() {
  return attrs::Fields(
      attrs::Field("strides", &A::strides, "step of the window along each spatial axis").AtLeast(1),
      attrs::Field("padding", &A::padding, "zeros around the data").AtLeast(0),
      attrs::Field("dilation", &A::dilation, "distance of neighbouring kernel taps").AtLeast(1),
      attrs::Field("groups", &A::groups, "the channels are convolved in this many separate groups")
          .AtLeast(1),
      attrs::Field("channels", &A::channels,
                   "output channels; taken from the weight when not given")
          .AtLeast(1),
      attrs::Field("kernel_size", &A::kernel_size,
                   "extents of the kernel; taken from the weight when not given")
          .AtLeast(1),
      attrs::Field("data_layout", &A::data_layout, "order of the axes of the data"),
      attrs::Field("kernel_layout", &A::kernel_layout,
                   "order of the axes of the weight; O: outputs, I: inputs"),
      attrs::Field("out_layout", &A::out_layout,
                   "order of the axes of the result; that of the data when empty"),
      attrs::Field("out_dtype", &A::out_dtype,
                   "element type of the sum and the result; that of the data when void"));
}

template <typename A>
constexpr auto ConvTransposeFields() {
  return attrs::Fields(
      attrs::Field("channels", &A::channels,
                   "output channels; taken from the weight when not given")
          .AtLeast(1),
      attrs::Field("kernel_size", &A::kernel_size,
                   "extents of the kernel; taken from the weight when not given")
          .AtLeast(1),
      attrs::Field("strides", &A::strides, "distance of the results of neighbouring elements")
          .AtLeast(1),
      attrs::Field("output_padding", &A::output_padding,
                   "elements added to the result at the end of each spatial axis")
          .AtLeast(0),
      attrs::Field("padding", &A::padding, "elements dropped at the sides of the result")
          .AtLeast(0),
      attrs::Field("dilation", &A::dilation, "distance of neighbouring kernel taps").AtLeast(1),
      attrs::Field("groups", &A::groups, "the channels are convolved in this many separate groups")
          .AtLeast(1),
      attrs::Field("data_layout", &A::data_layout, "order of the axes of the data"),
      attrs::Field("kernel_layout", &A::kernel_layout,
                   "order of the axes of the weight; I: inputs, O: outputs of a group"),
      attrs::Field("out_layout", &A::out_layout,
                   "order of the axes of the result; that of the data when empty"),
      attrs::Field("out_dtype", &A::out_dtype,
                   "element type of the sum and the result; that of the data when void"));
}

struct Conv1DAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.Conv1DAttrs";
  Ints strides = {1};
  Ints padding = {0, 0};
  Ints dilation = {1};
  std::int64_t groups = 1;
  std::optional<std::int64_t> channels;
  std::optional<Ints> kernel_size;
  std::string data_layout = "NCW";
  std::string kernel_layout = "OIW";
  std::string out_layout;
  DataType out_dtype = DataType::Void();
  static constexpr auto Fields() { return ConvFields<Conv1DAttrs>(); }
};

struct Conv3DAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.Conv3DAttrs";
  Ints strides = {1, 1, 1};
  Ints padding = {0, 0, 0};
  Ints dilation = {1, 1, 1};
  std::int64_t groups = 1;
  std::optional<std::int64_t> channels;
  std::optional<Ints> kernel_size;
  std::string data_layout = "NCDHW";
  std::string kernel_layout = "OIDHW";
  std::string out_layout;
  DataType out_dtype = DataType::Void();
  static constexpr auto Fields() { return ConvFields<Conv3DAttrs>(); }
};

struct Conv1DTransposeAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.Conv1DTransposeAttrs";
  std::optional<std::int64_t> channels;
  std::optional<Ints> kernel_size;
  Ints strides = {1};
  Ints output_padding = {0};
  Ints padding = {0};
  Ints dilation = {1};
  std::int64_t groups = 1;
  std::string data_layout = "NCW";
  std::string kernel_layout = "IOW";
  std::string out_layout;
  DataType out_dtype = DataType::Void();
  static constexpr auto Fields() { return ConvTransposeFields<Conv1DTransposeAttrs>(); }
};

struct Conv2DTransposeAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.Conv2DTransposeAttrs";
  std::optional<std::int64_t> channels;
  std::optional<Ints> kernel_size;
  Ints strides = {1, 1};
  Ints output_padding = {0, 0};
  Ints padding = {0, 0};
  Ints dilation = {1, 1};
  std::int64_t groups = 1;
  std::string data_layout = "NCHW";
  std::string kernel_layout = "IOHW";
  std::string out_layout;
  DataType out_dtype = DataType::Void();
  static constexpr auto Fields() { return ConvTransposeFields<Conv2DTransposeAttrs>(); }
};

struct Conv3DTransposeAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.Conv3DTransposeAttrs";
  std::optional<std::int64_t> channels;
  std::optional<Ints> kernel_size;
  Ints strides = {1, 1, 1};
  Ints output_padding = {0, 0, 0};
  Ints padding = {0, 0, 0};
  Ints dilation = {1, 1, 1};
  std::int64_t groups = 1;
  std::string data_layout = "NCDHW";
  std::string kernel_layout = "IODHW";
  std::string out_layout;
  DataType out_dtype = DataType::Void();
  static constexpr auto Fields() { return ConvTransposeFields<Conv3DTransposeAttrs>(); }
};

}  // namespace tenon::ops

#endif  // TENON_OPS_CONV_CONV_ATTRS_H_
