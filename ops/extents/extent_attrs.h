// Attributes of operators whose results have extents that values or other tensors decide.
#ifndef TENON_OPS_EXTENTS_EXTENT_ATTRS_H_
#define TENON_OPS_EXTENTS_EXTENT_ATTRS_H_

#include <cstdint>
#include <string>

#include "tenon/attrs/attrs.h"
#include "tenon/support/data_type.h"

namespace tenon::ops {

struct RunTimeCutAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.RunTimeCutAttrs";
  std::int64_t axis = 0;
  std::string extent = {};
  bool keeps_name = false;
  static constexpr auto Fields() {
    return attrs::Fields(
        attrs::Field("axis", &RunTimeCutAttrs::axis, "axis that is cut").AtLeast(0),
        attrs::Field("extent", &RunTimeCutAttrs::extent,
                     "the variable that the axis then has: # and a name. Cuts of one variable must "
                     "give one extent. Each cut without one is given its own"),
        attrs::Field("keeps_name", &RunTimeCutAttrs::keeps_name,
                     "cuts by other counts may have the same variable, as in the branches of an "
                     "if; otherwise each count is given its own"));
  }
};

struct ExtentsAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.ExtentsAttrs";
  std::string shape = {};
  static constexpr auto Fields() {
    return attrs::Fields(attrs::Field("shape", &ExtentsAttrs::shape,
                                      "extents of the result as a type has them, in parentheses; "
                                      "x1_0 is the extent of axis 0 of the tuple's field 1")
                             .Required());
  }
};

struct IndexAlongAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.IndexAlongAttrs";
  std::int64_t axis = 0;
  DataType dtype = Int64;
  static constexpr auto Fields() {
    return attrs::Fields(
        attrs::Field("axis", &IndexAlongAttrs::axis, "which axis"),
        attrs::Field("dtype", &IndexAlongAttrs::dtype, "element type of the result"));
  }
};

}  // namespace tenon::ops

#endif  // TENON_OPS_EXTENTS_EXTENT_ATTRS_H_
