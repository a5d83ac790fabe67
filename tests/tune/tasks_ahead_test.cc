// When tasks are done that somebody needs later, and by whom.
#include "tenon/tune/tasks_ahead.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include "tenon/tune/cores.h"

namespace tenon::tune {
namespace {

using ::testing::IsEmpty;

int LastCpu() { return CoresOfThisProcess().back().back(); }

TEST(TasksAheadTest, AThreadOfItsOwnDoesThemInTheirOrder) {
  std::vector<int> done;  // by one thread
  int cpu = -1;
  TasksAhead tasks({LastCpu()});
  for (int i = 0; i < 50; ++i) {
    tasks.Add([&done, &cpu, i] {
      done.push_back(i);
      cpu = sched_getcpu();
    });
  }
  for (int i = 0; i < 50; ++i) tasks.WaitForFirst();
  EXPECT_EQ(done.size(), 50U);
  EXPECT_TRUE(std::ranges::is_sorted(done));
  EXPECT_EQ(cpu, LastCpu());
}

TEST(TasksAheadTest, TheyAreDoneWhileNobodyWaits) {
  std::promise<void> done;
  TasksAhead tasks({LastCpu()});
  tasks.Add([&] { done.set_value(); });
  done.get_future().wait();
  tasks.WaitForFirst();
}

TEST(TasksAheadTest, WithoutFreeCpusAllAreDoneWhenTheFirstIsNeeded) {
  std::atomic<int> done = 0;
  TasksAhead tasks({});
  for (int i = 0; i < 5; ++i) tasks.Add([&] { ++done; });
  EXPECT_EQ(done, 0) << "nobody is disturbed before";
  tasks.WaitForFirst();
  EXPECT_EQ(done, 5);
  for (int i = 0; i < 4; ++i) tasks.WaitForFirst();
  tasks.Add([&] { ++done; });
  EXPECT_EQ(done, 5);
  tasks.WaitForFirst();
  EXPECT_EQ(done, 6);
}

TEST(TasksAheadTest, WhatWasBegunEndsBeforeTheyDo) {
  std::promise<void> begun;
  std::atomic<bool> is_done = false;
  std::vector<int> never;
  {
    TasksAhead tasks({LastCpu()});
    tasks.Add([&] {
      begun.set_value();
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      is_done = true;
    });
    tasks.Add([&] { never.push_back(1); });
    begun.get_future().wait();
  }
  EXPECT_TRUE(is_done);
  EXPECT_THAT(never, IsEmpty());
  TasksAhead nothing({});
  nothing.WaitForFirst();  // returns at once
}

}  // namespace
}  // namespace tenon::tune
