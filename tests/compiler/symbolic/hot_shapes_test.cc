// Shapes that come again and again get a compile of their own, if it is faster.
#include "tenon/compiler/symbolic/hot_shapes.h"

#include <atomic>
#include <chrono>
#include <thread>

#include "tenon/compiler/dynamic_model.h"
#include "tenon/support/strings.h"
#include "tenon/tests/testing/graph_testing.h"

namespace tenon::compiler {
namespace {

using testing_graphs::Parsed;
using testing_graphs::Random;

using Shapes = HotShapes::Shapes;

Shapes Rows(std::int64_t rows) { return {{"rows", rows}}; }

absl::StatusOr<runtime::Executable> Compiled(const Shapes& shapes) {
  return Compile(
      Parsed(StrCat("def @main(%x: Tensor[(", shapes.at("rows"), ", 4), float32]) { exp(%x) }")),
      {.threads = 1});
}

// Until the background has done what is asked for; a minute is far more than it needs.
template <typename Done>
void WaitFor(const Done& done) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (!done()) {
    ASSERT_LT(std::chrono::steady_clock::now(), end);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

// Takes turns until the shape is compiled, then races: runs take `own` or `common` seconds.
void Race(HotShapes* hot, const Shapes& shapes, double own, double common) {
  WaitFor([&] { return hot->Next(shapes).is_timed; });
  for (int run = 0; run < 20; ++run) {
    const HotShapes::Turn turn = hot->Next(shapes);
    if (turn.is_timed) hot->Report(shapes, turn, turn.executable ? own : common);
  }
}

TEST(HotShapesTest, AShapeIsHotAfterItsRuns) {
  HotShapes hot({.after = 3}, Compiled);
  for (int run = 0; run < 2; ++run) {
    EXPECT_EQ(hot.Next(Rows(5)).executable, nullptr);
    EXPECT_EQ(hot.Next(Rows(run + 100)).executable, nullptr);
  }
  EXPECT_EQ(hot.statistics().compiled, 0U);
  hot.Next(Rows(5));
  WaitFor([&] { return hot.statistics().compiled == 1; });
}

TEST(HotShapesTest, TheFasterCompileIsKept) {
  HotShapes hot({.after = 1}, Compiled);
  Race(&hot, Rows(5), 1.0, 2.0);
  EXPECT_EQ(hot.statistics().kept, 1U);
  const HotShapes::Turn turn = hot.Next(Rows(5));
  ASSERT_NE(turn.executable, nullptr);
  EXPECT_FALSE(turn.is_timed);
  EXPECT_TRUE(turn.executable->Run({{"x", Random({5, 4}, 1)}}).ok());
}

TEST(HotShapesTest, ACompileThatIsNotFasterIsDropped) {
  HotShapes hot({.after = 1}, Compiled);
  Race(&hot, Rows(5), 1.0, 1.0);
  EXPECT_EQ(hot.statistics().kept, 0U);
  EXPECT_EQ(hot.statistics().dropped, 1U);
  EXPECT_EQ(hot.Next(Rows(5)).executable, nullptr);
}

TEST(HotShapesTest, WhatCannotBeCompiledIsDroppedWithoutAWord) {
  HotShapes hot({.after = 1}, [](const Shapes&) -> absl::StatusOr<runtime::Executable> {
    throw InvalidArgument("no");
  });
  hot.Next(Rows(5));
  WaitFor([&] { return hot.statistics().dropped == 1; });
  EXPECT_EQ(hot.Next(Rows(5)).executable, nullptr);
  EXPECT_EQ(hot.statistics().compiled, 0U);
}

TEST(HotShapesTest, NewerShapesTakeTheRoomOfOlderOnes) {
  HotShapes hot({.after = 1, .most = 2}, Compiled);
  for (const std::int64_t rows : {1, 2, 3}) Race(&hot, Rows(rows), 1.0, 2.0);
  EXPECT_EQ(hot.statistics().dropped, 1U);
  EXPECT_NE(hot.Next(Rows(3)).executable, nullptr);
  EXPECT_NE(hot.Next(Rows(2)).executable, nullptr);
  EXPECT_EQ(hot.Next(Rows(1)).executable, nullptr);
}

TEST(HotShapesTest, NoShapeIsHotWithoutTheOption) {
  HotShapes hot({}, Compiled);
  for (int run = 0; run < 100; ++run) EXPECT_FALSE(hot.Next(Rows(5)).is_timed);
  EXPECT_EQ(hot.statistics().compiled, 0U);
}

TEST(HotShapesTest, TheEndWaitsForACompileAndForgetsTheRest) {
  std::atomic<int> begun = 0, ended = 0;
  {
    HotShapes hot({.after = 1}, [&](const Shapes& shapes) {
      ++begun;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      auto made = Compiled(shapes);
      ++ended;
      return made;
    });
    for (std::int64_t rows = 1; rows < 10; ++rows) hot.Next(Rows(rows));
    WaitFor([&] { return begun > 0; });
  }
  EXPECT_EQ(begun, ended);
  EXPECT_LT(ended, 9);
}

TEST(HotShapesTest, ThreadsThatRunADynamicModelGetRightResultsThroughout) {
  const DynamicModel model = ValueOrThrow(
      DynamicModel::Make(Parsed("def @main(%x: Tensor[(rows, 4), float32]) { multiply(%x, 2f) }"),
                         {.compile = {.threads = 1}, .hot_after = 2, .hot_shapes = 2}));
  std::atomic<int> wrong = 0;
  const auto run = [&](int from) {
    for (int i = from; i < from + 200; ++i) {
      const NDArray x = Random({1 + i % 5, 4}, i);
      const auto results = model.Run({{"x", x}});
      bool right = results.ok() && (*results)[0].shape() == x.shape();
      for (std::int64_t k = 0; right && k < x.size(); ++k)
        right = (*results)[0].data<float>()[k] == 2 * x.data<float>()[k];
      wrong += right ? 0 : 1;
    }
  };
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) threads.emplace_back(run, t);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  WaitFor([&] { return model.statistics().hot_compiled > 0; });
}

}  // namespace
}  // namespace tenon::compiler
