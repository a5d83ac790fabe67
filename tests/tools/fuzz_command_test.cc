// tenon fuzz.
#include "tenon/tests/testing/cli_testing.h"

namespace tenon::tools {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

using FuzzCommandTest = CliTest;

TEST_F(FuzzCommandTest, RunsPassesAloneAndInAsManyPairsAsAsked) {
  EXPECT_THAT(OutputOf("fuzz --graphs --cases 2 --passes InferType --pairs 0"),
              HasSubstr("2 runs of passes"));
  EXPECT_THAT(OutputOf("fuzz --graphs --cases 2 --passes InferType --pairs 3"),
              HasSubstr("8 runs of passes"));
}

TEST_F(FuzzCommandTest, ChecksRandomSchedulesOfRandomComputations) {
  EXPECT_THAT(OutputOf("fuzz --cases 10 --seed 5"),
              AllOf(HasSubstr("10 cases, "), HasSubstr("no findings")));
}

TEST_F(FuzzCommandTest, ChecksRandomLoops) {
  EXPECT_THAT(OutputOf("fuzz --loops --cases 10 --seed 5"),
              AllOf(HasSubstr("10 cases; "), HasSubstr("no findings")));
  EXPECT_THAT(ErrorOf("fuzz --loops --graphs"), HasSubstr("--graphs"));
}

TEST_F(FuzzCommandTest, ChecksAnOperatorOfAPlugin) {
  EXPECT_THAT(OutputOf(StrCat("fuzz --op plugin.halve --cases 5 --plugin ", TENON_TEST_PLUGIN)),
              AllOf(HasSubstr("calls such as plugin.halve("), HasSubstr("no findings")));
}

TEST_F(FuzzCommandTest, FindsAnImplementationThatComputesSomethingElse) {
  EXPECT_THAT(Tenon(StrCat("fuzz --op plugin.swapped --cases 20 --plugin ", TENON_TEST_PLUGIN)).out,
              AllOf(HasSubstr("wrong result of swapped"), HasSubstr("plugin.swapped(")));
}

TEST_F(FuzzCommandTest, AComputeThatAlwaysReadsOutsideIsAFinding) {
  const Ended ended =
      Tenon(StrCat("fuzz --op plugin.beyond --cases 20 --plugin ", TENON_TEST_PLUGIN));
  EXPECT_EQ(ended.code, 1);
  EXPECT_THAT(ended.out, HasSubstr("whatever the inputs hold: "));
}

TEST_F(FuzzCommandTest, ChecksRandomOnnxModels) {
  EXPECT_THAT(
      OutputOf("fuzz --onnx --cases 20 --seed 5"),
      AllOf(HasSubstr("20 models: "), HasSubstr("with equal results"), HasSubstr("no findings")));
}

TEST_F(FuzzCommandTest, FindsAnImplementationThatAnOnnxModelReaches) {
  EXPECT_THAT(Tenon(StrCat("fuzz --onnx --valid --nodes tenon.plugin.swapped --cases 20 --plugin ",
                           TENON_TEST_PLUGIN))
                  .out,
              AllOf(HasSubstr("wrong result"), HasSubstr("plugin.swapped("),
                    HasSubstr("op_type: \"plugin.swapped\"")));
}

TEST_F(FuzzCommandTest, RunsOnnxModelsForManyValuesOfTheirVariables) {
  EXPECT_THAT(OutputOf("fuzz --onnx --symbolic --valid --cases 10 --seed 5"),
              AllOf(HasSubstr("10 models: 0 with equal results"), HasSubstr("sets of values"),
                    HasSubstr("no findings")));
}

TEST_F(FuzzCommandTest, SaysThatAnOnnxOperatorIsUnknown) {
  EXPECT_THAT(ErrorOf("fuzz --onnx --nodes Rleu"), HasSubstr("no node of Rleu can be drawn"));
}

TEST_F(FuzzCommandTest, SeedsWrapAround) {
  EXPECT_THAT(OutputOf("fuzz --op exp --cases 2 --seed 18446744073709551615"),
              AllOf(HasSubstr("calls such as exp("), HasSubstr("no findings")));
}

TEST_F(FuzzCommandTest, SaysThatAnOperatorIsUnknown) {
  EXPECT_THAT(ErrorOf("fuzz --op nn.rleu"), HasSubstr("nn.relu"));
}

}  // namespace
}  // namespace tenon::tools
