// Operators of early detectors: anchors (Liu et al., "SSD", ECCV 2016), pooled regions (Girshick,
// "Fast R-CNN", ICCV 2015) and the reorganisation of YOLO (Redmon and Farhadi, "YOLO9000", CVPR
// 2017).
#include "tenon/ops/boxes/detection_attrs.h"
#include "tenon/ops/boxes/detector_attrs.h"
#include "tenon/ops/builtin.h"
#include "tenon/ops/shape_rules.h"
#include "tenon/support/strings.h"

namespace tenon::ops {
namespace {

using ir::Dim;

void MultiBoxPrior(TypeCall& call) {
  const auto* x = call.tensor(0);
  if (x == nullptr) return;
  if (x->shape.size() != 4) call.Refuse("the data must have rank 4");
  const auto& attrs = call.attrs<MultiBoxPriorAttrs>();
  if (attrs.sizes.empty() || attrs.ratios.empty())
    call.Refuse("there must be a size and a ratio, at least");
  for (const double ratio : attrs.ratios) {
    if (!(ratio > 0)) call.Refuse(StrCat("a ratio is ", ratio, "; it must be positive"));
  }
  if (attrs.steps.size() != 2 || attrs.offsets.size() != 2)
    call.Refuse("steps and offsets must have two values each");
  const auto boxes = static_cast<std::int64_t>(attrs.sizes.size() + attrs.ratios.size() - 1);
  if (boxes > kMaxBoxesOfPlace)
    call.Refuse(StrCat("sizes and ratios make ", boxes, " boxes at a position; at most ",
                       kMaxBoxesOfPlace, " are supported"));
  call.LearnResult(
      ir::TensorType({Dim(1), Product({x->shape[2], x->shape[3], Dim(boxes)}), Dim(4)}, Float32));
}

void RoiPool(TypeCall& call) {
  const auto* data = call.tensor(0);
  const auto* rois = call.tensor(1);
  if (data == nullptr || rois == nullptr) return;
  const auto pooled = Pair(call.attrs<ROIPoolAttrs>().pooled_size, "pooled_size");
  RequireRegions(call, *data, *rois);
  call.LearnResult(ir::TensorType({rois->shape[0], data->shape[1], Dim(pooled[0]), Dim(pooled[1])},
                                  data->dtype));
}

void YoloReorg(TypeCall& call) {
  const auto* x = call.tensor(0);
  if (x == nullptr) return;
  if (x->shape.size() != 4) call.Refuse("the data must have rank 4");
  const std::int64_t stride = call.attrs<YoloReorgAttrs>().stride;
  if (stride > (std::int64_t{1} << 20)) call.Refuse("stride is too large");
  const Dim &channels = x->shape[1], &height = x->shape[2], &width = x->shape[3];
  if (!channels.is_static() || !height.is_static() || !width.is_static())
    call.Refuse("channels, height and width must be known");
  if (channels.value() % (stride * stride) != 0)
    call.Refuse(StrCat(stride * stride, ", the square of stride, does not divide the ",
                       channels.value(), " channels"));
  for (const Dim& extent : {height, width}) {
    if (extent.value() % stride != 0)
      call.Refuse(StrCat("stride, ", stride, ", does not divide an extent of ", extent.value()));
  }
  call.LearnResult(ir::TensorType({x->shape[0], Product({channels, stride, stride}),
                                   Dim(height.value() / stride), Dim(width.value() / stride)},
                                  x->dtype));
}

}  // namespace

void RegisterDetectorOps(OpRegistry& registry) {
  registry.Register("vision.multibox_prior")
      .Describe(
          "boxes at every position of the data, as x1, y1, x2, y2 in fractions of the image: one "
          "of each size with the first ratio taken as 1, then one of the first size with each "
          "other ratio")
      .Argument("data", "Tensor", "gives the positions, NCHW")
      .Attrs<MultiBoxPriorAttrs>()
      .Level(5)
      .Pattern(OpPattern::kOpaque)
      .TypeRelation(MultiBoxPrior, "MultiBoxPrior");
  registry.Register("vision.roi_pool")
      .Describe("regions of images: the maximum of each of their bins; empty bins are 0")
      .Argument("data", "Tensor", "images, NCHW")
      .Argument("rois", "Tensor", "(count, 5): batch index, x1, y1, x2, y2")
      .Attrs<ROIPoolAttrs>()
      .Level(5)
      .Pattern(OpPattern::kOpaque)
      .TypeRelation(RoiPool, "ROIPool");
  registry.Register("vision.yolo_reorg")
      .Describe("blocks of space become channels, in the order of YOLO's reorganisation layer")
      .Argument("data", "Tensor", "batch of images, NCHW")
      .Attrs<YoloReorgAttrs>()
      .Level(5)
      .Pattern(OpPattern::kInjective)
      .TypeRelation(YoloReorg, "YoloReorg");
}

}  // namespace tenon::ops
