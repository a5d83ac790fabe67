// Attributes of reductions.
#ifndef TENON_OPS_REDUCE_REDUCE_ATTRS_H_
#define TENON_OPS_REDUCE_REDUCE_ATTRS_H_

#include <optional>
#include <vector>

#include "tenon/attrs/attrs.h"
#include "tenon/ops/ints.h"

namespace tenon::ops {

struct ReduceAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.ReduceAttrs";
  std::optional<Ints> axis;
  bool keepdims = false;
  bool exclude = false;
  static constexpr auto Fields() {
    return attrs::Fields(
        attrs::Field("axis", &ReduceAttrs::axis, "axes to reduce over; all when not given"),
        attrs::Field("keepdims", &ReduceAttrs::keepdims, "keep reduced axes with extent 1"),
        attrs::Field("exclude", &ReduceAttrs::exclude, "reduce over the axes not named"));
  }
};

struct ArgReduceAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.ArgReduceAttrs";
  std::optional<Ints> axis;
  bool keepdims = false;
  bool select_last_index = false;
  bool exclude = false;
  static constexpr auto Fields() {
    return attrs::Fields(
        attrs::Field("axis", &ArgReduceAttrs::axis, "axes to reduce over; all when not given"),
        attrs::Field("keepdims", &ArgReduceAttrs::keepdims, "keep reduced axes with extent 1"),
        attrs::Field("select_last_index", &ArgReduceAttrs::select_last_index,
                     "of equal extremes take the last, not the first"),
        attrs::Field("exclude", &ArgReduceAttrs::exclude, "reduce over the axes not named"));
  }
};

struct VarianceAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.VarianceAttrs";
  std::optional<Ints> axis;
  bool keepdims = false;
  bool exclude = false;
  bool unbiased = false;
  static constexpr auto Fields() {
    return attrs::Fields(
        attrs::Field("axis", &VarianceAttrs::axis, "axes to reduce over; all when not given"),
        attrs::Field("keepdims", &VarianceAttrs::keepdims, "keep reduced axes with extent 1"),
        attrs::Field("exclude", &VarianceAttrs::exclude, "reduce over the axes not named"),
        attrs::Field("unbiased", &VarianceAttrs::unbiased, "divide by the count minus one"));
  }
};

}  // namespace tenon::ops

#endif  // TENON_OPS_REDUCE_REDUCE_ATTRS_H_
