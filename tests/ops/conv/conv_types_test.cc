// Types of convolutions over one and three axes, of transposed ones, and of resampled images.
#include <gmock/gmock.h>

#include "tenon/ops/builders.h"
#include "tenon/ops/layout/layout_inference.h"
#include "tenon/tests/ops/result_type.h"
#include "tenon/tests/ops/type_relation_rows.h"

namespace tenon::ops {
namespace {

constexpr char kLine[] = "%x: Tensor[(1, 4, 11), float32], %w: Tensor[(6, 4, 3), float32]";
constexpr char kVolume[] =
    "%x: Tensor[(1, 4, 5, 9, 11), float32], %w: Tensor[(6, 4, 2, 3, 5), float32]";

INSTANTIATE_TEST_SUITE_P(
    Conv1D, TypeRelationTest,
    ::testing::Values(
        Row{"Line", kLine, "nn.conv1d(%x, %w)", "Tensor[(1, 6, 9), float32]"},
        Row{"LineStridesPaddingDilation", kLine,
            "nn.conv1d(%x, %w, strides=[2], padding=[1, 2], dilation=[3])",
            "Tensor[(1, 6, 4), float32]"},
        Row{"LineOnePadding", kLine, "nn.conv1d(%x, %w, padding=[1])",
            "Tensor[(1, 6, 11), float32]"},
        Row{"LineNWC", "%x: Tensor[(1, 11, 4), float32], %w: Tensor[(3, 4, 6), float32]",
            "nn.conv1d(%x, %w, data_layout=\"NWC\", kernel_layout=\"WIO\")",
            "Tensor[(1, 9, 6), float32]"},
        Row{"LineWeightIsLearned", "%x: Tensor[(1, 4, 11), float32], %w",
            "nn.conv1d(%x, %w, channels=6, kernel_size=[3])", "Tensor[(1, 6, 9), float32]"},
        Row{"LineOfRank4", "%x: Tensor[(1, 4, 11, 1), float32], %w: Tensor[(6, 4, 3), float32]",
            "nn.conv1d(%x, %w)", "nn.conv1d: the data must have rank 3"},
        Row{"LineKernelTooWide", kLine, "nn.conv1d(%x, %w, dilation=[6])",
            "nn.conv1d: the kernel spans 13 elements of width and the padded data has 11"},
        Row{"LineTwoStrides", kLine, "nn.conv1d(%x, %w, strides=[1, 1])",
            "nn.conv1d: strides has 2 values; it takes one"},
        Row{"LineThreePaddings", kLine, "nn.conv1d(%x, %w, padding=[1, 1, 1])",
            "nn.conv1d: padding has 3 values; it takes one (all sides) or two (left, right)"},
        Row{"LineLayout", kLine, "nn.conv1d(%x, %w, data_layout=\"NCHW\")",
            "nn.conv1d: data_layout is \"NCHW\"; it must be an order of NCW"}),
    NameOf);

INSTANTIATE_TEST_SUITE_P(
    Conv3D, TypeRelationTest,
    ::testing::Values(
        Row{"Volume", kVolume, "nn.conv3d(%x, %w)", "Tensor[(1, 6, 4, 7, 7), float32]"},
        Row{"VolumeSixPaddings", kVolume, "nn.conv3d(%x, %w, padding=[0, 1, 2, 3, 0, 1])",
            "Tensor[(1, 6, 7, 8, 10), float32]"},
        Row{"VolumeThreePaddings", kVolume, "nn.conv3d(%x, %w, padding=[1, 0, 2])",
            "Tensor[(1, 6, 6, 7, 11), float32]"},
        Row{"VolumeKernelSize", kVolume, "nn.conv3d(%x, %w, kernel_size=[2, 3, 4])",
            "nn.conv3d: kernel_size is [2, 3, 4] and the weight has 2 x 3 x 5 taps"},
        Row{"VolumeKernelTooDeep", kVolume, "nn.conv3d(%x, %w, dilation=[5, 1, 1])",
            "nn.conv3d: the kernel spans 6 elements of depth and the padded data has 5"},
        Row{"VolumeTwoStrides", kVolume, "nn.conv3d(%x, %w, strides=[1, 1])",
            "nn.conv3d: strides has 2 values; it takes three, depth, height and width"},
        Row{"VolumeGroups", kVolume, "nn.conv3d(%x, %w, groups=2)",
            "nn.conv3d: the data has 4 channels, which in 2 groups makes 2 each; the weight takes "
            "4"}),
    NameOf);

constexpr char kBlockedVolume[] =
    "%x: Tensor[(1, 2, 5, 9, 11, 8), float32], %w: Tensor[(3, 2, 2, 3, 5, 8, 16), float32]";
INSTANTIATE_TEST_SUITE_P(
    BlocksOfConv3D, TypeRelationTest,
    ::testing::Values(
        Row{"Blocks", kBlockedVolume,
            "nn.conv3d(%x, %w, data_layout=\"NCDHW8c\", kernel_layout=\"OIDHW8i16o\", "
            "out_layout=\"NCDHW16c\")",
            "Tensor[(1, 3, 4, 7, 7, 16), float32]"},
        Row{"BlocksOfTheData", kBlockedVolume,
            "nn.conv3d(%x, %w, data_layout=\"NCDHW8c\", kernel_layout=\"OIDHW8i16o\", padding=[1, "
            "0, 2])",
            "Tensor[(1, 6, 6, 7, 11, 8), float32]"},
        Row{"BlocksToWholeAxes", kBlockedVolume,
            "nn.conv3d(%x, %w, data_layout=\"NCDHW8c\", kernel_layout=\"OIDHW8i16o\", "
            "out_layout=\"NDHWC\")",
            "Tensor[(1, 4, 7, 7, 48), float32]"},
        Row{"BlocksLearnTheWeight", "%x: Tensor[(1, 2, 5, 9, 11, 8), float32], %w",
            "nn.conv3d(%x, %w, data_layout=\"NCDHW8c\", kernel_layout=\"OIDHW8i16o\", channels=32, "
            "kernel_size=[2, 3, 5])",
            "Tensor[(1, 4, 4, 7, 7, 8), float32]"},
        Row{"BlocksOfWhichTheResultHasNoWholeNumber", kBlockedVolume,
            "nn.conv3d(%x, %w, data_layout=\"NCDHW8c\", kernel_layout=\"OIDHW8i16o\", "
            "out_layout=\"NCDHW32c\")",
            "nn.conv3d: out_layout is NCDHW32c, and the extents of Tensor[(1, 48, 4, 7, 7), "
            "float32] (NCDHW) are no whole blocks"},
        Row{"BlocksOfAnotherSize",
            "%x: Tensor[(1, 2, 5, 9, 11, 4), float32], %w: Tensor[(3, 2, 2, 3, 5, 8, 16), float32]",
            "nn.conv3d(%x, %w, data_layout=\"NCDHW8c\", kernel_layout=\"OIDHW8i16o\")",
            "nn.conv3d: dimension 5 of the data is 4, and data_layout NCDHW8c says blocks of 8"},
        Row{"BlocksOfRank5",
            "%x: Tensor[(1, 2, 5, 9, 11), float32], %w: Tensor[(3, 2, 2, 3, 5, 8, 16), float32]",
            "nn.conv3d(%x, %w, data_layout=\"NCDHW8c\", kernel_layout=\"OIDHW8i16o\")",
            "nn.conv3d: the data must have rank 6, as data_layout is NCDHW8c"},
        Row{"BlocksOfImages",
            "%x: Tensor[(1, 2, 5, 9, 8), float32], %w: Tensor[(3, 2, 2, 3, 5, 8, 16), float32]",
            "nn.conv3d(%x, %w, data_layout=\"NCHW8c\", kernel_layout=\"OIDHW8i16o\")",
            "nn.conv3d: data_layout is \"NCHW\"; it must be an order of NCDHW"},
        Row{"BlocksOfMoreChannelsThanTheWeightTakes",
            "%x: Tensor[(1, 4, 5, 9, 11, 8), float32], %w: Tensor[(3, 2, 2, 3, 5, 8, 16), float32]",
            "nn.conv3d(%x, %w, data_layout=\"NCDHW8c\", kernel_layout=\"OIDHW8i16o\")",
            "nn.conv3d: the data has 32 channels, which in 1 group makes 32 each; the weight takes "
            "16"}),
    NameOf);

constexpr char kUp[] = "%x: Tensor[(1, 4, 5, 7), float32], %w: Tensor[(4, 6, 3, 2), float32]";

INSTANTIATE_TEST_SUITE_P(
    Transposed, TypeRelationTest,
    ::testing::Values(
        Row{"Transposed", kUp, "nn.conv2d_transpose(%x, %w)", "Tensor[(1, 6, 7, 8), float32]"},
        Row{"TransposedStrides", kUp, "nn.conv2d_transpose(%x, %w, strides=[2, 3])",
            "Tensor[(1, 6, 11, 20), float32]"},
        Row{"TransposedAll", kUp,
            "nn.conv2d_transpose(%x, %w, strides=[2, 3], padding=[1, 0, 2, 1], dilation=[2, 1], "
            "output_padding=[1, 2])",
            "Tensor[(1, 6, 11, 21), float32]"},
        Row{"TransposedGroups", kUp, "nn.conv2d_transpose(%x, %w, groups=2)",
            "Tensor[(1, 12, 7, 8), float32]"},
        Row{"TransposedWeightIsLearned", "%x: Tensor[(1, 4, 5, 7), float32], %w",
            "nn.conv2d_transpose(%x, %w, channels=6, kernel_size=[3, 2], groups=2)",
            "Tensor[(1, 6, 7, 8), float32]"},
        Row{"TransposedUnknownHeight",
            "%x: Tensor[(1, 4, ?, 7), float32], %w: Tensor[(4, 6, 3, 2), float32]",
            "nn.conv2d_transpose(%x, %w)", "Tensor[(1, 6, ?, 8), float32]"},
        Row{"TransposedChannels", kUp, "nn.conv2d_transpose(%x, %w, channels=5)",
            "nn.conv2d_transpose: channels is 5 and the weight has 6 output channels"},
        Row{"TransposedInputs",
            "%x: Tensor[(1, 3, 5, 7), float32], %w: Tensor[(4, 6, 3, 2), float32]",
            "nn.conv2d_transpose(%x, %w)",
            "nn.conv2d_transpose: the data has 3 channels; the weight takes 4"},
        Row{"TransposedGroupsOfInputs", kUp, "nn.conv2d_transpose(%x, %w, groups=3)",
            "nn.conv2d_transpose: the 4 input channels cannot be divided into 3 groups"},
        Row{"TransposedChannelsByGroups", "%x: Tensor[(1, 4, 5, 7), float32], %w",
            "nn.conv2d_transpose(%x, %w, channels=5, kernel_size=[3, 2], groups=2)",
            "nn.conv2d_transpose: the 5 output channels cannot be divided into 2 groups"},
        Row{"TransposedDropsEverything", kUp, "nn.conv2d_transpose(%x, %w, padding=[4, 0])",
            "nn.conv2d_transpose: the result has 7 elements of height and the padding drops more"},
        Row{"TransposedElementTypes",
            "%x: Tensor[(1, 4, 5, 7), float32], %w: Tensor[(4, 6, 3, 2), float64]",
            "nn.conv2d_transpose(%x, %w)",
            "nn.conv2d_transpose: the data is float32 and the weight float64"},
        Row{"TransposedLine", "%x: Tensor[(1, 4, 5), float32], %w: Tensor[(4, 6, 3), float32]",
            "nn.conv1d_transpose(%x, %w, strides=[2], output_padding=[1])",
            "Tensor[(1, 6, 12), float32]"},
        Row{"TransposedVolume",
            "%x: Tensor[(1, 4, 3, 5, 7), float32], %w: Tensor[(4, 6, 2, 3, 1), float32]",
            "nn.conv3d_transpose(%x, %w, strides=[2, 1, 3])", "Tensor[(1, 6, 6, 7, 19), float32]"}),
    NameOf);

constexpr char kBlockedUp[] =
    "%x: Tensor[(1, 2, 5, 7, 8), float32], %w: Tensor[(2, 3, 3, 2, 8, 4), float32]";
INSTANTIATE_TEST_SUITE_P(
    BlocksOfTransposed, TypeRelationTest,
    ::testing::Values(
        Row{"Blocks", kBlockedUp,
            "nn.conv2d_transpose(%x, %w, data_layout=\"NCHW8c\", kernel_layout=\"IOHW8i4o\", "
            "out_layout=\"NCHW4c\", strides=[2, 3], padding=[1, 0, 2, 1], dilation=[2, 1], "
            "output_padding=[1, 2])",
            "Tensor[(1, 3, 11, 21, 4), float32]"},
        // The weight has the filters of a group.
        Row{"Groups", kBlockedUp,
            "nn.conv2d_transpose(%x, %w, data_layout=\"NCHW8c\", kernel_layout=\"IOHW8i4o\", "
            "out_layout=\"NCHW4c\", groups=2)",
            "Tensor[(1, 6, 7, 8, 4), float32]"},
        Row{"ResultOfNoWholeBlocks", kBlockedUp,
            "nn.conv2d_transpose(%x, %w, data_layout=\"NCHW8c\", kernel_layout=\"IOHW8i4o\")",
            "nn.conv2d_transpose: out_layout is NCHW8c, and the extents of Tensor[(1, 12, 7, 8), "
            "float32] (NCHW) are no whole blocks"},
        Row{"Channels",
            "%x: Tensor[(1, 1, 5, 7, 8), float32], %w: Tensor[(2, 3, 3, 2, 8, 4), "
            "float32]",
            "nn.conv2d_transpose(%x, %w, data_layout=\"NCHW8c\", kernel_layout=\"IOHW8i4o\", "
            "out_layout=\"NCHW4c\")",
            "nn.conv2d_transpose: the data has 8 channels; the weight takes 16"},
        Row{"WeightOfRank5",
            "%x: Tensor[(1, 2, 5, 7, 8), float32], %w: Tensor[(2, 3, 3, 2, 4), float32]",
            "nn.conv2d_transpose(%x, %w, data_layout=\"NCHW8c\", kernel_layout=\"IOHW8i4o\")",
            "nn.conv2d_transpose: the weight must have rank 6, as kernel_layout is IOHW8i4o"}),
    NameOf);

// The weight's layout counts: outputs of one group come second in IOHW.
TEST(ConvTransposeTypeTest, TheLearnedWeightHasTheKernelLayout) {
  const ir::Module module = passes::InferType(
      Parse("def @main(%x: Tensor[(1, 4, 5, 7), float32], %w) { nn.conv2d_transpose(%x, %w, "
            "channels=6, kernel_size=[3, 2], groups=2, kernel_layout=\"HWOI\") }"));
  EXPECT_EQ(ir::ToString(module.Main().params[1].checked_type()), "Tensor[(3, 2, 3, 4), float32]");
}

TEST(ConvBuildersTest, WidenSingleValues) {
  const ir::Var x = ir::Var::Make("x"), w = ir::Var::Make("w");
  const auto text = [](const ir::Expr& e) {
    const std::string all = ir::PrintExpr(e);
    return all.substr(all.find("nn.conv"));
  };
  EXPECT_EQ(text(Conv1D(x, w, {.padding = {1}})), "nn.conv1d(%x, %w, padding=[1, 1])\n");
  EXPECT_EQ(text(Conv3D(x, w, {.strides = {2}, .padding = {1, 2, 3}})),
            "nn.conv3d(%x, %w, strides=[2, 2, 2], padding=[1, 2, 3, 1, 2, 3])\n");
  EXPECT_EQ(text(Conv2DTranspose(x, w, {.strides = {2}, .output_padding = {1}, .padding = {1}})),
            "nn.conv2d_transpose(%x, %w, strides=[2, 2], output_padding=[1, 1], "
            "padding=[1, 1, 1, 1])\n");
}

TEST(ConvLayoutInferenceTest, TransposedConvolutionsTakeTheNewLayoutIntoTheirAttributes) {
  const auto* column =
      OpOf(OpRegistry::Global().Get("nn.conv2d_transpose"))->Column<LayoutInference>();
  const ir::Type type = ir::TensorType({1, 8, 4, 4}, Float32);
  const LayoutAnswer answer = column->infer(
      {attrs::Attrs::Make(Conv2DTransposeAttrs{}), {"NHWC", ""}, {"NCHW", "IOHW"}, {type, type}});
  EXPECT_EQ(answer.inputs, (std::vector<std::string>{"NHWC", "IOHW"}));
  EXPECT_EQ(answer.attrs.As<Conv2DTransposeAttrs>().data_layout, "NHWC");
}

constexpr char kPicture[] = "%x: Tensor[(1, 3, 8, 9), float32]";

INSTANTIATE_TEST_SUITE_P(
    Resize, TypeRelationTest,
    ::testing::Values(
        Row{"Resize", kPicture, "image.resize2d(%x, size=[4, 5])", "Tensor[(1, 3, 4, 5), float32]"},
        Row{"ResizeNHWC", kPicture, "image.resize2d(%x, size=[4, 5], layout=\"NHWC\")",
            "Tensor[(1, 4, 5, 9), float32]"},
        Row{"ResizeInto", kPicture, "image.resize2d(%x, size=[4, 5], out_dtype=\"float64\")",
            "Tensor[(1, 3, 4, 5), float64]"},
        Row{"ResizeLine", "%x: Tensor[(1, 3, ?), float32]", "image.resize1d(%x, size=[4])",
            "Tensor[(1, 3, 4), float32]"},
        Row{"ResizeVolume", "%x: Tensor[(1, 3, 2, 2, 2), float32]",
            "image.resize3d(%x, size=[4, 5, 6])", "Tensor[(1, 3, 4, 5, 6), float32]"},
        Row{"ResizeOneSize", kPicture, "image.resize2d(%x, size=[4])",
            "image.resize2d: size has 1 values; it takes 2"},
        Row{"ResizeOfAMatrix", kM, "image.resize2d(%x, size=[4, 5])",
            "image.resize2d: the data must have rank 4"},
        Row{"ResizeWithoutRegion", kPicture,
            "image.resize2d(%x, size=[4, 5], "
            "coordinate_transformation_mode=\"tf_crop_and_resize\")",
            "image.resize2d: roi has 0 values; it takes 4, the starts and then the ends"},
        Row{"ResizeByZero", kPicture, "image.resize2d(%x, size=[4, 5], scales=[0f, 1f])",
            "image.resize2d: the scales must be greater than zero"},
        Row{"ResizeExclude", kPicture, "image.resize2d(%x, size=[4, 5], cubic_exclude=2)",
            "image.resize2d: cubic_exclude is 2; it may be 0 or 1"},
        Row{"ResizeByARoundedScale", "%x: Tensor[(1, 3, 5), float32]",
            "image.resize1d(%x, scales=[2.5999999046325684])", "Tensor[(1, 3, 13), float32]"},
        Row{"ResizeToExtents", "%x: Tensor[(n, 3, h), float32], %y: Tensor[(m, 4), float32]",
            "image.resize_to_extents(%x, (%x, %y), shape=\"(x0_0, 3, x1_0 + 1)\")",
            "Tensor[(n, 3, m + 1), float32]"},
        Row{"ResizeToExtentsOfAnotherRank", "%x: Tensor[(n, 3, h), float32]",
            "image.resize_to_extents(%x, (%x,), shape=\"(x0_0, 3)\")",
            "image.resize_to_extents: shape has 2 extents; the data has rank 3"},
        Row{"ResizeNothingToExtents", "%x: Tensor[(1, 0), float32]",
            "image.resize_to_extents(%x, (%x,), shape=\"(x0_0, 4)\")",
            "image.resize_to_extents: there are no elements to take from"},
        Row{"ResizeNothing", "%x: Tensor[(1, 3, 0, 9), float32]", "image.resize2d(%x, size=[4, 5])",
            "image.resize2d: there are no elements to take from"}),
    NameOf);

INSTANTIATE_TEST_SUITE_P(
    GridSample, TypeRelationTest,
    ::testing::Values(
        Row{"GridSample", "%x: Tensor[(2, 3, 8, 9), float32], %g: Tensor[(2, 2, 4, 5), float32]",
            "image.grid_sample(%x, %g)", "Tensor[(2, 3, 4, 5), float32]"},
        Row{"GridSampleOfThreeCoordinates",
            "%x: Tensor[(2, 3, 8, 9), float32], %g: Tensor[(2, 3, 4, 5), float32]",
            "image.grid_sample(%x, %g)",
            "image.grid_sample: the grid has 3 coordinates per point; it takes two, x and y"},
        Row{"GridSampleOfOtherBatches",
            "%x: Tensor[(2, 3, 8, 9), float32], %g: Tensor[(1, 2, 4, 5), float32]",
            "image.grid_sample(%x, %g)",
            "image.grid_sample: the data has the batch 2 and the grid 1"},
        Row{"GridSampleOfIntegers",
            "%x: Tensor[(2, 3, 8, 9), int32], %g: Tensor[(2, 2, 4, 5), float32]",
            "image.grid_sample(%x, %g)",
            "image.grid_sample: the data and the grid must be of floating types"}),
    NameOf);

}  // namespace
}  // namespace tenon::ops
