// Models with control flow on the command line.
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/tests/testing/cli_testing.h"

namespace tenon::tools {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class ControlFlowCliTest : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    Write("loop.relay",
          "def @loop(%i: int64, %x: Tensor[(2), float32]) -> Tensor[(2), float32] {\n"
          "  if (less(%i, 2000i64)) {\n"
          "    @loop(add(%i, 1i64), add(multiply(%x, 0.5f), 1f))\n"
          "  } else {\n"
          "    %x\n"
          "  }\n"
          "}\n"
          "def @main(%x: Tensor[(2), float32]) { @loop(0i64, %x) }\n");
  }
};

TEST_F(ControlFlowCliTest, RunsAndVerifies) {
  const std::string out = OutputOf("run %/loop.relay --verify --profile");
  EXPECT_THAT(out, AllOf(HasSubstr("result 0: float32 (2,) [2, 2]"), HasSubstr("verified"),
                         HasSubstr("time ms  implementation")));
}

TEST_F(ControlFlowCliTest, ASavedLoopRunsWithoutCompiling) {
  OutputOf("compile %/loop.relay --emit=executable -o %/saved");
  EXPECT_THAT(
      OutputOf("run %/saved --profile --output y=%/y.npy"),
      AllOf(HasSubstr("result 0: float32 (2,) [2, 2]"), HasSubstr("time ms  implementation")));
  EXPECT_TRUE(std::filesystem::exists(Path("y.npy")));
  EXPECT_THAT(ErrorOf("run %/saved --output z=%/y.npy"), HasSubstr("z"));
}

TEST_F(ControlFlowCliTest, ASavedCutTakesAllCounts) {
  Write("cut.relay",
        "def @main(%x: Tensor[(6, 2), float32], %y: Tensor[(6), float32]) {\n"
        "  %0 = cast(greater(%y, 2f), dtype=\"int64\");\n"
        "  exp(take_first(%x, sum(%0, axis=[0], keepdims=True)))\n}\n");
  // One kernel serves all counts, also 0.
  EXPECT_THAT(Tenon("compile %/cut.relay --emit=executable --explain -o %/saved").err,
              AllOf(HasSubstr("tvmgen_default_fused_exp\n"),
                    ::testing::Not(HasSubstr("tvmgen_default_fused_exp_1\n"))));
  // Random inputs are at most 1.
  EXPECT_THAT(OutputOf("run %/saved"), HasSubstr("result 0: float32 (0, 2)"));
}

TEST_F(ControlFlowCliTest, ASavedCutIsComparedWithTheNumberOfItsType) {
  Write("cut.relay",
        "def @main(%x: Tensor[(6), float32], %n: Tensor[(1), int64]) {\n"
        "  let %y: Tensor[(4), float32] = take_first(%x, %n); exp(%y)\n}\n");
  OutputOf("compile %/cut.relay --emit=executable -o %/saved");
  Save("x.npy", NDArray::Zeros({6}, Float32));
  for (const std::int64_t n : {4, 5})
    Save(StrCat("n", n, ".npy"), NDArray::FromVector<std::int64_t>({1}, {n}));
  EXPECT_THAT(OutputOf("run %/saved --input x=%/x.npy --input n=%/n4.npy"),
              HasSubstr("result 0: float32 (4,) [1, 1, 1, 1]"));
  for (const char* model : {"saved", "cut.relay"})
    EXPECT_THAT(ErrorOf(StrCat("run %/", model, " --input x=%/x.npy --input n=%/n5.npy")),
                HasSubstr("give an extent of 5; the type of the result says 4"));
}

TEST_F(ControlFlowCliTest, IsMeasured) {
  EXPECT_THAT(OutputOf("bench %/loop.relay"), HasSubstr("ms"));
}

TEST_F(ControlFlowCliTest, OptKeepsIfsAndReadsItsOwnText) {
  const std::string text = OutputOf("opt %/loop.relay --passes=InferType,FuseOps");
  EXPECT_THAT(text, AllOf(HasSubstr("if (%"), HasSubstr("} else {"), HasSubstr("Primitive=1")));
  Write("fused.relay", text);
  EXPECT_EQ(OutputOf("opt %/fused.relay --passes=InferType,FuseOps"), text);
}

TEST_F(ControlFlowCliTest, KernelsOfAllPartsAreExplainedAndShown) {
  const std::string why = Tenon("compile %/loop.relay --explain --emit=asm").err;
  EXPECT_THAT(
      why, AllOf(HasSubstr("tvmgen_default_fused_less\n  computes "), HasSubstr("loop.relay:2:7"),
                 HasSubstr("tvmgen_default_fused_multiply_add\n")));
  EXPECT_THAT(OutputOf("compile %/loop.relay"),
              AllOf(HasSubstr("def @main("), HasSubstr("Primitive=1"), HasSubstr("if (%")));
  EXPECT_THAT(OutputOf("compile %/loop.relay --emit=loops"),
              HasSubstr("// tvmgen_default_fused_multiply_add [te"));
  Write("cut.relay",
        "def @main(%x: Tensor[(n, 2), float32], %y: Tensor[(n), float32]) {\n"
        "  %0 = cast(greater(%y, 2f), dtype=\"int64\");\n"
        "  exp(take_first(%x, sum(%0, axis=[0], keepdims=True)))\n}\n");
  EXPECT_THAT(Tenon("compile %/cut.relay --explain=json --emit=asm").err,
              AllOf(HasSubstr("\"name\": \"tvmgen_default_fused_exp\""),
                    HasSubstr("\"origins\": [\n            \"")));
}

TEST_F(ControlFlowCliTest, ALoopIsExported) {
  OutputOf("compile %/loop.relay -o %/x.so");
  OutputOf("compile %/loop.relay -o %/x.o");
  EXPECT_THAT(Contents(Path("x.h")), HasSubstr("int32_t x_run("));
  EXPECT_THAT(OutputOf("compile %/loop.relay --emit=c"),
              AllOf(HasSubstr("case 0: /* @main */"), HasSubstr("int32_t model_run(")));
  Write("any.relay",
        "def @main(%c: bool, %x: Tensor[(n), float32]) { if (%c) { exp(%x) } else { %x } }\n");
  OutputOf("compile %/any.relay -o %/any.so");
  EXPECT_THAT(Contents(Path("any.h")), HasSubstr("void** outputs, int64_t* const* output_shapes"));
}

TEST_F(ControlFlowCliTest, WhatNeedsAPlanIsRefusedInWords) {
  for (const char* command :
       {"compile %/loop.relay --emit=c --form=reference", "compile %/loop.relay --emit=json",
        "explore %/loop.relay -o %/x.html"})
    EXPECT_THAT(ErrorOf(command), HasSubstr("a module with control flow has no single plan"))
        << command;
}

}  // namespace
}  // namespace tenon::tools
