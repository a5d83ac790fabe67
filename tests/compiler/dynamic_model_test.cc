#include "tenon/compiler/dynamic_model.h"

#include <chrono>
#include <thread>

#include "tenon/tests/testing/graph_testing.h"

namespace tenon {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing_graphs::Parsed;
using testing_graphs::Random;

// x + y over `rows` rows of 4.
ir::Module Adder(const std::string& rows) {
  const std::string type = "Tensor[(" + rows + ", 4), float32]";
  return Parsed("def @main(%x: " + type + ", %y: " + type + ") { add(%x, %y) }");
}

DynamicModel Model(const std::string& rows, std::size_t hot_after = 0) {
  return ValueOrThrow(
      DynamicModel::Make(Adder(rows), {.compile = {.threads = 1}, .hot_after = hot_after}));
}

std::string MessageOf(const DynamicModel& model, const runtime::Inputs& inputs) {
  const auto results = model.Run(inputs);
  EXPECT_EQ(results.status().code(), absl::StatusCode::kInvalidArgument) << results.status();
  return std::string(results.status().message());
}

runtime::Inputs Rows(std::int64_t rows) {
  return {{"x", Random({rows, 4}, 1)}, {"y", Random({rows, 4}, 2)}};
}

bool GivesSum(const DynamicModel& model, std::int64_t rows) {
  const runtime::Inputs inputs = Rows(rows);
  const auto results = model.Run(inputs);
  bool right = results.ok() && (*results)[0].shape() == Shape{rows, 4};
  for (std::int64_t i = 0; right && i < rows * 4; ++i)
    right = (*results)[0].data<float>()[i] ==
            inputs.at("x").data<float>()[i] + inputs.at("y").data<float>()[i];
  return right;
}

TEST(DynamicModelTest, OneCompileServesAllShapes) {
  const DynamicModel model = Model("rows");
  for (const std::int64_t rows : {1, 3, 17, 3, 1000}) EXPECT_TRUE(GivesSum(model, rows)) << rows;
  EXPECT_EQ(model.statistics().common, 5U);
  EXPECT_EQ(model.statistics().hot_compiled, 0U);
  EXPECT_TRUE(model.executable().is_symbolic());
}

TEST(DynamicModelTest, AnExtentWithoutANameIsAVariableOfItsOwn) {
  const DynamicModel model = ValueOrThrow(DynamicModel::Make(
      Parsed("def @main(%x: Tensor[(?, 4), float32]) { add(%x, %x) }"), {.hot_after = 1}));
  for (const std::int64_t rows : {1, 7, 7, 7}) {
    const auto results = model.Run({{"x", Random({rows, 4}, 1)}});
    ASSERT_TRUE(results.ok()) << results.status();
    EXPECT_EQ((*results)[0].shape(), (Shape{rows, 4}));
  }
}

TEST(DynamicModelTest, AModelOfNumbersRunsAsItIs) {
  const DynamicModel model = Model("3", /*hot_after=*/1);
  for (int run = 0; run < 3; ++run) EXPECT_TRUE(GivesSum(model, 3));
  EXPECT_EQ(model.statistics().common, 3U);
  EXPECT_FALSE(GivesSum(model, 2));
}

TEST(DynamicModelTest, AModelWithControlFlowHasNoHotShapes) {
  const DynamicModel model = ValueOrThrow(
      DynamicModel::Make(Parsed("def @main(%x: Tensor[(n, 4), float32], %c: Tensor[(), bool]) {"
                                "  if (%c) { add(%x, %x) } else { negative(%x) } }"),
                         {.hot_after = 1}));
  for (int run = 0; run < 3; ++run) {
    const auto results =
        model.Run({{"x", Random({5, 4}, 1)}, {"c", NDArray::Zeros(Shape{}, Bool)}});
    ASSERT_TRUE(results.ok()) << results.status();
  }
  EXPECT_EQ(model.statistics().common, 3U);
}

TEST(DynamicModelTest, AnEmptyInputIsTakenByAVariableThatMayBeZero) {
  EXPECT_TRUE(GivesSum(Model("#rows"), 0));
  EXPECT_TRUE(GivesSum(Model("#rows"), 5));
  EXPECT_THAT(MessageOf(Model("rows"), Rows(0)),
              AllOf(HasSubstr("rows must be at least 1"), HasSubstr("name the extent #rows")));
}

TEST(DynamicModelTest, ErrorsNameTheInputAndWhatIsAllowed) {
  for (const std::size_t hot_after : {0, 1}) {
    const DynamicModel model = Model("rows", hot_after);
    runtime::Inputs inputs = Rows(3);
    inputs["y"] = Random({2, 4}, 1);
    EXPECT_THAT(MessageOf(model, inputs),
                AllOf(HasSubstr("'y' has 2 elements on axis 0"), HasSubstr("'x' has for rows")));
    inputs.erase("y");
    EXPECT_THAT(MessageOf(model, inputs),
                AllOf(HasSubstr("input 'y' is missing"), HasSubstr("(rows, 4)")));
    inputs = Rows(3);
    inputs["z"] = inputs["x"];
    EXPECT_THAT(MessageOf(model, inputs), AllOf(HasSubstr("'z'"), HasSubstr("x, y")));
    inputs = Rows(3);
    inputs["x"] = Random({3, 5}, 1);
    EXPECT_THAT(MessageOf(model, inputs),
                AllOf(HasSubstr("'x' has 5 elements on axis 1"), HasSubstr("it must have 4")));
    inputs["x"] = Random({4}, 1);
    EXPECT_THAT(MessageOf(model, inputs),
                AllOf(HasSubstr("'x' is float32 (4,)"), HasSubstr("(rows, 4)")));
    inputs["x"] = Random({3, 4}, Float64, 1);
    EXPECT_THAT(MessageOf(model, inputs),
                AllOf(HasSubstr("'x' is float64"), HasSubstr("it must be float32")));
    EXPECT_EQ(model.statistics().common, 0U) << "a run that is refused does not count";
  }
}

TEST(DynamicModelTest, LimitsHoldForHotShapes) {
  const DynamicModel model = ValueOrThrow(
      DynamicModel::Make(Parsed("def @main(%x: Tensor[(n, 4), float32], limits=\"n <= 5\") {"
                                "  add(%x, %x) }"),
                         {.compile = {.threads = 1}, .hot_after = 1}));
  // Some more than a compile in the background takes.
  for (int run = 0; run < 20; ++run) {
    EXPECT_THAT(MessageOf(model, {{"x", Random({6, 4}, 1)}}), HasSubstr("the model needs n <= 5"));
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_EQ(model.statistics().hot_compiled, 0U);
}

TEST(DynamicModelTest, ErrorsOfTheCompileAreReported) {
  const auto none = DynamicModel::Make(ir::Module());
  EXPECT_FALSE(none.ok());
  const auto level = DynamicModel::Make(Adder("rows"), {.compile = {.opt_level = -1}});
  EXPECT_EQ(level.status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(DynamicModelTest, OptionsOutOfRangeAreRefused) {
  const auto none = DynamicModel::Make(Adder("rows"), {.hot_shapes = 0});
  EXPECT_THAT(std::string(none.status().message()), HasSubstr("at least 1 shape"));
}

TEST(DynamicModelTest, ReportsThatCompilesWouldShareAreRefused) {
  const auto expect_refused = [](const CompileOptions& compile, const char* name) {
    const auto hot = DynamicModel::Make(Adder("rows"), {.compile = compile, .hot_after = 1});
    EXPECT_EQ(hot.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(hot.status().message()), HasSubstr(name));
    EXPECT_TRUE(DynamicModel::Make(Adder("rows"), {.compile = compile}).ok()) << name;
  };
  passes::PassReport pass;
  passes::FusionReport fusion;
  passes::FoldAffineReport folding;
  expect_refused({.pass_report = &pass}, "takes no pass_report");
  expect_refused({.fusion_report = &fusion}, "takes no fusion_report");
  expect_refused({.folding_report = &folding}, "takes no folding_report");
}

TEST(DynamicModelTest, CopiesShareWhatIsCompiled) {
  const DynamicModel model = Model("rows");
  const DynamicModel copy = model;  // NOLINT(performance-unnecessary-copy-initialization)
  EXPECT_TRUE(GivesSum(copy, 3));
  EXPECT_EQ(model.statistics().common, 1U);
}

}  // namespace
}  // namespace tenon
