#include "tenon/runtime/thread_trial.h"

#include <gtest/gtest.h>

namespace tenon::runtime {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

// A plan that takes these times on threads and on one.
class ThreadTrialTest : public ::testing::Test {
 protected:
  // Runs until the next run is no trial, and returns how many of them were on one thread.
  int Try(microseconds on_threads, microseconds alone) {
    int runs_alone = 0;
    while (trial_.is_trial()) {
      runs_alone += trial_.works_alone() ? 1 : 0;
      trial_.Note(trial_.works_alone() ? alone : on_threads);
    }
    return runs_alone;
  }
  std::int64_t RunsUntilTrial() {
    std::int64_t runs = 0;
    for (; !trial_.is_trial(); ++runs) trial_.Note({});
    return runs;
  }
  ThreadTrial trial_;
};

TEST_F(ThreadTrialTest, TheFirstRunIsOnThreads) { EXPECT_FALSE(trial_.works_alone()); }

TEST_F(ThreadTrialTest, ShortRunsAreTriedBothWaysAndTheFasterIsKept) {
  EXPECT_EQ(Try(microseconds(500), microseconds(200)), 6);
  EXPECT_TRUE(trial_.works_alone());
  EXPECT_EQ(RunsUntilTrial(), 10'000);
  EXPECT_FALSE(trial_.works_alone());
  EXPECT_EQ(Try(microseconds(200), microseconds(300)), 6);
  EXPECT_FALSE(trial_.works_alone());
  EXPECT_EQ(RunsUntilTrial(), 10'000);
}

TEST_F(ThreadTrialTest, WhatItFoundIsSaid) {
  EXPECT_FALSE(trial_.choice());
  Try(microseconds(500), microseconds(200));
  EXPECT_EQ(ToText(*trial_.choice()), "one, which takes 0.2 ms; all that are set take 0.5 ms");
  RunsUntilTrial();
  Try(microseconds(200), microseconds(300));
  EXPECT_EQ(ToText(*trial_.choice()), "all that are set, which take 0.2 ms; one takes 0.3 ms");
  RunsUntilTrial();
  Try(milliseconds(3), milliseconds(1));
  EXPECT_EQ(ToText(*trial_.choice()), "all that are set; 3 ms is too long to try one");
}

TEST_F(ThreadTrialTest, ThreadsAreKeptWhereOneIsHardlyFaster) {
  Try(microseconds(200), microseconds(191));
  EXPECT_FALSE(trial_.works_alone());
}

TEST_F(ThreadTrialTest, LongRunsAreNeverOnOneThread) {
  EXPECT_EQ(Try(microseconds(2001), microseconds(1)), 0);
  EXPECT_FALSE(trial_.works_alone());
  EXPECT_GT(RunsUntilTrial(), 900);
}

TEST_F(ThreadTrialTest, TheFirstRunOfEachWayDoesNotCount) {
  trial_.Note(milliseconds(100));
  for (int run = 1; run < 6; ++run) trial_.Note(microseconds(20));
  ASSERT_TRUE(trial_.works_alone());
  trial_.Note(milliseconds(100));
  for (int run = 1; run < 6; ++run) trial_.Note(microseconds(10));
  EXPECT_FALSE(trial_.is_trial());
  EXPECT_TRUE(trial_.works_alone());
}

TEST_F(ThreadTrialTest, RunsWithoutMeasurableTimeDoNotOverflow) {
  Try(microseconds(0), microseconds(0));
  EXPECT_EQ(RunsUntilTrial(), 2'000'000);
}

TEST_F(ThreadTrialTest, RunsAloneKeepParallelLoopsOnTheirThread) {
  const jit::ScopedThreads two(2);
  const auto iterations_together = [&] {
    std::int64_t most = 0;
    trial_.Run([&] {
      jit::ParallelFor(
          [](void* closure, std::int64_t begin, std::int64_t end) {
            if (begin == 0) *static_cast<std::int64_t*>(closure) = end;
          },
          &most, 100);
    });
    return most;
  };
  EXPECT_EQ(iterations_together(), 50);
  while (!trial_.works_alone()) trial_.Note(microseconds(10));
  EXPECT_EQ(iterations_together(), 100);
}

}  // namespace
}  // namespace tenon::runtime
