// Parallel loops: results, and the runtime under them.
#include <algorithm>
#include <atomic>
#include <cfloat>
#include <chrono>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include "tenon/jit/runtime/parallel_runtime.h"
#include "tenon/tests/jit/kernel_testing.h"

namespace tenon::jit {
namespace {

using schedule::Schedule;
using te::Placeholder;
using te::Tensor;
using te::Var;

TEST(ParallelTest, OneAndTwoThreadsGiveTheSameBits) {
  const Kernel kernel = ParallelKernel();
  const NDArray x = Random({37, 203}), one = NDArray::Zeros({37}, Float32),
                two = NDArray::Zeros({37}, Float32);
  {
    const ScopedThreads threads(1);
    ASSERT_TRUE(kernel(x, one).ok());
  }
  {
    const ScopedThreads threads(2);
    ASSERT_TRUE(kernel(x, two).ok());
  }
  EXPECT_GT(one.data<float>()[0], 0);
  EXPECT_TRUE(one.SameBytes(two));
}

// The same for a step of a compiled graph, down to denormals.
TEST(ParallelTest, ACallableGivesTheSameBitsForOneAndTwoThreads) {
  const Tensor a = Placeholder({64}, Float32, "A");
  const Tensor b = te::Compute(
      {64}, [&](Var i) { return a(i) * 0.5F; }, "B");
  Schedule s(b);
  s[b].Parallel(b.axis(0));
  const std::shared_ptr<const Callable> callable = Compiled(s, {a, b}, "half").AsCallable();
  std::vector<float> x(64, FLT_MIN), one(64, 7), two(64, 7);
  for (const int count : {1, 2}) {
    const ScopedThreads threads(count);
    void* buffers[] = {x.data(), count == 1 ? one.data() : two.data()};
    callable->Call(buffers, nullptr);
  }
  EXPECT_EQ(one, two);
}

TEST(ParallelTest, EveryIterationRunsOnce) {
  struct Counts {
    std::vector<int> hits;
  };
  for (const std::int64_t extent : {1, 2, 3, 7, 100}) {
    for (const int count : {1, 2, 5}) {
      const ScopedThreads threads(count);
      Counts counts{std::vector<int>(static_cast<std::size_t>(extent), 0)};
      ParallelFor(
          [](void* closure, std::int64_t begin, std::int64_t end) {
            for (std::int64_t i = begin; i < end; ++i)
              ++static_cast<Counts*>(closure)->hits[static_cast<std::size_t>(i)];
          },
          &counts, extent);
      EXPECT_THAT(counts.hits, ::testing::Each(1)) << extent << " on " << count << " threads";
    }
  }
}

// The second thread of the first loop keeps the first one waiting.
TEST(ParallelTest, AfterALongWaitTheCallerWorksAlone) {
  struct Seen {
    std::thread::id caller;
    std::atomic<int> elsewhere{0};
    std::atomic<int> iterations{0};
    std::chrono::milliseconds delay{0};
  };
  const ParallelBody body = [](void* closure, std::int64_t begin, std::int64_t end) {
    auto& seen = *static_cast<Seen*>(closure);
    seen.iterations += static_cast<int>(end - begin);
    if (std::this_thread::get_id() == seen.caller) return;
    ++seen.elsewhere;
    std::this_thread::sleep_for(seen.delay);
  };
  // A thread of its own, whose loops have not waited for anything.
  std::thread([&] {
    Seen first, second;
    first.caller = second.caller = std::this_thread::get_id();
    first.delay = std::chrono::milliseconds(100);
    const ScopedThreads two(2);
    ParallelFor(body, &first, 10);
    EXPECT_EQ(first.elsewhere, 1);
    EXPECT_EQ(first.iterations, 10);
    ParallelFor(body, &second, 10);
    EXPECT_EQ(second.elsewhere, 0);
    EXPECT_EQ(second.iterations, 10);
    // Kernels that are made meanwhile are made for all threads.
    const ScopedThreads three(3);
    EXPECT_EQ(ParallelThreads(), 3);
  }).join();
}

TEST(ParallelTest, AnExtentOfZeroOrLessRunsNothing) {
  bool called = false;
  const auto body = [](void* closure, std::int64_t, std::int64_t) {
    *static_cast<bool*>(closure) = true;
  };
  ParallelFor(body, &called, 0);
  ParallelFor(body, &called, -3);
  EXPECT_FALSE(called);
}

TEST(ParallelTest, MemoryIsAlignedAndHandedOutAgain) {
  void* first = TakeMemory(1000);
  void* second = TakeMemory(1000);
  EXPECT_NE(first, second);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(first) % 64, 0U);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(second) % 64, 0U);
  GiveMemory(first);
  EXPECT_EQ(TakeMemory(900), first);
  GiveMemory(first);
  GiveMemory(second);
}

TEST(ParallelTest, AHugeBlockIsGivenBackToTheSystem) {
  constexpr std::int64_t kBytes = std::int64_t{600} << 20;
  void* block = TakeMemory(kBytes);
  ASSERT_NE(block, nullptr);
  const std::uintptr_t page = (reinterpret_cast<std::uintptr_t>(block) / 4096 + 1) * 4096;
  ASSERT_EQ(msync(reinterpret_cast<void*>(page), 4096, MS_ASYNC), 0);
  GiveMemory(block);
  EXPECT_NE(msync(reinterpret_cast<void*>(page), 4096, MS_ASYNC), 0) << "it is still mapped";
}

TEST(ParallelTest, ALibrarysTeamIsOneInsideAParallelRegion) {
  // On a thread of its own: one whose loops have waited in vain runs them without a region.
  std::thread([] {
    const ScopedThreads two(2);
    EXPECT_EQ(TeamThreads(), 2);
    std::atomic<int> largest{0};
    ParallelFor(
        [](void* closure, std::int64_t, std::int64_t) {
          auto& seen = *static_cast<std::atomic<int>*>(closure);
          seen = std::max(seen.load(), TeamThreads());
        },
        &largest, 2);
    EXPECT_EQ(largest, 1);
  }).join();
}

// What the kernels of a model take in one run is there for the next.
TEST(ParallelTest, ManyBlocksAreKept) {
  constexpr std::int64_t kBlocks = 20;
  const auto take_all = [&] {
    std::vector<void*> blocks;
    for (std::int64_t i = 0; i < kBlocks; ++i) blocks.push_back(TakeMemory(100000 << (i % 4)));
    for (void* block : blocks) GiveMemory(block);
    return std::set<void*>(blocks.begin(), blocks.end());
  };
  EXPECT_EQ(take_all(), take_all());
}

// The sum is bounded, but the last block is kept whatever its size: it is taken first.
TEST(ParallelTest, TheLastBlockIsKeptWhateverItsSize) {
  constexpr std::int64_t kLarge = std::int64_t{200} << 20;
  void* large = TakeMemory(kLarge);
  GiveMemory(large);
  EXPECT_EQ(TakeMemory(kLarge), large);
  GiveMemory(large);
  GiveMemory(TakeMemory(100));  // and goes with the next
}

}  // namespace
}  // namespace tenon::jit
