// Types of operators that list detected boxes, and of losses.
#include "tenon/tests/ops/type_relation_rows.h"

namespace tenon::ops {
namespace {

constexpr char kListed[] =
    "%p: Tensor[(n, 4, 17), float32], %l: Tensor[(n, 68), float32], %a: Tensor[(1, 17, 4), "
    "float32]";
constexpr char kScored[] = "%b: Tensor[(n, 17, 4), float32], %s: Tensor[(n, 17, 3), float32]";
constexpr char kProposed[] =
    "%s: Tensor[(2, 8, 3, 5), float32], %d: Tensor[(2, 16, 3, 5), float32], %i: Tensor[(2, 3), "
    "float32]";
constexpr char kClasses[] =
    "%x: Tensor[(n, 5, 7), float32], %t: Tensor[(n, 7), int64], %w: Tensor[(5), float32], %v: "
    "Tensor[(4), float32]";

INSTANTIATE_TEST_SUITE_P(
    Detection, TypeRelationTest,
    ::testing::Values(
        Row{"MultiBoxTransformLoc", kListed, "vision.multibox_transform_loc(%p, %l, %a)",
            "(Tensor[(n, 17, 6), float32], Tensor[(n), int32])"},
        Row{"MultiBoxTransformLocOfFewVariances", kListed,
            "vision.multibox_transform_loc(%p, %l, %a, variances=[0.1])",
            "vision.multibox_transform_loc: variances has 1 values; there must be 4"},
        Row{"MultiBoxTransformLocOfFewLocations",
            "%p: Tensor[(1, 4, 17), float32], %l: Tensor[(1, 64), float32], %a: Tensor[(1, 17, 4), "
            "float32]",
            "vision.multibox_transform_loc(%p, %l, %a)",
            "vision.multibox_transform_loc: the locations must have the shape (batch, 4 * boxes)"},
        Row{"MultiBoxTransformLocOfOtherAnchors", kListed,
            "vision.multibox_transform_loc(%p, %l, %p)",
            "vision.multibox_transform_loc: the anchors must have the shape (1, boxes, 4)"},
        Row{"MultiBoxTransformLocOfOtherTypes",
            "%p: Tensor[(1, 4, 17), float32], %l: Tensor[(1, 68), float64], %a: Tensor[(1, 17, 4), "
            "float32]",
            "vision.multibox_transform_loc(%p, %l, %a)",
            "vision.multibox_transform_loc: probabilities, locations and anchors must be of one "
            "floating type"},
        Row{"RegularNms", kScored,
            "vision.regular_non_max_suppression(%b, %s, max_detections_per_class=10, "
            "max_detections=20, num_classes=2, iou_threshold=0.5, score_threshold=0.1)",
            "(Tensor[(n, 20, 4), float32], Tensor[(n, 20), float32], Tensor[(n, 20), float32], "
            "Tensor[(n), int32])"},
        Row{"RegularNmsOfOtherClasses", kScored,
            "vision.regular_non_max_suppression(%b, %s, max_detections_per_class=10, "
            "max_detections=20, num_classes=4, iou_threshold=0.5, score_threshold=0.1)",
            "vision.regular_non_max_suppression: there are scores of 3 classes; num_classes is 4, "
            "and a background may come before these"},
        Row{"RegularNmsOfFewScores",
            "%b: Tensor[(1, 17, 4), float32], %s: Tensor[(1, 16, 3), float32]",
            "vision.regular_non_max_suppression(%b, %s, max_detections_per_class=10, "
            "max_detections=20, num_classes=2, iou_threshold=0.5, score_threshold=0.1)",
            "vision.regular_non_max_suppression: the scores must have the shape (batch, count, "
            "classes)"},
        Row{"RegularNmsOfDoubles", "%b: Tensor[(1, 17, 4), float64]",
            "vision.regular_non_max_suppression(%b, %b, max_detections_per_class=10, "
            "max_detections=20, num_classes=3, iou_threshold=0.5, score_threshold=0.1)",
            "vision.regular_non_max_suppression: all inputs must be float32, not float64"},
        Row{"Proposal", kProposed, "vision.proposal(%s, %d, %i, scales=[1, 2], ratios=[1, 2])",
            "Tensor[(600, 5), float32]"},
        Row{"ProposalOfOtherAnchors", kProposed,
            "vision.proposal(%s, %d, %i, scales=[1, 2, 4], ratios=[1])",
            "vision.proposal: the scores of 3 anchors (scales times ratios) must have the shape "
            "(batch, 6, height, width)"},
        Row{"ProposalOfOtherBoxes", kProposed,
            "vision.proposal(%s, %s, %i, scales=[1, 2], ratios=[1, 2])",
            "vision.proposal: the boxes of 4 anchors (scales times ratios) must have the shape "
            "(batch, 16, height, width)"},
        Row{"ProposalOfNoScale", kProposed, "vision.proposal(%s, %d, %i, scales=[])",
            "vision.proposal: there must be a scale and a ratio, at least"},
        Row{"ProposalOfManyAnchors", kProposed,
            "vision.proposal(%s, %d, %i, scales=[1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1], "
            "ratios=[1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1])",
            "vision.proposal: scales times ratios make 272 anchors; at most 256 are supported"},
        Row{"ProposalOfNoExtent", kProposed,
            "vision.proposal(%s, %d, %i, scales=[1, 2], ratios=[1, -2])",
            "vision.proposal: a ratio is -2; it must be positive"},
        Row{"ProposalOfNoImage", kProposed,
            "vision.proposal(%s, %d, %d, scales=[1, 2], ratios=[1, 2])",
            "vision.proposal: im_info must have the shape (batch, 3): height, width and scale"},
        Row{"NllLoss", kClasses, "nn.nll_loss(%x, %t, %w)", "float32"},
        Row{"NllLossOfEach", kClasses, "nn.nll_loss(%x, %t, %w, reduction=\"none\")",
            "Tensor[(n, 7), float32]"},
        Row{"NllLossOfFewWeights", kClasses, "nn.nll_loss(%x, %t, %v)",
            "nn.nll_loss: the weights must be a vector of 5, one a class"},
        Row{"NllLossOfFewTargets", "%x: Tensor[(3, 5), float32], %t: Tensor[(4), int64]",
            "nn.nll_loss(%x, %t, %t)",
            "nn.nll_loss: the targets must have the shape of the predictions without axis 1, that "
            "of the classes"},
        Row{"NllLossOfOneRank", kClasses, "nn.nll_loss(%x, %x, %w)",
            "nn.nll_loss: the predictions must have one axis more than the targets, whose rank is "
            "3"},
        Row{"NllLossByFloats", "%x: Tensor[(5, 5), float32], %w: Tensor[(5), float32]",
            "nn.nll_loss(%x, %w, %w)", "nn.nll_loss: the targets must be integers, not float32"},
        Row{"NllLossOfIntegers", "%x: Tensor[(5, 5), int32], %w: Tensor[(5), int32]",
            "nn.nll_loss(%x, %w, %w)",
            "nn.nll_loss: predictions and weights must be of one floating type, not int32 and "
            "int32"},
        Row{"CrossEntropy", kM, "nn.cross_entropy(%x, %x)", "float32"},
        Row{"CrossEntropyWithLogits", kM, "nn.cross_entropy_with_logits(%x, %x)", "float32"},
        Row{"CrossEntropyOfOtherShapes", "%x: Tensor[(2, 3), float32], %t: Tensor[(3, 2), float32]",
            "nn.cross_entropy(%x, %t)",
            "nn.cross_entropy: predictions and targets must have one shape (batch, classes)"},
        Row{"CrossEntropyOfOtherTypes", "%x: Tensor[(2, 3), float32], %t: Tensor[(2, 3), int32]",
            "nn.cross_entropy(%x, %t)",
            "nn.cross_entropy: predictions and targets must be of one floating type, not float32 "
            "and int32"}),
    NameOf);

}  // namespace
}  // namespace tenon::ops
