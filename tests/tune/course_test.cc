// Where the time of a search goes, and what it reports.
#include "tenon/tune/course.h"

#include "tenon/tests/tune/records_testing.h"

namespace tenon::tune {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

KernelBrief Kernel(const std::string& content, double model_s, double floor_s, int rows = 3) {
  KernelBrief kernel{.name = "kernel_" + content,
                     .content = content,
                     .calls = 1,
                     .model_s = model_s,
                     .floor_s = floor_s,
                     .over = "row"};
  for (int i = 0; i < rows; ++i) kernel.rows.push_back(std::string(1, static_cast<char>('a' + i)));
  return kernel;
}

Outcome Raced(const TryJob& job, double ratio) {
  Record record = SampleRecord(job.content, ratio);
  record.choice = job.candidate.row;
  return {.choice = record.choice, .record = record};
}

class CourseTest : public RecordsTest {
 protected:
  Course Of(std::vector<KernelBrief> kernels) const {
    const Records records = Open("r.sqlite");
    return Course({.target = "t", .versions = "v", .threads = 1, .kernels = std::move(kernels)},
                  records);
  }
  // The kernels that have the turns, where each candidate has this ratio.
  static std::vector<std::string> Turns(Course* course, double ratio) {
    std::vector<std::string> turns;
    while (const auto job = course->Next()) {
      turns.push_back(job->content);
      course->Take(*job, Raced(*job, ratio));
    }
    return turns;
  }
};

TEST_F(CourseTest, TimeGoesWhereMostCanBeWonAboveTheFloor) {
  // The largest is at its floor. Of two calls of a content, both count.
  Course course = Of({Kernel("full", 10, 9.9, 1), Kernel("far", 2, 0.1, 2),
                      Kernel("twice", 1.5, 0.4, 1), Kernel("twice", 1.5, 0.4, 1)});
  EXPECT_THAT(Turns(&course, 2), ElementsAre("twice", "far", "far", "full"));
  EXPECT_TRUE(course.done());
}

TEST_F(CourseTest, AKernelThatWinsNothingHasFewerTurns) {
  Course course = Of({Kernel("a", 3, 0, 3), Kernel("b", 2, 0, 3)});
  EXPECT_THAT(Turns(&course, 2), ElementsAre("a", "b", "a", "a", "b", "b"));
}

TEST_F(CourseTest, WhatIsAtItsFloorStillHasATurn) {
  Course course = Of({Kernel("full", 1, 1.5, 1)});  // the measured floor may be above it
  EXPECT_THAT(Turns(&course, 0.9), ElementsAre("full"));
}

TEST_F(CourseTest, KernelsWithoutCandidatesHaveNoTurn) {
  Course course = Of({Kernel("none", 5, 0, 0), Kernel("some", 1, 0, 1)});
  EXPECT_THAT(Turns(&course, 2), ElementsAre("some"));
  Course nothing = Of({});
  EXPECT_TRUE(nothing.done());
  EXPECT_THAT(nothing.Report(std::nullopt).kernels, IsEmpty());
}

TEST_F(CourseTest, WhatLostOverOtherSizesIsTriedAgain) {
  KernelBrief kernel = Kernel("k", 1, 0, 2);
  kernel.shapes = "d0=400..900";
  Records records = Open("r.sqlite");
  Record small = SampleRecord("k", 1.5), large = small;
  for (Record* record : {&small, &large}) {
    record->target = "t";
    record->threads = 1;
    record->over = kernel.over;
    record->versions = "v";
  }
  small.choice = "a";
  small.shapes = "d0=1..8";
  large.choice = "b";
  large.shapes = "d0=300..1000";
  ASSERT_TRUE(records.Add(small, "text").ok());
  ASSERT_TRUE(records.Add(large, "text").ok());
  const Course course = Of({kernel});
  EXPECT_THAT(course.FrontierOf("k").known(), ElementsAre("b", "row"));
}

TEST_F(CourseTest, WhileOneKernelWaitsForAnswersOthersHaveTheirTurns) {
  Course course = Of({Kernel("a", 3, 0, 1), Kernel("b", 2, 0, 1)});
  const TryJob first = course.Next().value();
  EXPECT_EQ(first.content, "a");
  const TryJob second = course.Next().value();
  EXPECT_EQ(second.content, "b");
  EXPECT_FALSE(course.Next());
  EXPECT_FALSE(course.done());
  course.PutBack(first);
  EXPECT_EQ(course.Next()->content, "a");
}

TEST_F(CourseTest, TheReportHasTheWaysAndTheirTimes) {
  Course course = Of({Kernel("a", 3, 1, 2)});
  const TryJob first = course.Next().value(), second = course.Next().value();
  course.Take(second, Raced(second, 0.5), 1, 2.5);
  course.Take(first, {.refused = "no"}, 0, 4);
  const TuneReport report = course.Report(std::nullopt);
  ASSERT_THAT(report.tries, SizeIs(2));
  EXPECT_EQ(report.tries[0].worker, 1);
  EXPECT_EQ(report.tries[0].seconds, 2.5);
  EXPECT_EQ(report.tries[0].outcome->ratio, 0.5);
  EXPECT_EQ(report.tries[1].words, "no");
  EXPECT_EQ(report.kernels.at(0).alone->choice, "b");
  EXPECT_EQ(report.kernels[0].floor_s, 1);
  EXPECT_EQ(report.raced, 1);
}

}  // namespace
}  // namespace tenon::tune
