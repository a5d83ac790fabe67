// Layouts that are wished for, and the numbers behind them.
#include "tenon/passes/layout/convert_layout.h"

#include <gmock/gmock.h>

#include "tenon/support/error.h"
#include "tenon/tests/passes/algebra_testing.h"

namespace tenon::passes {
namespace {

using ir::Module;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kImage[] = "%x: Tensor[(1, 16, 5, 6), float32], %w: Tensor[(32, 16, 3, 3), float32]";

TEST(ConvertLayoutTest, S004_20_AConvolutionAndItsReluShareTheTransforms) {
  const Module before = WithConstants(kImage, "nn.relu(nn.conv2d(%x, %w))");
  const Module after = ConvertLayout(before, {{"nn.conv2d", {"NHWC", "default"}}});
  EXPECT_EQ(Body(after),
            "%0 = layout_transform(%x, src_layout=\"NCHW\", dst_layout=\"NHWC\");\n"
            "%1 = layout_transform(%w, src_layout=\"OIHW\", dst_layout=\"HWIO\");\n"
            "%2 = nn.conv2d(%0, %1, data_layout=\"NHWC\", "
            "kernel_layout=\"HWIO\");\n"
            "%3 = nn.relu(%2);\n"
            "layout_transform(%3, src_layout=\"NHWC\", dst_layout=\"NCHW\")\n");
  ExpectSameValues(before, after);
}

TEST(ConvertLayoutTest, ATransposeToTheNewLayoutGoes) {
  const Module before = WithConstants(kImage, "transpose(nn.conv2d(%x, %w), axes=[0, 2, 3, 1])");
  const Module after = ConvertLayout(before, {{"nn.conv2d", {"NHWC"}}});
  EXPECT_THAT(Body(after), Not(HasSubstr("transpose(")));
  ExpectSameValues(before, after);
}

// %c: a convolution of 32 channels.
class ConvertLayoutValuesTest : public ::testing::TestWithParam<const char*> {};

TEST_P(ConvertLayoutValuesTest, AreTheSameInEveryLayout) {
  const Module before =
      WithConstants(std::string(kImage) +
                        ", %b: Tensor[(32, 1, 1), float32], %y: Tensor[(1, 1, 3, 4), float32], "
                        "%v: Tensor[(4), float32], %k: Tensor[(24, 32, 1, 1), float32], "
                        "%d: Tensor[(32, 1, 3, 3), float32], %o: Tensor[(15, 32, 1, 1), float32]",
                    std::string("%c = nn.conv2d(%x, %w);\n") + GetParam());
  for (const char* layout : {"NHWC", "NCHW4c", "NCHW8c", "NCHW16c", "NCHW32c", "HWCN"}) {
    const Module after = ConvertLayout(before, {{"nn.conv2d", {layout}}});
    ExpectSameValues(before, after);
    EXPECT_EQ(InferType(after), after) << layout;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Bodies, ConvertLayoutValuesTest,
    ::testing::Values(
        "add(%c, %b)", "add(%c, %y)", "add(%v, %c)",
        "multiply(%c, mean(%c, axis=[1], keepdims=True))", "sum(%c, axis=[1])", "mean(%c)",
        "max(%c, axis=[2, 3])", "sum(%c, axis=[1], exclude=True)", "argmax(%c, axis=[1])",
        "argmax(%c, axis=[2])", "argmax(%c)", "nn.softmax(%c, axis=1)", "nn.softmax(%c)",
        "concatenate((%c, nn.conv2d(%c, %k)), axis=1)",
        "concatenate((%c, nn.conv2d(%c, %o)), axis=1)", "concatenate((%c, %c), axis=2)",
        "add(%c, nn.conv2d(%x, %w))", "nn.conv2d(%c, %d, groups=32, padding=[1, 1, 1, 1])",
        "split(%c, indices_or_sections=2, axis=1)", "split(%c, indices_or_sections=[3, 8], axis=1)",
        "strided_slice(%c, begin=[16], end=[32], axes=[1])",
        "strided_slice(%c, begin=[1], end=[30], strides=[3], axes=[1])",
        "strided_slice(%c, begin=[1], end=[3], axes=[3])",
        "nn.pad(%c, 1f, pad_width=[[0, 0], [16, 0], [1, 0], [0, 2]])",
        "nn.pad(%c, 1f, pad_width=[[0, 0], [1, 0], [1, 0], [0, 2]])",
        "squeeze(nn.global_avg_pool2d(%c), axis=[2, 3])", "transpose(%c)",
        "nn.max_pool2d(%c, pool_size=[2, 2], padding=[1, 1, 1, 1])",
        "nn.avg_pool2d(%c, pool_size=[2, 2], padding=[1, 1, 1, 1])",
        "nn.upsampling(%c, scale_h=2f, scale_w=2f)", "reshape(%c, newshape=[32, -1])"));

// A convolution in blocks, with neighbours that take its layout and others that cannot.
TEST(ConvertLayoutTest, NeighboursOfVolumesTakeTheirBlocks) {
  const std::string params =
      "%x: Tensor[(1, 16, 3, 5, 6), float32], %w: Tensor[(16, 16, 1, 2, 2), float32], "
      "%b: Tensor[(16, 1, 1, 1), float32]";
  const Module before = WithConstants(
      params,
      "%0 = nn.conv3d(%x, %w, padding=[0, 1, 1, 0, 0, 0]);\n"
      "concatenate((nn.relu(add(%0, %b)), nn.conv3d(%0, %w, padding=[0, 1, 1, 0, 0, 0])), "
      "axis=1)");
  const Module after = ConvertLayout(before, {{"nn.conv3d", {"NCDHW8c"}}});
  EXPECT_EQ(Body(after),
            "%0 = layout_transform(%x, src_layout=\"NCDHW\", dst_layout=\"NCDHW8c\");\n"
            "%1 = layout_transform(%w, src_layout=\"OIDHW\", dst_layout=\"OIDHW8i8o\");\n"
            "%2 = expand_dims(%b, axis=0);\n"
            "%3 = nn.conv3d(%0, %1, padding=[0, 1, 1, 0, 0, 0], data_layout=\"NCDHW8c\", "
            "kernel_layout=\"OIDHW8i8o\", out_layout=\"NCDHW8c\");\n"
            "%4 = layout_transform(%2, src_layout=\"NCDHW\", dst_layout=\"NCDHW8c\");\n"
            "%5 = add(%3, %4);\n"
            "%6 = nn.relu(%5);\n"
            "%7 = nn.conv3d(%3, %1, padding=[0, 1, 1, 0, 0, 0], data_layout=\"NCDHW8c\", "
            "kernel_layout=\"OIDHW8i8o\", out_layout=\"NCDHW8c\");\n"
            "%8 = (%6, %7);\n"
            "%9 = concatenate(%8, axis=1);\n"
            "layout_transform(%9, src_layout=\"NCDHW8c\", dst_layout=\"NCDHW\")\n");
  ExpectSameValues(before, after);
  for (const char* layout : {"NCDHW4c", "NCDHW16c", "NCDHW32c", "NDHWC"})
    ExpectSameValues(before, ConvertLayout(before, {{"nn.conv3d", {layout}}}));
}

TEST(ConvertLayoutTest, NeighboursOfTransposedConvolutionsTakeTheirBlocks) {
  const Module before =
      WithConstants("%x: Tensor[(1, 16, 5, 6), float32], %w: Tensor[(16, 16, 2, 2), float32]",
                    "%0 = nn.conv2d_transpose(%x, %w, strides=[2, 2]);\n"
                    "nn.max_pool2d(nn.relu(%0), pool_size=[2, 2], strides=[2, 2])");
  const Module after = ConvertLayout(before, {{"nn.conv2d_transpose", {"NCHW8c"}}});
  EXPECT_EQ(Body(after),
            "%0 = layout_transform(%x, src_layout=\"NCHW\", dst_layout=\"NCHW8c\");\n"
            "%1 = layout_transform(%w, src_layout=\"IOHW\", dst_layout=\"IOHW8i8o\");\n"
            "%2 = nn.conv2d_transpose(%0, %1, strides=[2, 2], data_layout=\"NCHW8c\", "
            "kernel_layout=\"IOHW8i8o\", out_layout=\"NCHW8c\");\n"
            "%3 = nn.relu(%2);\n"
            "%4 = nn.max_pool2d(%3, pool_size=[2, 2], strides=[2, 2], layout=\"NCHW8c\");\n"
            "layout_transform(%4, src_layout=\"NCHW8c\", dst_layout=\"NCHW\")\n");
  ExpectSameValues(before, after);
  for (const char* layout : {"NCHW4c", "NCHW16c", "NCHW32c", "NHWC"})
    ExpectSameValues(before, ConvertLayout(before, {{"nn.conv2d_transpose", {layout}}}));
}

// Groups are cut with their channels; those that blocks do not divide stay.
TEST(ConvertLayoutTest, BlocksDivideTheChannelsOfAGroup) {
  const Module before =
      WithConstants("%x: Tensor[(1, 16, 5, 6), float32], %w: Tensor[(16, 12, 3, 3), float32]",
                    "nn.conv2d_transpose(%x, %w, groups=2)");
  const Module after = ConvertLayout(before, {{"nn.conv2d_transpose", {"NCHW4c"}}});
  EXPECT_THAT(Body(after), HasSubstr("IOHW4i4o"));
  ExpectSameValues(before, after);
  EXPECT_EQ(ConvertLayout(before, {{"nn.conv2d_transpose", {"NCHW8c"}}}), before);
  const Module line = WithConstants(
      "%x: Tensor[(1, 8, 9), float32], %w: Tensor[(16, 8, 3), float32]", "nn.conv1d(%x, %w)");
  EXPECT_THAT(Body(ConvertLayout(line, {{"nn.conv1d", {"NCW8c"}}})), HasSubstr("OIW8i8o"));
}

TEST(ConvertLayoutTest, ABlockThatDoesNotDivideTheChannelsLeavesTheConvolution) {
  for (const int channels : {1, 3, 15, 17}) {
    const Module before =
        WithConstants(StrCat("%x: Tensor[(1, ", channels, ", 5, 6), float32], %w: Tensor[(",
                             channels, ", ", channels, ", 3, 3), float32]"),
                      "nn.conv2d(%x, %w)");
    EXPECT_EQ(ConvertLayout(before, {{"nn.conv2d", {"NCHW16c"}}}), before) << channels;
  }
}

TEST(ConvertLayoutTest, RefusesWhatHasNoSuchLayout) {
  const Module module = WithConstants(kImage, "nn.conv2d(%x, %w)");
  const auto message = [&](const DesiredLayouts& desired) {
    try {
      ConvertLayout(module, desired);
    } catch (const Error& error) {
      return std::string(error.message());
    }
    return std::string();
  };
  EXPECT_THAT(message({{"nn.dense", {"NHWC"}}}), HasSubstr("nn.dense has no layout to choose"));
  EXPECT_THAT(message({{"nn.conv2d", {"NHWD"}}}), HasSubstr("it must be an order of NCHW"));
  EXPECT_THAT(message({{"nn.conv2d", {}}}), HasSubstr("one or two layouts"));
  EXPECT_THAT(message({{"nn.conv3d", {"NCHW8c"}}}), HasSubstr("it must be an order of NCDHW"));
  EXPECT_THAT(message({{"nn.conv3d", {"NCDHW8c", "OIDHW"}}}),
              HasSubstr("has a kernel layout of its own; leave it out"));
}

}  // namespace
}  // namespace tenon::passes
