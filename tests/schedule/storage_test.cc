// What memory intermediate results take: the steps that a scan keeps in a circular buffer, what
// keeps all of them, stages that share memory, and the values.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/support/strings.h"
#include "tenon/te/extern.h"
#include "tenon/te/math.h"
#include "tenon/te/reduce.h"
#include "tenon/te/scan.h"
#include "tenon/tests/schedule/schedule_testing.h"

namespace tenon::schedule {
namespace {

using te::Compute;
using te::Expr;
using te::Placeholder;
using te::Var;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::int64_t kWidth = 5;

// s(t) = s(t - 1) / 2 + s(t - lag) / 4 + x(t), from `lag` given steps on.
struct Recurrence {
  Recurrence(const Expr& length, std::int64_t lag)
      : x(Placeholder({length, kWidth}, Float32, "x")) {
    const Tensor state = Placeholder({length, kWidth}, Float32, "state");
    const Tensor init = Compute(
        {lag, kWidth}, [&](const Var& t, const Var& i) { return x(t, i); }, "init");
    update = Compute(
        {length, kWidth},
        [&](const Var& t, const Var& i) {
          return state(t - 1, i) * 0.5F + state(t - lag, i) * 0.25F + x(t, i);
        },
        "update");
    sum = te::Scan({init}, {update}, {state}, "sum")[0];
  }
  // The step of each row.
  Tensor Row(std::int64_t rows, const std::function<Expr(const Var&)>& step) const {
    return Compute(
        {rows, kWidth}, [&](const Var& r, const Var& i) { return sum(step(r), i) * 2.0F; }, "row");
  }

  Tensor x, update, sum;
};

TEST(ScanStorageTest, AScanOfWhichTheLastStepIsReadKeepsTwo) {
  const Recurrence r(9, 1);
  const Tensor last = r.Row(1, [](const Var&) { return Expr(8); });
  EXPECT_EQ(LoopsOf(Schedule(last), {r.x, last}),
            "function f(x: float32[9, 5], row: float32[1, 5]) {\n"
            "  allocate init: float32[1, 5]\n"
            "  for ax1 in [0, 5) {\n"
            "    init[ax1] = x[ax1]\n"
            "  }\n"
            "  allocate sum: float32[2, 5]\n"
            "  for i1.init in [0, 5) {\n"
            "    sum[i1.init] = init[i1.init]\n"
            "  }\n"
            "  for t in [0, 8) {\n"
            "    for ax1_1 in [0, 5) {\n"
            "      sum[((floormod((t + 1), 2) * 5) + ax1_1)] = (((sum[((floormod(t, 2) * 5) + "
            "ax1_1)] * 0.5f) + (sum[((floormod(t, 2) * 5) + ax1_1)] * 0.25f)) + x[(((t * 5) + "
            "ax1_1) + 5)])\n"
            "    }\n"
            "  }\n"
            "  for ax1_2 in [0, 5) {\n"
            "    row[ax1_2] = (sum[ax1_2] * 2f)\n"
            "  }\n"
            "}\n");
}

struct Kept {
  std::int64_t length, lag, rows;  // of the last rows, all are read
  std::int64_t steps;
};
class KeptStepsTest : public ::testing::TestWithParam<Kept> {};
INSTANTIATE_TEST_SUITE_P(, KeptStepsTest,
                         ::testing::Values(Kept{3, 1, 1, 2}, Kept{17, 1, 1, 2}, Kept{17, 2, 1, 3},
                                           Kept{17, 5, 1, 6}, Kept{17, 1, 7, 7},
                                           Kept{17, 1, 16, 16},
                                           // As many as there are.
                                           Kept{2, 1, 1, 2}, Kept{17, 1, 17, 17}, Kept{6, 5, 1, 6},
                                           Kept{1, 1, 1, 1}));

TEST_P(KeptStepsTest, AsManyAsAreReadAgain) {
  const Kept kept = GetParam();
  const Recurrence r(kept.length, kept.lag);
  const Tensor rows =
      r.Row(kept.rows, [&](const Var& row) { return Expr(row) + (kept.length - kept.rows); });
  EXPECT_THAT(LoopsOf(Schedule(rows), {r.x, rows}),
              HasSubstr(StrCat("allocate sum: float32[", kept.steps, ", 5]")));
  ExpectRight(Schedule(rows), {r.x});
}

TEST(ScanStorageTest, ScheduledStepsFindTheirs) {
  const Recurrence r(33, 2);
  const Tensor last = r.Row(1, [](const Var&) { return Expr(32); });
  {
    Schedule s(last);
    s[r.sum].Unroll(s[r.sum].Split(r.sum.axis(0), 4).second);
    s[r.update].Vectorize(s[r.update].Split(r.update.axis(1), 4).second);
    ExpectRight(s, {r.x});
  }
  {
    Schedule s(last);
    s.CacheRead(r.sum, "local", {last});
    ExpectRight(s, {r.x});
  }
}

// Each state as far as it is read again.
TEST(ScanStorageTest, OfTwoStatesOneIsFolded) {
  const Tensor x = Placeholder({12, kWidth}, Float32, "x");
  const Tensor a = Placeholder({12, kWidth}, Float32, "a");
  const Tensor b = Placeholder({12, kWidth}, Float32, "b");
  const Tensor first = Compute(
      {1, kWidth}, [&](const Var&, const Var& i) { return x(0, i); }, "first");
  const Tensor next_a = Compute(
      {12, kWidth},
      [&](const Var& t, const Var& i) { return a(t - 1, i) * 0.5F - b(t - 1, i) + x(t, i); }, "na");
  const Tensor next_b = Compute(
      {12, kWidth}, [&](const Var& t, const Var& i) { return a(t - 1, i) + b(t - 1, i) * 0.25F; },
      "nb");
  const std::vector<Tensor> out = te::Scan({first, first}, {next_a, next_b}, {a, b}, "rotation");
  const Tensor read = Compute(
      {12, kWidth}, [&](const Var& t, const Var& i) { return out[0](t, i) + out[1](11, i); },
      "read");
  const std::string loops = LoopsOf(Schedule(read), {x, read});
  EXPECT_THAT(loops, HasSubstr("float32[12, 5]"));
  EXPECT_THAT(loops, HasSubstr("float32[2, 5]"));
  ExpectRight(Schedule(read), {x});
}

TEST(ScanStorageTest, AnUnknownNumberOfStepsIsFolded) {
  const Var n("n");
  const Recurrence r(n, 1);
  const Tensor last = r.Row(1, [&](const Var&) { return Expr(n) - 1; });
  const loop::Function f = Lower(Schedule(last), {r.x, last}, "f");
  EXPECT_THAT(loop::Print(f), HasSubstr("allocate sum: float32[2, 5]"));
  const auto kernel = jit::Compile(f);
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  for (const std::int64_t length : {1, 2, 3, 16, 17}) {
    const NDArray x = RandomFloats({length, kWidth}, 3);
    const NDArray result = NDArray::Zeros({1, kWidth}, Float32);
    ASSERT_TRUE(kernel->Run(std::vector{x, result}).ok());
    for (std::int64_t i = 0; i < kWidth; ++i) {
      float sum = x.data<float>()[i];
      for (std::int64_t t = 1; t < length; ++t) sum = sum * 0.75F + x.data<float>()[t * kWidth + i];
      EXPECT_NEAR(result.data<float>()[i], 2 * sum, 1e-5F) << length;
    }
  }
}

TEST(ScanStorageTest, AllStepsStayWhereMoreIsReadOrNobodyKnows) {
  const Recurrence r(9, 1);
  const auto loops = [&](const Tensor& result) { return LoopsOf(Schedule(result), {r.x, result}); };
  const std::string all = "allocate sum: float32[9, 5]";
  EXPECT_THAT(loops(r.Row(9, [](const Var& t) { return Expr(t); })), HasSubstr(all));
  EXPECT_THAT(loops(r.Row(1, [](const Var&) { return Expr(0); })), HasSubstr(all));
  // A result is the caller's memory.
  EXPECT_THAT(LoopsOf(Schedule(r.sum), {r.x, r.sum}), Not(HasSubstr("allocate sum")));
  // C functions are given whole arrays.
  const te::ExternFunction function =
      te::ExternFunction::Named<void(const float*, float*)>("tenon_test_function");
  const Tensor given = te::Extern(
      {{kWidth}}, {r.sum}, {Float32},
      [&](const auto& from, const auto& to) {
        return te::ExternCall(function, {from[0], to[0]});
      },
      "given")[0];
  EXPECT_THAT(loops(given), HasSubstr(all));
}

// A chain of stages at the root, of which each reads the one before alone.
TEST(BoxTest, WhatALoopThatNeverRunsReadsHasNoElements) {
  const Tensor a = Placeholder({200}, Float32, "A");
  const Tensor b = Compute(
      {200}, [&](Var i) { return a(i) + 1.0F; }, "B");
  const te::IterVar k = te::ReduceAxis(0, 0, "k");
  const Tensor c = Compute(
      {8, 4}, [&](Var i, Var j) { return te::Sum(b(i * 16 + j + k.var * 10), {k}); }, "C");
  Schedule s(c);
  s[b].ComputeAt(s[c], c.axis(0));
  EXPECT_THAT(LoopsOf(s, {a, c}), Not(HasSubstr("float32[-")));
  ExpectRight(s, {a});
}

TEST(SharedMemoryTest, StagesThatAreReadNoMoreGiveTheirsAway) {
  constexpr std::int64_t kRows = 40, kColumns = 67;
  const Tensor x = Placeholder({kRows, kColumns}, Float32, "x");
  Tensor last = x;
  for (int k = 0; k < 6; ++k) {
    const Tensor from = last;
    last = Compute(
        {kRows, kColumns},
        [&](const Var& r, const Var& c) {
          return from(kRows - 1 - r, kColumns - 1 - c) * 0.5F + from(r, c) + Expr(float(k));
        },
        StrCat("stage", k));
  }
  const std::string loops = LoopsOf(Schedule(last), {x, last});
  EXPECT_THAT(loops, HasSubstr("allocate stage0: float32[40, 67]"));
  EXPECT_THAT(loops, HasSubstr("allocate stage1: float32[40, 67]"));
  EXPECT_THAT(loops, Not(HasSubstr("allocate stage2")));
  ExpectRight(Schedule(last), {x}, 1e-3F);
}

}  // namespace
}  // namespace tenon::schedule
