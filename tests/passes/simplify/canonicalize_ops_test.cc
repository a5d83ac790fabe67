// nn.bias_add is written as an addition.
#include "tenon/passes/simplify/canonicalize_ops.h"

#include "tenon/tests/passes/algebra_testing.h"

namespace tenon::passes {
namespace {

std::string TypeOf(const ir::Module& m) { return ir::ToString(m.Main().body.checked_type()); }
ir::Module Canonical(const ir::Module& m) { return InferType(CanonicalizeOps(m)); }

constexpr char kImage[] = "%x: Tensor[(2, 3, 4, 5), float32], ";

class CanonicalizeOpsChangesTest : public ::testing::TestWithParam<PassCase> {};

TEST_P(CanonicalizeOpsChangesTest, ToAnAddition) {
  const ir::Module before = WithConstants(kImage + std::string(GetParam().params), GetParam().body);
  const ir::Module after = Canonical(before);
  EXPECT_EQ(Body(after), GetParam().expected);
  ExpectSameValues(before, after, 0);
}

// The bias gets axes of extent 1 after its own.
INSTANTIATE_TEST_SUITE_P(
    Change, CanonicalizeOpsChangesTest,
    ::testing::Values(
        PassCase{"S003_03_ChannelAxis", "%b: Tensor[(3), float32]", "nn.bias_add(%x, %b)",
                 "%0 = expand_dims(%b, axis=1, num_newaxis=2);\nadd(%x, %0)\n"},
        PassCase{"FirstAxis", "%b: Tensor[(2), float32]", "nn.bias_add(%x, %b, axis=0)",
                 "%0 = expand_dims(%b, axis=1, num_newaxis=3);\nadd(%x, %0)\n"},
        PassCase{"LastAxis", "%b: Tensor[(5), float32]", "nn.bias_add(%x, %b, axis=-1)",
                 "add(%x, %b)\n"},
        PassCase{"AxisFromTheEnd", "%b: Tensor[(4), float32]", "nn.bias_add(%x, %b, axis=-2)",
                 "%0 = expand_dims(%b, axis=1);\nadd(%x, %0)\n"},
        PassCase{"Chain", "%b: Tensor[(3), float32], %c: Tensor[(5), float32]",
                 "nn.bias_add(nn.bias_add(%x, %b), %c, axis=3)",
                 "%0 = expand_dims(%b, axis=1, num_newaxis=2);\n%1 = add(%x, %0);\n"
                 "add(%1, %c)\n"}),
    [](const auto& info) { return info.param.name; });

// An addition would broadcast a bias of one element, and data of one channel.
TEST(CanonicalizeOpsTest, ABiasUnderAnotherVariableKeepsThatBothExtentsAreEqual) {
  const ir::Module before = WithConstants(
      "%x: Tensor[(2, n, 4), float32], %b: Tensor[(3), float32]", "(nn.bias_add(%x, %b), %x)");
  const ir::Module after = Canonical(before);
  EXPECT_EQ(Body(after),
            "%0 = (%x,);\n%1 = reshape_to_extents(%b, %0, shape=\"(x0_1)\");\n"
            "%2 = expand_dims(%1, axis=1);\n%3 = add(%x, %2);\n(%3, %x)\n");
  EXPECT_EQ(TypeOf(after), TypeOf(before));
}

TEST(CanonicalizeOpsTest, OtherOperatorsStay) {
  const ir::Module before = WithConstants("%x: Tensor[(2, 3), float32], %b: Tensor[(3), float32]",
                                          "nn.relu(add(%x, %b))");
  EXPECT_EQ(CanonicalizeOps(before), before);
}

}  // namespace
}  // namespace tenon::passes
