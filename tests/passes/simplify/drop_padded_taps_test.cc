// Convolutions lose the taps that only meet padding, and nothing else.
#include "tenon/passes/simplify/drop_padded_taps.h"

#include <cmath>
#include <limits>

#include "tenon/ops/builders.h"
#include "tenon/ops/conv/conv2d_attrs.h"
#include "tenon/ops/conv/conv_attrs.h"
#include "tenon/passes/infer_type.h"
#include "tenon/support/strings.h"
#include "tenon/tests/passes/algebra_testing.h"

namespace tenon::passes {
namespace {

using ir::Module;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const ir::CallNode& CallIn(const Module& module) { return *module.Main().body.As<ir::CallNode>(); }
Shape WeightShape(const Module& module) {
  return ir::StaticShape(CallIn(module).args[1].checked_type(), "the weight");
}
// One result of a convolution with the given attributes; %k is the weight.
Module Conv(const std::string& params, const std::string& attributes,
            const std::string& op = "nn.conv2d") {
  return WithConstants(params, StrCat(op, "(%x, %k", attributes, ")"));
}

TEST(DropPaddedTapsTest, OnlyTheCentreOfAWideDilationStays) {
  const Module before =
      Conv("%x: Tensor[(1, 5, 12, 12), float32], %k: Tensor[(4, 5, 3, 3), float32]",
           ", padding=[36, 36, 36, 36], dilation=[36, 36], kernel_size=[3, 3]");
  const Module after = DropPaddedTaps(before);
  EXPECT_THAT(Body(after),
              HasSubstr("nn.conv2d(%x, k0, padding=[0, 0, 0, 0], kernel_size=[1, 1])"));
  EXPECT_THAT(WeightShape(after), ElementsAre(4, 5, 1, 1));
  ExpectSameValues(before, after);
  EXPECT_EQ(InferType(after), after);
}

TEST(DropPaddedTapsTest, EachSideIsCutOnItsOwn) {
  // The only row of results takes its taps from rows -6, -3, 0, 3 and 6 of four.
  const Module before = Conv("%x: Tensor[(1, 2, 4, 9), float32], %k: Tensor[(3, 2, 5, 3), float32]",
                             ", padding=[6, 1, 3, 1], dilation=[3, 1]");
  const Module after = DropPaddedTaps(before);
  EXPECT_THAT(WeightShape(after), ElementsAre(3, 2, 2, 3));
  EXPECT_THAT(CallIn(after).attrs.As<ops::Conv2DAttrs>().padding, ElementsAre(0, 1, 0, 1));
  ExpectSameValues(before, after);
}

TEST(DropPaddedTapsTest, LayoutsGroupsAndOtherRanksAreAsGood) {
  const Module modules[] = {
      Conv("%x: Tensor[(2, 3, 4, 6), float32], %k: Tensor[(3, 3, 6, 5), float32]",
           ", padding=[9, 9], dilation=[9, 9], data_layout=\"NHWC\", kernel_layout=\"HWIO\""),
      Conv("%x: Tensor[(2, 6, 3, 4), float32], %k: Tensor[(6, 1, 3, 3), float32]",
           ", padding=[7, 7], dilation=[7, 7], groups=6"),
      Conv("%x: Tensor[(1, 2, 5), float32], %k: Tensor[(3, 2, 3), float32]",
           ", padding=[6, 6], dilation=[6]", "nn.conv1d"),
      Conv("%x: Tensor[(1, 2, 5, 3, 4), float32], %k: Tensor[(3, 2, 3, 3, 3), float32]",
           ", padding=[6], dilation=[6]", "nn.conv3d"),
      Conv("%x: Tensor[(1, 3, 4, 4), int8], %k: Tensor[(4, 3, 3, 3), int8]",
           ", padding=[4, 4], dilation=[4, 4], out_dtype=\"int32\"")};
  for (const Module& before : modules) {
    const Module after = DropPaddedTaps(before);
    EXPECT_NE(after, before);
    for (const std::int64_t dilation : {9, 7, 6, 4})
      EXPECT_THAT(Body(after), ::testing::Not(HasSubstr(StrCat("dilation=[", dilation))));
    ExpectSameValues(before, after);
    EXPECT_EQ(InferType(after), after);
  }
}

TEST(DropPaddedTapsTest, WhatMeetsTheDataStays) {
  const Module modules[] = {
      Conv("%x: Tensor[(1, 2, 5, 5), float32], %k: Tensor[(3, 2, 3, 3), float32]",
           ", padding=[4, 4], dilation=[4, 4]"),
      Conv("%x: Tensor[(1, 2, 5, 5), float32], %k: Tensor[(3, 2, 3, 3), float32]", ""),
      // Nothing meets it at all.
      Conv("%x: Tensor[(1, 2, 0, 5), float32], %k: Tensor[(3, 2, 3, 3), float32]",
           ", padding=[5, 4], dilation=[4, 1]"),
      // Another weight at each run, and extents that are not known.
      WithConstants("%x: Tensor[(1, 2, 3, 3), float32], %w: Tensor[(3, 2, 3, 3), float32]",
                    "nn.conv2d(%x, %w, padding=[9, 9], dilation=[9, 9])"),
      Conv("%x: Tensor[(1, 2, h, w), float32], %k: Tensor[(3, 2, 3, 3), float32]",
           ", padding=[9, 9], dilation=[9, 9]")};
  for (const Module& module : modules) EXPECT_EQ(DropPaddedTaps(module), module);
}

TEST(DropPaddedTapsTest, AWeightThatIsNotFiniteStays) {
  for (const float value : {std::numeric_limits<float>::infinity(), std::nanf("")}) {
    const ir::Var x = ir::Var::Make("x", ir::TensorType({1, 1, 2, 2}, Float32));
    const NDArray weight = NDArray::FromVector<float>({1, 1, 3, 1}, {1, 2, value});
    const Module module = InferType(Module::FromExpr(
        ops::Conv2D(x, ir::Constant::Make(weight), {.padding = {5, 0, 5, 0}, .dilation = {5, 1}})));
    EXPECT_EQ(DropPaddedTaps(module), module);
  }
}

// Which taps meet data, by trying each result.
std::vector<bool> UsedTaps(std::int64_t data, std::int64_t taps, std::int64_t stride,
                           std::int64_t dilation, std::int64_t before, std::int64_t results) {
  std::vector<bool> used(static_cast<std::size_t>(taps), false);
  for (std::int64_t k = 0; k < taps; ++k) {
    for (std::int64_t y = 0; y < results; ++y) {
      const std::int64_t at = y * stride + k * dilation - before;
      if (at >= 0 && at < data) used[static_cast<std::size_t>(k)] = true;
    }
  }
  return used;
}

TEST(DropPaddedTapsTest, SmallConvolutionsKeepTheirValues) {
  int cropped = 0, tight = 0;
  for (const std::int64_t data : {1, 2, 5})
    for (const std::int64_t taps : {2, 3, 4})
      for (const std::int64_t stride : {1, 2, 3})
        for (const std::int64_t dilation : {1, 2, 5})
          for (const std::int64_t before : {0, 3, 7})
            for (const std::int64_t after : {0, 4, 9}) {
              if (data + before + after < (taps - 1) * dilation + 1) continue;
              const Module module =
                  Conv(StrCat("%x: Tensor[(1, 2, ", data, "), float32], %k: Tensor[(1, 2, ", taps,
                              "), float32]"),
                       StrCat(", strides=[", stride, "], padding=[", before, ", ", after,
                              "], dilation=[", dilation, "]"),
                       "nn.conv1d");
              const Module smaller = DropPaddedTaps(module);
              const std::int64_t results =
                  ir::StaticShape(module.Main().body.checked_type(), "the result")[2];
              const auto used = UsedTaps(data, taps, stride, dilation, before, results);
              const auto count = std::count(used.begin(), used.end(), true);
              if (smaller == module) {
                continue;
              }
              ++cropped;
              EXPECT_GE(WeightShape(smaller)[2], count);
              tight += WeightShape(smaller)[2] == count ? 1 : 0;
              ExpectSameValues(module, smaller);
              EXPECT_EQ(InferType(smaller), smaller);
            }
  EXPECT_GT(cropped, 100);
  EXPECT_GT(tight, cropped * 3 / 4);
}

}  // namespace
}  // namespace tenon::passes
