// Attributes of count_up, whose result has an extent that a value decides.
#ifndef TENON_OPS_EXTENTS_COUNT_UP_ATTRS_H_
#define TENON_OPS_EXTENTS_COUNT_UP_ATTRS_H_

#include <string>

#include "tenon/attrs/attrs.h"

namespace tenon::ops {

struct CountUpAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.CountUpAttrs";
  std::string extent = {};
  bool is_clamped = false;
  std::string needed_by = {};
  static constexpr auto Fields() {
    return attrs::Fields(
        attrs::Field("extent", &CountUpAttrs::extent,
                     "the variable that the result's axis has, as that of take_first"),
        attrs::Field("is_clamped", &CountUpAttrs::is_clamped,
                     "a count below 0 gives no numbers; otherwise the run is refused"),
        attrs::Field("needed_by", &CountUpAttrs::needed_by,
                     "who needs the numbers, for the words of a refusal"));
  }
};

}  // namespace tenon::ops

#endif  // TENON_OPS_EXTENTS_COUNT_UP_ATTRS_H_
