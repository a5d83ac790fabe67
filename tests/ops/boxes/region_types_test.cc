// Types of operators that write or move regions, look for elements, warp images, list boxes and
// scale by fixed points.
#include "tenon/tests/ops/type_relation_rows.h"

namespace tenon::ops {
namespace {

constexpr char kSet[] =
    "%x: Tensor[(7, 5), float32], %v: Tensor[(3, 5), float32], %b: Tensor[(2), int64]";
constexpr char kCrop[] =
    "%x: Tensor[(2, 3, 7, 9), float32], %b: Tensor[(4, 4), float32], %i: Tensor[(4), int32]";
constexpr char kBoxes[] =
    "%x: Tensor[(2, 9, 6), float32], %c: Tensor[(2), int32], "
    "%i: Tensor[(2, 9), int32]";

// A call with 256 sizes and two ratios.
const std::string& PriorOfManyBoxes() {
  static const std::string call = [] {
    std::string sizes = "1";
    for (int i = 1; i < 256; ++i) sizes += ", 1";
    return "vision.multibox_prior(%x, sizes=[" + sizes + "], ratios=[1, 2])";
  }();
  return call;
}

INSTANTIATE_TEST_SUITE_P(
    Region, TypeRelationTest,
    ::testing::Values(
        Row{"StridedSet", kSet, "strided_set(%x, %v, %b, %b, %b)", "Tensor[(7, 5), float32]"},
        Row{"StridedSetOfMore", kSet, "strided_set(%v, %x, %b, %b, %b)",
            "strided_set: axis 0 of v is longer than that of the data"},
        Row{"StridedSetByAFloat", kSet, "strided_set(%x, %v, %b, %b, 1f)",
            "strided_set: strides must be a vector of 2 integers, one per axis"},
        Row{"StridedSetOfOtherTypes", "%x: Tensor[(2), float32], %v: Tensor[(2), int8]",
            "strided_set(%x, %v, %v, %v, %v)",
            "strided_set: data and v must have one element type"},
        Row{"MatrixSetDiag", "%x: Tensor[(n, 3, 5), float32], %d: Tensor[(n, 3), float32]",
            "matrix_set_diag(%x, %d)", "Tensor[(n, 3, 5), float32]"},
        Row{"MatrixSetDiagOfABand", "%x: Tensor[(4, 5), int8], %d: Tensor[(4, 4), int8]",
            "matrix_set_diag(%x, %d, k1=-2, k2=1)", "Tensor[(4, 5), int8]"},
        Row{"MatrixSetDiagOfFew", "%x: Tensor[(4, 5), int8], %d: Tensor[(3), int8]",
            "matrix_set_diag(%x, %d)", "matrix_set_diag: the diagonal must have the shape (4)"},
        Row{"MatrixSetDiagOutside", "%x: Tensor[(4, 5), int8], %d: Tensor[(3), int8]",
            "matrix_set_diag(%x, %d, k1=5, k2=5)",
            "matrix_set_diag: k1 and k2 are 5 and 5; they must rise, within a matrix of 4 rows and "
            "5 columns"},
        Row{"MultiBoxPrior", "%x: Tensor[(2, 3, 5, 7), float32]",
            "vision.multibox_prior(%x, sizes=[0.5, 0.25], ratios=[1, 2, 0.5])",
            "Tensor[(1, 140, 4), float32]"},
        Row{"MultiBoxPriorOfManyBoxes", "%x: Tensor[(2, 3, 5, 7), float32]",
            PriorOfManyBoxes().c_str(),
            "vision.multibox_prior: sizes and ratios make 257 boxes at a position; at most 256 are "
            "supported"},
        Row{"MultiBoxPriorOfNothing", "%x: Tensor[(2, 3, 5, 7), float32]",
            "vision.multibox_prior(%x, sizes=[0.5], ratios=[])",
            "vision.multibox_prior: there must be a size and a ratio, at least"},
        Row{"MultiBoxPriorOfNoExtent", "%x: Tensor[(2, 3, 5, 7), float32]",
            "vision.multibox_prior(%x, sizes=[0.5], ratios=[1, 0])",
            "vision.multibox_prior: a ratio is 0; it must be positive"},
        Row{"MultiBoxPriorInOneStep", "%x: Tensor[(2, 3, 5, 7), float32]",
            "vision.multibox_prior(%x, steps=[1])",
            "vision.multibox_prior: steps and offsets must have two values each"},
        Row{"RoiPool", "%x: Tensor[(2, 3, 9, 7), float32], %r: Tensor[(n, 5), float32]",
            "vision.roi_pool(%x, %r, pooled_size=[3, 2], spatial_scale=0.5)",
            "Tensor[(n, 3, 3, 2), float32]"},
        Row{"RoiPoolOfFour", "%x: Tensor[(2, 3, 9, 7), float32], %r: Tensor[(6, 4), float32]",
            "vision.roi_pool(%x, %r, pooled_size=[3, 2], spatial_scale=0.5)",
            "vision.roi_pool: the regions must have the shape (count, 5): batch index, x1, y1, x2, "
            "y2"},
        Row{"RoiPoolOfDoubles", "%x: Tensor[(2, 3, 9, 7), float64], %r: Tensor[(6, 5), float64]",
            "vision.roi_pool(%x, %r, pooled_size=[3, 2], spatial_scale=0.5)",
            "vision.roi_pool: data and regions must not be float64: they are pooled in float32"},
        Row{"YoloReorg", "%x: Tensor[(n, 8, 4, 6), int8]", "vision.yolo_reorg(%x, stride=2)",
            "Tensor[(n, 32, 2, 3), int8]"},
        Row{"YoloReorgOfFewChannels", "%x: Tensor[(1, 6, 4, 6), int8]",
            "vision.yolo_reorg(%x, stride=2)",
            "vision.yolo_reorg: 4, the square of stride, does not divide the 6 channels"},
        Row{"YoloReorgOfOddRows", "%x: Tensor[(1, 8, 3, 6), int8]",
            "vision.yolo_reorg(%x, stride=2)",
            "vision.yolo_reorg: stride, 2, does not divide an extent of 3"},
        Row{"SlidingWindow", "%x: Tensor[(n, 7, 9), float32]",
            "sliding_window(%x, axis=1, window_shape=[3, 4], strides=[2, 3])",
            "Tensor[(n, 3, 2, 3, 4), float32]"},
        Row{"SlidingWindowOfOtherRank", kM,
            "sliding_window(%x, axis=1, window_shape=[3, 4], strides=[2, 3])",
            "sliding_window: window_shape and strides must have 1 values, one per axis from `axis` "
            "on"},
        Row{"SlidingWindowThatIsTooWide", kM,
            "sliding_window(%x, axis=1, window_shape=[4], strides=[1])",
            "sliding_window: the window has 4 elements along axis 1 and the data 3"},
        Row{"FifoBuffer", "%x: Tensor[(2, 1), float32], %b: Tensor[(2, 7), float32]",
            "nn.fifo_buffer(%x, %b, axis=1)", "Tensor[(2, 7), float32]"},
        Row{"FifoBufferOfOtherShape", "%x: Tensor[(2, 1), float32], %b: Tensor[(3, 7), float32]",
            "nn.fifo_buffer(%x, %b, axis=1)",
            "nn.fifo_buffer: data and buffer must have one shape except for the axis"},
        Row{"ReverseReshape", "%x: Tensor[(10, 5, 4), float32]",
            "contrib_reverse_reshape(%x, newshape=[-1, 0])", "Tensor[(50, 4), float32]"},
        Row{"ReverseReshapeThatSplits", "%x: Tensor[(10, 5, 4), float32]",
            "contrib_reverse_reshape(%x, newshape=[-4, 2, 5, -2])",
            "contrib_reverse_reshape: newshape may not have -4, whose two extents would come "
            "before "
            "it"}),
    NameOf);

INSTANTIATE_TEST_SUITE_P(
    Search, TypeRelationTest,
    ::testing::Values(
        Row{"Unique", "%x: Tensor[(n), float32]", "unique(%x)",
            "(Tensor[(n), float32], Tensor[(n), int32], Tensor[(n), int32], Tensor[(1), int32])"},
        Row{"UniqueWithCounts", "%x: Tensor[(3), int8]", "unique(%x, return_counts=True)",
            "(Tensor[(3), int8], Tensor[(3), int32], Tensor[(3), int32], Tensor[(1), int32], "
            "Tensor[(3), int32])"},
        Row{"UniqueSlices", "%x: Tensor[(n, 4), float32]", "unique(%x)",
            "(Tensor[(n, 4), float32], Tensor[(n), int32], Tensor[(n), int32], "
            "Tensor[(1), int32])"},
        Row{"UniqueOfAScalar", "%x: float32", "unique(%x)", "unique: the data must have an axis"},
        Row{"SearchSorted", "%s: Tensor[(7), float32], %v: Tensor[(2, 3), float32]",
            "searchsorted(%s, %v)", "Tensor[(2, 3), int32]"},
        Row{"SearchSortedRows", "%s: Tensor[(2, 7), float32], %v: Tensor[(2, 3), float32]",
            "searchsorted(%s, %v, dtype=\"int64\")", "Tensor[(2, 3), int64]"},
        Row{"SearchSortedOfOtherRows", "%s: Tensor[(4, 7), float32], %v: Tensor[(2, 3), float32]",
            "searchsorted(%s, %v)",
            "searchsorted: sequence and values must have one shape except for the last axis, "
            "or the sequence must be a vector"},
        Row{"SearchSortedIntoFloats", "%s: Tensor[(7), float32]",
            "searchsorted(%s, %s, dtype=\"float32\")",
            "searchsorted: dtype is float32; it may be int32 or int64"}),
    NameOf);

INSTANTIATE_TEST_SUITE_P(
    Warp, TypeRelationTest,
    ::testing::Values(
        Row{"CropAndResize", kCrop, "image.crop_and_resize(%x, %b, %i, crop_size=[3, 5])",
            "Tensor[(4, 3, 3, 5), float32]"},
        Row{"CropAndResizeChannelsLast", kCrop,
            "image.crop_and_resize(%x, %b, %i, crop_size=[3, 5], layout=\"NHWC\")",
            "Tensor[(4, 3, 5, 9), float32]"},
        Row{"CropAndResizeByThreeNumbers", kCrop,
            "image.crop_and_resize(%x, %b, %i, crop_size=[3, 4, 5])",
            "image.crop_and_resize: crop_size has 3 values; it takes two, height and width"},
        Row{"CropAndResizeOfOtherBoxes", kCrop,
            "image.crop_and_resize(%x, %i, %i, crop_size=[3, 5])",
            "image.crop_and_resize: the boxes must be floats of the shape (count, 4): y1, x1, y2, "
            "x2"},
        Row{"AffineGrid", "%x: Tensor[(n, 2, 3), float32]",
            "image.affine_grid(%x, target_shape=[4, 5])", "Tensor[(n, 2, 4, 5), float32]"},
        Row{"AffineGridOfAMatrix", kM, "image.affine_grid(%x, target_shape=[4, 5])",
            "image.affine_grid: the data must have the shape (batch, 2, 3)"},
        Row{"Dilation2D", "%x: Tensor[(n, 3, 7, 9), float32], %w: Tensor[(3, 3, 2), float32]",
            "image.dilation2d(%x, %w, strides=[2, 2], padding=[1, 1], dilations=[2, 2])",
            "Tensor[(n, 3, 3, 5), float32]"},
        Row{"Dilation2DOfOtherChannels",
            "%x: Tensor[(1, 3, 7, 9), float32], %w: Tensor[(4, 3, 2), float32]",
            "image.dilation2d(%x, %w)",
            "image.dilation2d: the data has 3 channels and the weight 4"},
        Row{"Dilation2DThatIsTooWide",
            "%x: Tensor[(1, 3, 7, 2), float32], %w: Tensor[(3, 3, 3), float32]",
            "image.dilation2d(%x, %w)",
            "image.dilation2d: the window spans 3 elements of width and the padded data has 2"},
        Row{"UpSampling3D", "%x: Tensor[(n, 3, 2, 4, 5), float32]",
            "nn.upsampling3d(%x, scale_d=2f, scale_h=1.5f, scale_w=1f)",
            "Tensor[(n, 3, 4, 6, 5), float32]"},
        Row{"UpSampling3DByNothing", "%x: Tensor[(1, 3, 2, 4, 5), float32]",
            "nn.upsampling3d(%x, scale_d=0f, scale_h=1f, scale_w=1f)",
            "nn.upsampling3d: scale_d, scale_h and scale_w must be greater than zero"}),
    NameOf);

INSTANTIATE_TEST_SUITE_P(
    Boxes, TypeRelationTest,
    ::testing::Values(
        Row{"GetValidCounts", kBoxes, "vision.get_valid_counts(%x, 0f)",
            "(Tensor[(2), int32], Tensor[(2, 9, 6), float32], Tensor[(2, 9), int32])"},
        Row{"GetValidCountsByALaterElement", kBoxes,
            "vision.get_valid_counts(%x, 0f, score_index=6)",
            "vision.get_valid_counts: score_index is 6 and a box has 6 elements"},
        Row{"NonMaximumSuppression", kBoxes, "vision.non_max_suppression(%x, %c, %i, 3, 0.5f)",
            "(Tensor[(2, 9), int32], Tensor[(2, 1), int32])"},
        Row{"NonMaximumSuppressionOfBoxes", kBoxes,
            "vision.non_max_suppression(%x, %c, %i, 3, 0.5f, return_indices=False)",
            "Tensor[(2, 9, 6), float32]"},
        Row{"NonMaximumSuppressionOfShortBoxes", kBoxes,
            "vision.non_max_suppression(%x, %c, %i, 3, 0.5f, coord_start=3)",
            "vision.non_max_suppression: coord_start + 3 is 6 and a box has 6 elements"},
        Row{"NonMaximumSuppressionOfNoCorners", kBoxes,
            "vision.non_max_suppression(%x, %c, %i, 3, 0.5f, coord_start=9223372036854775805i64)",
            "vision.non_max_suppression: coord_start is 9223372036854775805 and a box has 6 "
            "elements"},
        Row{"NonMaximumSuppressionOfOtherCounts", kBoxes,
            "vision.non_max_suppression(%x, %i, %i, 3, 0.5f)",
            "vision.non_max_suppression: valid_count must be a vector of integers, one per image"},
        Row{"NonMaximumSuppressionOfTooMany",
            "%x: Tensor[(1, 65536, 6), float32], %c: Tensor[(1), int32], "
            "%i: Tensor[(1, 65536), int32]",
            "vision.non_max_suppression(%x, %c, %i, 3, 0.5f)",
            "vision.non_max_suppression: 65536 boxes of 1 images; the square of the one times the "
            "other may be 2147483648"},
        Row{"NonMaximumSuppressionByAFloat", kBoxes,
            "vision.non_max_suppression(%x, %c, %i, 3f, 0.5f)",
            "vision.non_max_suppression: max_output_size must be an integer of rank 0"}),
    NameOf);

INSTANTIATE_TEST_SUITE_P(
    FixedPoint, TypeRelationTest,
    ::testing::Values(
        Row{"FixedPointMultiply", "%x: Tensor[(n, 3), int32]",
            "fixed_point_multiply(%x, multiplier=7, shift=-2)", "Tensor[(n, 3), int32]"},
        Row{"FixedPointMultiplyOfFloats", kM, "fixed_point_multiply(%x, multiplier=7, shift=-2)",
            "fixed_point_multiply: the data is float32; it must be int32"},
        Row{"FixedPointMultiplyPerAxis", "%x: Tensor[(2, 3), int32], %m: Tensor[(3), int32]",
            "fixed_point_multiply_per_axis(%x, %m, %m, %m, axes=[1])", "Tensor[(2, 3), int32]"},
        Row{"FixedPointMultiplyPerOtherAxis", "%x: Tensor[(2, 3), int32], %m: Tensor[(3), int32]",
            "fixed_point_multiply_per_axis(%x, %m, %m, %m, axes=[0])",
            "fixed_point_multiply_per_axis: fp_multiplier must have the extents of the data's "
            "axes"}),
    NameOf);

}  // namespace
}  // namespace tenon::ops
