// Scales before convolutions and matrix products go into their weights.
#include "tenon/passes/affine/forward_fold_scale_axis.h"

#include "tenon/tests/passes/algebra_testing.h"

namespace tenon::passes {
namespace {

class ForwardFoldScaleAxisChangesTest : public ::testing::TestWithParam<PassCase> {};

TEST_P(ForwardFoldScaleAxisChangesTest, ToAScaledWeight) {
  const ir::Module before = WithConstants(GetParam());
  const ir::Module after = ForwardFoldScaleAxis(before);
  EXPECT_EQ(Body(after), GetParam().expected);
  ExpectSameValues(before, after);
  EXPECT_EQ(InferType(after), after);
}

constexpr char kConv[] =
    "%x: Tensor[(1, 3, 5, 5), float32], %w: Tensor[(4, 3, 3, 3), float32], "
    "%s: Tensor[(3, 1, 1), float32], %k: Tensor[(3, 1, 1), float32]";

INSTANTIATE_TEST_SUITE_P(
    Change, ForwardFoldScaleAxisChangesTest,
    ::testing::Values(
        PassCase{"S001_53_ScaleBefore", kConv,
                 "nn.conv2d(multiply(%x, %s), %w, padding=[1, 1, 1, 1])",
                 "%0 = squeeze(%s, axis=[1, 2]);\n%1 = expand_dims(%0, axis=1, num_newaxis=2);\n"
                 "%2 = multiply(%w, %1);\nnn.conv2d(%x, %2, padding=[1, 1, 1, 1])\n"},
        PassCase{"ScaleFirst", kConv, "nn.conv2d(multiply(2f, %x), %w)",
                 "%0 = multiply(%w, 2f);\nnn.conv2d(%x, %0)\n"},
        PassCase{"ThroughRelu", kConv, "nn.conv2d(nn.relu(multiply(%x, %k)), %w)",
                 "%0 = squeeze(k0, axis=[1, 2]);\n%1 = expand_dims(%0, axis=1, num_newaxis=2);\n"
                 "%2 = nn.relu(%x);\n%3 = multiply(%w, %1);\nnn.conv2d(%2, %3)\n"},
        PassCase{"ThroughAdd", kConv, "nn.conv2d(add(multiply(%x, %k), %s), %w)",
                 "%0 = squeeze(k0, axis=[1, 2]);\n%1 = expand_dims(%0, axis=1, num_newaxis=2);\n"
                 "%2 = divide(%s, %1);\n%3 = expand_dims(%0, axis=1, num_newaxis=2);\n"
                 "%4 = add(%x, %2);\n%5 = multiply(%w, %3);\nnn.conv2d(%4, %5)\n"},
        PassCase{"TwoReadersThatBothTakeIt", kConv,
                 "%0 = multiply(%x, 2f);\nadd(nn.conv2d(%0, %w), nn.conv2d(%0, %w))",
                 "%0 = multiply(%w, 2f);\n%1 = multiply(%w, 2f);\n%2 = nn.conv2d(%x, %0);\n"
                 "%3 = nn.conv2d(%x, %1);\nadd(%2, %3)\n"},
        PassCase{"TwoScalesInARow", kConv, "nn.conv2d(multiply(multiply(%x, 2f), 3f), %w)",
                 "%0 = multiply(2f, 3f);\n%1 = multiply(%w, %0);\nnn.conv2d(%x, %1)\n"},
        // The negative scale cannot pass the activation; the one below it can.
        PassCase{"PastAScaleThatStays", kConv,
                 "nn.conv2d(nn.relu(multiply(multiply(%x, 2f), -3f)), %w)",
                 "%0 = multiply(%x, -3f);\n%1 = nn.relu(%0);\n%2 = multiply(%w, 2f);\n"
                 "nn.conv2d(%1, %2)\n"},
        PassCase{"Depthwise",
                 "%x: Tensor[(1, 4, 3, 3), float32], %w: Tensor[(4, 1, 2, 2), float32], "
                 "%s: Tensor[(4, 1, 1), float32]",
                 "nn.conv2d(multiply(%x, %s), %w, groups=4)",
                 "%0 = squeeze(%s, axis=[1, 2]);\n%1 = expand_dims(%0, axis=1, num_newaxis=3);\n"
                 "%2 = multiply(%w, %1);\nnn.conv2d(%x, %2, groups=4)\n"},
        PassCase{"NHWC",
                 "%x: Tensor[(1, 5, 5, 3), float32], %w: Tensor[(3, 3, 3, 4), float32], "
                 "%s: Tensor[(3), float32]",
                 "nn.conv2d(multiply(%x, %s), %w, data_layout=\"NHWC\", kernel_layout=\"HWIO\")",
                 "%0 = expand_dims(%s, axis=1);\n%1 = multiply(%w, %0);\n"
                 "nn.conv2d(%x, %1, data_layout=\"NHWC\", kernel_layout=\"HWIO\")\n"},
        PassCase{"Dense",
                 "%x: Tensor[(2, 3), float32], %w: Tensor[(4, 3), float32], "
                 "%s: Tensor[(3), float32]",
                 "nn.dense(multiply(%x, %s), %w, units=None)",
                 "%0 = multiply(%w, %s);\nnn.dense(%x, %0, units=None)\n"},
        PassCase{"MatmulTransposed",
                 "%x: Tensor[(3, 2), float32], %w: Tensor[(3, 4), float32], "
                 "%s: Tensor[(3, 1), float32]",
                 "nn.matmul(multiply(%x, %s), %w, units=None, transpose_a=True)",
                 "%0 = squeeze(%s, axis=[1]);\n%1 = expand_dims(%0, axis=1);\n"
                 "%2 = multiply(%w, %1);\nnn.matmul(%x, %2, units=None, transpose_a=True)\n"}),
    [](const auto& info) { return info.param.name; });

class ForwardFoldScaleAxisLeavesTest : public ::testing::TestWithParam<PassCase> {};

TEST_P(ForwardFoldScaleAxisLeavesTest, TheSameNodes) {
  const ir::Module before = WithConstants(GetParam());
  EXPECT_EQ(ForwardFoldScaleAxis(before), before);
}

INSTANTIATE_TEST_SUITE_P(
    NoChange, ForwardFoldScaleAxisLeavesTest,
    ::testing::Values(
        PassCase{"AReaderThatDoesNotTakeIt", kConv,
                 "%0 = multiply(%x, 2f);\n(nn.conv2d(%0, %w), nn.relu(%0))"},
        PassCase{"AResult", kConv, "%0 = multiply(%x, 2f);\n(nn.conv2d(%0, %w), %0)"},
        PassCase{"S001_52_UnknownSignThroughRelu", kConv,
                 "nn.conv2d(nn.relu(multiply(%x, %s)), %w)"},
        PassCase{"NegativeThroughRelu", kConv, "nn.conv2d(nn.relu(multiply(%x, -2f)), %w)"},
        PassCase{"ZeroThroughAdd", kConv, "nn.conv2d(add(multiply(%x, 0f), %s), %w)"},
        PassCase{"DenormalThroughAdd", kConv, "nn.conv2d(add(multiply(%x, 1e-40f), %s), %w)"},
        // 1e10 / 1e-30 is no number of float32.
        PassCase{"TooSmallThroughAdd", kConv,
                 "nn.conv2d(add(multiply(%x, 1e-30f), 10000000000f), %w)"},
        PassCase{"ThroughAddOfALargeShift", kConv,
                 "nn.conv2d(add(multiply(%x, 1e-10f), 1e30f), %w)"},
        PassCase{"ThroughAShiftThatRounds", kConv,
                 "nn.conv2d(add(multiply(%x, 3f), 12582912f), %w)"},
        PassCase{"TooLarge", kConv, "nn.conv2d(multiply(%x, 1e30f), %w)"},
        PassCase{"AnotherAxis",
                 "%x: Tensor[(1, 3, 5, 5), float32], "
                 "%w: Tensor[(4, 3, 1, 1), float32], %s: Tensor[(5), float32]",
                 "nn.conv2d(multiply(%x, %s), %w)"},
        PassCase{"Groups",
                 "%x: Tensor[(1, 4, 3, 3), float32], "
                 "%w: Tensor[(6, 2, 1, 1), float32], %s: Tensor[(4, 1, 1), float32]",
                 "nn.conv2d(multiply(%x, %s), %w, groups=2)"},
        PassCase{"DepthwiseWithAMultiplier",
                 "%x: Tensor[(1, 2, 3, 3), float32], "
                 "%w: Tensor[(4, 1, 1, 1), float32], %s: Tensor[(2, 1, 1), float32]",
                 "nn.conv2d(multiply(%x, %s), %w, groups=2)"},
        PassCase{"TheWeight", kConv, "nn.conv2d(%x, multiply(%w, 2f))"},
        PassCase{"NoConvolution", kConv, "exp(multiply(%x, 2f))"}),
    [](const auto& info) { return info.param.name; });

// Their product is 0 in float32, by which the shift would be divided.
TEST(ForwardFoldScaleAxisTest, ScalesAreJoinedWhileTheirProductIsNotTooSmall) {
  const ir::Module before = WithConstants(
      kConv,
      "nn.conv2d(add(multiply(multiply(multiply(multiply(%x, 1e-12f), 1e-12f), 1e-12f), 1e-12f), "
      "%s), %w)");
  const ir::Module after = ForwardFoldScaleAxis(before);
  EXPECT_NE(after, before);
  ExpectSameValues(before, after);
}

}  // namespace
}  // namespace tenon::passes
