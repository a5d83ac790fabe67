// Attributes of products with fixed-point numbers.
#ifndef TENON_OPS_QUANTIZE_FIXED_POINT_ATTRS_H_
#define TENON_OPS_QUANTIZE_FIXED_POINT_ATTRS_H_

#include "tenon/attrs/attrs.h"
#include "tenon/ops/ints.h"

namespace tenon::ops {

struct FixedPointMultiplyAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.FixedPointMultiplyAttrs";
  std::int64_t multiplier = 0;
  std::int64_t shift = 0;
  static constexpr auto Fields() {
    return attrs::Fields(attrs::Field("multiplier", &FixedPointMultiplyAttrs::multiplier,
                                      "the factor times 2^31, an int32")
                             .AtLeast(-2147483648)
                             .AtMost(2147483647)
                             .Required(),
                         attrs::Field("shift", &FixedPointMultiplyAttrs::shift,
                                      "the exponent of the power of two by which it is multiplied")
                             .AtLeast(-31)
                             .AtMost(31)
                             .Required());
  }
};

struct FixedPointMultiplyPerAxisAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.FixedPointMultiplyPerAxisAttrs";
  bool is_lshift_required = false;
  bool is_rshift_required = false;
  Ints axes;
  static constexpr auto Fields() {
    return attrs::Fields(
        attrs::Field("is_lshift_required", &FixedPointMultiplyPerAxisAttrs::is_lshift_required,
                     "left_shift is used"),
        attrs::Field("is_rshift_required", &FixedPointMultiplyPerAxisAttrs::is_rshift_required,
                     "right_shift is used"),
        attrs::Field("axes", &FixedPointMultiplyPerAxisAttrs::axes,
                     "axes of the data to which the axes of the parameters correspond")
            .Required());
  }
};

}  // namespace tenon::ops

#endif  // TENON_OPS_QUANTIZE_FIXED_POINT_ATTRS_H_
