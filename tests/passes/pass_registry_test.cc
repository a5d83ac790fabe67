#include "tenon/passes/pass_registry.h"

#include <chrono>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/ir/structural.h"
#include "tenon/passes/infer_type.h"
#include "tenon/passes/pipeline.h"
#include "tenon/support/strings.h"
#include "tenon/tests/passes/evaluate.h"
#include "tenon/tests/testing/relay_text.h"

namespace tenon::passes {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> NamesOf(const Pipeline& pipeline) {
  std::vector<std::string> names;
  for (const Pass& pass : pipeline) names.push_back(pass.name);
  return names;
}
ir::Module RunText(const std::string& passes, const ir::Module& module) {
  return RunPasses(ParsePipeline(passes, {.evaluate = Evaluate}), module, {.verify = true});
}
std::string ErrorOfText(const std::string& passes) {
  return ErrorOf([&] { ParsePipeline(passes); }).what();
}

constexpr char kConv[] =
    "def @main(%x: Tensor[(1, 8, 5, 5), float32], %w: Tensor[(8, 8, 3, 3), float32]) {"
    " nn.relu(nn.conv2d(%x, %w, padding=[1, 1, 1, 1])) }";

TEST(ParsePipelineTest, NamesAreInOrderAndMayStandOnLines) {
  EXPECT_THAT(NamesOf(ParsePipeline("InferType,FoldConstant ,\n  FuseOps{extended}")),
              ElementsAre("InferType", "FoldConstant", "FuseOps"));
  EXPECT_THAT(ParsePipeline(" "), IsEmpty());
}

TEST(ParsePipelineTest, EveryPassOfTheTableIsThere) {
  for (const std::string& name : PassNames())
    EXPECT_THAT(NamesOf(ParsePipeline(name)), ElementsAre(name));
}

TEST(ParsePipelineTest, APassWithoutOptionsTakesTheCallersDefaults) {
  const ir::Module module = Parse(kConv);
  const ir::Module text =
      RunPasses(ParsePipeline("ConvertLayout", {.layouts = {{"nn.conv2d", {"NCHW8c"}}}}), module,
                {.verify = true});
  EXPECT_THAT(Print(text), HasSubstr("NCHW8c"));
}

TEST(ParsePipelineTest, OptionsReachThePass) {
  const ir::Module module = Parse(kConv);
  EXPECT_THAT(Print(RunText("ConvertLayout{nn.conv2d=NHWC:HWIO}", module)),
              AllOf(HasSubstr("data_layout=\"NHWC\""), HasSubstr("kernel_layout=\"HWIO\"")));
  EXPECT_THAT(Print(RunText("ToMixedPrecision{float16}", module)), HasSubstr("float16"));
  EXPECT_THAT(Print(RunText("ToMixedPrecision{type=float16, keep_output_type=false}", module)),
              HasSubstr("-> Tensor[(1, 8, 5, 5), float16]"));
  EXPECT_THAT(Print(RunText("ToMixedPrecision", module)), HasSubstr("bfloat16"));
  // As the help prints them.
  EXPECT_THAT(Print(RunText("ToMixedPrecision{type=\"float16\"}", module)), HasSubstr("float16"));
  EXPECT_EQ(NamesOf(ParsePipeline("CombineParallelOpBatch{op=\"nn.dense\", batch_op=\"x, y\"}")),
            NamesOf(ParsePipeline("CombineParallelOpBatch{nn.dense, nn.batch_matmul}")));
  const ir::Module chain = Parse("def @main(%x: Tensor[(2), float32]) { exp(exp(exp(%x))) }");
  const auto literals = [&](const std::string& passes) {
    const std::string text = Print(RunText(passes, chain));
    std::size_t count = 0;
    for (std::size_t at = 0; (at = text.find("Primitive=1", at)) != std::string::npos; ++at)
      ++count;
    return count;
  };
  EXPECT_EQ(literals("FuseOps"), 1U);
  EXPECT_EQ(literals("FuseOps{max_depth=1}"), 3U);
  EXPECT_EQ(literals("FuseOps{relay, 2}"), 2U);
}

TEST(ParsePipelineTest, FakeQuantizationSaysWhatStaysInFloatsIfAsked) {
  const auto between = [](const char* call) {
    return Parse(
        StrCat("def @main(%x: Tensor[(2, 3), int8]) {\n"
               "  %0 = qnn.dequantize(%x, 0.5f, 2);\n  %1 = ",
               call, ";\n  qnn.quantize(%1, 0.25f, 1, out_dtype=\"int8\")\n}"));
  };
  const char* strict = "InferType, FakeQuantizationToInteger{hard_fail=true}";
  EXPECT_THAT(Print(RunText(strict, between("nn.relu(%0)"))),
              testing::Not(HasSubstr("qnn.dequantize")));
  EXPECT_THAT(Print(RunText("InferType, FakeQuantizationToInteger", between("erf(%0)"))),
              HasSubstr("erf("));
  const Error error = ErrorOf([&] { RunText(strict, between("erf(%0)")); });
  EXPECT_EQ(error.code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(error.message(), HasSubstr("erf in @main stays in floating point between "
                                         "qnn.dequantize and qnn.quantize"));
  // Not between the two.
  const ir::Module after =
      Parse("def @main(%x: Tensor[(3), int8]) { erf(qnn.dequantize(%x, 0.5f, 2)) }");
  EXPECT_THAT(Print(RunText(strict, after)), HasSubstr("erf("));
}

TEST(ParsePipelineTest, MixedPrecisionRefusesOperatorsOfNoListIfAsked) {
  const ir::Module module =
      Parse("def @main(%x: Tensor[(5, 5), float32]) { sinh(nn.dense(%x, %x, units=5)) }");
  EXPECT_THAT(Print(RunText("InferType, ToMixedPrecision", module)), HasSubstr("sinh("));
  EXPECT_THAT(ErrorOf([&] {
                RunText("InferType, ToMixedPrecision{missing_op_mode=error}", module);
              }).message(),
              HasSubstr("no list says whether these operators keep enough accuracy: sinh; "
                        "missing_op_mode=float32"));
}

TEST(ParsePipelineTest, AnUnknownPassIsRefusedWithTheNearestName) {
  const Error error = ErrorOf([] { ParsePipeline("InferType,FuseOp"); });
  EXPECT_EQ(error.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(error.what(),
              AllOf(HasSubstr("there is no pass named FuseOp; passes are InferType, "),
                    HasSubstr("did you mean FuseOps?"),
                    HasSubstr("\n    InferType,FuseOp\n              ^^^^^^")));
}

TEST(ParsePipelineTest, AWrongOptionSaysWhatIsAllowed) {
  EXPECT_THAT(
      ErrorOfText("FuseOps{modus=relay}"),
      AllOf(HasSubstr("FuseOps: it has no option modus; did you mean mode?"),
            HasSubstr("FuseOps{mode=relay|extended, max_depth=256}"), HasSubstr("^^^^^^^^^^^^^")));
  EXPECT_THAT(ErrorOfText("FuseOps{mode=rely}"),
              AllOf(HasSubstr("mode"), HasSubstr("one of relay, extended")));
  EXPECT_THAT(ErrorOfText("FuseOps{max_depth=0}"),
              HasSubstr("FuseOps: field max_depth is 0; allowed is 1 to"));
  EXPECT_THAT(ErrorOfText("FuseOps{max_depth=deep}"), HasSubstr("max_depth"));
  EXPECT_THAT(ErrorOfText("FuseOps{relay, mode=relay}"),
              HasSubstr("the option mode is given twice"));
  EXPECT_THAT(ErrorOfText("FuseOps{relay, 1, 2}"), HasSubstr("it has no option 2"));
  EXPECT_THAT(ErrorOfText("InferType{fast}"),
              HasSubstr("InferType: it has no options, so not fast"));
  EXPECT_THAT(ErrorOfText("ConvertLayout{nn.conv2d}"), HasSubstr("ConvertLayout: "));
  EXPECT_THAT(ErrorOfText("RewriteAnnotatedOps{nowhere}"), HasSubstr("a device such as cpu"));
}

TEST(ParsePipelineTest, AWrongTextIsRefusedWithItsPlace) {
  EXPECT_THAT(ErrorOfText("FuseOps{"), HasSubstr("this brace is never closed"));
  EXPECT_THAT(ErrorOfText("FuseOps FuseOps"), HasSubstr("expected ',' between passes"));
  EXPECT_THAT(ErrorOfText("FuseOps,,"), HasSubstr("expected the name of a pass"));
  EXPECT_THAT(ErrorOfText("FuseOps{,}"), HasSubstr("an option is empty"));
}

struct CountOptions {
  static constexpr const char* kTypeKey = "my.Repeat";
  std::vector<std::int64_t> counts;
  bool twice = false;
  static constexpr auto Fields() {
    return attrs::Fields(attrs::Field("counts", &CountOptions::counts, "how often").AtLeast(1),
                         attrs::Field("twice", &CountOptions::twice, "twice as often"));
  }
};

TEST(PassRegistryTest, AUsersPassHasOptionsOfItsOwn) {
  std::int64_t sum = 0;
  PassRegistry::Global().Register(
      {.name = "my.Repeat",
       .summary = "counts",
       .options = {&attrs::SchemaOf<CountOptions>()},
       .make = [&](const GivenOptions& given, const PassArguments&) -> Pass {
         const auto options = given.fields.As<CountOptions>();
         return {.name = "my.Repeat", .function = [&sum, options](const ir::Module& m) {
                   for (const std::int64_t count : options.counts) sum += count;
                   if (options.twice) sum *= 2;
                   return m;
                 }};
       }});
  RunText("my.Repeat{[1, 2, 3], twice=true}", Parse(kConv));
  EXPECT_EQ(sum, 12);
  EXPECT_THAT(ErrorOfText("my.Repeat{counts=[0]}"), HasSubstr("counts"));
  const Error twice = ErrorOf([] {
    PassRegistry::Global().Register(
        {.name = "my.Repeat",
         .make = [](const GivenOptions&, const PassArguments&) { return Pass(); }});
  });
  EXPECT_EQ(twice.code(), absl::StatusCode::kAlreadyExists);
  EXPECT_THAT(twice.message(), HasSubstr("pass_registry_test.cc"));
}

TEST(PassRegistryTest, ANameThatCannotStandInATextIsRefused) {
  EXPECT_THAT(ErrorOf([] { PassRegistry::Global().Register({.name = "a b"}); }).message(),
              HasSubstr("'a b' is no name of a pass"));
  EXPECT_THAT(ErrorOf([] { PassRegistry::Global().Register({.name = "a.b"}); }).message(),
              HasSubstr("the pass a.b makes nothing"));
}

TEST(PassInstrumentTest, SeesEachPassBeforeAndAfterAndMayLeaveItOut) {
  std::vector<std::string> seen;
  const PassInstrument instrument{
      .should_run = [](const Pass& pass, const ir::Module&) { return pass.name != "FoldConstant"; },
      .before =
          [&](const Pass& pass, const ir::Module& module) {
            seen.push_back(StrCat("before ", pass.name, " ", module.functions().size()));
          },
      .after =
          [&](const Pass& pass, const ir::Module&, const PassRecord& record) {
            seen.push_back(StrCat("after ", pass.name, record.changed ? " changed" : ""));
          }};
  const Pipeline pipeline =
      ParsePipeline("InferType, FoldConstant, DeadCodeElimination", {.evaluate = Evaluate});
  RunPasses(pipeline, Parse(kConv), {.instruments = {instrument}});
  EXPECT_THAT(seen, ElementsAre("before InferType 1", "after InferType changed",
                                "before DeadCodeElimination 1", "after DeadCodeElimination"));
  seen.clear();
  RunPasses(pipeline, Parse(kConv), {.required = {"FoldConstant"}, .instruments = {instrument}});
  EXPECT_EQ(seen.size(), 6U);
}

TEST(PassInstrumentTest, IsToldHowLongThePassTook) {
  constexpr auto kWait = std::chrono::milliseconds(2);
  const Pipeline pipeline = {{"Waits", 0, [&](const ir::Module& m) {
                                std::this_thread::sleep_for(kWait);
                                return m;
                              }}};
  std::int64_t nanoseconds = 0;
  const PassInstrument instrument{
      .after = [&](const Pass&, const ir::Module&, const PassRecord& record) {
        nanoseconds = record.nanoseconds;
      }};
  RunPasses(pipeline, Parse(kConv), {.instruments = {instrument}});
  EXPECT_GE(nanoseconds, std::chrono::nanoseconds(kWait).count());
}

TEST(PassInstrumentTest, WhatItThrowsNamesThePass) {
  const PassInstrument refusing{
      .before = [](const Pass&, const ir::Module&) { throw FailedPrecondition("not now"); }};
  const Error error = ErrorOf(
      [&] { RunPasses(ParsePipeline("InferType"), Parse(kConv), {.instruments = {refusing}}); });
  EXPECT_THAT(error.what(), AllOf(HasSubstr("not now"), HasSubstr("in the pass InferType")));
}

}  // namespace
}  // namespace tenon::passes
