// Attributes of biases and activations of neural networks.
#ifndef TENON_OPS_NORM_NN_ATTRS_H_
#define TENON_OPS_NORM_NN_ATTRS_H_

#include <cstdint>

#include "tenon/attrs/attrs.h"

namespace tenon::ops {

struct BiasAddAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.BiasAddAttrs";
  std::int64_t axis = 1;
  static constexpr auto Fields() {
    return attrs::Fields(
        attrs::Field("axis", &BiasAddAttrs::axis, "axis along which the bias runs"));
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

}  // namespace tenon::ops

#endif  // TENON_OPS_NORM_NN_ATTRS_H_
