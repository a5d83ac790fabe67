// Convolutions of the phases of space become dilated convolutions.
#include "tenon/passes/simplify/flatten_atrous_conv.h"

#include "tenon/support/strings.h"
#include "tenon/tests/passes/algebra_testing.h"

namespace tenon::passes {
namespace {

using ir::Module;

constexpr char kImage[] = "%x: Tensor[(2, 5, 7, 3), float32], %w: Tensor[(3, 3, 3, 4), float32]";

std::string Atrous(const std::string& block, const std::string& paddings, const std::string& crops,
                   const std::string& conv = "") {
  return StrCat("nn.batch_to_space_nd(nn.conv2d(nn.space_to_batch_nd(%x, block_shape=", block,
                ", paddings=", paddings, "), %w, data_layout=\"NHWC\", kernel_layout=\"HWIO\"",
                conv, "), block_shape=", block, ", crops=", crops, ")");
}
std::string Dilated(const std::string& padding, const std::string& dilation) {
  return StrCat("nn.conv2d(%x, %w, padding=", padding, ", dilation=", dilation,
                ", data_layout=\"NHWC\", kernel_layout=\"HWIO\")\n");
}

struct FlattenCase {
  const char* name;
  std::string body, expected;
  friend void PrintTo(const FlattenCase& c, std::ostream* out) { *out << c.name; }
};
class FlattenAtrousConvChangesTest : public ::testing::TestWithParam<FlattenCase> {};

TEST_P(FlattenAtrousConvChangesTest, ToADilatedConvolution) {
  const Module before = WithConstants(kImage, GetParam().body);
  const Module after = FlattenAtrousConv(before);
  EXPECT_EQ(Body(after), GetParam().expected);
  ExpectSameValues(before, after);
  EXPECT_EQ(InferType(after), after);
}

INSTANTIATE_TEST_SUITE_P(
    Change, FlattenAtrousConvChangesTest,
    ::testing::Values(
        // As TensorFlow writes a dilated convolution with padding SAME.
        FlattenCase{"Same", Atrous("[2, 2]", "[[2, 3], [2, 3]]", "[[0, 1], [0, 1]]"),
                    Dilated("[2, 2, 2, 2]", "[2, 2]")},
        FlattenCase{"Valid", Atrous("[2, 2]", "[[0, 1], [0, 1]]", "[[0, 1], [0, 1]]"),
                    Dilated("[0, 0, 0, 0]", "[2, 2]")},
        FlattenCase{"UnequalBlocks", Atrous("[3, 2]", "[[3, 4], [2, 3]]", "[[0, 1], [1, 0]]"),
                    Dilated("[3, 1, 3, 3]", "[3, 2]")},
        FlattenCase{
            "PaddingOfItsOwn",
            Atrous("[2, 2]", "[[0, 1], [0, 1]]", "[[0, 1], [0, 1]]", ", padding=[1, 0, 1, 0]"),
            Dilated("[2, 0, 2, 0]", "[2, 2]")},
        FlattenCase{"DilationOfItsOwn",
                    Atrous("[2, 2]", "[[4, 5], [4, 5]]", "[[0, 1], [0, 1]]", ", dilation=[2, 2]"),
                    Dilated("[4, 4, 4, 4]", "[4, 4]")}),
    [](const auto& info) { return info.param.name; });

TEST(FlattenAtrousConvTest, WhatIsNoDilatedConvolutionStays) {
  const std::string same = Atrous("[2, 2]", "[[2, 3], [2, 3]]", "[[0, 1], [0, 1]]");
  const std::string bodies[] = {
      // The crop takes results of which the first window begins inside the data.
      Atrous("[2, 2]", "[[0, 1], [0, 1]]", "[[1, 0], [0, 1]]"),
      Atrous("[2, 2]", "[[2, 3], [2, 3]]", "[[0, 1], [0, 1]]", ", strides=[2, 2]"),
      // Other blocks on the way back.
      "nn.batch_to_space_nd(nn.conv2d(nn.space_to_batch_nd(%x, block_shape=[1, 4], "
      "paddings=[[2, 3], [2, 3]]), %w, data_layout=\"NHWC\", kernel_layout=\"HWIO\"), "
      "block_shape=[2, 2], crops=[[0, 1], [0, 1]])",
      // Padding by ones.
      "nn.batch_to_space_nd(nn.conv2d(nn.space_to_batch_nd(%x, block_shape=[2, 2], "
      "paddings=[[2, 3], [2, 3]], pad_value=1f), %w, data_layout=\"NHWC\", "
      "kernel_layout=\"HWIO\"), block_shape=[2, 2], crops=[[0, 1], [0, 1]])",
      // The phases have another reader.
      "%0 = nn.conv2d(nn.space_to_batch_nd(%x, block_shape=[2, 2], paddings=[[2, 3], [2, 3]]), "
      "%w, data_layout=\"NHWC\", kernel_layout=\"HWIO\"); "
      "(nn.batch_to_space_nd(%0, block_shape=[2, 2], crops=[[0, 1], [0, 1]]), %0)",
      // Blocks of channels.
      "%0 = nn.space_to_batch_nd(%x, block_shape=[1, 2], paddings=[[0, 0], [0, 1]]); "
      "nn.batch_to_space_nd(nn.conv2d(%0, ones(shape=[4, 5, 1, 1], dtype=\"float32\")), "
      "block_shape=[1, 2], crops=[[0, 0], [0, 1]])",
      "nn.batch_to_space_nd(nn.relu(nn.space_to_batch_nd(%x, block_shape=[2, 2], "
      "paddings=[[2, 3], [2, 3]])), block_shape=[2, 2], crops=[[0, 1], [0, 1]])"};
  for (const std::string& body : bodies) {
    const Module module = WithConstants(kImage, body);
    EXPECT_EQ(FlattenAtrousConv(module), module) << body;
  }
}

}  // namespace
}  // namespace tenon::passes
