// Attributes of operators on batches of sequences.
#ifndef TENON_OPS_INDEX_SEQUENCE_ATTRS_H_
#define TENON_OPS_INDEX_SEQUENCE_ATTRS_H_

#include "tenon/attrs/attrs.h"

namespace tenon::ops {

struct SequenceMaskAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.SequenceMaskAttrs";
  double mask_value = 0;
  std::int64_t axis = 0;
  static constexpr auto Fields() {
    return attrs::Fields(
        attrs::Field("mask_value", &SequenceMaskAttrs::mask_value, "what masked elements become"),
        attrs::Field("axis", &SequenceMaskAttrs::axis,
                     "axis of time, 0 or 1; the other of the two is the batch"));
  }
};

}  // namespace tenon::ops

#endif  // TENON_OPS_INDEX_SEQUENCE_ATTRS_H_
