// Attributes of losses.
#ifndef TENON_OPS_NORM_LOSS_ATTRS_H_
#define TENON_OPS_NORM_LOSS_ATTRS_H_

#include <string>

#include "tenon/attrs/attrs.h"

namespace tenon::ops {

struct NLLLossAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.NLLLossAttrs";
  std::string reduction = "mean";
  std::int64_t ignore_index = -100;
  static constexpr auto Fields() {
    return attrs::Fields(
        attrs::Field("reduction", &NLLLossAttrs::reduction,
                     "mean: the sum divided by that of the targets' weights; sum; none: a loss for "
                     "each target")
            .OneOf("mean sum none"),
        attrs::Field("ignore_index", &NLLLossAttrs::ignore_index,
                     "target without a loss and a weight"));
  }
};

}  // namespace tenon::ops

#endif  // TENON_OPS_NORM_LOSS_ATTRS_H_
