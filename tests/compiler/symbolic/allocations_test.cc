// What runs of a symbolic executable take from the system. This process counts the bytes that
// operator new gives, of which arrays are made, too.
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>

#include "tenon/tests/testing/graph_testing.h"

namespace {

std::atomic<std::size_t> g_largest = 0, g_number = 0;

void* Counted(std::size_t bytes, std::size_t alignment) {
  ++g_number;
  std::size_t known = g_largest;
  while (known < bytes && !g_largest.compare_exchange_weak(known, bytes)) {
  }
  const std::size_t whole =
      (std::max<std::size_t>(bytes, 1) + alignment - 1) / alignment * alignment;
  void* const memory = std::aligned_alloc(alignment, whole);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(std::size_t bytes) { return Counted(bytes, alignof(std::max_align_t)); }
void* operator new[](std::size_t bytes) { return Counted(bytes, alignof(std::max_align_t)); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return Counted(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

namespace tenon {
namespace {

using testing_graphs::Parsed;
using testing_graphs::Random;

// Kernels whose results are read by others, in working memory, and two results.
Executable Compiled() {
  return ValueOrThrow(Compile(
      Parsed("def @main(%x: Tensor[(n, 3, h, w), float32], %k: Tensor[(8, 3, 3, 3), float32]) {\n"
             "  %0 = nn.relu(nn.conv2d(%x, %k, padding=[1, 1], kernel_size=[3, 3], channels=8));\n"
             "  %1 = nn.max_pool2d(%0, pool_size=[2, 2], strides=[2, 2]);\n"
             "  (nn.softmax(%1), sum(%0, axis=[2, 3]))\n"
             "}\n"),
      {.threads = 1}));
}

runtime::Inputs InputsOf(std::int64_t n, std::int64_t h, std::int64_t w) {
  return {{"x", Random({n, 3, h, w}, 1)}, {"k", Random({8, 3, 3, 3}, 2)}};
}

// The least array of the run of 60 x 62 pixels is larger. What the run keeps account in is not.
constexpr std::size_t kBookkeeping = 1024;

struct Taken {
  std::size_t largest = 0, number = 0;
};
Taken TakenBy(const Executable& exe, const runtime::Inputs& inputs) {
  g_largest = 0;
  g_number = 0;
  const auto results = exe.Run(inputs);
  const Taken taken{g_largest, g_number};
  EXPECT_TRUE(results.ok()) << results.status();
  return taken;
}

TEST(AllocationsTest, ARunOfAShapeThatCameBeforeTakesNoMemoryForArrays) {
  const Executable exe = Compiled();
  const runtime::Inputs large = InputsOf(4, 60, 62), small = InputsOf(2, 31, 17);
  EXPECT_GT(TakenBy(exe, large).largest, kBookkeeping);
  (void)TakenBy(exe, small);
  for (int run = 0; run < 3; ++run) {
    EXPECT_LT(TakenBy(exe, large).largest, kBookkeeping);
    EXPECT_LT(TakenBy(exe, small).largest, kBookkeeping);
  }
}

// Results that the caller holds are the only arrays of the next run.
TEST(AllocationsTest, ARunWhoseResultsAreHeldTakesMemoryForItsResultsAlone) {
  const Executable exe = Compiled();
  const runtime::Inputs inputs = InputsOf(4, 60, 62);
  std::vector<NDArray> held = ValueOrThrow(exe.Run(inputs));
  g_largest = 0;
  const std::vector<NDArray> more = ValueOrThrow(exe.Run(inputs));
  EXPECT_LE(g_largest, std::max(more[0].bytes(), more[1].bytes()) + kBookkeeping);
  EXPECT_GT(g_largest, kBookkeeping);
}

// Lists and strings of a fixed number, whatever the extents.
TEST(AllocationsTest, WhatARunKeepsAccountInDoesNotGrowWithItsShape) {
  const Executable exe = Compiled();
  const runtime::Inputs large = InputsOf(4, 60, 62), small = InputsOf(2, 31, 17);
  for (const auto* inputs : {&large, &small, &large, &small}) (void)TakenBy(exe, *inputs);
  EXPECT_EQ(TakenBy(exe, large).number, TakenBy(exe, small).number);
}

}  // namespace
}  // namespace tenon
