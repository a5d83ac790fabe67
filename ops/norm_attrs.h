// Attributes of normalisations.
#ifndef TENON_OPS_NORM_ATTRS_H_
#define TENON_OPS_NORM_ATTRS_H_

#include "tenon/attrs/attrs.h"
#include "tenon/ops/ints.h"

namespace tenon::ops {

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

}  // namespace tenon::ops

#endif  // TENON_OPS_NORM_ATTRS_H_
