// Layout strings, and the type relations of the operators on blocked layouts.
#include "tenon/ops/layout/layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/support/error.h"
#include "tenon/tests/ops/result_type.h"

namespace tenon::ops {
namespace {

using ::testing::HasSubstr;

TEST(LayoutTest, ReadsBlocksWithTheirAxes) {
  const Layout layout = Layout::Parse("OIHW16i8o", "kernel_layout");
  EXPECT_EQ(layout.rank(), 6U);
  EXPECT_EQ(layout.BlockOf('I'), 16);
  EXPECT_EQ(layout.BlockOf('O'), 8);
  EXPECT_EQ(layout.BlockOf('H'), 1);
  EXPECT_EQ(layout.PositionOf('H'), 2U);
  EXPECT_EQ(layout.Whole(), "OIHW");
}

struct BadLayout {
  const char* name;
  const char* text;
  const char* words;
};
void PrintTo(const BadLayout& b, std::ostream* out) { *out << b.name; }
class BadLayoutTest : public ::testing::TestWithParam<BadLayout> {};

TEST_P(BadLayoutTest, IsRefusedInWords) {
  try {
    Layout::Parse(GetParam().text, "data_layout");
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(error.message(), HasSubstr("data_layout is \""));
    EXPECT_THAT(error.message(), HasSubstr(GetParam().words));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Texts, BadLayoutTest,
    ::testing::Values(BadLayout{"AxisTwice", "NCHWC", "the axis C occurs twice"},
                      BadLayout{"BlockTwice", "NC4c4c", "the block c occurs twice"},
                      BadLayout{"NoSize", "NCc", "the block c needs a size before it"},
                      BadLayout{"NoAxis", "NHW16c", "the block of C has no axis to belong to"},
                      BadLayout{"SizeAtTheEnd", "NCHW16", "stands before a lower-case letter"},
                      BadLayout{"SizeBeforeAnAxis", "N16C", "stands before a lower-case letter"},
                      BadLayout{"Sign", "N-C", "letters and block sizes only"},
                      BadLayout{"Huge", "NC99999999999999999999c", "at most 4096"}),
    [](const auto& info) { return info.param.name; });

struct TypeCase {
  const char* name;
  const char* params;
  const char* body;
  const char* expected;  // the result's type, or words of the refusal
};
void PrintTo(const TypeCase& t, std::ostream* out) { *out << t.name; }
class LayoutOpTypeTest : public ::testing::TestWithParam<TypeCase> {};

TEST_P(LayoutOpTypeTest, GivesTheTypeOrRefuses) {
  EXPECT_THAT(ResultType(GetParam().params, GetParam().body), HasSubstr(GetParam().expected));
}

constexpr const char* kBlockedData =
    "%x: Tensor[(1, 2, 8, 9, 16), float32], %w: Tensor[(4, 2, 3, 3, 16, 8), float32]";
constexpr const char* kDepthwise =
    "%x: Tensor[(1, 2, 8, 9, 16), float32], %w: Tensor[(2, 1, 3, 3, 1, 16), float32]";

INSTANTIATE_TEST_SUITE_P(
    Calls, LayoutOpTypeTest,
    ::testing::Values(
        TypeCase{"TransformRoundsBlocksUp", "%x: Tensor[(1, 20, 4, 4), int8]",
                 "layout_transform(%x, src_layout=\"NCHW\", dst_layout=\"NCHW16c\")",
                 "Tensor[(1, 2, 4, 4, 16), int8]"},
        TypeCase{"TransformBetweenBlocks", "%x: Tensor[(1, 2, 4, 4, 16), float32]",
                 "layout_transform(%x, src_layout=\"NCHW16c\", dst_layout=\"NHWC\")",
                 "Tensor[(1, 4, 4, 32), float32]"},
        TypeCase{"TransformToOtherAxes", "%x: Tensor[(1, 2, 4, 4), float32]",
                 "layout_transform(%x, src_layout=\"NCHW\", dst_layout=\"NCHD\")",
                 "must name the same axes"},
        TypeCase{"TransformOfAnotherRank", "%x: Tensor[(1, 2, 4), float32]",
                 "layout_transform(%x, src_layout=\"NCHW\", dst_layout=\"NHWC\")",
                 "the data has rank 3 and src_layout \"NCHW\" 4"},
        TypeCase{"TransformOfAnotherBlock", "%x: Tensor[(1, 2, 4, 4, 8), float32]",
                 "layout_transform(%x, src_layout=\"NCHW16c\", dst_layout=\"NCHW\")",
                 "dimension 4 of the data is 8 and src_layout says blocks of 16"},
        TypeCase{"Convolution", kBlockedData,
                 "nn.contrib_conv2d_NCHWc(%x, %w, padding=[1, 1], strides=[2, 1], "
                 "data_layout=\"NCHW16c\", kernel_layout=\"OIHW16i8o\")",
                 "Tensor[(1, 4, 4, 9, 8), float32]"},
        TypeCase{"ConvolutionOfAWholeLayout", kBlockedData, "nn.contrib_conv2d_NCHWc(%x, %w)",
                 "data_layout is \"NCHW\"; it must be NCHW{n}c"},
        TypeCase{"ConvolutionWithAnotherKernelBlock", kBlockedData,
                 "nn.contrib_conv2d_NCHWc(%x, %w, data_layout=\"NCHW16c\", "
                 "kernel_layout=\"OIHW8i8o\")",
                 "with the data_layout \"NCHW16c\" it must be OIHW16i{n}o"},
        TypeCase{"ConvolutionOfTooFewChannels",
                 "%x: Tensor[(1, 3, 8, 9, 16), float32], %w: Tensor[(4, 2, 3, 3, 16, 8), float32]",
                 "nn.contrib_conv2d_NCHWc(%x, %w, data_layout=\"NCHW16c\", "
                 "kernel_layout=\"OIHW16i8o\")",
                 "do not make 1 groups of whole blocks"},
        TypeCase{"ConvolutionOfMoreGroupsThanFit", kBlockedData,
                 "nn.contrib_conv2d_NCHWc(%x, %w, groups=1152921504606846976i64, "
                 "data_layout=\"NCHW16c\", kernel_layout=\"OIHW16i8o\")",
                 "do not make 1152921504606846976 groups of whole blocks"},
        TypeCase{"ConvolutionWithALargeKernel",
                 "%x: Tensor[(1, 2, 2, 9, 16), float32], %w: Tensor[(4, 2, 3, 3, 16, 8), float32]",
                 "nn.contrib_conv2d_NCHWc(%x, %w, data_layout=\"NCHW16c\", "
                 "kernel_layout=\"OIHW16i8o\")",
                 "the kernel spans 3 elements of height and the padded data has 2"},
        TypeCase{"ConvolutionOfMixedTypes",
                 "%x: Tensor[(1, 2, 8, 9, 16), float32], %w: Tensor[(4, 2, 3, 3, 16, 8), int8]",
                 "nn.contrib_conv2d_NCHWc(%x, %w, data_layout=\"NCHW16c\", "
                 "kernel_layout=\"OIHW16i8o\")",
                 "the data is float32 and the weight int8"},
        TypeCase{"Depthwise", kDepthwise,
                 "nn.contrib_depthwise_conv2d_NCHWc(%x, %w, groups=32, data_layout=\"NCHW16c\", "
                 "kernel_layout=\"OIHW1i16o\")",
                 "Tensor[(1, 2, 6, 7, 16), float32]"},
        TypeCase{"DepthwiseWithFewGroups", kDepthwise,
                 "nn.contrib_depthwise_conv2d_NCHWc(%x, %w, groups=2, data_layout=\"NCHW16c\", "
                 "kernel_layout=\"OIHW1i16o\")",
                 "a depthwise convolution of 32 channels takes as many groups (2)"}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace tenon::ops
