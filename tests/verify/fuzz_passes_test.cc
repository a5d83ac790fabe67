// Passes keep what a module means, and the fuzzer says so when one does not.
#include "tenon/verify/fuzz_passes.h"

#include <cmath>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/ir/structural.h"
#include "tenon/passes/infer_type.h"
#include "tenon/passes/simplify/simplify_inference.h"
#include "tenon/support/strings.h"
#include "tenon/tests/testing/relay_text.h"
#include "tenon/verify/check/check_run_time_rows.h"
#include "tenon/verify/interpret.h"

namespace tenon::verify {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class FuzzPassesTest : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Seeds, FuzzPassesTest, ::testing::Range(0, 4));

TEST_P(FuzzPassesTest, PassesKeepTheMeaningOfRandomModules) {
  PassFuzzStatistics statistics;
  for (int i = 0; i < 40; ++i) {
    const auto finding =
        FuzzPasses(static_cast<std::uint64_t>(40 * GetParam() + i), {}, &statistics);
    ASSERT_FALSE(finding.has_value()) << *finding;
  }
  EXPECT_EQ(statistics.modules, 40);
  EXPECT_GT(statistics.calls, 80);
  EXPECT_GT(statistics.changes, 40);
}

// Convolutions and poolings in any order of axes and in blocks of channels, and ways between them.
TEST(FuzzPassesTest, RandomModulesHaveRandomLayouts) {
  std::map<std::string, int> drawn;
  for (std::uint64_t seed = 0; seed < 600; ++seed) {
    const std::string text = Print(MakeRandomModule(seed).module);
    for (const char* piece : {"data_layout=\"NHWC\"", "kernel_layout=\"HWIO\"", "out_layout=\"",
                              "nn.contrib_conv2d_NCHWc", ", layout=\"NHWC\"", "layout_transform"})
      drawn[piece] += text.find(piece) != std::string::npos;
  }
  EXPECT_EQ(drawn.size(), 6U);
  for (const auto& [piece, modules] : drawn) EXPECT_GT(modules, 2) << piece;
}

TEST(FuzzPassesTest, LayoutPassesKeepTheMeaningOfRandomLayouts) {
  PassFuzzStatistics statistics;
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    const auto finding =
        FuzzPasses(seed, {.passes = {"AlterOpLayout", "ConvertLayout"}}, &statistics);
    ASSERT_FALSE(finding.has_value()) << *finding;
  }
  EXPECT_GT(statistics.changes, 50);
}

TEST(FuzzPassesTest, CompiledModulesComputeWhatTheirOperatorsSay) {
  PassFuzzStatistics statistics;
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    const auto finding =
        FuzzPasses(seed, {.passes = {"InferType"}, .pairs = 0, .compile = true}, &statistics);
    ASSERT_FALSE(finding.has_value()) << *finding;
  }
}

TEST(FuzzPassesTest, RowsThatValuesDecideAreThoseOfALoop) {
  for (std::uint64_t seed = 0; seed < 20; ++seed)
    EXPECT_EQ(CheckRunTimeRows(MakeRandomModule(seed), seed), std::nullopt);
}

TEST(FuzzPassesTest, ExportedModulesComputeWhatTheirOperatorsSay) {
  PassFuzzStatistics statistics;
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    const auto finding = FuzzPasses(
        seed, {.passes = {"InferType"}, .pairs = 0, .compile = true, .exports = true}, &statistics);
    ASSERT_FALSE(finding.has_value()) << *finding;
  }
}

// What the fuzzer has found, reduced; docs/bugs-found.md counts them.
class GraphFindingTest : public ::testing::TestWithParam<NamedText> {};

TEST_P(GraphFindingTest, CompilesToWhatItsOperatorsSay) {
  RandomModule given{passes::InferType(Parse(GetParam().text)), {}};
  Random random(1);
  for (const ir::Expr& param : given.module.Main().params) {
    const auto& type = *param.checked_type().As<ir::TensorTypeNode>();
    given.inputs.push_back(
        RandomArray(ir::StaticShape(param.checked_type(), "an input"), type.dtype, random));
  }
  PassFuzzStatistics statistics;
  const auto finding = CheckPasses(given, {"compile"}, 1, &statistics);
  EXPECT_FALSE(finding.has_value()) << *finding;
}

INSTANTIATE_TEST_SUITE_P(
    Findings, GraphFindingTest,
    ::testing::Values(NamedText{"ArgminOverNoAxis",
                                "def @main(%x: Tensor[(3, 5), float64]) { argmin(%x, axis=[]) }"},
                      NamedText{"SizeAsAFloat",
                                "def @main(%x: Tensor[(7), bool]) {\n"
                                "  %0 = ndarray_size(%x, dtype=\"float32\");\n"
                                "  maximum(3f, where(%0, %0, %0)) }"},
                      NamedText{"FillingWithAnotherElementType",
                                "def @main(%x: Tensor[(3), bool], %y: float32) {\n"
                                "  full_like(%x, %y) }"},
                      NamedText{"ReshapesOfLaterFieldsOfATuple",
                                "def @main(%x: Tensor[(3, 1, 2), float32], %w: Tensor[(8, 2), "
                                "float32]) {\n"
                                "  %0 = split(%x, indices_or_sections=3, axis=0);\n"
                                "  %1 = nn.dense(reshape(%0.1, newshape=[1, 2]), %w);\n"
                                "  add(%1, nn.dense(reshape(%0.2, newshape=[1, 2]), %w)) }"},
                      NamedText{"ClipOfCrossedBoundsAfterAProduct",
                                "def @main(%x: Tensor[(4, 16), float32], %w: Tensor[(7, 16), "
                                "float32]) {\n"
                                "  clip(nn.dense(%x, %w), a_min=0.75, a_max=0.5) }"},
                      NamedText{"ShapeAsFloats",
                                "def @main(%x: Tensor[(7, 2), bool]) {\n"
                                "  exp(shape_of(%x, dtype=\"float32\")) }"}),
    [](const auto& info) { return info.param.name; });

// A small change of %a makes the root NaN, which no tolerance takes for zero.
TEST(FuzzPassesTest, ADifferenceBesideAValueThatJumpsToNaNIsExplained) {
  const auto array = [](std::vector<float> values) {
    return NDArray::FromVector<float>({1, static_cast<std::int64_t>(values.size())}, values);
  };
  const std::vector<float> ones(9, 1);
  const RandomModule given{
      passes::InferType(Parse("def @main(%a: Tensor[(1, 9), float32], %b: Tensor[(1, 9), float32], "
                              "%x: Tensor[(1, 2), float32], %w: Tensor[(1, 2), float32]) {\n"
                              "  (sqrt(subtract(%a, %b)), nn.dense(%x, %w)) }")),
      {array(ones), array(ones), array({1001, 1003}), array({1, -1})}};
  PassFuzzStatistics statistics;
  EXPECT_EQ(CheckPasses(given, {"ToMixedPrecision"}, 1, &statistics), std::nullopt);
  EXPECT_EQ(statistics.ill_conditioned, 1);
}

// 1 + 1/1024 and 1 are equal in eight bits; a random change would hardly make them so.
TEST(FuzzPassesTest, WhatIsEqualAfterRoundingIsExplained) {
  const RandomModule given{
      passes::InferType(Parse("def @main(%x: Tensor[(1, 2), float32], %w: Tensor[(1, 2), float32], "
                              "%y: Tensor[(1, 1), float32]) {\n"
                              "  %0 = nn.dense(%x, %w);\n"
                              "  not_equal(maximum(%0, %0), %y) }")),
      {NDArray::FromVector<float>({1, 2}, {1, 1.0F / 1024}),
       NDArray::FromVector<float>({1, 2}, {1, 1}), NDArray::FromVector<float>({1, 1}, {1})}};
  PassFuzzStatistics statistics;
  EXPECT_EQ(CheckPasses(given, {"ToMixedPrecision"}, 1, &statistics), std::nullopt);
  EXPECT_EQ(statistics.ill_conditioned, 1);
}

// floor(batch_norm(x) + c) of `shape`, whose second axis is that of the norm.
RandomModule FlooredNorm(const Shape& shape, const std::vector<std::vector<float>>& inputs) {
  const std::string tensor = StrCat("Tensor[(", StrJoin(shape, ", "), "), float32]");
  const std::string vector = StrCat("Tensor[(", shape[1], "), float32]");
  RandomModule made{
      passes::InferType(Parse(StrCat("def @main(%x: ", tensor, ", %g: ", vector, ", %b: ", vector,
                                     ", %m: ", vector, ", %v: ", vector, ", %c: ", tensor, ") {\n",
                                     "  %0 = nn.batch_norm(%x, %g, %b, %m, %v);\n"
                                     "  floor(add(%0.0, %c)) }"))),
      {}};
  for (std::size_t i = 0; i < inputs.size(); ++i)
    made.inputs.push_back(
        NDArray::FromVector<float>(i == 0 || i == 5 ? shape : Shape{shape[1]}, inputs[i]));
  return made;
}

// Zero before its floor, and a little below once the norm is a product and a sum: a nudge crosses
// the edge every other time.
TEST(FuzzPassesTest, AValueOnTheEdgeOfAJumpIsExplained) {
  constexpr int kChannels = 200;
  std::vector<std::vector<float>> inputs(6, std::vector<float>(kChannels));
  for (int i = 0; i < kChannels; ++i) {
    const auto k = static_cast<std::size_t>(i);
    const auto t = static_cast<float>(i);
    inputs[0][k] = std::sin(t);
    inputs[1][k] = 1.5F + std::cos(3 * t);
    inputs[2][k] = std::sin(5 * t);
    inputs[3][k] = std::cos(7 * t);
    inputs[4][k] = 1.1F + std::sin(9 * t);
  }
  const Shape shape = {1, kChannels, 1, 1};
  RandomModule given = FlooredNorm(shape, inputs);
  const ir::Expr floored = given.module.Main().body;
  const GraphValues values = InterpretEach(given.module, given.module.Main(), given.inputs);
  const ir::Expr norm = floored.As<ir::CallNode>()->args[0].As<ir::CallNode>()->args[0];
  for (int i = 0; i < kChannels; ++i)
    inputs[5][static_cast<std::size_t>(i)] = -values.at(norm)[0].data<float>()[i];
  given = FlooredNorm(shape, inputs);
  const NDArray folded =
      Interpret(passes::InferType(passes::SimplifyInference(given.module)), given.inputs)[0];
  int edges = 0;
  PassFuzzStatistics statistics;
  for (int i = 0; i < kChannels; ++i) {
    if (folded.data<float>()[i] == 0) continue;
    std::vector<std::vector<float>> one;
    for (const std::vector<float>& input : inputs)
      one.push_back({input[static_cast<std::size_t>(i)]});
    const RandomModule edge = FlooredNorm({1, 1, 1, 1}, one);
    for (std::uint64_t seed = 1; seed <= 10; ++seed, ++edges)
      EXPECT_EQ(CheckPasses(edge, {"SimplifyInference"}, seed, &statistics), std::nullopt);
  }
  EXPECT_GT(edges, 100);
  EXPECT_EQ(statistics.ill_conditioned, edges);
}

TEST(GraphFindingTest, CollapsingToAnotherElementTypeIsRefused) {
  EXPECT_THAT(ErrorOf([] {
                passes::InferType(
                    Parse("def @main(%x: float32, %y: int32) {\n"
                          "  collapse_sum_like(%x, %y) }"));
              }).message(),
              HasSubstr("both inputs must have one element type"));
}

// Its draft has a call whose result would take gigabytes, and minutes to interpret.
TEST(RandomModuleTest, ValuesThatAreTooLargeAreNotComputed) {
  EXPECT_FALSE(MakeRandomModule(1820302779).inputs.empty());
}

TEST(RandomModuleTest, TheSameSeedGivesTheSameModule) {
  for (const std::uint64_t seed : {1, 5, 23}) {
    EXPECT_TRUE(ir::StructuralEqual(MakeRandomModule(seed).module, MakeRandomModule(seed).module));
  }
}

TEST(InterpretTest, RunsFunctionsTuplesAndLets) {
  const ir::Module module = passes::InferType(
      Parse("def @twice(%x: Tensor[(2), float32]) { add(%x, %x) }\n"
            "def @main(%x: Tensor[(2), float32], %y: (Tensor[(2), float32], int32)) {\n"
            "  let %a = @twice(%x);\n"
            "  %0 = fn (%p: Tensor[(2), float32]) { multiply(%p, %a) };\n"
            "  %1 = (%0(%y.0), (%a, %y.1));\n"
            "  (%1.1.0, %1.0, %1.1.1) }"));
  const std::vector<NDArray> results =
      Interpret(module, {NDArray::FromVector<float>({2}, {1, 2}),
                         NDArray::FromVector<float>({2}, {3, 4}), NDArray::Scalar<int>(7)});
  ASSERT_EQ(results.size(), 3);
  EXPECT_THAT(results[0].ToVector<float>(), ElementsAre(2, 4));
  EXPECT_THAT(results[1].ToVector<float>(), ElementsAre(6, 16));
  EXPECT_THAT(results[2].ToVector<int>(), ElementsAre(7));
}

TEST(InterpretTest, RefusesInputsThatAreNotTheParameters) {
  const ir::Module module =
      passes::InferType(Parse("def @main(%x: Tensor[(2), float32]) { exp(%x) }"));
  EXPECT_THAT(ErrorOf([&] { Interpret(module, {}); }).message(),
              HasSubstr("the input %x is missing: 0 inputs are given"));
  EXPECT_THAT(ErrorOf([&] { Interpret(module, {NDArray::Scalar<float>(1)}); }).message(),
              HasSubstr("the input %x must be Tensor[(2), float32], not float32 ()"));
  const NDArray x = NDArray::Zeros({2}, Float32);
  EXPECT_THAT(ErrorOf([&] {
                Interpret(module, {x, x});
              }).message(),
              HasSubstr("2 inputs are given; the function takes 1"));
}

TEST(InterpretTest, RefusesRecursionWithoutEnd) {
  const ir::Module module = passes::InferType(
      Parse("def @main(%x: Tensor[(2), float32]) -> Tensor[(2), float32] { @main(%x) }"));
  EXPECT_THAT(ErrorOf([&] { Interpret(module, {NDArray::Zeros({2}, Float32)}); }).message(),
              HasSubstr("without a condition, and so without end"));
}

}  // namespace
}  // namespace tenon::verify
