// Levels, lists, dumps and reports of a pipeline.
#include "tenon/passes/pass_manager.h"

#include <chrono>
#include <cmath>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/ir/structural.h"
#include "tenon/ops/builders.h"
#include "tenon/passes/fusion/fuse_ops.h"
#include "tenon/passes/infer_type.h"
#include "tenon/passes/pipeline.h"
#include "tenon/support/strings.h"
#include "tenon/tests/passes/evaluate.h"
#include "tenon/tests/testing/relay_text.h"

namespace tenon::passes {
namespace {

using ir::Module;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kIdentity[] = "def @main(%x: float32) { %x }";

// Three passes: each adds a function of its name; "Nothing" changes nothing.
Pass Adding(const std::string& name, int level) {
  return {name, level, [name](const Module& m) { return m.With(name, m.Get("main")); }};
}
Pipeline Example() {
  return {Adding("Zero", 0),
          {"Nothing", 0, [](const Module& m) { return m; }},
          Adding("Two", 2),
          Adding("Three", 3)};
}
// The passes that ran and changed something, after @main.
std::vector<std::string> RanWith(const PassContext& context) {
  std::vector<std::string> names;
  const Module out = RunPasses(Example(), Parse(kIdentity), context);
  for (const auto& [name, function] : out.functions()) names.push_back(name);
  return names;
}

TEST(PassManagerTest, APassRunsFromItsLevelOn) {
  EXPECT_THAT(RanWith({.opt_level = 0}), ElementsAre("main", "Zero"));
  EXPECT_THAT(RanWith({.opt_level = 1}), ElementsAre("main", "Zero"));
  EXPECT_THAT(RanWith({.opt_level = 2}), ElementsAre("main", "Zero", "Two"));
  EXPECT_THAT(RanWith({.opt_level = 3}), ElementsAre("main", "Zero", "Two", "Three"));
}

TEST(PassManagerTest, ARequiredPassRunsAtAnyLevelInItsPlace) {
  EXPECT_THAT(RanWith({.opt_level = 0, .required = {"Three", "Two"}}),
              ElementsAre("main", "Zero", "Two", "Three"));
}

TEST(PassManagerTest, ADisabledPassNeverRuns) {
  EXPECT_THAT(RanWith({.opt_level = 3, .disabled = {"Zero", "Two"}}), ElementsAre("main", "Three"));
  EXPECT_THAT(RanWith({.opt_level = 3, .required = {"Zero"}, .disabled = {"Zero"}}),
              ElementsAre("main", "Two", "Three"));
}

TEST(PassManagerTest, UnknownNamesAreRefusedWithTheNamesThereAre) {
  for (const PassContext& context :
       {PassContext{.required = {"Tow"}}, PassContext{.disabled = {"Tow"}}}) {
    const Error error = ErrorOf([&] { RanWith(context); });
    EXPECT_EQ(error.code(), absl::StatusCode::kNotFound);
    EXPECT_EQ(
        error.message(),
        "there is no pass named Tow; passes are Zero, Nothing, Two, Three; did you mean Two?");
  }
}

TEST(PassManagerTest, DumpShowsEachPassThatChangedTheModule) {
  std::vector<std::string> dumped;
  RunPasses(Example(), Parse(kIdentity),
            {.opt_level = 2, .dump = [&](const std::string& pass, const Module& module) {
               dumped.push_back(StrCat(pass, " ", module.functions().size()));
             }});
  EXPECT_THAT(dumped, ElementsAre("Zero 2", "Two 3"));
}

TEST(PassManagerTest, ReportSaysWhatRanAndWhatChanged) {
  PassReport report;
  RunPasses(Example(), Parse(kIdentity), {.opt_level = 2, .report = &report});
  std::vector<std::string> lines;
  for (const PassRecord& record : report) {
    lines.push_back(StrCat(record.name, record.changed ? " changed" : ""));
  }
  EXPECT_THAT(lines, ElementsAre("Zero changed", "Nothing", "Two changed"));
}

TEST(PassManagerTest, TimesAreThoseOfThePasses) {
  constexpr auto kWait = std::chrono::milliseconds(2);
  const Pipeline pipeline = {{"Waits", 0, [&](const Module& m) {
                                std::this_thread::sleep_for(kWait);
                                return m;
                              }}};
  PassReport report;
  RunPasses(pipeline, Parse(kIdentity), {.report = &report});
  EXPECT_GE(report.at(0).nanoseconds, std::chrono::nanoseconds(kWait).count());
}

TEST(PassManagerTest, AnErrorOfAPassNamesThePass) {
  const Pipeline pipeline = {
      {"Broken", 0, [](const Module&) -> Module { throw InvalidArgument("it broke"); }}};
  const Error error = ErrorOf([&] { RunPasses(pipeline, Parse(kIdentity), {}); });
  EXPECT_EQ(error.message(), "it broke");
  EXPECT_THAT(error.notes(), ElementsAre("in the pass Broken"));
}

TEST(PassManagerTest, VerifyChecksAfterEveryPass) {
  const Pipeline pipeline = {{"Unbind", 0, [](const Module& m) {
                                const ir::Var free = ir::Var::Make("free");
                                return m.With("main", ir::Function::Make({}, free));
                              }}};
  RunPasses(pipeline, Parse(kIdentity), {.verify = false});
  const Error error = ErrorOf([&] { RunPasses(pipeline, Parse(kIdentity), {.verify = true}); });
  EXPECT_THAT(error.message(), HasSubstr("the variable %free is used but bound nowhere"));
  EXPECT_THAT(error.notes(), ElementsAre("in the pass Unbind"));
}

TEST(PassManagerTest, AnEmptyPipelineGivesTheModule) {
  const Module module = Parse(kIdentity);
  PassReport report;
  EXPECT_EQ(RunPasses({}, module, {.report = &report}), module);
  EXPECT_THAT(report, IsEmpty());
}

// --- the pipeline table

std::vector<std::string> RunAt(int level, const Module& module, Module* result = nullptr) {
  PassReport report;
  const Module out = RunPasses(DefaultPipeline(Evaluate, level), module,
                               {.opt_level = level, .verify = true, .report = &report});
  if (result != nullptr) *result = out;
  std::vector<std::string> names;
  for (const PassRecord& record : report) names.push_back(record.name);
  return names;
}

TEST(PipelineTest, LevelsChooseThePasses) {
  const Module module = Parse(kIdentity);
  EXPECT_THAT(RunAt(0, module),
              ElementsAre("ReferencesToValues", "PartitionGraph", "Inline", "NameRunTimeExtents",
                          "InferType", "OutlineBranches", "CanonicalizeQnn", "EmbedComposites",
                          "SimplifyInference", "WidenHalfFloats", "PlanDevices", "FuseOps"));
  EXPECT_THAT(RunAt(1, module),
              ElementsAre("RemoveUnusedFunctions", "ReferencesToValues", "PartitionGraph", "Inline",
                          "NameRunTimeExtents", "InferType", "OutlineBranches", "CanonicalizeQnn",
                          "EmbedComposites", "Legalize", "SimplifyInference", "DeadCodeElimination",
                          "WidenHalfFloats", "PlanDevices", "FuseOps"));
  EXPECT_THAT(RunAt(2, module),
              ElementsAre("RemoveUnusedFunctions", "ReferencesToValues", "PartitionGraph", "Inline",
                          "NameRunTimeExtents", "InferType", "OutlineBranches", "CanonicalizeQnn",
                          "EmbedComposites", "Legalize", "SimplifyInference", "DeadCodeElimination",
                          "WidenHalfFloats", "FoldConstant", "PlanDevices", "FuseOps"));
  EXPECT_THAT(RunAt(3, module),
              ElementsAre("RemoveUnusedFunctions", "ReferencesToValues", "PartitionGraph", "Inline",
                          "NameRunTimeExtents", "InferType", "OutlineBranches",
                          "FakeQuantizationToInteger", "CanonicalizeQnn", "EmbedComposites",
                          "Legalize", "SimplifyInference", "DeadCodeElimination", "FoldAffine",
                          "CanonicalizeOps", "WidenHalfFloats", "FoldConstant", "FoldAffine",
                          "SimplifyExpr", "EliminateCommonSubexpr", "FoldExplicitPadding",
                          "FlattenAtrousConv", "DropPaddedTaps", "PlanDevices", "FuseOps"));
}

// A pass is applied to a module, a module is made from an expression, and the level of a context
// picks passes.
TEST(PipelineTest, S001_60_PassesRunOnModulesOfExpressionsAtALevel) {
  const ir::Var x = ir::Var::Make("x", ir::TensorType({4}, Float32));
  const Module module = Module::FromExpr(ops::Exp(ops::Add(x, x)));
  const auto text = [](const Module& m) { return Print(m); };
  EXPECT_THAT(text(FuseOps(InferType(module))), HasSubstr("Primitive=1"));
  const Pipeline pipeline = {{.name = "FuseOps",
                              .min_opt_level = 1,
                              .function = [](const Module& m) { return FuseOps(InferType(m)); }}};
  EXPECT_EQ(text(RunPasses(pipeline, module, PassContext{.opt_level = 0})), text(module));
  EXPECT_EQ(text(RunPasses(pipeline, module, PassContext{.opt_level = 1})),
            text(FuseOps(InferType(module))));
}

// One expression in, one out: a function for a function, the body for anything else.
TEST(PipelineTest, S001_60_OnePassRunsOnOneExpression) {
  const ir::Var x = ir::Var::Make("x", ir::TensorType({4}, Float32));
  const ir::Expr body = ops::Exp(ops::Add(x, x));
  const auto infer = [](const Module& m) { return InferType(m); };
  const ir::Expr typed_body = RunPass(body, infer);
  EXPECT_EQ(ir::PrintExpr(typed_body),
            "free_var %x: Tensor[(4), float32];\n"
            "%0 = add(%x, %x) /* ty=Tensor[(4), float32] */;\n"
            "exp(%0) /* ty=Tensor[(4), float32] */\n");
  // A pass that rewrites gives the rewritten body.
  const ir::Expr fused = RunPass(body, [](const Module& m) { return FuseOps(InferType(m)); });
  ASSERT_EQ(fused.kind(), ir::ExprKind::kCall);
  EXPECT_TRUE(fused.As<ir::CallNode>()->callee.As<ir::FunctionNode>()->is_primitive());
  EXPECT_EQ(ir::ToString(typed_body.checked_type()), "Tensor[(4), float32]");
  const ir::Expr function = RunPass(ir::Function::Make({x}, body), infer);
  ASSERT_EQ(function.kind(), ir::ExprKind::kFunction);
  EXPECT_EQ(ir::ToString(function.As<ir::FunctionNode>()->ret_type), "Tensor[(4), float32]");
  EXPECT_EQ(ir::PrintExpr(function),
            "fn (%x: Tensor[(4), float32]) -> Tensor[(4), float32] {\n"
            "  %0 = add(%x, %x) /* ty=Tensor[(4), float32] */;\n"
            "  exp(%0) /* ty=Tensor[(4), float32] */\n}\n");
}

// Level 0 makes a kernel per call, level 1 one for the whole chain.
TEST(PipelineTest, FusionBeginsAtLevelOne) {
  const Module chain = Parse("def @main(%x: Tensor[(4), float32]) { exp(add(%x, %x)) }");
  const auto kernels = [&](int level) {
    Module out;
    RunAt(level, chain, &out);
    const std::string text = Print(out);
    std::size_t count = 0;
    for (std::size_t at = text.find("Primitive=1"); at != std::string::npos;
         at = text.find("Primitive=1", at + 1))
      ++count;
    return count;
  };
  EXPECT_EQ(kernels(0), 2U);
  EXPECT_EQ(kernels(1), 1U);
}

// A convolution with constant weight and batch normalisation is a convolution, a bias and an
// activation in one kernel.
TEST(PipelineTest, LevelThreeFoldsBatchNormalisationIntoTheConvolution) {
  const auto filled = [](Shape shape, float value) {
    return ir::Constant::Make(NDArray::FromVector<float>(
        shape, std::vector<float>(static_cast<std::size_t>(NumElements(shape)), value)));
  };
  const ir::Var x = ir::Var::Make("x", ir::TensorType({1, 2, 4, 4}, Float32));
  const ir::Expr conv = ops::Conv2D(x, filled({3, 2, 1, 1}, 1));
  const ir::Expr beta = ir::Constant::Make(NDArray::FromVector<float>({3}, {3, 4, 5}));
  const ir::Expr norm =
      ops::BatchNorm(conv, filled({3}, 2), beta, filled({3}, 4), filled({3}, 5), {.epsilon = 4});
  const Module module = Module::FromExpr(ops::Relu(ir::TupleGetItem::Make(norm, 0)));
  // The test's evaluator knows neither sqrt nor expand_dims.
  const ConstantEvaluator evaluate = [](const ir::CallNode& call,
                                        ops::FoldingBudget*) -> std::vector<NDArray> {
    const auto* argument = call.args[0].As<ir::ConstantNode>();
    if (call.callee == ops::Known().sqrt) {
      std::vector<float> values = argument->data.ToVector<float>();
      for (float& v : values) v = std::sqrt(v);
      return {NDArray::FromVector<float>(argument->data.shape(), values)};
    }
    if (call.callee == ops::Known().expand_dims)
      return {argument->data.Reshape(ir::StaticShape(call.checked_type, "the result"))};
    return Evaluate(call);
  };
  const Module out = RunPasses(DefaultPipeline(evaluate, 3), module, {.opt_level = 3});
  const auto& kernel = *out.Main().body.As<ir::CallNode>();
  EXPECT_EQ(
      ir::PrintExpr(kernel.callee),
      "fn (%p0: Tensor[(1, 2, 4, 4), float32], %p1: Tensor[(3, 2, 1, 1), float32], "
      "%p2: Tensor[(3, 1, 1), float32], Primitive=1) -> Tensor[(1, 3, 4, 4), float32] {\n"
      "  %0 = nn.conv2d(%p0, %p1, padding=[0, 0, 0, 0]) /* ty=Tensor[(1, 3, 4, 4), float32] */;\n"
      "  %1 = add(%0, %p2) /* ty=Tensor[(1, 3, 4, 4), float32] */;\n"
      "  nn.relu(%1) /* ty=Tensor[(1, 3, 4, 4), float32] */\n"
      "}\n");
  const auto values = [&](std::size_t i) {
    return kernel.args[i].As<ir::ConstantNode>()->data.ToVector<float>();
  };
  // scale = 2 / sqrt(5 + 4), shift = beta - 4 * scale
  EXPECT_THAT(values(1), ::testing::Each(::testing::FloatNear(2.0F / 3, 1e-6F)));
  EXPECT_THAT(values(2),
              ::testing::Pointwise(::testing::FloatNear(1e-6F), {1.0F / 3, 4.0F / 3, 7.0F / 3}));
}

TEST(PipelineTest, EveryPassIsFoundByItsName) {
  for (const std::string& name : PassNames()) {
    const Pass pass = FindPass(name, Evaluate);
    EXPECT_EQ(pass.name, name);
    // It takes a module as it comes from a text.
    EXPECT_EQ(Print(RunPasses({pass}, Parse("def @main() { 1f }"), {})).substr(0, 20),
              "#[version = \"0.0.5\"]");
  }
}

// Facts are followed from step to step as RunPasses does for a module that every pass changes.
TEST(PipelineTest, EachLevelLeavesAModuleThatKernelsCanBeMadeOf) {
  const PipelineOptions asked{.mixed_precision = BFloat16, .layouts = {{"nn.conv2d", {"NHWC"}}}};
  for (const PipelineOptions& options : {PipelineOptions(), asked}) {
    for (int level = 0; level <= 4; ++level) {
      Facts facts;
      for (const Pass& pass : DefaultPipeline(Evaluate, level, options)) {
        if (pass.min_opt_level > level) continue;
        EXPECT_TRUE(facts.Has(pass.needs)) << pass.name << " at level " << level;
        facts = (facts & pass.keeps) | pass.makes;
      }
      EXPECT_EQ(facts, kReadyForKernels) << level;
    }
  }
}

TEST(PassManagerTest, TypesAreInferredBeforeAPassThatNeedsThem) {
  Facts before;
  const Pass pass = {.name = "Looks",
                     .function =
                         [&](const Module& m) {
                           if (Holds(Fact::kTyped, m)) before = {Fact::kTyped};
                           return m;
                         },
                     .needs = {Fact::kTyped},
                     .keeps = {Fact::kTyped}};
  RunPasses({pass}, Parse("def @main(%x: Tensor[(4), float32]) { exp(%x) }"), {});
  EXPECT_EQ(before, Facts{Fact::kTyped});
}

TEST(PassManagerTest, APassThatDoesNotLeaveWhatItSaysIsNamed) {
  const Pipeline pipeline = {
      {.name = "Lies", .function = [](const Module& m) { return m; }, .makes = {Fact::kFused}}};
  const Error error = ErrorOf(
      [&] { RunPasses(pipeline, Parse("def @main(%x: float32) { exp(%x) }"), {.verify = true}); });
  EXPECT_EQ(error.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(error.message(), HasSubstr("the module is fused"));
  EXPECT_THAT(error.notes(), ElementsAre("in the pass Lies"));
}

// Counts how often it is run in place.
Pipeline CountsInPlace(int* count, Flow flow) {
  return {{.name = "InPlace",
           .function = [](const Module& m) { return m; },
           .flow = flow,
           .in_place =
               [count](Module* m) {
                 ++*count;
                 *m = InferType(*m);
                 return true;
               }}};
}

TEST(PassManagerTest, APassThatWorksInPlaceSaysWhetherItChangedTheModule) {
  int count = 0;
  PassReport report;
  const Module typed = RunPasses(CountsInPlace(&count, Flow::kStraight),
                                 Parse("def @main(%x: Tensor[(4), float32]) { exp(%x) }"),
                                 {.verify = true, .report = &report});
  EXPECT_EQ(count, 1);
  ASSERT_EQ(report.size(), 1U);
  EXPECT_TRUE(report[0].changed);
  EXPECT_TRUE(Holds(Fact::kTyped, typed));
}

TEST(PassManagerTest, APassOfStraightCodeDoesNotWorkInPlaceWhereThereAreIfs) {
  const Module branches = Parse(
      "def @main(%c: bool, %x: Tensor[(4), float32]) { if (%c) { exp(%x) } else { tanh(%x) } }");
  int count = 0;
  RunPasses(CountsInPlace(&count, Flow::kStraight), branches, {});
  EXPECT_EQ(count, 0);
  RunPasses(CountsInPlace(&count, Flow::kWhole), branches, {});
  EXPECT_EQ(count, 1);
}

TEST(PipelineTest, AnUnknownPassIsRefusedWithASuggestion) {
  const Error error = ErrorOf([] { FindPass("FuseOp", Evaluate); });
  EXPECT_EQ(error.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(error.message(), HasSubstr("there is no pass named FuseOp; passes are InferType, "));
  EXPECT_THAT(error.message(), HasSubstr("did you mean FuseOps?"));
}

}  // namespace
}  // namespace tenon::passes
