// Attributes of the operators that move blocks of space to and from the batch or the channels, and
// of the one that spreads space.
#ifndef TENON_OPS_SHAPE_BATCH_SPACE_ATTRS_H_
#define TENON_OPS_SHAPE_BATCH_SPACE_ATTRS_H_

#include <string>
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

struct SubPixelAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.SubPixelAttrs";
  std::int64_t block_size = 1;
  std::string layout = "NCHW";
  std::string mode = "DCR";
  static constexpr auto Fields() {
    return attrs::Fields(
        attrs::Field("block_size", &SubPixelAttrs::block_size, "height and width of a block")
            .AtLeast(1),
        attrs::Field("layout", &SubPixelAttrs::layout, "order of the axes of the data"),
        attrs::Field("mode", &SubPixelAttrs::mode,
                     "of nn.depth_to_space: the position within a block is the slow part of the "
                     "channel (DCR) or the fast one (CRD)")
            .OneOf("DCR CRD"));
  }
};

struct DilateAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.DilateAttrs";
  Ints strides = {1, 1};
  double dilation_value = 0;
  static constexpr auto Fields() {
    return attrs::Fields(
        attrs::Field("strides", &DilateAttrs::strides, "distance of neighbours on each axis")
            .AtLeast(1),
        attrs::Field("dilation_value", &DilateAttrs::dilation_value, "what the new elements are"));
  }
};

}  // namespace tenon::ops

#endif  // TENON_OPS_SHAPE_BATCH_SPACE_ATTRS_H_
