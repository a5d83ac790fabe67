// Compiled code lives as long as its last handle, and no longer.
#include <fstream>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "tenon/jit/kernel.h"
#include "tenon/schedule/lower.h"

namespace tenon::jit {
namespace {

loop::Function Increment() {
  const te::Tensor a = te::Placeholder({4}, Float32, "A");
  const te::Tensor b = te::Compute(
      {4}, [&](te::Var i) { return a(i) + 1.0F; }, "B");
  return schedule::Lower(schedule::Schedule(b), {a, b}, "increment");
}

std::int64_t ResidentBytes() {
  std::ifstream statm("/proc/self/statm");
  std::int64_t total = 0, resident = 0;
  statm >> total >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

TEST(LifetimeTest, TenThousandRoundsOfCompilingKeepMemoryFlat) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer holds freed memory back";
#endif
  const loop::Function function = Increment();
  const NDArray x = NDArray::FromVector<float>({4}, {1, 2, 3, 4});
  std::int64_t early = 0;
  for (int round = 1; round <= 10000; ++round) {
    const auto kernel = Compile(function);
    ASSERT_TRUE(kernel.ok()) << kernel.status();
    const NDArray y = NDArray::Zeros({4}, Float32);
    ASSERT_TRUE((*kernel)(x, y).ok());
    ASSERT_EQ(y.data<float>()[3], 5) << "round " << round;
    if (round == 1000) early = ResidentBytes();
  }
  ASSERT_GT(early, 0);
  EXPECT_LT(ResidentBytes() - early, 8 << 20);
}

TEST(LifetimeTest, ACopyKeepsTheCode) {
  const NDArray x = NDArray::FromVector<float>({4}, {1, 2, 3, 4}), y = NDArray::Zeros({4}, Float32);
  Kernel copy;
  {
    const Kernel original = Compile(Increment()).value();
    copy = original;
  }
  ASSERT_TRUE(copy(x, y).ok());
  EXPECT_EQ(y.ToVector<float>(), (std::vector<float>{2, 3, 4, 5}));
}

TEST(LifetimeTest, ACallableKeepsTheCode) {
  const std::shared_ptr<const Callable> callable = Compile(Increment()).value().AsCallable();
  float x[] = {1, 2, 3, 4}, y[] = {0, 0, 0, 0};
  void* buffers[] = {x, y};
  callable->Call(buffers, nullptr);
  EXPECT_THAT(y, ::testing::ElementsAre(2, 3, 4, 5));
}

TEST(LifetimeTest, UnloadingOneKernelLeavesTheOthers) {
  const NDArray x = NDArray::FromVector<float>({4}, {1, 2, 3, 4}), y = NDArray::Zeros({4}, Float32);
  std::vector<Kernel> kernels;
  for (int i = 0; i < 3; ++i) kernels.push_back(Compile(Increment()).value());
  kernels.erase(kernels.begin() + 1);
  for (const Kernel& kernel : kernels) {
    ASSERT_TRUE(kernel(x, y).ok());
    EXPECT_EQ(y.ToVector<float>(), (std::vector<float>{2, 3, 4, 5}));
  }
}

TEST(LifetimeTest, ManyThreadsCompileCallAndUnload) {
  const loop::Function function = Increment();
  std::vector<std::thread> threads;
  std::vector<int> right(4, 0);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int round = 0; round < 20; ++round) {
        const auto kernel = Compile(function);
        const NDArray x = NDArray::FromVector<float>({4}, {1, 2, 3, static_cast<float>(round)});
        const NDArray y = NDArray::Zeros({4}, Float32);
        if (kernel.ok() && (*kernel)(x, y).ok() && y.data<float>()[3] == round + 1) ++right[t];
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(right, ::testing::Each(20));
}

}  // namespace
}  // namespace tenon::jit
