// Store predicates: what is left out, and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/compiler/build.h"
#include "tenon/te/math.h"
#include "tenon/te/reduce.h"
#include "tenon/tests/schedule/schedule_testing.h"

namespace tenon::schedule {
namespace {

using te::Compute;
using te::Placeholder;
using te::Var;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class StorePredicateTest : public ::testing::Test {
 protected:
  Tensor a = Placeholder({9}, Float32, "A");
  Tensor b = Compute(
      {9}, [this](const Var& i) { return a(i) * 2.0F; }, "B");
  Schedule s{b};
};

TEST_F(StorePredicateTest, WhatItLeavesOutKeepsItsValue) {
  const auto [outer, inner] = s[b].Split(b.axis(0), 4);
  s[b].Vectorize(inner);
  s[b].SetStorePredicate([](const std::vector<Var>& i) { return i[0] < 7 && i[0] != 2; });
  auto kernel = jit::Build(s, {a, b}, "f");
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  NDArray in = NDArray::Zeros({9}, Float32), out = NDArray::Zeros({9}, Float32);
  for (int i = 0; i < 9; ++i) {
    in.data<float>()[i] = static_cast<float>(i);
    out.data<float>()[i] = -1;
  }
  ASSERT_TRUE((*kernel)(in, out).ok());
  EXPECT_THAT(std::vector<float>(out.data<float>(), out.data<float>() + 9),
              ElementsAre(0, 2, -1, 6, 8, 10, 12, -1, -1));
}

TEST_F(StorePredicateTest, GuardsTheFirstValueOfAReductionToo) {
  const te::IterVar k = te::ReduceAxis(0, 3, "k");
  const Tensor sum = Compute(
      {9}, [&](const Var& i) { return te::Sum(a(FloorMod(i + k.var, 9)), {k}); }, "sum");
  Schedule schedule(sum);
  schedule[sum].SetStorePredicate([](const std::vector<Var>& i) { return FloorMod(i[0], 2) == 0; });
  EXPECT_EQ(LoopsOf(schedule, {a, sum}),
            "function f(A: float32[9], sum: float32[9]) {\n"
            "  for ax0 in [0, 9) {\n"
            "    if (floormod(ax0, 2) == 0) {\n"
            "      sum[ax0] = 0f\n"
            "    }\n"
            "    if (floormod(ax0, 2) == 0) {\n"
            "      for k in [0, 3) {\n"
            "        sum[ax0] = (sum[ax0] + A[floormod((ax0 + k), 9)])\n"
            "      }\n"
            "    }\n"
            "  }\n"
            "}\n");
}

TEST_F(StorePredicateTest, IsRecorded) {
  s[b].SetStorePredicate([](const std::vector<Var>& i) { return i[0] < 7; });
  EXPECT_THAT(PrintRecord(s),
              HasSubstr("s[B].SetStorePredicate([](const std::vector<Var>& i) { return "));
  Schedule fresh(b);
  Replay(s.record(), fresh);
  EXPECT_EQ(LoopsOf(fresh, {a, b}), LoopsOf(s, {a, b}));
}

TEST_F(StorePredicateTest, RefusesWhatIsNoConditionOnTheAxes) {
  EXPECT_THAT(
      Refusal([&] { s[b].SetStorePredicate([](const std::vector<Var>& i) { return i[0] + 1; }); }),
      HasSubstr("set_store_predicate: stage B: the predicate gives no bool"));
  const Var other("n");
  EXPECT_THAT(
      Refusal([&] { s[b].SetStorePredicate([&](const std::vector<Var>&) { return other < 3; }); }),
      HasSubstr("the predicate uses n; it may use the operation's axes alone"));
  EXPECT_THAT(Refusal([&] {
                s[b].SetStorePredicate(
                    [&](const std::vector<Var>& i) { return a(i[0]) < loop::Expr(3.0F); });
              }),
              HasSubstr("the predicate uses A["));
  EXPECT_THAT(
      Refusal([&] { s[a].SetStorePredicate([](const std::vector<Var>& i) { return i[0] < 7; }); }),
      HasSubstr("only a compute stores element by element"));
  s[b].SetStorePredicate([](const std::vector<Var>& i) { return i[0] < 7; });
  EXPECT_THAT(Refusal([&] { s.CacheWrite(b, "local"); }),
              HasSubstr("call cache_write before set_store_predicate"));
}

}  // namespace
}  // namespace tenon::schedule
