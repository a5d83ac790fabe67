// The fuzzers' part for all shapes: which extents become variables, for which values a compiled
// module is run, and that most of what is drawn gets that far.
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/ir/text_format.h"
#include "tenon/ops/registry.h"
#include "tenon/passes/infer_type.h"
#include "tenon/strategies/strategy.h"
#include "tenon/verify/check/onnx_results.h"
#include "tenon/verify/check/symbolic_onnx.h"
#include "tenon/verify/draw/name_extents.h"
#include "tenon/verify/draw/onnx_draft.h"
#include "tenon/verify/draw/symbolic_module.h"
#include "tenon/verify/fuzz_onnx.h"
#include "tenon/verify/fuzz_passes.h"
#include "tenon/verify/interpret.h"

namespace tenon::verify {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Optional;

ir::Module Parsed(const std::string& text) {
  return passes::InferType(
      ir::ParseModule(text, ops::OpRegistry::Global().Resolver(), "test").value());
}

std::string Named(const onnx::ModelProto& model, int input) {
  std::string names;
  for (const auto& dim : model.graph().input(input).type().tensor_type().shape().dim())
    names += (dim.has_dim_value() ? std::to_string(dim.dim_value()) : dim.dim_param()) + " ";
  return names;
}

TEST(NameExtentsTest, EqualExtentsMostlyGetOneNameAndInitializedInputsStay) {
  int one_name = 0, any = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Random random(seed);
    Draft draft(random, 17);
    draft.Input(Float32, {5, 7});
    draft.Input(Float32, {7});
    const Value initialized = draft.Input(Float32, {5});
    draft.model().mutable_graph()->add_initializer()->set_name(initialized.name);
    any += NameExtents(&draft.model(), 50, random);
    EXPECT_EQ(Named(draft.model(), 2), "5 ");
    one_name += Named(draft.model(), 0) == "5 n7 " && Named(draft.model(), 1) == "n7 ";
  }
  EXPECT_GT(any, 100);
  EXPECT_GT(one_name, 15);
}

TEST(NameExtentsTest, ShapesAreWrittenIntoTheInputsThatTheyName) {
  Random random(1);
  Draft draft(random, 17);
  draft.Input(Float32, {5, 7});
  draft.Input(Float32, {7});
  const onnx::ModelProto model = WithShapes(draft.model(), {{"x1", {2, 0, 3}}});
  EXPECT_EQ(Named(model, 0), "2 0 3 ");
  EXPECT_EQ(Named(model, 1), "7 ");
}

TEST(SymbolicModuleTest, ValuesComeOfShapesAndGiveThem) {
  const ir::Module module = Parsed(R"(
    def @main(%x: Tensor[(n, 3), float32], %y: Tensor[(2 * n + 1, m), float32]) { (%x, %y) })");
  EXPECT_THAT(VariablesOf(module), ElementsAre("m", "n"));
  const Dim::Values values = OwnValues(module, {{4, 3}, {9, 6}});
  EXPECT_EQ(values, (Dim::Values{{"m", 6}, {"n", 4}}));
  EXPECT_EQ(ToString(values), "m = 6, n = 4");
  EXPECT_THAT(ShapesAt(module, {{"m", 1}, {"n", 7}}), ElementsAre(Shape{7, 3}, Shape{15, 1}));
}

TEST(SymbolicModuleTest, NumbersTakeThePlaceOfVariables) {
  const ir::Module module =
      Parsed("def @main(%x: Tensor[(n, 3), float32]) { concatenate((%x, %x), axis=0) }");
  EXPECT_THAT(ir::PrintModule(WithValues(module, {{"n", 5}})),
              HasSubstr("Tensor[(10, 3), float32]"));
}

TEST(SymbolicModuleTest, EachSetOfValuesDiffersFromTheirOwnAndZerosAreOfCounts) {
  const Dim::Values own = {{"#k", 250}, {"m", 251}, {"n", 252}};
  std::map<std::int64_t, int> drawn;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Random random(seed);
    const std::vector<Dim::Values> sets = DrawValues(own, random);
    EXPECT_EQ(sets.at(0), own);
    EXPECT_GE(sets.size(), 5u);
    for (std::size_t i = 1; i < sets.size(); ++i) {
      EXPECT_NE(sets[i], own);
      for (const auto& value : sets[i]) ++drawn[value.second];
    }
  }
  for (const std::int64_t value : {0, 1, 7, 13, 16, 17, 33, 129})
    EXPECT_GT(drawn[value], 5) << value;
}

TEST(SymbolicModuleTest, AConditionThatValuesBreakIsNamed) {
  const ir::Module module = Parsed(R"(
    def @main(%x: Tensor[(1, 2, h, 9), float32], %w: Tensor[(4, 2, 5, 5), float32]) {
      nn.conv2d(%x, %w)
    })");
  EXPECT_THAT(BrokenCondition(module, {{"h", 4}}, {}), Optional(HasSubstr("5 <= h")));
  EXPECT_THAT(BrokenCondition(module, {{"h", 0}}, {}), Optional(HasSubstr("at least 1")));
  EXPECT_EQ(BrokenCondition(module, {{"h", 5}}, {}), std::nullopt);
}

TEST(SymbolicModuleTest, AnArrayOfAnotherShapeHasElementsOfTheFirst) {
  Random random(3);
  const NDArray array = NDArray::FromVector<std::int64_t>({2}, {5, 8});
  const NDArray resized = Resized(array, {4, 9}, random);
  EXPECT_EQ(resized.shape(), (Shape{4, 9}));
  std::map<std::int64_t, int> counts;
  for (std::int64_t i = 0; i < resized.size(); ++i)
    ++counts[static_cast<const std::int64_t*>(resized.raw())[i]];
  EXPECT_EQ(counts[5] + counts[8], 36);
  EXPECT_GT(counts[5], 8);
  EXPECT_GT(counts[8], 8);
}

TEST(ResultComparisonTest, OnlyWhatRoundingDoesNotExplainIsADifference) {
  const ir::Module module = Parsed("def @main(%x: Tensor[(3), float32]) { exp(%x) }");
  const std::vector<NDArray> inputs = {NDArray::FromVector<float>({3}, {1, 2, 3})};
  const std::vector<NDArray> expected = Interpret(module, inputs);
  const ResultComparison comparison(module, inputs, 1, /*has_infinities=*/false);
  OnnxFuzzStatistics statistics;
  const auto by = [&](float change) {
    NDArray actual = expected[0].Clone();
    actual.data<float>()[1] += change;
    return comparison.Differing({actual}, expected, &statistics);
  };
  EXPECT_EQ(by(0), std::nullopt);
  EXPECT_EQ(by(1e-4F), std::nullopt);
  EXPECT_EQ(statistics.equal, 2);
  EXPECT_THAT(by(0.1F), Optional(HasSubstr("result 0 at (1,)")));
  EXPECT_THAT(comparison.Differing({NDArray::Zeros({4}, Float32)}, expected, &statistics),
              Optional(HasSubstr("(4,)")));
  EXPECT_EQ(statistics.equal, 2);
}

// So that the check does not pass because nothing runs.
TEST(SymbolicFuzzTest, MostOnnxModelsRunForOtherValuesThanTheirOwn) {
  OnnxFuzzStatistics statistics;
  for (std::uint64_t seed = 0; seed < 40; ++seed)
    EXPECT_EQ(FuzzOnnx(seed, {.mutate = false, .symbolic = true}, &statistics), std::nullopt);
  EXPECT_EQ(statistics.cases, 40);
  EXPECT_GE(statistics.symbolic, 24) << statistics.ToString();
  EXPECT_GE(statistics.values, 3 * statistics.symbolic) << statistics.ToString();
}

// A loop whose body adds 3 elements, over other numbers of elements, of no turn in some runs.
TEST(SymbolicFuzzTest, WhatABodyNeedsThatDoesNotRunIsNoMatter) {
  OnnxFuzzStatistics statistics;
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    Random random(seed);
    Draft draft(random, 17);
    const std::string count = draft.Input(Int64, {}).name, x = draft.Input(Float32, {3}).name;
    const std::string three = draft.Constant(NDArray::Zeros({3}, Float32)).name;
    onnx::GraphProto body;
    for (const char* name : {"turn", "holds", "v"}) body.add_input()->set_name(name);
    onnx::NodeProto* sum = body.add_node();
    sum->set_op_type("Add");
    sum->add_input("v");
    sum->add_input(three);
    sum->add_output("sum");
    for (const char* name : {"holds", "sum"}) body.add_output()->set_name(name);
    const onnx::NodeProto* loop =
        draft.Append("", "Loop", NodeDraft({count, "", x}).Graph("body", body));
    draft.model().mutable_graph()->add_output()->set_name(loop->output(0));
    EXPECT_EQ(CheckSymbolicOnnx(draft.model(), seed, {}, &statistics), std::nullopt);
  }
  EXPECT_GE(statistics.symbolic, 6) << statistics.ToString();
  EXPECT_GE(statistics.values_left_out, 6) << statistics.ToString();
}

// An extent of 2^62 beside one of 0, which another set of values makes 1.
TEST(SymbolicFuzzTest, ExtentsThatFitNoMachineAreLeftOut) {
  OnnxFuzzStatistics statistics;
  EXPECT_EQ(FuzzOnnx(1820203568, {.symbolic = true}, &statistics), std::nullopt);
  EXPECT_GE(statistics.values_left_out, 1);
}

TEST(SymbolicFuzzTest, ManyGraphsRunForOtherValuesThanTheirOwn) {
  PassFuzzStatistics statistics;
  for (std::uint64_t seed = 0; seed < 25; ++seed)
    EXPECT_EQ(FuzzPasses(seed, {.passes = {"InferType"}, .pairs = 0, .compile = true}, &statistics),
              std::nullopt);
  EXPECT_GE(statistics.symbolic, 8) << statistics.ToString();
  EXPECT_GE(statistics.values, 2 * statistics.symbolic) << statistics.ToString();
}

}  // namespace
}  // namespace tenon::verify
