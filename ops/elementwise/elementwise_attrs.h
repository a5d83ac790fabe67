// Attributes of elementwise operators.
#ifndef TENON_OPS_ELEMENTWISE_ELEMENTWISE_ATTRS_H_
#define TENON_OPS_ELEMENTWISE_ELEMENTWISE_ATTRS_H_

#include "tenon/attrs/attrs.h"

namespace tenon::ops {

struct ClipAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.ClipAttrs";
  double a_min = 0;
  double a_max = 0;
  static constexpr auto Fields() {
    return attrs::Fields(attrs::Field("a_min", &ClipAttrs::a_min, "lower bound").Required(),
                         attrs::Field("a_max", &ClipAttrs::a_max, "upper bound").Required());
  }
};

struct CastAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.CastAttrs";
  DataType dtype = Float32;
  static constexpr auto Fields() {
    return attrs::Fields(
        attrs::Field("dtype", &CastAttrs::dtype, "element type of the result").Required());
  }
};

struct LeakyReluAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.LeakyReluAttrs";
  double alpha = 0.25;
  static constexpr auto Fields() {
    return attrs::Fields(
        attrs::Field("alpha", &LeakyReluAttrs::alpha, "slope for negative values"));
  }
};

struct PReluAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.PReluAttrs";
  std::int64_t axis = 1;
  static constexpr auto Fields() {
    return attrs::Fields(attrs::Field("axis", &PReluAttrs::axis, "axis of the channels"));
  }
};

}  // namespace tenon::ops

#endif  // TENON_OPS_ELEMENTWISE_ELEMENTWISE_ATTRS_H_
