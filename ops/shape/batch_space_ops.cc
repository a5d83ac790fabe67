// nn.space_to_batch_nd and nn.batch_to_space_nd, as TensorFlow defines them: axes 1, 2, ... of the
// data are cut into blocks, and the position within a block becomes the leading part of the batch.
// nn.space_to_depth and nn.depth_to_space do the same with height, width and the channels.
#include "tenon/ops/builtin.h"
#include "tenon/ops/pass_rules.h"
#include "tenon/ops/shape/batch_space_attrs.h"
#include "tenon/ops/shape_rules.h"
#include "tenon/support/strings.h"

namespace tenon::ops {
namespace {

// Refuses lists that do not fit the rank or each other, and entries that make no sense.
void CheckLists(TypeCall& call, const Ints& block, const std::vector<Ints>& pairs, const char* name,
                std::size_t rank) {
  if (block.size() + 1 > rank)
    call.Refuse(StrCat("block_shape has ", block.size(), " extents for an input of rank ", rank));
  if (pairs.size() != block.size())
    call.Refuse(StrCat(name, " has ", pairs.size(), " pairs for ", block.size(),
                       " extents of block_shape"));
  for (const Ints& pair : pairs) {
    if (pair.size() != 2 || pair[0] < 0 || pair[1] < 0)
      call.Refuse(StrCat("each entry of ", name,
                         " must be a pair (before, after) of numbers that are not negative"));
  }
}

std::int64_t BlockSize(TypeCall& call, const Ints& block) {
  std::int64_t size = 1;
  for (const std::int64_t extent : block) {
    if (__builtin_mul_overflow(size, extent, &size)) call.Refuse("a block has too many elements");
  }
  return size;
}

ir::Dim Times(TypeCall& call, const ir::Dim& extent, std::int64_t factor) {
  std::int64_t product = 0;
  if (!extent.is_static()) return extent * ir::Dim(factor);
  if (__builtin_mul_overflow(extent.value(), factor, &product))
    call.Refuse("the result is too large");
  return ir::Dim(product);
}
ir::Dim DividedBy(TypeCall& call, const ir::Dim& extent, std::int64_t divisor, const char* axis) {
  if (extent.is_any()) return extent;
  if (call.HasRest(extent, divisor))
    call.Refuse(
        StrCat("the ", axis, " is ", extent.ToString(), ", which ", divisor, " does not divide"));
  return FloorDiv(extent, divisor);
}

void SpaceToBatchND(TypeCall& call) {
  const auto* x = call.tensor(0);
  if (x == nullptr) return;
  const auto& attrs = call.attrs<SpaceToBatchNDAttrs>();
  CheckLists(call, attrs.block_shape, attrs.paddings, "paddings", x->shape.size());
  std::vector<ir::Dim> shape = x->shape;
  for (std::size_t i = 0; i < attrs.block_shape.size(); ++i) {
    ir::Dim& extent = shape[i + 1];
    const Ints& pads = attrs.paddings[i];
    const ir::Dim padded = extent.is_static()
                               ? ir::Dim(PaddedExtent(extent.value(), pads[0], pads[1]))
                               : extent + ir::Dim(PaddedExtent(0, pads[0], pads[1]));
    if (!padded.is_any() && call.HasRest(padded, attrs.block_shape[i]))
      call.Refuse(StrCat("axis ", i + 1, " has ", padded.ToString(),
                         " elements with its padding, which blocks of ", attrs.block_shape[i],
                         " do not divide"));
    extent = FloorDiv(padded, attrs.block_shape[i]);
  }
  shape[0] = Times(call, shape[0], BlockSize(call, attrs.block_shape));
  call.LearnResult(ir::TensorType(std::move(shape), x->dtype));
}

void BatchToSpaceND(TypeCall& call) {
  const auto* x = call.tensor(0);
  if (x == nullptr) return;
  const auto& attrs = call.attrs<BatchToSpaceNDAttrs>();
  CheckLists(call, attrs.block_shape, attrs.crops, "crops", x->shape.size());
  const std::int64_t blocks = BlockSize(call, attrs.block_shape);
  std::vector<ir::Dim> shape = x->shape;
  if (!shape[0].is_any() && call.HasRest(shape[0], blocks))
    call.Refuse(StrCat("a batch of ", shape[0].ToString(), " is not made of blocks of ", blocks));
  shape[0] = FloorDiv(shape[0], blocks);
  for (std::size_t i = 0; i < attrs.block_shape.size(); ++i) {
    ir::Dim& extent = shape[i + 1];
    if (extent.is_any()) continue;
    const ir::Dim whole = Times(call, extent, attrs.block_shape[i]);
    const std::int64_t dropped = PaddedExtent(0, attrs.crops[i][0], attrs.crops[i][1]);
    if (call.Exceeds(dropped, whole))
      call.Refuse(StrCat("axis ", i + 1, " is cropped by more than its extent ", whole.ToString()));
    extent = whole - dropped;
  }
  call.LearnResult(ir::TensorType(std::move(shape), x->dtype));
}

// Blocks of space become channels, or channels become blocks of space.
template <bool kToDepth>
void SubPixel(TypeCall& call) {
  const auto* x = call.tensor(0);
  if (x == nullptr) return;
  const auto& attrs = call.attrs<SubPixelAttrs>();
  const std::vector<std::size_t> at = LayoutPositions(attrs.layout, "NCHW", "layout");
  if (x->shape.size() != at.size()) call.Refuse("the data must have rank 4");
  const std::int64_t block = attrs.block_size;
  const std::int64_t size = BlockSize(call, {block, block});
  std::vector<ir::Dim> shape = x->shape;
  ir::Dim &channels = shape[at[1]], &height = shape[at[2]], &width = shape[at[3]];
  channels = kToDepth ? Times(call, channels, size)
                      : DividedBy(call, channels, size, "number of channels");
  height = kToDepth ? DividedBy(call, height, block, "height") : Times(call, height, block);
  width = kToDepth ? DividedBy(call, width, block, "width") : Times(call, width, block);
  call.LearnResult(ir::TensorType(std::move(shape), x->dtype));
}

void Dilate(TypeCall& call) {
  const auto* x = call.tensor(0);
  if (x == nullptr) return;
  const auto& attrs = call.attrs<DilateAttrs>();
  if (attrs.strides.size() != x->shape.size())
    call.Refuse(StrCat("strides has ", attrs.strides.size(), " entries for an input of rank ",
                       x->shape.size()));
  std::vector<ir::Dim> shape = x->shape;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    shape[d] = SpanOf(call, shape[d], attrs.strides[d]);
  }
  call.LearnResult(ir::TensorType(std::move(shape), x->dtype));
}

}  // namespace

void RegisterBatchSpaceOps(OpRegistry& registry) {
  registry.Register("nn.space_to_batch_nd")
      .Describe("pad, then move the positions within blocks of space into the batch")
      .Argument("data", "Tensor", "batch, then the axes that are cut into blocks, then any others")
      .Attrs<SpaceToBatchNDAttrs>()
      .Level(5)
      .Pattern(OpPattern::kInjective)
      .TypeRelation(SpaceToBatchND, "SpaceToBatchND");
  registry.Register("nn.batch_to_space_nd")
      .Describe("move the leading part of the batch into blocks of space, then crop")
      .Argument("data", "Tensor", "batch, then the axes that blocks make, then any others")
      .Attrs<BatchToSpaceNDAttrs>()
      .Level(5)
      .Pattern(OpPattern::kInjective)
      .TypeRelation(BatchToSpaceND, "BatchToSpaceND");
  registry.Register("nn.space_to_depth")
      .Describe("move blocks of height and width into channels, the position within a block first")
      .Argument("data", "Tensor", "batch of images")
      .Attrs<SubPixelAttrs>()
      .Level(5)
      .Pattern(OpPattern::kInjective)
      .TypeRelation(SubPixel<true>, "SpaceToDepth")
      .Column(PrecisionRule::kFollow);
  registry.Register("nn.depth_to_space")
      .Describe("move channels into blocks of height and width")
      .Argument("data", "Tensor", "batch of images")
      .Attrs<SubPixelAttrs>()
      .Level(5)
      .Pattern(OpPattern::kInjective)
      .TypeRelation(SubPixel<false>, "DepthToSpace")
      .Column(PrecisionRule::kFollow);
  registry.Register("nn.dilate")
      .Describe("spread the elements: strides - 1 new ones between neighbours on each axis")
      .Argument("x", "Tensor", "input")
      .Attrs<DilateAttrs>()
      .Level(10)
      .Pattern(OpPattern::kInjective)
      .TypeRelation(Dilate, "Dilate");
}

}  // namespace tenon::ops
