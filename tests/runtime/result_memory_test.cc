#include "tenon/runtime/result_memory.h"

#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace tenon::runtime {
namespace {

TEST(ResultMemoryTest, ABlockComesBackWhenItsLastCopyGoes) {
  const auto memory = std::make_shared<ResultMemory>();
  NDArray block = memory->Take(0, 100);
  ASSERT_EQ(block.bytes(), 100U);
  const void* place = block.raw();
  const NDArray copy = block;
  block = NDArray();
  EXPECT_NE(memory->Take(0, 100).raw(), place);  // it goes back to an empty place
  { const NDArray last = copy; }
  EXPECT_NE(memory->Take(1, 100).raw(), place);
}

TEST(ResultMemoryTest, OneBlockAPlaceIsKept) {
  const auto memory = std::make_shared<ResultMemory>();
  NDArray first = memory->Take(0, 64), second = memory->Take(0, 64);
  const void* place = first.raw();
  first = NDArray();
  second = NDArray();  // freed: the place is taken
  EXPECT_EQ(memory->Take(0, 64).raw(), place);
}

// Of a model that takes every shape, results differ in size.
TEST(ResultMemoryTest, ASmallResultDoesNotHoldALargeBlock) {
  const auto memory = std::make_shared<ResultMemory>();
  const void* place = memory->Take(0, 1000).raw();
  EXPECT_EQ(memory->Take(0, 500).raw(), place);
  const NDArray small = memory->Take(0, 400);
  EXPECT_EQ(small.bytes(), 400U);
  EXPECT_EQ(memory->Take(0, 2000).bytes(), 2000U);
}

// New pages of the system would be filled each time.
TEST(ResultMemoryTest, LargeAndSmallResultsThatTakeTurnsFindTheirBlocks) {
  const auto memory = std::make_shared<ResultMemory>();
  const void* large = memory->Take(0, 1000).raw();
  const void* small = memory->Take(0, 100).raw();
  for (int turn = 0; turn < 3; ++turn) {
    EXPECT_EQ(memory->Take(0, 1000).raw(), large);
    EXPECT_EQ(memory->Take(0, 100).raw(), small);
  }
  const void* largest = memory->Take(0, 5000).raw();
  EXPECT_EQ(memory->Take(0, 5000).raw(), largest);
}

TEST(ResultMemoryTest, BlocksOutliveTheMemory) {
  auto memory = std::make_shared<ResultMemory>();
  const NDArray block = memory->Take(0, 1 << 20);
  memory.reset();
  std::memset(block.raw(), 7, block.bytes());
  EXPECT_EQ(block.data<std::uint8_t>()[block.size() - 1], 7);
}

TEST(ResultMemoryTest, AnEmptyResultHasAnAddress) {
  const auto memory = std::make_shared<ResultMemory>();
  EXPECT_NE(memory->Take(0, 0).raw(), nullptr);
}

TEST(ResultMemoryTest, ThreadsTakeAndGiveBackAtOnce) {
  const auto memory = std::make_shared<ResultMemory>();
  std::vector<std::thread> threads;
  for (std::uint8_t t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (std::size_t i = 0; i < 500; ++i) {
        const NDArray block = memory->Take(i % 3, 256);
        std::memset(block.raw(), t, block.bytes());
        std::this_thread::yield();
        for (std::int64_t at = 0; at < block.size(); ++at)
          ASSERT_EQ(block.data<std::uint8_t>()[at], t);  // nobody else has it
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace tenon::runtime
