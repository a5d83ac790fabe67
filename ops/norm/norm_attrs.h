// Attributes of normalisations.
#ifndef TENON_OPS_NORM_NORM_ATTRS_H_
#define TENON_OPS_NORM_NORM_ATTRS_H_

#include <tuple>

#include "tenon/attrs/attrs.h"
#include "tenon/ops/ints.h"

namespace tenon::ops {

// The fields of all normalisations by mean and variance. `axis_help` says which axis it is.
template <typename AttrsType>
constexpr auto NormFields(const char* axis_help) {
  return attrs::Fields(attrs::Field("axis", &AttrsType::axis, axis_help),
                       attrs::Field("epsilon", &AttrsType::epsilon, "added to the variance"),
                       attrs::Field("center", &AttrsType::center, "add beta"),
                       attrs::Field("scale", &AttrsType::scale, "multiply by gamma"));
}

struct BatchNormAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.BatchNormAttrs";
  std::int64_t axis = 1;
  double epsilon = 1e-5;
  bool center = true;
  bool scale = true;
  static constexpr auto Fields() { return NormFields<BatchNormAttrs>("axis of the channels"); }
};

struct LayerNormAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.LayerNormAttrs";
  std::int64_t axis = -1;
  double epsilon = 1e-5;
  bool center = true;
  bool scale = true;
  static constexpr auto Fields() { return NormFields<LayerNormAttrs>("axis that is normalised"); }
};

struct GroupNormAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.GroupNormAttrs";
  std::int64_t num_groups = 0;
  std::int64_t axis = 1;
  double epsilon = 1e-5;
  bool center = true;
  bool scale = true;
  static constexpr auto Fields() {
    return std::tuple_cat(attrs::Fields(attrs::Field("num_groups", &GroupNormAttrs::num_groups,
                                                     "groups that the channels make")
                                            .AtLeast(1)
                                            .Required()),
                          NormFields<GroupNormAttrs>("axis of the channels"));
  }
};

struct InstanceNormAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.InstanceNormAttrs";
  std::int64_t axis = 1;
  double epsilon = 1e-5;
  bool center = true;
  bool scale = true;
  static constexpr auto Fields() { return NormFields<InstanceNormAttrs>("axis of the channels"); }
};

struct L2NormalizeAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.L2NormalizeAttrs";
  double eps = 0;
  Ints axis;
  static constexpr auto Fields() {
    return attrs::Fields(
        attrs::Field("eps", &L2NormalizeAttrs::eps, "minimum sum of squares to divide by")
            .Required(),
        attrs::Field("axis", &L2NormalizeAttrs::axis, "axes to sum over").Required());
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
        attrs::Field(
            "size", &LRNAttrs::size,
            "elements that a window spans; of an even number one more comes after the middle")
            .AtLeast(1),
        attrs::Field("axis", &LRNAttrs::axis, "axis along which windows lie"),
        attrs::Field("bias", &LRNAttrs::bias, "added to the scaled sum of squares"),
        attrs::Field("alpha", &LRNAttrs::alpha, "factor of the mean of squares"),
        attrs::Field("beta", &LRNAttrs::beta, "exponent of the divisor"));
  }
};

}  // namespace tenon::ops

#endif  // TENON_OPS_NORM_NORM_ATTRS_H_
