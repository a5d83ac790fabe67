#include "tenon/compiler/dynamic_model.h"

#include <atomic>
#include <thread>

#include "tenon/support/strings.h"
#include "tenon/tests/strategies/graph_testing.h"

namespace tenon {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing_graphs::ExpectClose;
using testing_graphs::Parsed;
using testing_graphs::Random;

// x + y over (rows, 4), and how often it was imported.
struct Adder {
  std::shared_ptr<std::atomic<int>> imports = std::make_shared<std::atomic<int>>(0);
  std::vector<ir::InputSpec> inputs = {
      {"x", Float32, {{ir::Dim::Symbol("rows"), 4}}},
      {"y", Float32, {{ir::Dim::Symbol("rows"), 4}}},
  };
  absl::StatusOr<ir::Module> operator()(const ShapesByName& shapes) const {
    ++*imports;
    const std::string type = StrCat("Tensor[", ShapeToString(shapes.at("x")), ", float32]");
    return CatchErrors([&] {
      return Parsed(StrCat("def @main(%x: ", type, ", %y: ", type, ") { add(%x, %y) }"));
    });
  }
  DynamicModel Model(std::size_t cache) const {
    return DynamicModel(inputs, *this, {.cache = cache, .compile = {.threads = 1}});
  }
};

std::string MessageOf(const DynamicModel& model, const runtime::Inputs& inputs) {
  const auto results = model.Run(inputs);
  EXPECT_EQ(results.status().code(), absl::StatusCode::kInvalidArgument) << results.status();
  return std::string(results.status().message());
}

runtime::Inputs Rows(std::int64_t rows) {
  return {{"x", Random({rows, 4}, 1)}, {"y", Random({rows, 4}, 2)}};
}

void ExpectSum(const DynamicModel& model, std::int64_t rows) {
  const runtime::Inputs inputs = Rows(rows);
  const auto results = model.Run(inputs);
  ASSERT_TRUE(results.ok()) << results.status();
  ASSERT_EQ((*results)[0].shape(), (Shape{rows, 4}));
  for (std::int64_t i = 0; i < rows * 4; ++i)
    EXPECT_EQ((*results)[0].data<float>()[i],
              inputs.at("x").data<float>()[i] + inputs.at("y").data<float>()[i]);
}

TEST(DynamicModelTest, EachShapeIsCompiledOnce) {
  const Adder adder;
  const DynamicModel model = adder.Model(8);
  for (int round = 0; round < 3; ++round) {
    for (const std::int64_t rows : {1, 15, 16, 17}) ExpectSum(model, rows);
  }
  EXPECT_EQ(*adder.imports, 4);
  EXPECT_EQ(model.statistics().compiled, 4U);
  EXPECT_EQ(model.statistics().forgotten, 0U);
}

TEST(DynamicModelTest, TheLeastRecentlyUsedShapeIsForgotten) {
  const Adder adder;
  const DynamicModel model = adder.Model(2);
  for (const std::int64_t rows : {1, 2, 1, 3}) ExpectSum(model, rows);  // 2 goes
  EXPECT_EQ(*adder.imports, 3);
  ExpectSum(model, 1);
  EXPECT_EQ(*adder.imports, 3);
  ExpectSum(model, 2);  // 3 goes
  EXPECT_EQ(*adder.imports, 4);
  ExpectSum(model, 1);
  EXPECT_EQ(*adder.imports, 4);
  EXPECT_EQ(model.statistics().forgotten, 2U);
}

TEST(DynamicModelTest, ThreadsWithTheSameNewShapeShareOneCompile) {
  const Adder adder;
  const DynamicModel model = adder.Model(8);
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&, i] {
      for (const std::int64_t rows : {5, 6, 7}) ExpectSum(model, rows + i % 2);
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(*adder.imports, 4);
}

TEST(DynamicModelTest, WhatIsForgottenStillRunsForThoseWhoHoldIt) {
  const DynamicModel model = Adder().Model(1);
  const Executable kept = ValueOrThrow(model.Specialize({{"x", {3, 4}}, {"y", {3, 4}}}));
  ExpectSum(model, 2);
  EXPECT_TRUE(kept.Run(Rows(3)).ok());
}

TEST(DynamicModelTest, ErrorsNameTheInputAndWhatIsAllowed) {
  const Adder adder;
  const DynamicModel model = adder.Model(8);
  const NDArray good = Random({3, 4}, 1);
  EXPECT_THAT(MessageOf(model, {{"x", Random({3, 5}, 1)}, {"y", good}}),
              AllOf(HasSubstr("the input x has the shape (3, 5)"), HasSubstr("(rows, 4)")));
  EXPECT_THAT(MessageOf(model, {{"x", Random({4}, 1)}, {"y", good}}),
              HasSubstr("the input x has the shape (4,); the model takes (rows, 4)"));
  EXPECT_THAT(MessageOf(model, {{"x", good}}),
              AllOf(HasSubstr("the input y is missing"), HasSubstr("(rows, 4)")));
  EXPECT_THAT(MessageOf(model, {{"x", good}, {"y", good}, {"z", good}}),
              AllOf(HasSubstr("there is no input z"), HasSubstr("x, y")));
  EXPECT_THAT(MessageOf(model, {{"x", good}, {"y", Random({2, 4}, 1)}}),
              AllOf(HasSubstr("the input y has 2 for the extent rows"), HasSubstr("x has 3")));
  EXPECT_THAT(MessageOf(model, {{"x", Random({3, 4}, Float64, 1)}, {"y", good}}),
              HasSubstr("the input x has the type float64; the model takes float32"));
  EXPECT_EQ(*adder.imports, 0) << "nothing is compiled for a run that cannot be";
}

TEST(DynamicModelTest, AFailedCompileIsReportedAndNotRemembered) {
  int calls = 0;
  const Adder adder;
  const DynamicModel model(adder.inputs,
                           [&](const ShapesByName& shapes) -> absl::StatusOr<ir::Module> {
                             if (++calls == 1) return absl::UnavailableError("the disk is asleep");
                             return adder(shapes);
                           },
                           {});
  const auto first = model.Run(Rows(3));
  EXPECT_EQ(first.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(first.status().message()), HasSubstr("the disk is asleep"));
  ExpectSum(model, 3);
  EXPECT_EQ(model.statistics().compiled, 1U);
}

TEST(DynamicModelTest, AnEmptyCacheIsRefused) {
  const Adder adder;
  try {
    adder.Model(0);
    FAIL() << "was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(error.message(), HasSubstr("at least 1 shape"));
  }
}

TEST(DynamicModelTest, ReportsThatCompilesWouldShareAreRefused) {
  const auto refused = [](const CompileOptions& compile) {
    EXPECT_THROW(DynamicModel(Adder().inputs, Adder(), {.compile = compile}), Error);
  };
  passes::FusionReport fusion;
  passes::FoldAffineReport folding;
  refused({.fusion_report = &fusion});
  refused({.folding_report = &folding});
}

TEST(DynamicModelTest, AnImporterThatRunsTheModelForItsOwnShapesIsRefused) {
  const Adder adder;
  const DynamicModel* self = nullptr;
  const auto importer = [&](const ShapesByName& shapes) -> absl::StatusOr<ir::Module> {
    const auto inner = self->Run(Rows(shapes.at("x")[0]));
    if (!inner.ok()) return inner.status();
    return adder(shapes);
  };
  const DynamicModel model(adder.inputs, importer, {});
  self = &model;
  const auto result = model.Run(Rows(3));
  EXPECT_EQ(result.status().code(), absl::StatusCode::kFailedPrecondition) << result.status();
}

TEST(DynamicModelTest, AnImporterMayThrowAnything) {
  int calls = 0;
  const DynamicModel model(Adder().inputs,
                           [&](const ShapesByName&) -> absl::StatusOr<ir::Module> {
                             ++calls;
                             throw 42;
                           },
                           {});
  for (int i = 0; i < 2; ++i) EXPECT_FALSE(model.Run(Rows(3)).ok());
  EXPECT_EQ(calls, 2) << "a failure is not remembered";
}

absl::StatusOr<ir::Module> SymbolicAdder() {
  return Parsed(
      "def @main(%x: Tensor[(rows, 4), float32], %y: Tensor[(rows, 4), float32]) { add(%x, %y) }");
}

TEST(DynamicModelTest, OneSymbolicCompileServesAllShapes) {
  const Adder adder;
  const DynamicModel model(adder.inputs, adder,
                           {.compile = {.threads = 1}, .symbolic = SymbolicAdder});
  for (const std::int64_t rows : {1, 3, 17, 3}) ExpectSum(model, rows);
  EXPECT_EQ(*adder.imports, 0);
  EXPECT_EQ(model.statistics().symbolic, 4U);
  EXPECT_EQ(model.statistics().compiled, 0U);
  EXPECT_EQ(model.statistics().symbolic_refusal, "");
}

TEST(DynamicModelTest, WhatItDoesNotTakeIsCompiledForItsShape) {
  const Adder adder;
  const DynamicModel empty(adder.inputs, adder,
                           {.compile = {.threads = 1}, .symbolic = SymbolicAdder});
  ExpectSum(empty, 0);
  EXPECT_EQ(*adder.imports, 1);
  EXPECT_THAT(empty.statistics().symbolic_refusal, ::testing::HasSubstr("must be at least 1"));
  const DynamicModel none(adder.inputs, adder, {.compile = {.threads = 1}, .symbolic = [] {
                                                  return absl::StatusOr<ir::Module>(
                                                      absl::UnimplementedError("no such model"));
                                                }});
  ExpectSum(none, 3);
  EXPECT_EQ(none.statistics().compiled, 1U);
  EXPECT_EQ(none.statistics().symbolic_refusal, "no such model");
}

}  // namespace
}  // namespace tenon
