// Jobs and answers survive the way between processes.
#include "tenon/tune/jobs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/support/error.h"
#include "tenon/tests/tune/records_testing.h"

namespace tenon::tune {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(JobsTest, AJobIsTheSameAfterItsWay) {
  const TryJob job{
      .content = "c0", .candidate = {"te.dense.tiled", {{"rows", 6}}}, .known = {"a", "b x=1"}};
  const Job read = JobFromJson(ToJson(Job(job)));
  ASSERT_TRUE(std::holds_alternative<TryJob>(read));
  EXPECT_EQ(std::get<TryJob>(read).content, job.content);
  EXPECT_EQ(std::get<TryJob>(read).candidate, job.candidate);
  EXPECT_EQ(std::get<TryJob>(read).known, job.known);
  const DecideJob decide{.wins = {SampleRecord("c1", 0.1 + 0.2)}, .seconds = 1.0 / 3};
  const Job again = JobFromJson(ToJson(Job(decide)));
  EXPECT_EQ(std::get<DecideJob>(again).wins, decide.wins);
  EXPECT_EQ(std::get<DecideJob>(again).seconds, decide.seconds);
  EXPECT_TRUE(std::holds_alternative<BriefJob>(JobFromJson(ToJson(Job(BriefJob())))));
  EXPECT_EQ(std::get<SettleJob>(JobFromJson(ToJson(Job(SettleJob{{3, 1}})))).cpus,
            (std::vector<int>{3, 1}));
}

TEST(JobsTest, AnAnswerIsTheSameAfterItsWay) {
  Outcome outcome{.choice = "te.x rows=2", .choices = {{"rows", {1, 2, 4}, 2}}};
  outcome.record = SampleRecord("c", 0.9);
  outcome.record->scope = Scope::kWhole;
  const auto read = std::get<Outcome>(AnswerFromJson(ToJson(Answer(outcome))));
  EXPECT_EQ(read.record, outcome.record);
  EXPECT_EQ(read.choices[0].values, outcome.choices[0].values);
  EXPECT_FALSE(std::get<Outcome>(AnswerFromJson(ToJson(Answer(Outcome())))).record);

  const ModelBrief brief{
      .target = "t",
      .threads = 2,
      .kernels = {{.name = "k", .text = "fn\n(\"x\")\t\xff", .model_s = 1e-9, .rows = {"r"}}}};
  const std::string line = ToJson(Answer(brief));
  EXPECT_THAT(line, Not(HasSubstr("\n")));  // one line, whatever the text
  EXPECT_EQ(std::get<ModelBrief>(AnswerFromJson(line)).kernels[0].model_s, 1e-9);

  Decision decision{.records = {SampleRecord("c", 1)}, .kept = true};
  EXPECT_FALSE(std::get<Decision>(AnswerFromJson(ToJson(Answer(decision)))).model);
  decision.model = MedianRatio{0.5, 0.01};
  EXPECT_EQ(std::get<Decision>(AnswerFromJson(ToJson(Answer(decision)))).model->ratio, 0.5);
  EXPECT_EQ(std::get<Crashed>(AnswerFromJson(ToJson(Answer(Crashed{"why"})))).why, "why");
  const Introduction introduction{.host = "h", .target = "t", .threads = 3, .cores = {{0, 4}, {1}}};
  EXPECT_EQ(std::get<Introduction>(AnswerFromJson(ToJson(Answer(introduction)))).cores,
            introduction.cores);
}

TEST(JobsTest, OtherTextsAreRefusedInWords) {
  for (const char* text : {"", "{", "{}", "[1]", "{\"try\":{}}", "{\"try\":7}", "{\"tri\":{}}",
                           "{\"settle\":{\"cpus\":\"all\"}}", "null", "\xff"})
    EXPECT_THROW((void)JobFromJson(text), Error) << text;
  try {
    (void)AnswerFromJson("{\"outcome\":{}}");
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("this is no answer of this version of Tenon"));
  }
}

}  // namespace
}  // namespace tenon::tune
