// Stages that share loops.
#include "tenon/te/math.h"
#include "tenon/te/reduce.h"
#include "tenon/te/scan.h"
#include "tenon/tests/schedule/schedule_testing.h"

namespace tenon::schedule {
namespace {

using te::Compute;
using te::IterVar;
using te::Placeholder;
using te::ReduceAxis;
using te::Sum;
using te::Var;
using ::testing::HasSubstr;

class ComputeWithTest : public ::testing::TestWithParam<std::int64_t> {
 protected:
  const std::int64_t n = GetParam();
  const Tensor a = Placeholder({9, n}, Float32, "A");
  const Tensor base = Compute(
      {9, n}, [this](const Var& i, const Var& j) { return a(i, j) * 0.5F; }, "X");
  const Tensor low = Compute(
      {9, n}, [this](const Var& i, const Var& j) { return te::Min(base(i, j), 0.0F); }, "L");
  const Tensor high = Compute(
      {9, n}, [this](const Var& i, const Var& j) { return te::Max(base(i, j), 0.0F); }, "H");
  const IterVar k = ReduceAxis(0, n, "k");
  const Tensor sum = Compute(
      {9}, [this](const Var& i) { return Sum(base(i, k.var), {k}); }, "S");
};

TEST_P(ComputeWithTest, TwoResultsComeOfOnePass) {
  Schedule s({low, high});
  s[base].ComputeInline();
  s[high].ComputeWith(s[low], low.axis(1));
  ExpectRight(s, {a});
  Schedule swapped({low, high});
  swapped[low].ComputeWith(swapped[high], high.axis(0));
  ExpectRight(swapped, {a});
}

TEST_P(ComputeWithTest, OuterLoopsAreSplitParallelAndHoldProducers) {
  Schedule s({low, sum, high});
  const auto [outer, inner] = s[low].Split(low.axis(0), 4);
  s[high].Split(high.axis(0), 4);
  s[sum].Split(sum.axis(0), 4);
  s[low].Parallel(outer);
  s[high].ComputeWith(s[low], inner);
  s[sum].ComputeWith(s[low], inner);
  s[base].ComputeAt(s[low], inner);
  ExpectRight(s, {a});
  Schedule other({low, sum, high});
  other[sum].ComputeWith(other[low], low.axis(0));
  other[high].ComputeWith(other[low], low.axis(1));
  other[low].Vectorize(low.axis(1));
  ExpectRight(other, {a});
}

// Its own producer is placed at a loop that it shares, or further inside.
TEST_P(ComputeWithTest, ProducersOfTheOneThatShares) {
  const Tensor twice = Compute(
      {9, n}, [this](const Var& i, const Var& j) { return a(i, j) * 2.0F; }, "T");
  const Tensor d = Compute(
      {9, n}, [&](const Var& i, const Var& j) { return twice(i, n - 1 - j) + 1.0F; }, "D");
  for (const int at : {0, 1}) {
    Schedule s({low, d});
    s[d].ComputeWith(s[low], low.axis(0));
    s[twice].ComputeAt(s[d], d.axis(at));
    ExpectRight(s, {a});
  }
}

// The order of stages changes: what the later one reads comes before both.
TEST_P(ComputeWithTest, ReadersAndProducersKeepTheirOrder) {
  const Tensor after = Compute(
      {9, n}, [this](const Var& i, const Var& j) { return low(i, j) * 3.0F; }, "P");
  const Tensor before = Compute(
      {9, n}, [this](const Var& i, const Var& j) { return a(i, j) - 1.0F; }, "Q");
  const Tensor last = Compute(
      {9, n}, [&](const Var& i, const Var& j) { return before(8 - i, j); }, "R");
  Schedule s({after, last});
  s[last].ComputeWith(s[low], low.axis(0));
  ExpectRight(s, {a});
}

INSTANTIATE_TEST_SUITE_P(Sizes, ComputeWithTest, ::testing::Values(0, 1, 7, 16, 33));

TEST(ComputeWithTest, TheLoopsShowOnePass) {
  const Tensor a = Placeholder({8}, Float32, "A");
  const Tensor b = Compute(
      {8}, [&](const Var& i) { return a(i) * 2.0F; }, "B");
  const Tensor c = Compute(
      {8}, [&](const Var& i) { return a(i) + 1.0F; }, "C");
  Schedule s({b, c});
  s[c].ComputeWith(s[b], b.axis(0));
  EXPECT_EQ(LoopsOf(s, {a, b, c}),
            "function f(A: float32[8], B: float32[8], C: float32[8]) {\n"
            "  for ax0 in [0, 8) {\n"
            "    B[ax0] = (A[ax0] * 2f)\n"
            "    C[ax0] = (A[ax0] + 1f)\n"
            "  }\n"
            "}\n");
  EXPECT_THAT(PrintRecord(s), HasSubstr("s[C].ComputeWith(s[B], B.axis(0));"));
  Schedule fresh({b, c});
  Replay(s.record(), fresh);
  EXPECT_EQ(LoopsOf(fresh, {a, b, c}), LoopsOf(s, {a, b, c}));
}

TEST(ComputeWithTest, MisuseIsRefusedInWords) {
  const Tensor a = Placeholder({8, 4}, Float32, "A");
  const IterVar k = ReduceAxis(0, 4, "k");
  const Tensor b = Compute(
      {8}, [&](const Var& i) { return Sum(a(i, k.var), {k}); }, "B");
  const Tensor c = Compute(
      {8}, [&](const Var& i) { return b(i) + 1.0F; }, "C");
  const Tensor d = Compute(
      {7}, [&](const Var& i) { return a(i, 0) + 1.0F; }, "D");
  const Tensor e = Compute(
      {8}, [&](const Var& i) { return a(i, 1) + 1.0F; }, "E");
  const auto refused = [&](const auto& calls) {
    Schedule s({c, d, e});
    return Refusal([&] {
      calls(s);
      Lower(s, {a, c, d, e}, "f");
    });
  };
  EXPECT_THAT(
      refused([&](Schedule& s) { s[c].ComputeWith(s[b], b.axis(0)); }),
      HasSubstr("compute_with: stage C, axis ax0: stage C needs the results of B, which are "
                "there only after the loop; use compute_at"));
  EXPECT_THAT(refused([&](Schedule& s) { s[b].ComputeWith(s[c], c.axis(0)); }),
              HasSubstr("stage C needs the results of B"));
  EXPECT_THAT(refused([&](Schedule& s) { s[e].ComputeWith(s[b], k); }),
              HasSubstr("k is none over elements; only those can be shared"));
  EXPECT_THAT(refused([&](Schedule& s) { s[e].ComputeWith(s[e], e.axis(0)); }),
              HasSubstr("a stage cannot be computed with itself"));
  EXPECT_THAT(refused([&](Schedule& s) { s[a].ComputeWith(s[e], e.axis(0)); }),
              HasSubstr("stage A is no compute"));
  EXPECT_THAT(refused([&](Schedule& s) {
                s[b].ComputeAt(s[c], c.axis(0));
                s[e].ComputeWith(s[b], b.axis(0));
              }),
              HasSubstr("stage B is not computed at the root"));
  EXPECT_THAT(refused([&](Schedule& s) {
                s[d].ComputeWith(s[b], b.axis(0));
                s[e].ComputeWith(s[d], d.axis(0));
              }),
              HasSubstr("stage D is itself computed with B; name a loop of that one"));
  EXPECT_THAT(refused([&](Schedule& s) { s[e].ComputeWith(s[d], d.axis(0)); }),
              HasSubstr("compute_with: stage E with D down to axis ax0: loop ax0 has 8 iterations "
                        "and ax0 7; they must have as many"));
  EXPECT_THAT(
      refused([&](Schedule& s) { s[e].ComputeWith(s[b], b.axis(0)).Vectorize(e.axis(0)); }),
      HasSubstr("loop ax0 is marked vectorized, but it is loop ax0 of B that runs, which is "
                "not; mark that one"));
  // Blocks that begin earlier would write elements that another thread computes.
  EXPECT_THAT(
      refused([&](Schedule& s) {
        const IterVar rows = s[b].Split(b.axis(0), 3).first;
        s[b].Parallel(rows);
        s[e].Split(e.axis(0), 3, Tail::kShiftInwards);
        s[e].ComputeWith(s[b], rows);
      }),
      HasSubstr("split: stage E, axis ax0, Tail::kShiftInwards: loop ax0.outer is parallel, "
                "so that two iterations would write an element at a time"));
  // Each of two shared loops needs the other to have run.
  const Tensor p = Compute(
      {8}, [&](const Var& i) { return e(i) + 1.0F; }, "P");
  const Tensor q = Compute(
      {8}, [&](const Var& i) { return b(i) + 1.0F; }, "Q");
  Schedule s({p, q});
  s[p].ComputeWith(s[b], b.axis(0));
  s[q].ComputeWith(s[e], e.axis(0));
  EXPECT_THAT(Refusal([&] {
                Lower(s, {a, p, q}, "f");
              }),
              HasSubstr("so that neither loop can run first"));
}

// Of one state, the scan's loop never runs; neither would what shares a loop of its step.
TEST(ComputeWithTest, AStepOfAScanSharesNoLoop) {
  const Tensor a = Placeholder({1, 8}, Float32, "A"), state = Placeholder({1, 8}, Float32, "s");
  const Tensor first = Compute(
      {1, 8}, [&](const Var& t, const Var& i) { return a(t, i); }, "first");
  const Tensor next = Compute(
      {1, 8}, [&](const Var& t, const Var& i) { return state(t - 1, i) + 1.0F; }, "next");
  const Tensor sum = te::Scan({first}, {next}, {state}, "sum")[0];
  for (const bool is_step_first : {false, true}) {
    Schedule s(sum);
    const Tensor copy = s.CacheRead(state, "global", {next});
    const auto [stage, other] = is_step_first ? std::pair(copy, first) : std::pair(first, copy);
    s[stage].ComputeWith(s[other], other.axis(0));
    EXPECT_THAT(Refusal([&] {
                  Lower(s, {a, sum}, "f");
                }),
                HasSubstr(" is a step of a scan, whose place is in the scan's loop"));
  }
}

}  // namespace
}  // namespace tenon::schedule
