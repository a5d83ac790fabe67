// Pads go into the windows that read them.
#include "tenon/passes/simplify/fold_explicit_padding.h"

#include <limits>

#include "tenon/ops/builders.h"
#include "tenon/tests/passes/algebra_testing.h"

namespace tenon::passes {
namespace {

using ir::Module;

constexpr char kImage[] = "%x: Tensor[(1, 3, 5, 6), float32], %w: Tensor[(4, 3, 3, 3), float32]";

class FoldExplicitPaddingChangesTest : public ::testing::TestWithParam<PassCase> {};

TEST_P(FoldExplicitPaddingChangesTest, IntoTheWindow) {
  const Module before = WithConstants(GetParam());
  const Module after = FoldExplicitPadding(before);
  EXPECT_EQ(Body(after), GetParam().expected);
  ExpectSameValues(before, after);
  EXPECT_EQ(InferType(after), after);
}

INSTANTIATE_TEST_SUITE_P(
    Change, FoldExplicitPaddingChangesTest,
    ::testing::Values(
        PassCase{"S004_03_TopLeftBottomRight", kImage,
                 "nn.conv2d(nn.pad(%x, 0f, pad_width=[[0, 0], [0, 0], [1, 2], [3, 4]]), %w)",
                 "nn.conv2d(%x, %w, padding=[1, 3, 2, 4])\n"},
        PassCase{"Conv2DWithPaddingOfItsOwn", kImage,
                 "nn.conv2d(nn.pad(%x, 0f, pad_width=[[0, 0], [0, 0], [1, 2], [3, 4]]), %w, "
                 "padding=[1, 1, 1, 1])",
                 "nn.conv2d(%x, %w, padding=[2, 4, 3, 5])\n"},
        PassCase{"Conv2DOverNHWC",
                 "%x: Tensor[(1, 5, 6, 3), float32], %w: Tensor[(3, 3, 3, 4), float32]",
                 "nn.conv2d(nn.pad(%x, 0f, pad_width=[[0, 0], [1, 2], [3, 4], [0, 0]]), %w, "
                 "data_layout=\"NHWC\", kernel_layout=\"HWIO\")",
                 "nn.conv2d(%x, %w, padding=[1, 3, 2, 4], data_layout=\"NHWC\", "
                 "kernel_layout=\"HWIO\")\n"},
        PassCase{
            "AvgPool2DOverBlocks", "%x: Tensor[(1, 2, 5, 6, 4), float32]",
            "nn.avg_pool2d(nn.pad(%x, 0f, pad_width=[[0, 0], [0, 0], [1, 1], [0, 2], [0, 0]]), "
            "pool_size=[3, 3], layout=\"NCHW4c\")",
            "nn.avg_pool2d(%x, pool_size=[3, 3], padding=[1, 0, 1, 2], layout=\"NCHW4c\", "
            "count_include_pad=True)\n"},
        PassCase{"AvgPool2D", kImage,
                 "nn.avg_pool2d(nn.pad(%x, 0f, pad_width=[[0, 0], [0, 0], [1, 1], [0, 2]]), "
                 "pool_size=[3, 3])",
                 "nn.avg_pool2d(%x, pool_size=[3, 3], padding=[1, 0, 1, 2], "
                 "count_include_pad=True)\n"}),
    [](const auto& info) { return info.param.name; });

// The text has no word for the infinity.
TEST(FoldExplicitPaddingTest, ThePadOfAMaximumHoldsItsLeastValue) {
  const ir::Var x = ir::Var::Make("x", ir::TensorType({1, 3, 5, 6}, Float32));
  const auto pooled = [&](double value) {
    return InferType(
        Module::FromExpr(ops::MaxPool2D(ops::Pad(x, {{0, 0}, {0, 0}, {1, 1}, {0, 2}}, value),
                                        {.pool_size = {3, 3}, .padding = {0, 0, 0, 0}})));
  };
  const Module before = pooled(-std::numeric_limits<double>::infinity());
  const Module after = FoldExplicitPadding(before);
  EXPECT_EQ(Body(after), "nn.max_pool2d(%x, pool_size=[3, 3], padding=[1, 0, 1, 2])\n");
  ExpectSameValues(before, after);
  const Module finite = pooled(-1e30);
  EXPECT_EQ(FoldExplicitPadding(finite), finite);
}

class FoldExplicitPaddingLeavesTest : public ::testing::TestWithParam<PassCase> {};

TEST_P(FoldExplicitPaddingLeavesTest, TheSameNodes) {
  const Module before = WithConstants(GetParam());
  EXPECT_EQ(FoldExplicitPadding(before), before);
}

INSTANTIATE_TEST_SUITE_P(
    NoChange, FoldExplicitPaddingLeavesTest,
    ::testing::Values(
        PassCase{"AnotherValue", kImage,
                 "nn.conv2d(nn.pad(%x, 1f, pad_width=[[0, 0], [0, 0], [1, 1], [1, 1]]), %w)"},
        PassCase{"AnotherMode", kImage,
                 "nn.conv2d(nn.pad(%x, 0f, pad_width=[[0, 0], [0, 0], [1, 1], [1, 1]], "
                 "pad_mode=\"edge\"), %w)"},
        PassCase{
            "APadOfBlocks", "%x: Tensor[(1, 2, 5, 6, 4), float32]",
            "nn.avg_pool2d(nn.pad(%x, 0f, pad_width=[[0, 0], [0, 0], [1, 1], [0, 2], [0, 4]]), "
            "pool_size=[3, 3], layout=\"NCHW8c\")"},
        PassCase{
            "AMaximumOverBlocksOfZeros", "%x: Tensor[(1, 2, 5, 6, 4), float32]",
            "nn.max_pool2d(nn.pad(%x, 0f, pad_width=[[0, 0], [0, 0], [1, 1], [1, 1], [0, 0]]), "
            "pool_size=[3, 3], layout=\"NCHW4c\")"},
        PassCase{"APadOfChannels",
                 "%x: Tensor[(1, 2, 5, 6), float32], "
                 "%w: Tensor[(4, 3, 3, 3), float32]",
                 "nn.conv2d(nn.pad(%x, 0f, pad_width=[[0, 0], [0, 1], [1, 1], [1, 1]]), %w)"},
        PassCase{"ACrop", kImage,
                 "nn.conv2d(nn.pad(%x, 0f, pad_width=[[0, 0], [0, 0], [-1, 1], [1, 1]]), %w)"},
        PassCase{"AverageThatDoesNotCountItsPadding", kImage,
                 "nn.avg_pool2d(nn.pad(%x, 0f, pad_width=[[0, 0], [0, 0], [1, 1], [1, 1]]), "
                 "pool_size=[3, 3], padding=[1, 1, 1, 1])"},
        PassCase{"AMaximumOfZeros", kImage,
                 "nn.max_pool2d(nn.pad(%x, 0f, pad_width=[[0, 0], [0, 0], [1, 1], [1, 1]]), "
                 "pool_size=[3, 3])"},
        PassCase{"CeilMode", kImage,
                 "nn.avg_pool2d(nn.pad(%x, 0f, pad_width=[[0, 0], [0, 0], [1, 1], [1, 1]]), "
                 "pool_size=[3, 3], strides=[2, 2], ceil_mode=True)"}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace tenon::passes
