// Attributes of operators that write or move regions of a tensor.
#ifndef TENON_OPS_BOXES_REGION_ATTRS_H_
#define TENON_OPS_BOXES_REGION_ATTRS_H_

#include "tenon/attrs/attrs.h"
#include "tenon/ops/ints.h"

namespace tenon::ops {

struct MatrixSetDiagAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.MatrixSetDiagAttrs";
  std::int64_t k1 = 0;
  std::int64_t k2 = 0;
  bool super_diag_right_align = true;
  bool sub_diag_right_align = false;
  static constexpr auto Fields() {
    return attrs::Fields(
        attrs::Field("k1", &MatrixSetDiagAttrs::k1, "the lowest diagonal; above the main one, > 0"),
        attrs::Field("k2", &MatrixSetDiagAttrs::k2, "the highest diagonal"),
        attrs::Field("super_diag_right_align", &MatrixSetDiagAttrs::super_diag_right_align,
                     "the values of short diagonals above the main one are aligned at the end of "
                     "their row, not at its beginning"),
        attrs::Field("sub_diag_right_align", &MatrixSetDiagAttrs::sub_diag_right_align,
                     "the same for those below it"));
  }
};

struct SlidingWindowAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.SlidingWindowAttrs";
  std::int64_t axis = 0;
  Ints window_shape, strides;
  static constexpr auto Fields() {
    return attrs::Fields(
        attrs::Field("axis", &SlidingWindowAttrs::axis, "first axis along which windows lie")
            .Required(),
        attrs::Field("window_shape", &SlidingWindowAttrs::window_shape,
                     "extents of a window, from that axis to the last")
            .AtLeast(1)
            .Required(),
        attrs::Field("strides", &SlidingWindowAttrs::strides, "steps of the window")
            .AtLeast(1)
            .Required());
  }
};

struct FIFOBufferAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.FIFOBufferAttrs";
  std::int64_t axis = 0;
  static constexpr auto Fields() {
    return attrs::Fields(
        attrs::Field("axis", &FIFOBufferAttrs::axis, "axis along which elements move"));
  }
};

}  // namespace tenon::ops

#endif  // TENON_OPS_BOXES_REGION_ATTRS_H_
