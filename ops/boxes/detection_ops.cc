// Operators that list the boxes which a detector found: those of SSD (Liu et al., ECCV 2016), those
// of TFLite's detection models, and the proposals of Faster R-CNN (Ren et al., NIPS 2015).
#include "tenon/ops/boxes/detection_attrs.h"
#include "tenon/ops/builtin.h"
#include "tenon/support/strings.h"

namespace tenon::ops {
namespace {

using ir::Dim;
using ir::TensorTypeNode;

void RequireShape(TypeCall& call, const TensorTypeNode& x, const std::vector<Dim>& shape,
                  const char* words) {
  if (call.Differ(x.shape, shape)) call.Refuse(words);
}
void RequireFloat32(const TypeCall& call, const TensorTypeNode& x) {
  if (x.dtype != Float32)
    call.Refuse(StrCat("all inputs must be float32, not ", x.dtype.ToString()));
}

void MultiBoxTransformLoc(TypeCall& call) {
  const auto* scores = call.tensor(0);
  const auto* offsets = call.tensor(1);
  const auto* anchors = call.tensor(2);
  if (scores == nullptr || offsets == nullptr || anchors == nullptr) return;
  if (scores->shape.size() != 3)
    call.Refuse("the probabilities must have the shape (batch, classes, boxes)");
  const Dim &batch = scores->shape[0], &count = scores->shape[2];
  RequireShape(call, *offsets, {batch, Product({count, Dim(4)})},
               "the locations must have the shape (batch, 4 * boxes)");
  RequireShape(call, *anchors, {Dim(1), count, Dim(4)},
               "the anchors must have the shape (1, boxes, 4)");
  for (const TensorTypeNode* x : {scores, offsets, anchors}) {
    if (!x->dtype.is_float() || x->dtype != scores->dtype)
      call.Refuse("probabilities, locations and anchors must be of one floating type");
  }
  const auto& attrs = call.attrs<MultiBoxTransformLocAttrs>();
  if (attrs.variances.size() != 4)
    call.Refuse(StrCat("variances has ", attrs.variances.size(), " values; there must be 4"));
  call.LearnResult(ir::TupleType(
      {ir::TensorType({batch, count, Dim(6)}, scores->dtype), ir::TensorType({batch}, Int32)}));
}

void RegularNonMaximumSuppression(TypeCall& call) {
  const auto* boxes = call.tensor(0);
  const auto* scores = call.tensor(1);
  if (boxes == nullptr || scores == nullptr) return;
  const auto& attrs = call.attrs<RegularNonMaximumSuppressionAttrs>();
  RequireFloat32(call, *boxes);
  RequireFloat32(call, *scores);
  RequireShape(call, *boxes, {Dim(), Dim(), Dim(4)},
               "the boxes must have the shape (batch, count, 4)");
  RequireShape(call, *scores, {boxes->shape[0], boxes->shape[1], Dim()},
               "the scores must have the shape (batch, count, classes)");
  const Dim& classes = scores->shape[2];
  if (call.Exceeds(attrs.num_classes, classes) || call.Exceeds(classes, Dim(attrs.num_classes) + 1))
    call.Refuse(StrCat("there are scores of ", classes.ToString(), " classes; num_classes is ",
                       attrs.num_classes, ", and a background may come before these"));
  const Dim &batch = boxes->shape[0], max_boxes(attrs.max_detections);
  const ir::Type list = ir::TensorType({batch, max_boxes}, Float32);
  call.LearnResult(ir::TupleType({ir::TensorType({batch, max_boxes, Dim(4)}, Float32), list, list,
                                  ir::TensorType({batch}, Int32)}));
}

void Proposal(TypeCall& call) {
  const auto* scores = call.tensor(0);
  const auto* deltas = call.tensor(1);
  const auto* images = call.tensor(2);
  if (scores == nullptr || deltas == nullptr || images == nullptr) return;
  const auto& attrs = call.attrs<ProposalAttrs>();
  for (const TensorTypeNode* x : {scores, deltas, images}) RequireFloat32(call, *x);
  if (attrs.scales.empty() || attrs.ratios.empty())
    call.Refuse("there must be a scale and a ratio, at least");
  for (const double ratio : attrs.ratios) {
    if (!(ratio > 0)) call.Refuse(StrCat("a ratio is ", ratio, "; it must be positive"));
  }
  const auto anchors = static_cast<std::int64_t>(attrs.scales.size() * attrs.ratios.size());
  if (anchors > kMaxBoxesOfPlace)
    call.Refuse(StrCat("scales times ratios make ", anchors, " anchors; at most ", kMaxBoxesOfPlace,
                       " are supported"));
  const std::string of_anchors = StrCat("of ", anchors, " anchors (scales times ratios)");
  RequireShape(call, *scores, {Dim(), Dim(2 * anchors), Dim(), Dim()},
               StrCat("the scores ", of_anchors, " must have the shape (batch, ", 2 * anchors,
                      ", height, width)")
                   .c_str());
  const std::vector<Dim>& shape = scores->shape;
  RequireShape(call, *deltas, {shape[0], Dim(4 * anchors), shape[2], shape[3]},
               StrCat("the boxes ", of_anchors, " must have the shape (batch, ", 4 * anchors,
                      ", height, width)")
                   .c_str());
  RequireShape(call, *images, {shape[0], Dim(3)},
               "im_info must have the shape (batch, 3): height, width and scale");
  call.LearnResult(
      ir::TensorType({Product({shape[0], Dim(attrs.rpn_post_nms_top_n)}), Dim(5)}, Float32));
}

}  // namespace

void RegisterDetectionOps(OpRegistry& registry) {
  registry.Register("vision.multibox_transform_loc")
      .Describe(
          "the boxes of SSD except background, in order of their anchors and followed by -1: "
          "class, probability, x1, y1, x2, y2; and their number. Classes count from 0 after the "
          "background")
      .Argument("cls_prob", "3D Tensor", "(batch, classes, boxes); class 0 is the background")
      .Argument("loc_pred", "2D Tensor", "(batch, 4 * boxes): predicted changes of the anchors")
      .Argument("anchor", "3D Tensor", "(1, boxes, 4): x1, y1, x2, y2")
      .Attrs<MultiBoxTransformLocAttrs>()
      .Level(5)
      .Pattern(OpPattern::kOpaque)
      .TypeRelation(MultiBoxTransformLoc, "MultiBoxTransformLoc");
  registry.Register("vision.regular_non_max_suppression")
      .Describe(
          "non-maximum suppression: of the boxes that do not overlap a better one of their class, "
          "those with the best scores. Gives boxes, classes and scores, followed by zeros, and "
          "their number")
      .Argument("boxes", "3D Tensor", "(batch, count, 4): y1, x1, y2, x2")
      .Argument("scores", "3D Tensor", "(batch, count, classes), possibly with a background first")
      .Attrs<RegularNonMaximumSuppressionAttrs>()
      .Level(5)
      .Pattern(OpPattern::kOpaque)
      .TypeRelation(RegularNonMaximumSuppression, "RegularNMS");
  registry.Register("vision.proposal")
      .Describe(
          "regions of images that may contain an object: rows of batch index, x1, y1, x2 and y2, "
          "by falling score and without those that overlap a better one; an image with too few "
          "regions repeats them")
      .Argument("cls_prob", "4D Tensor",
                "(batch, 2 * anchors, height, width): scores of background, then of objects")
      .Argument("bbox_pred", "4D Tensor", "(batch, 4 * anchors, height, width): predicted changes")
      .Argument("im_info", "2D Tensor", "(batch, 3): height, width and scale of each image")
      .Attrs<ProposalAttrs>()
      .Level(5)
      .Pattern(OpPattern::kOpaque)
      .TypeRelation(Proposal, "Proposal");
}

}  // namespace tenon::ops
