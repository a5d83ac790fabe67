#include "tenon/runtime/working_memory.h"

#include <cstring>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace tenon::runtime {
namespace {

TEST(WorkingMemoryTest, ABlockIsUsedAgainAsLongAsItIsLargeEnough) {
  WorkingMemory memory;
  const void* place = WorkingMemory::Block(memory, 1000).data();
  EXPECT_EQ(WorkingMemory::Block(memory, 300).data(), place);
  EXPECT_EQ(WorkingMemory::Block(memory, 1000).data(), place);
}

// One that grew has room for more.
TEST(WorkingMemoryTest, ALargerBlockTakesTheOthersPlaceWithSomeToSpare) {
  WorkingMemory memory;
  { const WorkingMemory::Block first(memory, 1 << 20); }
  const void* place = WorkingMemory::Block(memory, 2 << 20).data();
  EXPECT_EQ(WorkingMemory::Block(memory, 3 << 20).data(), place);
}

TEST(WorkingMemoryTest, BlocksAtTheSameTimeAreApart) {
  WorkingMemory memory;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&memory, t] {
      for (std::size_t i = 0; i < 500; ++i) {
        const WorkingMemory::Block block(memory, 64 + 16 * i);
        auto* bytes = static_cast<unsigned char*>(block.data());
        std::memset(bytes, t, 64 + 16 * i);
        std::this_thread::yield();
        for (std::size_t at = 0; at < 64 + 16 * i; at += 64) ASSERT_EQ(bytes[at], t);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace tenon::runtime
