#include "tenon/strategies/lower/operations.h"

#include <gtest/gtest.h>

#include "tenon/passes/fusion/fuse_ops.h"
#include "tenon/tests/testing/graph_testing.h"

namespace tenon::strategies {
namespace {

// Of all kernels of a fused module.
double Count(const std::string& text) {
  double total = 0;
  const Lowered lowered = Lower(testing_graphs::Parsed(text)).value();
  for (const LoweredKernel& kernel : lowered.kernels)
    total += OperationsOf(*kernel.function.As<ir::FunctionNode>());
  return total;
}

TEST(OperationsTest, AMultiplyAddIsTwo) {
  EXPECT_EQ(Count("def @main(%x: Tensor[(7, 5), float32], %w: Tensor[(3, 5), float32]) {\n"
                  "  nn.dense(%x, %w)\n}"),
            2.0 * 7 * 5 * 3);
}

TEST(OperationsTest, AConvolutionCountsAsThePlainSumWhateverFormItTakes) {
  // 64 channels and 3 x 3 weights: Winograd's algorithm is chosen for constants of this size.
  EXPECT_EQ(Count("def @main(%x: Tensor[(1, 64, 28, 28), float32],\n"
                  "          %w: Tensor[(64, 64, 3, 3), float32]) {\n"
                  "  nn.conv2d(%x, %w, padding=[1, 1])\n}"),
            2.0 * 64 * 28 * 28 * 64 * 9);
}

TEST(OperationsTest, FunctionsAndChoicesOfElementsCountOnce) {
  EXPECT_EQ(Count("def @main(%x: Tensor[(11), float32]) { exp(add(%x, %x)) }"), 22);
  EXPECT_EQ(Count("def @main(%x: Tensor[(11), float32]) { nn.relu(%x) }"), 11);
}

TEST(OperationsTest, MovingElementsIsNone) {
  EXPECT_EQ(Count("def @main(%x: Tensor[(4, 6), float32]) { transpose(%x) }"), 0);
  EXPECT_EQ(Count("def @main(%x: Tensor[(4, 6), float32]) {\n"
                  "  nn.pad(%x, 0f, pad_width=[[1, 1], [2, 2]])\n}"),
            0);
}

TEST(OperationsTest, AnEmptyTensorNeedsNone) {
  EXPECT_EQ(Count("def @main(%x: Tensor[(0, 6), float32]) { exp(%x) }"), 0);
}

}  // namespace
}  // namespace tenon::strategies
