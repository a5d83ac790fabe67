// Blocks of channels where strategies choose them.
#include "tenon/passes/layout/alter_op_layout.h"

#include <gmock/gmock.h>

#include "tenon/tests/passes/algebra_testing.h"

namespace tenon::passes {
namespace {

using ir::Module;
using ::testing::HasSubstr;

TEST(AlterOpLayoutTest, ResidualConvolutionsStayInBlocks) {
  const Module before =
      WithConstants("%x: Tensor[(1, 16, 5, 6), float32], %w: Tensor[(16, 16, 3, 3), float32]",
                    "%0 = nn.conv2d(%x, %w, padding=[1, 1, 1, 1]);\n"
                    "add(%0, nn.conv2d(nn.relu(%0), %w, padding=[1, 1, 1, 1]))");
  const Module after = AlterOpLayout(before);
  EXPECT_THAT(Body(after), HasSubstr("nn.contrib_conv2d_NCHWc"));
  ExpectSameValues(before, after);
}

TEST(AlterOpLayoutTest, ValuesAreTheSameForAnyNumberOfChannels) {
  for (const int channels : {1, 3, 15, 16, 17, 32}) {
    const Module before = WithConstants(
        StrCat("%x: Tensor[(1, ", channels, ", 5, 6), float32], %w: Tensor[(", channels,
               ", 1, 3, 3), float32], %u: Tensor[(24, ", channels, ", 1, 1), float32]"),
        StrCat("nn.conv2d(nn.relu(nn.conv2d(%x, %w, groups=", channels, ")), %u)"));
    ExpectSameValues(before, AlterOpLayout(before));
  }
}

TEST(AlterOpLayoutTest, OtherLayoutsStay) {
  const Module before =
      WithConstants("%x: Tensor[(1, 5, 6, 16), float32], %w: Tensor[(3, 3, 16, 16), float32]",
                    "nn.conv2d(%x, %w, data_layout=\"NHWC\", kernel_layout=\"HWIO\")");
  EXPECT_EQ(AlterOpLayout(before), before);
}

}  // namespace
}  // namespace tenon::passes
