// Sums over float16 run in float32.
#include "tenon/passes/widen_float16.h"

#include "tenon/tests/passes/algebra_testing.h"

namespace tenon::passes {
namespace {

using ir::Module;

class WidenFloat16Changes : public ::testing::TestWithParam<PassCase> {};
class WidenFloat16Keeps : public ::testing::TestWithParam<PassCase> {};

TEST_P(WidenFloat16Changes, SumsInFloat32) {
  const Module after = WidenFloat16(WithConstants(GetParam()));
  EXPECT_EQ(Body(after), GetParam().expected);
  EXPECT_EQ(InferType(after), after);
  EXPECT_EQ(WidenFloat16(after), after);
}
TEST_P(WidenFloat16Keeps, Stays) {
  const Module before = WithConstants(GetParam());
  EXPECT_EQ(WidenFloat16(before), before);
}

constexpr char kTwo[] = "%x: Tensor[(2, 3), float16], %w: Tensor[(5, 3), float16]";

INSTANTIATE_TEST_SUITE_P(
    All, WidenFloat16Changes,
    ::testing::Values(PassCase{"AProduct", kTwo, "nn.dense(%x, %w)",
                               "%0 = cast(%x, dtype=\"float32\");\n"
                               "%1 = cast(%w, dtype=\"float32\");\n"
                               "%2 = nn.dense(%0, %1, units=None);\n"
                               "cast(%2, dtype=\"float16\")\n"},
                      PassCase{"AnOperandIsCastOnce", "%x: Tensor[(3, 3), float16]",
                               "nn.dense(nn.dense(%x, %x), %x)",
                               "%0 = cast(%x, dtype=\"float32\");\n"
                               "%1 = nn.dense(%0, %0, units=None);\n"
                               "%2 = cast(%1, dtype=\"float16\");\n"
                               "%3 = cast(%2, dtype=\"float32\");\n"
                               "%4 = nn.dense(%3, %0, units=None);\n"
                               "cast(%4, dtype=\"float16\")\n"},
                      PassCase{"ASumThatIsFloat32AlreadyIsNotRounded", kTwo,
                               "nn.dense(%x, %w, out_dtype=\"float32\")",
                               "%0 = cast(%x, dtype=\"float32\");\n"
                               "%1 = cast(%w, dtype=\"float32\");\n"
                               "nn.dense(%0, %1, units=None, out_dtype=\"float32\")\n"},
                      PassCase{"ATypeThatTheAttributesName", kTwo,
                               "nn.dense(%x, %w, out_dtype=\"float16\")",
                               "%0 = cast(%x, dtype=\"float32\");\n"
                               "%1 = cast(%w, dtype=\"float32\");\n"
                               "%2 = nn.dense(%0, %1, units=None, out_dtype=\"float32\");\n"
                               "cast(%2, dtype=\"float16\")\n"},
                      PassCase{"AMean", "%x: Tensor[(2, 3), float16]", "mean(%x, axis=[1])",
                               "%0 = cast(%x, dtype=\"float32\");\n"
                               "%1 = mean(%0, axis=[1]);\n"
                               "cast(%1, dtype=\"float16\")\n"}),
    [](const auto& info) { return info.param.name; });

INSTANTIATE_TEST_SUITE_P(
    All, WidenFloat16Keeps,
    ::testing::Values(
        PassCase{"Float32", "%x: Tensor[(2, 3), float32], %w: Tensor[(5, 3), float32]",
                 "nn.dense(%x, %w)"},
        PassCase{"Bfloat16", "%x: Tensor[(2, 3), bfloat16]", "mean(%x, axis=[1])"},
        PassCase{"WhatSumsNothing", "%x: Tensor[(2, 3), float16]", "nn.relu(add(%x, %x))"}),
    [](const auto& info) { return info.param.name; });

// In float16, 2048 + 1 is 2048.
TEST(WidenFloat16Test, LongSumsLoseNothing) {
  const Module before =
      InferType(testing_graphs::Parsed("def @main(%x: Tensor[(1, 4100), float16], %w: Tensor[(1, "
                                       "4100), float16]) {\nnn.dense(%x, %w)\n}"));
  NDArray ones = NDArray::Empty({1, 4100}, Float16);
  std::fill_n(static_cast<_Float16*>(ones.raw()), ones.size(), static_cast<_Float16>(1));
  const NDArray sum =
      testing_graphs::Outcome(WidenFloat16(before), {{"x", ones}, {"w", ones}}).at(0);
  EXPECT_EQ(static_cast<float>(*static_cast<const _Float16*>(sum.raw())), 4100);
}

}  // namespace
}  // namespace tenon::passes
