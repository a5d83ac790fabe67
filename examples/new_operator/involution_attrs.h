// Step 1: the attributes.
//
// The field list makes text, JSON, equality, checks and documentation of them.
#ifndef INVOLUTION_ATTRS_H_
#define INVOLUTION_ATTRS_H_

#include <cstdint>
#include <string>

#include "tenon/attrs/field.h"

namespace involution {

// Involution (Li and others, 2021): as a depthwise convolution, but each place of the image has a
// kernel of its own, which the channels of a group share.
struct Attrs {
  static constexpr const char* kTypeKey = "example.InvolutionAttrs";

  // Products of attributes below it stay far from 64 bits.
  static constexpr std::int64_t kMax = 1'000'000;

  std::int64_t kernel_size = 3;
  std::int64_t stride = 1;
  std::int64_t dilation = 1;
  std::int64_t groups = 1;
  std::string layout = "NCHW";

  static constexpr auto Fields() {
    using tenon::attrs::Field;
    return tenon::attrs::Fields(
        Field("kernel_size", &Attrs::kernel_size, "height and width of the window, odd")
            .AtLeast(1)
            .AtMost(63)
            .Required(),
        Field("stride", &Attrs::stride, "step of the window").AtLeast(1),
        Field("dilation", &Attrs::dilation, "distance of the window's elements")
            .AtLeast(1)
            .AtMost(kMax),
        Field("groups", &Attrs::groups, "groups of channels, each with kernels of its own")
            .AtLeast(1)
            .AtMost(kMax),
        Field("layout", &Attrs::layout, "axes of data, kernels and result").OneOf("NCHW NHWC"));
  }

  // How far a window reaches beyond its centre. So many zeros are around the image.
  std::int64_t Reach() const { return kernel_size / 2 * dilation; }
  std::size_t Axis(char letter) const { return layout.find(letter); }
};

}  // namespace involution

#endif  // INVOLUTION_ATTRS_H_
