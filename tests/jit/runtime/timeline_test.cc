// Which thread did what: of parallel loops, and of kernels.
#include "tenon/jit/runtime/timeline.h"

#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/jit/runtime/parallel_runtime.h"

namespace tenon::jit {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

void Nothing(void* /*closure*/, std::int64_t /*begin*/, std::int64_t /*end*/) {}

// On a thread of its own, whose loops have never waited for others.
template <typename Body>
void OnFreshThread(const Body& body) {
  std::thread thread(body);
  thread.join();
}

TEST(TimelineTest, EachThreadOfALoopHasItsShare) {
  OnFreshThread([] {
    Timeline timeline;
    const ScopedThreads threads(3);
    {
      const Timeline::Recording recording(&timeline);
      const auto start = Timeline::Clock::now();
      ParallelFor(Nothing, nullptr, 100);
      timeline.EndKernel("k", start, Timeline::Clock::now());
    }
    ParallelFor(Nothing, nullptr, 100);  // nobody records it
    ASSERT_THAT(timeline.entries(), SizeIs(4));
    const Timeline::Entry& kernel = timeline.entries()[3];
    EXPECT_FALSE(kernel.is_share);
    for (int thread = 0; thread < 3; ++thread) {
      const Timeline::Entry& share = timeline.entries()[static_cast<std::size_t>(thread)];
      EXPECT_TRUE(share.is_share);
      EXPECT_EQ(share.thread, thread);
      EXPECT_EQ(share.name, "k");
      EXPECT_LE(kernel.start, share.start);
      EXPECT_LE(share.start, share.end);
      EXPECT_LE(share.end, kernel.end);
    }
  });
}

TEST(TimelineTest, ALoopOfFewerIterationsHasAsManyShares) {
  OnFreshThread([] {
    Timeline timeline;
    const ScopedThreads threads(4);
    const Timeline::Recording recording(&timeline);
    ParallelFor(Nothing, nullptr, 2);
    EXPECT_THAT(timeline.entries(), SizeIs(2));
  });
}

TEST(TimelineTest, ThreadsOfOthersAreNotRecorded) {
  Timeline timeline;
  const Timeline::Recording recording(&timeline);
  OnFreshThread([] {
    const ScopedThreads threads(2);
    EXPECT_EQ(Timeline::Current(), nullptr);
    ParallelFor(Nothing, nullptr, 100);
  });
  EXPECT_THAT(timeline.entries(), IsEmpty());
}

}  // namespace
}  // namespace tenon::jit
