// Circular buffers: what they save, the values, and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/support/strings.h"
#include "tenon/te/math.h"
#include "tenon/te/reduce.h"
#include "tenon/tests/schedule/schedule_testing.h"

namespace tenon::schedule {
namespace {

using te::Compute;
using te::Placeholder;
using te::ReduceAxis;
using te::Sum;
using te::Var;
using ::testing::HasSubstr;

// The sum of `taps` neighbouring rows.
Tensor RowSums(const Tensor& x, std::int64_t rows, std::int64_t columns, std::int64_t taps,
               std::int64_t stride, const char* name) {
  const te::IterVar k = ReduceAxis(0, taps, "k");
  return Compute(
      {rows, columns},
      [&](const Var& y, const Var& j) { return Sum(x(y * stride + k.var, j), {k}); }, name);
}

class RollingTest : public ::testing::TestWithParam<std::int64_t> {
 protected:
  const std::int64_t n = GetParam();
};
INSTANTIATE_TEST_SUITE_P(OddSizes, RollingTest, ::testing::Values(1, 2, 3, 15, 16, 17));

TEST(RollingBufferTest, EachIterationComputesOneRow) {
  const Tensor a = Placeholder({12, 5}, Float32, "A");
  const Tensor b = Compute(
      {12, 5}, [&](const Var& y, const Var& x) { return a(y, x) * 2.0F; }, "B");
  const Tensor c = Compute(
      {10, 5}, [&](const Var& y, const Var& x) { return b(y, x) + b(y + 2, x); }, "C");
  Schedule s(c);
  s[b].ComputeAt(s[c], c.axis(0)).RollingBuffer();
  EXPECT_EQ(
      LoopsOf(s, {a, c}),
      "function f(A: float32[12, 5], C: float32[10, 5]) {\n"
      "  allocate B: float32[3, 5]\n"
      "  for ax0 in [0, 2) {\n"
      "    for ax1 in [0, 5) {\n"
      "      B[((ax0 * 5) + ax1)] = (A[((ax0 * 5) + ax1)] * 2f)\n"
      "    }\n"
      "  }\n"
      "  for ax1 in [0, 5) {\n"
      "    B[(ax1 + 10)] = (A[(ax1 + 10)] * 2f)\n"
      "  }\n"
      "  for ax1_1 in [0, 5) {\n"
      "    C[ax1_1] = (B[ax1_1] + B[(ax1_1 + 10)])\n"
      "  }\n"
      "  for ax0_1 in [1, 10) {\n"
      "    for ax1 in [0, 5) {\n"
      "      B[((floormod((ax0_1 + 2), 3) * 5) + ax1)] = "
      "(A[(((ax0_1 * 5) + ax1) + 10)] * 2f)\n"
      "    }\n"
      "    for ax1_1 in [0, 5) {\n"
      "      C[((ax0_1 * 5) + ax1_1)] = "
      "(B[((floormod(ax0_1, 3) * 5) + ax1_1)] + B[((floormod((ax0_1 + 2), 3) * 5) + ax1_1)])\n"
      "    }\n"
      "  }\n"
      "}\n");
}

// Check 40: each stage of a chain of convolutions is computed once.
TEST_P(RollingTest, AChainOfConvolutionsIsRight) {
  const Tensor a = Placeholder({n + 6, 7}, Float32, "A");
  const Tensor b = RowSums(a, n + 4, 7, 3, 1, "B");
  const Tensor c = RowSums(b, n + 2, 7, 3, 1, "C");
  const Tensor d = RowSums(c, n, 7, 3, 1, "D");
  Schedule s(d);
  s[c].ComputeAt(s[d], d.axis(0)).RollingBuffer();
  s[b].ComputeAt(s[d], d.axis(0)).RollingBuffer();
  ExpectRight(s, {a});
}

TEST_P(RollingTest, StridesAndBlocksOfRowsAreRight) {
  for (const std::int64_t stride : {1, 2}) {
    const Tensor a = Placeholder({4 * n * stride + 3, 6}, Float32, "A");
    const Tensor b = Compute(
        {4 * n * stride + 3, 6}, [&](const Var& y, const Var& x) { return a(y, x) + 1.0F; }, "B");
    const Tensor c = RowSums(b, 4 * n, 6, 3, stride, "C");
    Schedule s(c);
    const auto [outer, inner] = s[c].Split(c.axis(0), 4);
    s[c].Reorder({outer, c.axis(1), inner});
    s[b].ComputeAt(s[c], outer).RollingBuffer();
    if (4 * n > 4) {
      EXPECT_THAT(LoopsOf(s, {a, c}),
                  HasSubstr(StrCat("allocate B: float32[", 3 * stride + 3, ", 6]")));
    }
    ExpectRight(s, {a});
  }
}

TEST_P(RollingTest, AWindowInAParallelLoopIsRight) {
  const Tensor a = Placeholder({5, n + 4}, Float32, "A");
  const Tensor b = Compute(
      {5, n + 4}, [&](const Var& y, const Var& x) { return te::Exp(a(y, x)); }, "B");
  const te::IterVar k = ReduceAxis(0, 5, "k");
  const Tensor c = Compute(
      {5, n}, [&](const Var& y, const Var& x) { return Sum(b(y, x + k.var), {k}); }, "C");
  Schedule s(c);
  s[c].Parallel(c.axis(0));
  s[b].ComputeAt(s[c], c.axis(1)).RollingBuffer().StorageAlign(b.axis(0), 8, 1);
  ExpectRight(s, {a});
}

TEST(RollingBufferTest, IsRefusedWithoutALoopToSlideAlong) {
  const Tensor a = Placeholder({8}, Float32, "A");
  const Tensor b = Compute(
      {8}, [&](const Var& i) { return a(i) * 2.0F; }, "B");
  const Tensor c = Compute(
      {7}, [&](const Var& i) { return b(i) + b(i + 1); }, "C");
  Schedule s(c);
  s[b].RollingBuffer();
  EXPECT_THAT(Refusal([&] {
                Lower(s, {a, c}, "f");
              }),
              HasSubstr("rolling_buffer: stage B is not computed at a loop"));
  s[b].ComputeInline();
  EXPECT_THAT(Refusal([&] {
                Lower(s, {a, c}, "f");
              }),
              HasSubstr("rolling_buffer: stage B is not computed at a loop"));
  s[b].ComputeAt(s[c], c.axis(0));
  ExpectRight(s, {a});
}

TEST(RollingBufferTest, IsRecorded) {
  const Tensor a = Placeholder({8}, Float32, "A");
  const Tensor b = Compute(
      {8}, [&](const Var& i) { return a(i) * 2.0F; }, "B");
  const Tensor c = Compute(
      {7}, [&](const Var& i) { return b(i) + b(i + 1); }, "C");
  Schedule s(c);
  s[b].ComputeAt(s[c], c.axis(0)).RollingBuffer();
  EXPECT_THAT(PrintRecord(s), HasSubstr("s[B].RollingBuffer();"));
  Schedule fresh(c);
  Replay(s.record(), fresh);
  EXPECT_EQ(LoopsOf(fresh, {a, c}), LoopsOf(s, {a, c}));
}

TEST(RollingBufferTest, RefusesWhatIsNoSlidingWindow) {
  const Tensor a = Placeholder({16, 16}, Float32, "A");
  const Tensor b = Compute(
      {16, 16}, [&](const Var& y, const Var& x) { return a(y, x) * 2.0F; }, "B");
  const auto refusal = [&](const auto& read, const auto& schedule) {
    const Tensor c = Compute(
        {8, 8}, [&](const Var& y, const Var& x) { return read(y, x); }, "C");
    Schedule s(c);
    s[b].ComputeAt(s[c], c.axis(0)).RollingBuffer();
    schedule(s, c);
    return Refusal([&] { Lower(s, {a, c}, "f"); });
  };
  const auto nothing = [](Schedule&, const Tensor&) {};
  EXPECT_THAT(refusal([&](const Var& y, const Var& x) { return b(y, x); }, nothing),
              HasSubstr("rolling_buffer: stage B, computed at axis ax0: the window has 1 elements "
                        "and moves by 1, so that iterations share nothing"));
  EXPECT_THAT(refusal([&](const Var&, const Var& x) { return b(x, x); }, nothing),
              HasSubstr("all iterations read the same part"));
  EXPECT_THAT(
      refusal([&](const Var& y, const Var& x) { return b(y, y) + b(y + 1, y + 1) + a(0, x); },
              nothing),
      HasSubstr("the window moves along two dimensions"));
  EXPECT_THAT(
      refusal([&](const Var& y, const Var& x) { return b(8 - y, x) + b(9 - y, x); }, nothing),
      HasSubstr("it must move forward by a constant number of elements"));
  EXPECT_THAT(refusal([&](const Var& y, const Var& x) { return b(y, x) + b(y + 1, x); },
                      [](Schedule& s, const Tensor& c) { s[c].Parallel(c.axis(0)); }),
              HasSubstr("of C: the loop is parallel; it must be serial"));
}

TEST(RollingBufferTest, RefusesMemoryOfTheCallersAndTwoCopies) {
  const Tensor a = Placeholder({8}, Float32, "A");
  const Tensor b = Compute(
      {8}, [&](const Var& i) { return a(i) * 2.0F; }, "B");
  const Tensor c = Compute(
      {7}, [&](const Var& i) { return b(i) + b(i + 1); }, "C");
  Schedule s(c);
  EXPECT_THAT(Refusal([&] { s[c].RollingBuffer(); }),
              HasSubstr("rolling_buffer: stage C: the caller gives its memory"));
  s[b].DoubleBuffer();
  EXPECT_THAT(Refusal([&] { s[b].RollingBuffer(); }), HasSubstr("it is double-buffered already"));
  Schedule other(c);
  other[b].RollingBuffer();
  EXPECT_THAT(Refusal([&] { other[b].DoubleBuffer(); }),
              HasSubstr("its memory is a circular buffer already"));
}

}  // namespace
}  // namespace tenon::schedule
