// Sums over float16 and bfloat16 run in float32.
#include "tenon/passes/precision/widen_half_floats.h"

#include "tenon/tests/passes/algebra_testing.h"

namespace tenon::passes {
namespace {

using ir::Module;

class WidenHalfFloatsChanges : public ::testing::TestWithParam<PassCase> {};
class WidenHalfFloatsKeeps : public ::testing::TestWithParam<PassCase> {};

TEST_P(WidenHalfFloatsChanges, SumsInFloat32) {
  const Module after = WidenHalfFloats(WithConstants(GetParam()));
  EXPECT_EQ(Body(after), GetParam().expected);
  EXPECT_EQ(InferType(after), after);
  EXPECT_EQ(WidenHalfFloats(after), after);
}
TEST_P(WidenHalfFloatsKeeps, Stays) {
  const Module before = WithConstants(GetParam());
  EXPECT_EQ(WidenHalfFloats(before), before);
}

constexpr char kTwo[] = "%x: Tensor[(2, 3), float16], %w: Tensor[(5, 3), float16]";

INSTANTIATE_TEST_SUITE_P(
    All, WidenHalfFloatsChanges,
    ::testing::Values(
        PassCase{"AProduct", kTwo, "nn.dense(%x, %w)",
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
        PassCase{"AProductOfFloatsInAHalfType",
                 "%x: Tensor[(2, 3), float32], %w: Tensor[(5, 3), float32]",
                 "nn.dense(%x, %w, out_dtype=\"bfloat16\")",
                 "%0 = nn.dense(%x, %w, units=None, out_dtype=\"float32\");\n"
                 "cast(%0, dtype=\"bfloat16\")\n"},
        PassCase{"SumsOfIntegersInAHalfType", "%x: Tensor[(2, 3), int8]",
                 "cumsum(%x, axis=1, dtype=\"float16\")",
                 "%0 = cumsum(%x, axis=1, dtype=\"float32\");\n"
                 "cast(%0, dtype=\"float16\")\n"},
        PassCase{"ATypeThatTheAttributesName", kTwo, "nn.dense(%x, %w, out_dtype=\"float16\")",
                 "%0 = cast(%x, dtype=\"float32\");\n"
                 "%1 = cast(%w, dtype=\"float32\");\n"
                 "%2 = nn.dense(%0, %1, units=None, out_dtype=\"float32\");\n"
                 "cast(%2, dtype=\"float16\")\n"},
        PassCase{"AMean", "%x: Tensor[(2, 3), float16]", "mean(%x, axis=[1])",
                 "%0 = cast(%x, dtype=\"float32\");\n"
                 "%1 = mean(%0, axis=[1]);\n"
                 "cast(%1, dtype=\"float16\")\n"},
        PassCase{"AMeanOfBfloat16", "%x: Tensor[(2, 3), bfloat16]", "mean(%x, axis=[1])",
                 "%0 = cast(%x, dtype=\"float32\");\n"
                 "%1 = mean(%0, axis=[1]);\n"
                 "cast(%1, dtype=\"bfloat16\")\n"},
        PassCase{"AConvolutionOfFloat16InFloat32", "%x: Tensor[(1, 1, 3, 3), float16]",
                 "nn.conv2d(%x, %x, out_dtype=\"float32\")",
                 "%0 = cast(%x, dtype=\"float32\");\n"
                 "nn.conv2d(%0, %0, out_dtype=\"float32\")\n"},
        PassCase{"AConvolutionOfBfloat16KeepsItsOperands", "%x: Tensor[(1, 1, 3, 3), bfloat16]",
                 "nn.conv2d(%x, %x)",
                 "%0 = nn.conv2d(%x, %x, out_dtype=\"float32\");\n"
                 "cast(%0, dtype=\"bfloat16\")\n"},
        PassCase{"AProductOfBfloat16InItsTypeKeepsItsOperands", "%x: Tensor[(2, 3), bfloat16]",
                 "nn.dense(%x, %x)",
                 "%0 = nn.dense(%x, %x, units=None, out_dtype=\"float32\");\n"
                 "cast(%0, dtype=\"bfloat16\")\n"},
        PassCase{"APrefixSumOfANamedType", "%x: Tensor[(2, 3), float16]",
                 "cumsum(%x, axis=1, dtype=\"float16\")",
                 "%0 = cast(%x, dtype=\"float32\");\n"
                 "%1 = cumsum(%0, axis=1, dtype=\"float32\");\n"
                 "cast(%1, dtype=\"float16\")\n"},
        PassCase{"AProductOfATuple", "%x: Tensor[(2, 3), float16]",
                 "einsum((%x, %x), equation=\"ij,kj->ik\")",
                 "%0 = cast(%x, dtype=\"float32\");\n"
                 "%1 = (%0, %0);\n"
                 "%2 = einsum(%1, equation=\"ij,kj->ik\");\n"
                 "cast(%2, dtype=\"float16\")\n"},
        PassCase{"ANormalisation", "%x: Tensor[(2, 3), float16], %g: Tensor[(3,), float16]",
                 "nn.layer_norm(%x, %g, %g)",
                 "%0 = cast(%x, dtype=\"float32\");\n"
                 "%1 = cast(%g, dtype=\"float32\");\n"
                 "%2 = nn.layer_norm(%0, %1, %1);\n"
                 "cast(%2, dtype=\"float16\")\n"}),
    [](const auto& info) { return info.param.name; });

INSTANTIATE_TEST_SUITE_P(
    All, WidenHalfFloatsKeeps,
    ::testing::Values(
        PassCase{"Float32", "%x: Tensor[(2, 3), float32], %w: Tensor[(5, 3), float32]",
                 "nn.dense(%x, %w)"},
        PassCase{"AProductOfBfloat16InFloat32", "%x: Tensor[(2, 3), bfloat16]",
                 "nn.dense(%x, %x, out_dtype=\"float32\")"},
        // Folding a constant call asks again whether it is widened.
        PassCase{"AProductOfBfloat16InFloat64", "%x: Tensor[(2, 3), bfloat16]",
                 "nn.dense(%x, %x, out_dtype=\"float64\")"},
        PassCase{"AConvolutionOfBfloat16InFloat32", "%x: Tensor[(1, 1, 3, 3), bfloat16]",
                 "nn.conv2d(%x, %x, out_dtype=\"float32\")"},
        PassCase{"WhatSumsNothing", "%x: Tensor[(2, 3), float16]", "nn.relu(add(%x, %x))"}),
    [](const auto& info) { return info.param.name; });

// In float16 2048 + 1 is 2048, in bfloat16 256 + 1 is 256.
TEST(WidenHalfFloatsTest, LongSumsLoseNothingAtAnyLevel) {
  for (const DataType type : {Float16, BFloat16}) {
    const std::string ones = StrCat("ones(shape=[1, 4096], dtype=\"", type.ToString(), "\")"),
                      floats = "ones(shape=[1, 4096], dtype=\"float32\")";
    for (const std::string& sum :
         {StrCat("nn.dense(", ones, ", ", ones, ")"), StrCat("sum(", ones, ")"),
          StrCat("nn.contrib_dense_pack(", ones, ", reshape(", ones, ", newshape=[1, 4096, 1]))"),
          StrCat("multiply(nn.global_avg_pool2d(reshape(", ones,
                 ", newshape=[1, 1, 64, 64])), sum(", ones, "))"),
          StrCat("strided_slice(cumsum(", ones, ", axis=1), begin=[0, 4095], end=[1, 4096])"),
          StrCat("nn.dense(", floats, ", ", floats, ", out_dtype=\"", type.ToString(), "\")")}) {
      const Module module =
          testing_graphs::Parsed(StrCat("def @main() { cast(", sum, ", dtype=\"float32\") }"));
      for (const int level : {0, 3}) {
        const NDArray result = testing_graphs::Outcome(module, {}, {.opt_level = level}).at(0);
        EXPECT_EQ(result.data<float>()[0], 4096) << sum << " at level " << level;
      }
    }
  }
}

TEST(WidenHalfFloatsTest, ARunningProductMayBeLargeOnItsWay) {
  const Module module = testing_graphs::Parsed(
      "def @main(%x: Tensor[(4,), float16]) { cast(cumprod(%x, axis=0), dtype=\"float32\") }");
  NDArray x = NDArray::Empty({4}, Float16);
  for (int i = 0; i < 4; ++i)
    static_cast<_Float16*>(x.raw())[i] = static_cast<_Float16>(i < 2 ? 0x1p9 : 0x1p-9);
  for (const int level : {0, 3}) {
    const NDArray result = testing_graphs::Outcome(module, {{"x", x}}, {.opt_level = level}).at(0);
    EXPECT_EQ(result.data<float>()[0], 0x1p9) << level;
    EXPECT_EQ(result.data<float>()[2], 0x1p9) << level;
    EXPECT_EQ(result.data<float>()[3], 1) << level;
  }
}

// The squares of 100 are above what float16 holds once seven of them are added up.
TEST(WidenHalfFloatsTest, NormalisationsOfLargeNumbersDoNotOverflow) {
  const Module module = testing_graphs::Parsed(
      "def @main(%x: Tensor[(1, 64), float16], %g: Tensor[(64,), float16]) "
      "{ cast(nn.layer_norm(%x, %g, %g), dtype=\"float32\") }");
  NDArray x = NDArray::Empty({1, 64}, Float16), g = NDArray::Empty({64}, Float16);
  for (int i = 0; i < 64; ++i)
    static_cast<_Float16*>(x.raw())[i] = static_cast<_Float16>(i % 2 == 0 ? 100 : -100);
  std::fill_n(static_cast<_Float16*>(g.raw()), 64, static_cast<_Float16>(1));
  const NDArray result = testing_graphs::Outcome(module, {{"x", x}, {"g", g}}).at(0);
  for (int i = 0; i < 64; ++i) EXPECT_NEAR(result.data<float>()[i], i % 2 == 0 ? 2 : 0, 1e-3) << i;
}

// The least number of float16 above 0 is 6e-8. No pass takes a normalisation apart whose moments
// are results.
TEST(WidenHalfFloatsTest, AnEpsilonBelowTheLeastHalfCounts) {
  const Module module = testing_graphs::Parsed(
      "def @main(%x: Tensor[(1, 1), float16], %c: Tensor[(1,), float16]) "
      "{ nn.batch_norm(%x, %c, %c, %c, %c, epsilon=1e-12f64) }");
  NDArray x = NDArray::Empty({1, 1}, Float16), c = NDArray::Empty({1}, Float16);
  *static_cast<_Float16*>(x.raw()) = *static_cast<_Float16*>(c.raw()) = static_cast<_Float16>(0);
  for (const int level : {0, 3}) {
    const auto results =
        testing_graphs::Outcome(module, {{"x", x}, {"c", c}}, {.opt_level = level});
    EXPECT_EQ(*static_cast<const _Float16*>(results.at(0).raw()), 0) << level;
  }
}

// In float16 the 11 steps from -1 on would end at 0.999.
TEST(WidenHalfFloatsTest, AGridEndsAtOne) {
  const Module module = testing_graphs::Parsed(
      "def @main(%x: Tensor[(1, 2, 3), float16]) "
      "{ cast(image.affine_grid(%x, target_shape=[2, 12]), dtype=\"float32\") }");
  NDArray x = NDArray::Empty({1, 2, 3}, Float16);
  std::fill_n(static_cast<_Float16*>(x.raw()), 6, static_cast<_Float16>(0));
  static_cast<_Float16*>(x.raw())[0] = static_cast<_Float16>(1);
  for (const int level : {0, 3}) {
    const NDArray grid = testing_graphs::Outcome(module, {{"x", x}}, {.opt_level = level}).at(0);
    EXPECT_EQ(grid.data<float>()[11], 1) << level;
  }
}

// 256 * 256 is above what float16 holds.
TEST(WidenHalfFloatsTest, ProductsDoNotOverflowOnTheWay) {
  const Module module = testing_graphs::Parsed(
      "def @main(%x: Tensor[(4,), float16]) { cast(prod(%x), dtype=\"float32\") }");
  NDArray x = NDArray::Empty({4}, Float16);
  const float values[] = {256, 256, 256, 1.0F / 4096};
  for (int i = 0; i < 4; ++i) static_cast<_Float16*>(x.raw())[i] = static_cast<_Float16>(values[i]);
  EXPECT_EQ(testing_graphs::Outcome(module, {{"x", x}}).at(0).data<float>()[0], 4096);
}

}  // namespace
}  // namespace tenon::passes
