// Scales after convolutions and matrix products go into their weights.
#include "tenon/passes/affine/backward_fold_scale_axis.h"

#include "tenon/tests/passes/algebra_testing.h"

namespace tenon::passes {
namespace {

class BackwardFoldScaleAxisChangesTest : public ::testing::TestWithParam<PassCase> {};

TEST_P(BackwardFoldScaleAxisChangesTest, ToAScaledWeight) {
  const ir::Module before = WithConstants(GetParam());
  const ir::Module after = BackwardFoldScaleAxis(before);
  EXPECT_EQ(Body(after), GetParam().expected);
  ExpectSameValues(before, after);
  EXPECT_EQ(InferType(after), after);
}

constexpr char kConv[] =
    "%x: Tensor[(1, 3, 5, 5), float32], %w: Tensor[(4, 3, 3, 3), float32], "
    "%s: Tensor[(4, 1, 1), float32], %k: Tensor[(4, 1, 1), float32]";

INSTANTIATE_TEST_SUITE_P(
    Change, BackwardFoldScaleAxisChangesTest,
    ::testing::Values(
        PassCase{"S001_49_ScaleAfter", kConv, "multiply(nn.conv2d(%x, %w), %s)",
                 "%0 = squeeze(%s, axis=[1, 2]);\n%1 = expand_dims(%0, axis=1, num_newaxis=3);\n"
                 "%2 = multiply(%w, %1);\nnn.conv2d(%x, %2)\n"},
        PassCase{"S001_51_ScaleFirst", kConv, "multiply(%s, nn.conv2d(%x, %w))",
                 "%0 = squeeze(%s, axis=[1, 2]);\n%1 = expand_dims(%0, axis=1, num_newaxis=3);\n"
                 "%2 = multiply(%w, %1);\nnn.conv2d(%x, %2)\n"},
        PassCase{"OneElement", kConv, "multiply(nn.conv2d(%x, %w), 2f)",
                 "%0 = multiply(%w, 2f);\nnn.conv2d(%x, %0)\n"},
        PassCase{"OneElementOfMoreAxesThanTheWeight",
                 "%x: Tensor[(2, 3, 4), float32], %w: Tensor[(5, 4), float32], %s: Tensor[(1, 1, "
                 "1), float32]",
                 "multiply(nn.dense(%x, %w, units=None), %s)",
                 "%0 = squeeze(%s, axis=[0, 1, 2]);\n%1 = multiply(%w, %0);\n"
                 "nn.dense(%x, %1, units=None)\n"},
        PassCase{"S001_52_ThroughRelu", kConv, "multiply(nn.relu(nn.conv2d(%x, %w)), %k)",
                 "%0 = squeeze(k0, axis=[1, 2]);\n%1 = expand_dims(%0, axis=1, num_newaxis=3);\n"
                 "%2 = multiply(%w, %1);\n%3 = nn.conv2d(%x, %2);\nnn.relu(%3)\n"},
        PassCase{"ThroughLeakyRelu", kConv,
                 "multiply(nn.leaky_relu(nn.conv2d(%x, %w), alpha=0.5f), 3f)",
                 "%0 = multiply(%w, 3f);\n%1 = nn.conv2d(%x, %0);\n"
                 "nn.leaky_relu(%1, alpha=0.5f)\n"},
        PassCase{"ThroughAdd", kConv, "multiply(add(%k, nn.conv2d(%x, %w)), %s)",
                 "%0 = squeeze(%s, axis=[1, 2]);\n%1 = expand_dims(%0, axis=1, num_newaxis=2);\n"
                 "%2 = expand_dims(%0, axis=1, num_newaxis=3);\n%3 = multiply(%w, %2);\n"
                 "%4 = multiply(k0, %1);\n%5 = nn.conv2d(%x, %3);\nadd(%4, %5)\n"},
        PassCase{"ThroughSubtract", kConv, "multiply(subtract(nn.conv2d(%x, %w), 5f), 2f)",
                 "%0 = multiply(%w, 2f);\n%1 = nn.conv2d(%x, %0);\n%2 = multiply(5f, 2f);\n"
                 "subtract(%1, %2)\n"},
        PassCase{"ThroughBiasAdd",
                 "%x: Tensor[(2, 3), float32], %w: Tensor[(4, 3), float32], "
                 "%b: Tensor[(4), float32], %s: Tensor[(4), float32]",
                 "multiply(nn.bias_add(nn.dense(%x, %w, units=None), %b), %s)",
                 "%0 = expand_dims(%s, axis=1);\n%1 = multiply(%w, %0);\n"
                 "%2 = nn.dense(%x, %1, units=None);\n%3 = multiply(%b, %s);\n"
                 "nn.bias_add(%2, %3)\n"},
        PassCase{"OneElementThroughBiasAdd",
                 "%x: Tensor[(2, 3), float32], %w: Tensor[(4, 3), float32], "
                 "%b: Tensor[(4), float32]",
                 "multiply(nn.bias_add(nn.dense(%x, %w, units=None), %b), 2f)",
                 "%0 = multiply(%w, 2f);\n%1 = reshape(2f, newshape=[1]);\n"
                 "%2 = nn.dense(%x, %0, units=None);\n%3 = multiply(%b, %1);\n"
                 "nn.bias_add(%2, %3)\n"},
        PassCase{"IntoBothSidesOfASum", kConv,
                 "multiply(add(nn.conv2d(%x, %w), nn.relu(nn.conv2d(%x, %w))), 2f)",
                 "%0 = multiply(%w, 2f);\n%1 = multiply(%w, 2f);\n%2 = nn.conv2d(%x, %1);\n"
                 "%3 = nn.conv2d(%x, %0);\n%4 = nn.relu(%2);\nadd(%3, %4)\n"},
        PassCase{"TwoScalesInARow", kConv, "multiply(multiply(nn.conv2d(%x, %w), 2f), 3f)",
                 "%0 = multiply(2f, 3f);\n%1 = multiply(%w, %0);\nnn.conv2d(%x, %1)\n"},
        PassCase{"NHWC",
                 "%x: Tensor[(1, 5, 5, 3), float32], %w: Tensor[(3, 3, 3, 4), float32], "
                 "%s: Tensor[(4), float32]",
                 "multiply(nn.conv2d(%x, %w, data_layout=\"NHWC\", kernel_layout=\"HWIO\"), %s)",
                 "%0 = multiply(%w, %s);\n"
                 "nn.conv2d(%x, %0, data_layout=\"NHWC\", kernel_layout=\"HWIO\")\n"},
        PassCase{"OutLayout",
                 "%x: Tensor[(1, 3, 5, 5), float32], %w: Tensor[(4, 3, 1, 1), float32], "
                 "%s: Tensor[(4), float32]",
                 "multiply(nn.conv2d(%x, %w, out_layout=\"NHWC\"), %s)",
                 "%0 = expand_dims(%s, axis=1, num_newaxis=3);\n%1 = multiply(%w, %0);\n"
                 "nn.conv2d(%x, %1, out_layout=\"NHWC\")\n"},
        PassCase{"Groups",
                 "%x: Tensor[(1, 4, 3, 3), float32], %w: Tensor[(6, 2, 1, 1), float32], "
                 "%s: Tensor[(6, 1, 1), float32]",
                 "multiply(nn.conv2d(%x, %w, groups=2), %s)",
                 "%0 = squeeze(%s, axis=[1, 2]);\n%1 = expand_dims(%0, axis=1, num_newaxis=3);\n"
                 "%2 = multiply(%w, %1);\nnn.conv2d(%x, %2, groups=2)\n"},
        PassCase{"Depthwise",
                 "%x: Tensor[(1, 4, 3, 3), float32], %w: Tensor[(4, 1, 2, 2), float32]",
                 "multiply(nn.conv2d(%x, %w, groups=4), 2f)",
                 "%0 = multiply(%w, 2f);\nnn.conv2d(%x, %0, groups=4)\n"},
        PassCase{"Matmul",
                 "%x: Tensor[(2, 3), float32], %w: Tensor[(3, 4), float32], "
                 "%s: Tensor[(1, 4), float32]",
                 "multiply(nn.matmul(%x, %w, units=None), %s)",
                 "%0 = squeeze(%s, axis=[0]);\n%1 = multiply(%w, %0);\n"
                 "nn.matmul(%x, %1, units=None)\n"}),
    [](const auto& info) { return info.param.name; });

class BackwardFoldScaleAxisLeavesTest : public ::testing::TestWithParam<PassCase> {};

TEST_P(BackwardFoldScaleAxisLeavesTest, TheSameNodes) {
  const ir::Module before = WithConstants(GetParam());
  EXPECT_EQ(BackwardFoldScaleAxis(before), before);
}

INSTANTIATE_TEST_SUITE_P(
    NoChange, BackwardFoldScaleAxisLeavesTest,
    ::testing::Values(
        PassCase{"TwoReaders", kConv,
                 "%0 = nn.conv2d(%x, %w);\nadd(multiply(%0, 2f), nn.relu(%0))"},
        // Found by tenon fuzz --graphs, seed 105743.
        PassCase{"AReaderAfterTheScale", kConv,
                 "%0 = nn.conv2d(%x, %w);\nmaximum(multiply(add(%0, 1f), 2f), %0)"},
        PassCase{"ASquare", kConv, "%0 = nn.conv2d(%x, %w);\nmultiply(%0, %0)"},
        PassCase{"S001_52_AnotherAxis",
                 "%x: Tensor[(1, 3, 5, 5), float32], "
                 "%w: Tensor[(5, 3, 1, 1), float32], %s: Tensor[(5), float32]",
                 "multiply(nn.conv2d(%x, %w), %s)"},
        PassCase{"S001_52_TwoAxes",
                 "%x: Tensor[(1, 3, 5, 5), float32], "
                 "%w: Tensor[(4, 3, 1, 1), float32], %s: Tensor[(4, 1, 5), float32]",
                 "multiply(nn.conv2d(%x, %w), %s)"},
        PassCase{"S001_52_UnknownSignThroughRelu", kConv,
                 "multiply(nn.relu(nn.conv2d(%x, %w)), %s)"},
        PassCase{"S001_52_NegativeThroughRelu", kConv, "multiply(nn.relu(nn.conv2d(%x, %w)), -2f)"},
        PassCase{"S001_52_AScaleOfBothSignsThroughRelu",
                 "%x: Tensor[(1, 3, 5, 5), float32], %w: Tensor[(4, 3, 1, 1), float32], "
                 "%kn_s: Tensor[(4, 1, 1), float32]",
                 "multiply(nn.relu(nn.conv2d(%x, %w)), %kn_s)"},
        PassCase{"ZeroThroughRelu", kConv, "multiply(nn.relu(nn.conv2d(%x, %w)), 0f)"},
        PassCase{"ThroughAShiftThatRounds", kConv,
                 "multiply(subtract(nn.conv2d(%x, %w), 12582912f), 3f)"},
        PassCase{"TooLarge", kConv, "multiply(nn.conv2d(%x, %w), 1e30f)"},
        PassCase{"ThroughAnotherActivation", kConv, "multiply(tanh(nn.conv2d(%x, %w)), 2f)"},
        PassCase{"ThroughAPool", kConv,
                 "multiply(nn.max_pool2d(nn.conv2d(%x, %w), pool_size=[2, 2]), 2f)"},
        PassCase{"ADivision", kConv, "divide(nn.conv2d(%x, %w), 2f)"},
        PassCase{"AResidualOfAllAxes",
                 "%x: Tensor[(1, 3, 5, 5), float32], "
                 "%w: Tensor[(4, 3, 1, 1), float32], %y: Tensor[(1, 4, 5, 5), float32]",
                 "multiply(add(nn.conv2d(%x, %w), %y), 2f)"},
        // The scale gives the result its shape.
        PassCase{"S001_52_MoreChannels",
                 "%x: Tensor[(1, 3, 5, 5), float32], "
                 "%w: Tensor[(1, 3, 1, 1), float32], %s: Tensor[(4, 1, 1), float32]",
                 "multiply(nn.conv2d(%x, %w), %s)"},
        PassCase{"S001_52_MoreAxes",
                 "%x: Tensor[(1, 3, 5, 5), float32], "
                 "%w: Tensor[(4, 3, 1, 1), float32], %s: Tensor[(1, 1, 1, 1, 1), float32]",
                 "multiply(nn.conv2d(%x, %w), %s)"},
        // The scale has the type of the result, which is not that of the weight.
        PassCase{"AnotherResultType",
                 "%x: Tensor[(1, 3, 5, 5), int8], "
                 "%w: Tensor[(4, 3, 1, 1), int8]",
                 "multiply(nn.conv2d(%x, %w, out_dtype=\"int32\"), 2)"},
        PassCase{"AScaleOfAConvolution",
                 "%x: Tensor[(1, 4, 1, 1), float32], "
                 "%w: Tensor[(4, 4, 1, 1), float32]",
                 "%0 = nn.conv2d(%x, %w);\nmultiply(tanh(%0), nn.conv2d(%x, %w))"}),
    [](const auto& info) { return info.param.name; });

TEST(BackwardFoldScaleAxisTest, AGraphOfAnyDepthFolds) {
  const std::string body =
      LongChain("nn.dense(%x, %w, units=None)", "add", "1f", 30000) + "multiply(%last, 2f)";
  const ir::Module after = BackwardFoldScaleAxis(
      WithConstants("%x: Tensor[(1, 2), float32], %w: Tensor[(3, 2), float32]", body));
  EXPECT_EQ(after.Main().body.As<ir::CallNode>()->op()->name, "add");
}

}  // namespace
}  // namespace tenon::passes
