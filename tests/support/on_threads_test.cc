#include "tenon/support/on_threads.h"

#include <atomic>
#include <cstdlib>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

namespace tenon {
namespace {

TEST(OnThreadsTest, SharedWorkIsDoneOnceEach) {
  for (const std::size_t count : {1, 2, 3, 1000}) {
    std::vector<std::atomic<int>> done(count);
    std::atomic<std::size_t> next{0};
    OnThreads(count, [&] {
      for (std::size_t i = next++; i < count; i = next++) ++done[i];
    });
    for (const std::atomic<int>& times : done) EXPECT_EQ(times, 1);
  }
}

TEST(OnThreadsTest, RunsOnNoMoreThreadsThanAllowedAndOnThisOne) {
  std::atomic<int> runs{0};
  std::atomic<bool> here{false};
  const std::thread::id this_thread = std::this_thread::get_id();
  const auto work = [&] {
    ++runs;
    if (std::this_thread::get_id() == this_thread) here = true;
  };
  OnThreads(0, work);
  EXPECT_EQ(runs, 0);
  OnThreads(1, work);
  EXPECT_EQ(runs, 1);
  EXPECT_TRUE(here);
}

// How often the work runs where no thread can be started. The superuser may always start one.
int RunsWithoutThreads() {
  const rlimit none{0, 0};
  if (setrlimit(RLIMIT_NPROC, &none) != 0) return -1;
  if (geteuid() == 0 && setuid(65534) != 0) return -1;
  std::atomic<int> runs{0};
  OnThreads(1000, [&] { ++runs; });
  return runs;
}

TEST(OnThreadsTest, ThisThreadDoesTheWorkWhereTheSystemGivesNoOther) {
  EXPECT_EXIT(std::_Exit(RunsWithoutThreads()), ::testing::ExitedWithCode(1), "");
}

TEST(OnThreadsTest, TheFirstExceptionIsThrownAfterAllHaveEnded) {
  std::atomic<int> ended{0};
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < 100; i = next++) {
      if (i == 3) throw 42;
    }
    ++ended;
  };
  EXPECT_THROW(OnThreads(4, work), int);
  EXPECT_GE(next, 4U);
}

}  // namespace
}  // namespace tenon
