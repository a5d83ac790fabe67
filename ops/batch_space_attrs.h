// Attributes of the operators that move blocks of space into the batch and back.
#ifndef TENON_OPS_BATCH_SPACE_ATTRS_H_
#define TENON_OPS_BATCH_SPACE_ATTRS_H_

#include <vector>

#include "tenon/attrs/attrs.h"
#include "tenon/ops/ints.h"

namespace tenon::ops {

struct SpaceToBatchNDAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.SpaceToBatchNDAttrs";
  Ints block_shape = {1, 1};
  std::vector<Ints> paddings;
  double pad_value = 0;
  static constexpr auto Fields() {
    return attrs::Fields(
        attrs::Field("block_shape", &SpaceToBatchNDAttrs::block_shape, "extents of a block")
            .AtLeast(1),
        attrs::Field("paddings", &SpaceToBatchNDAttrs::paddings,
                     "for each of these axes (before, after)")
            .Required(),
        attrs::Field("pad_value", &SpaceToBatchNDAttrs::pad_value, "what the new elements are"));
  }
};

struct BatchToSpaceNDAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.BatchToSpaceNDAttrs";
  Ints block_shape = {1, 1};
  std::vector<Ints> crops;
  static constexpr auto Fields() {
    return attrs::Fields(
        attrs::Field("block_shape", &BatchToSpaceNDAttrs::block_shape, "extents of a block")
            .AtLeast(1),
        attrs::Field("crops", &BatchToSpaceNDAttrs::crops,
                     "for each of these axes how many elements to drop (before, after)")
            .Required());
  }
};

}  // namespace tenon::ops

#endif  // TENON_OPS_BATCH_SPACE_ATTRS_H_
