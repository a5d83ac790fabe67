// Operators that put elements around or between others, and those that move blocks of space.
#include <algorithm>
#include <string>

#include "tenon/ops/boxes/detector_attrs.h"
#include "tenon/ops/shape/batch_space_attrs.h"
#include "tenon/ops/shape/transform_attrs.h"
#include "tenon/verify/define/defined_places.h"
#include "tenon/verify/define/definition.h"

namespace tenon::verify {
namespace {

using Pairs = std::vector<ops::Ints>;

// Where an element around an axis comes from; below 0 for a new one.
using Around = std::function<std::int64_t(std::int64_t at, std::int64_t extent)>;

Definition Padded(const NDArray& x, const Pairs& widths, const Number& value,
                  const Around& around) {
  Shape to = x.shape();
  for (std::size_t d = 0; d < to.size(); ++d) to[d] += widths[d][0] + widths[d][1];
  Definition made{.shape = to};
  for (Shape at : AllPlaces(to)) {
    bool is_new = false;
    for (std::size_t d = 0; d < at.size(); ++d) {
      at[d] -= widths[d][0];
      if (at[d] < 0 || at[d] >= x.shape()[d]) at[d] = around(at[d], x.shape()[d]);
      is_new = is_new || at[d] < 0;
    }
    made.Add(is_new ? value : ElementOf(x, at), 0);
  }
  return made;
}

std::int64_t New(std::int64_t, std::int64_t) { return -1; }
std::int64_t Nearest(std::int64_t at, std::int64_t extent) { return at < 0 ? 0 : extent - 1; }
// Back and forth between the ends, which are not repeated.
std::int64_t Reflected(std::int64_t at, std::int64_t extent) {
  return at < 0 ? -at : extent - 1 - (at - (extent - 1));
}
// The ends occur twice.
std::int64_t Symmetric(std::int64_t at, std::int64_t extent) {
  return at < 0 ? -1 - at : extent - 1 - (at - extent);
}

Definitions Pad(const DefinedCall& call) {
  const auto& attrs = call.call.attrs.As<ops::PadAttrs>();
  const Around around = attrs.pad_mode == "constant" ? New
                        : attrs.pad_mode == "edge"   ? Nearest
                                                     : Reflected;
  return {Padded(call.args[0], attrs.pad_width, ElementAt(call.args[1], 0), around)};
}

Definitions MirrorPad(const DefinedCall& call) {
  const auto& attrs = call.call.attrs.As<ops::MirrorPadAttrs>();
  return {
      Padded(call.args[0], attrs.pad_width, {}, attrs.mode == "REFLECT" ? Reflected : Symmetric)};
}

// What an attribute of the element type is.
Number ValueOf(double value, const NDArray& x) {
  return Converted({.real = value}, Float64, x.dtype());
}

// Every element of the data, and of what surrounds it, has one place in the result.
Definitions SpaceToBatch(const DefinedCall& call) {
  const auto& attrs = call.call.attrs.As<ops::SpaceToBatchNDAttrs>();
  const NDArray& x = call.args[0];
  const ops::Ints& block = attrs.block_shape;
  Shape to = x.shape();
  for (std::size_t b = 0; b < block.size(); ++b) {
    to[0] *= block[b];
    to[b + 1] = (to[b + 1] + attrs.paddings[b][0] + attrs.paddings[b][1]) / block[b];
  }
  Definition made{.shape = to};
  for (std::int64_t i = NumElements(to); i > 0; --i) made.Add(ValueOf(attrs.pad_value, x), 0);
  for (const Shape& from : AllPlaces(x.shape())) {
    Shape at = from;
    std::int64_t position = 0;
    for (std::size_t b = 0; b < block.size(); ++b) {
      const std::int64_t padded = from[b + 1] + attrs.paddings[b][0];
      position = position * block[b] + padded % block[b];
      at[b + 1] = padded / block[b];
    }
    at[0] += position * x.shape()[0];
    made.elements.at(static_cast<std::size_t>(PlaceOf(at, to))) = ElementOf(x, from);
  }
  return {made};
}

Definitions BatchToSpace(const DefinedCall& call) {
  const auto& attrs = call.call.attrs.As<ops::BatchToSpaceNDAttrs>();
  const NDArray& x = call.args[0];
  const ops::Ints& block = attrs.block_shape;
  Shape to = x.shape();
  for (std::size_t b = 0; b < block.size(); ++b) {
    to[0] /= block[b];
    to[b + 1] = to[b + 1] * block[b] - attrs.crops[b][0] - attrs.crops[b][1];
  }
  Definition made{.shape = to};
  made.elements.resize(static_cast<std::size_t>(NumElements(to)));
  made.tolerances.assign(made.elements.size(), 0);
  for (const Shape& from : AllPlaces(x.shape())) {
    Shape at = from;
    std::int64_t position = from[0] / std::max<std::int64_t>(to[0], 1);
    at[0] = from[0] % std::max<std::int64_t>(to[0], 1);
    bool is_inside = true;
    for (std::size_t b = block.size(); b-- > 0;) {
      at[b + 1] = from[b + 1] * block[b] + position % block[b] - attrs.crops[b][0];
      position /= block[b];
      is_inside = is_inside && at[b + 1] >= 0 && at[b + 1] < to[b + 1];
    }
    if (is_inside) made.elements.at(static_cast<std::size_t>(PlaceOf(at, to))) = ElementOf(x, from);
  }
  return {made};
}

// Coordinates of an image in the order of a layout's letters.
struct InLayout {
  const std::string& layout;

  std::int64_t& Of(char letter, Shape* shape) const { return shape->at(layout.find(letter)); }
  std::int64_t Of(char letter, Shape shape) const { return shape.at(layout.find(letter)); }
};

// The place in the space of blocks to which channel, row and column of the deep image belong.
Shape Spread(const Shape& deep, const InLayout& in, std::int64_t block, std::int64_t channels,
             bool position_is_fast) {
  Shape at = deep;
  const std::int64_t channel = in.Of('C', deep);
  const std::int64_t position = position_is_fast ? channel % (block * block) : channel / channels;
  in.Of('C', &at) = position_is_fast ? channel / (block * block) : channel % channels;
  in.Of('H', &at) = in.Of('H', deep) * block + position / block;
  in.Of('W', &at) = in.Of('W', deep) * block + position % block;
  return at;
}

Definitions SpaceToDepth(const DefinedCall& call) {
  const auto& attrs = call.call.attrs.As<ops::SubPixelAttrs>();
  const InLayout in{attrs.layout};
  const std::int64_t block = attrs.block_size, channels = in.Of('C', call.shape(0));
  Shape to = call.shape(0);
  in.Of('C', &to) *= block * block;
  in.Of('H', &to) /= block;
  in.Of('W', &to) /= block;
  return {MovedTo(to, call.args[0], [&](const Shape& at) {
    return Spread(at, in, block, channels, /*position_is_fast=*/false);
  })};
}

Definitions DepthToSpace(const DefinedCall& call) {
  const auto& attrs = call.call.attrs.As<ops::SubPixelAttrs>();
  const InLayout in{attrs.layout};
  const NDArray& x = call.args[0];
  const std::int64_t block = attrs.block_size;
  Shape to = x.shape();
  in.Of('C', &to) /= block * block;
  in.Of('H', &to) *= block;
  in.Of('W', &to) *= block;
  Definition made{.shape = to};
  made.elements.resize(static_cast<std::size_t>(NumElements(to)));
  made.tolerances.assign(made.elements.size(), 0);
  for (const Shape& from : AllPlaces(x.shape())) {
    const Shape at = Spread(from, in, block, in.Of('C', to), attrs.mode == "CRD");
    made.elements.at(static_cast<std::size_t>(PlaceOf(at, to))) = ElementOf(x, from);
  }
  return {made};
}

Definitions Dilate(const DefinedCall& call) {
  const auto& attrs = call.call.attrs.As<ops::DilateAttrs>();
  const NDArray& x = call.args[0];
  Shape to = x.shape();
  for (std::size_t d = 0; d < to.size(); ++d)
    to[d] = to[d] == 0 ? 0 : (to[d] - 1) * attrs.strides[d] + 1;
  Definition made{.shape = to};
  for (std::int64_t i = NumElements(to); i > 0; --i) made.Add(ValueOf(attrs.dilation_value, x), 0);
  for (const Shape& from : AllPlaces(x.shape())) {
    Shape at = from;
    for (std::size_t d = 0; d < at.size(); ++d) at[d] *= attrs.strides[d];
    made.elements.at(static_cast<std::size_t>(PlaceOf(at, to))) = ElementOf(x, from);
  }
  return {made};
}

// As Darknet's layer has it: the data's memory is read as if it were the wide image of fewer
// channels, and written as if the result had the data's shape.
Definitions YoloReorg(const DefinedCall& call) {
  const std::int64_t stride = call.call.attrs.As<ops::YoloReorgAttrs>().stride;
  const Shape& x = call.shape(0);
  const std::int64_t channels = x[1], height = x[2], width = x[3];
  const std::int64_t wide_channels = channels / (stride * stride);
  Definition made{.shape =
                      Shape{x[0], channels * stride * stride, height / stride, width / stride}};
  for (const Shape& at : AllPlaces(x)) {
    const std::int64_t c = at[1] % wide_channels, offset = at[1] / wide_channels;
    const std::int64_t column = at[3] * stride + offset % stride;
    const std::int64_t row = at[2] * stride + offset / stride;
    made.Add(
        ElementAt(call.args[0],
                  column + width * stride * (row + height * stride * (c + wide_channels * at[0]))),
        0);
  }
  return {made};
}

}  // namespace

void AddBlockDefinitions(DefinitionTable* table) {
  DefinitionTable& t = *table;
  t["nn.batch_to_space_nd"] = BatchToSpace;
  t["nn.depth_to_space"] = DepthToSpace;
  t["nn.dilate"] = Dilate;
  t["nn.mirror_pad"] = MirrorPad;
  t["nn.pad"] = Pad;
  t["nn.space_to_batch_nd"] = SpaceToBatch;
  t["nn.space_to_depth"] = SpaceToDepth;
  t["vision.yolo_reorg"] = YoloReorg;
}

}  // namespace tenon::verify
