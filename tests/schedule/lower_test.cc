// Scheduled programs against hand-written loops, compiled and run, on extents that divide and
// extents that do not.
#include "tenon/schedule/lower.h"

#include <algorithm>
#include <cmath>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/jit/kernel.h"
#include "tenon/loop/print.h"
#include "tenon/loop/verify.h"
#include "tenon/loop/visit.h"
#include "tenon/support/error.h"
#include "tenon/te/math.h"
#include "tenon/te/reduce.h"

namespace tenon::schedule {
namespace {

using te::Compute;
using te::Placeholder;
using te::ReduceAxis;
using te::Sum;
using te::Var;
using ::testing::HasSubstr;
using ::testing::Not;

NDArray Random(Shape shape, int seed = 1) {
  NDArray array = NDArray::Empty(std::move(shape), Float32);
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> values(-1, 1);
  for (std::int64_t i = 0; i < array.size(); ++i) array.data<float>()[i] = values(generator);
  return array;
}

void CompileAndRun(const Schedule& s, const std::vector<Tensor>& args,
                   const std::vector<NDArray>& arrays) {
  const loop::Function f = Lower(s, args, "kernel");
  loop::Verify(f);
  const auto kernel = jit::Compile(f);
  ASSERT_TRUE(kernel.ok()) << kernel.status() << loop::Print(f);
  const absl::Status status = kernel->Run(arrays);
  ASSERT_TRUE(status.ok()) << status;
}

void ExpectNear(const NDArray& actual, const std::vector<float>& expected,
                float tolerance = 1e-4F) {
  ASSERT_EQ(actual.size(), static_cast<std::int64_t>(expected.size()));
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ASSERT_NEAR(actual.data<float>()[i], expected[i], tolerance) << "element " << i;
  }
}

// 64 rows in 7 parts of 10; the copies have 70.
TEST(InlineTest, ACopyOfRowsPastTheEndReadsNoneOfThem) {
  const Tensor a = Placeholder({64}, Float32, "A");
  const Tensor b = Compute(
      {64}, [&](Var i) { return a(i) + 1.0F; }, "B");
  for (const bool writes : {true, false}) {
    Schedule s(b);
    s[b].SplitParts(b.axis(0), 7);
    const Tensor cached = s.CacheWrite(b, "global");
    if (writes) {
      s[s.CacheWrite(cached, "global")].ComputeInline();
    } else {
      s.CacheRead(cached, "global", {b});
      s[cached].ComputeInline();
    }
    const auto kernel = jit::Compile(Lower(s, {a, b}, "kernel"), {.check_bounds = true});
    ASSERT_TRUE(kernel.ok()) << kernel.status();
    const NDArray x = Random({64}), y = NDArray::Empty({64}, Float32);
    const absl::Status status = kernel->Run(std::vector<NDArray>{x, y});
    ASSERT_TRUE(status.ok()) << status;
    std::vector<float> expected = x.ToVector<float>();
    for (float& value : expected) value += 1;
    ExpectNear(y, expected);
  }
}

// As a tree the last of these polynomials would have 3^40 leaves, in two orders of the axes.
TEST(InlineTest, ReadsOfOneElementAreSharedHoweverTheirIndicesAreWritten) {
  constexpr int kSteps = 20;
  const Tensor x = Placeholder({4 + 2 * kSteps}, Float32, "x");
  std::vector<Tensor> chain = {x};
  for (int step = 1; step <= kSteps; ++step) {
    const Tensor before = chain.back();
    chain.push_back(Compute({4 + 2 * (kSteps - step)},
                            [&](Var i) { return before(i + 1) + before(i + 2) * 0.5F; }));
  }
  Schedule s(chain.back());
  for (std::size_t k = 1; k + 1 < chain.size(); ++k) s[chain[k]].ComputeInline();
  int nodes = 0;
  loop::VisitExprs(Lower(s, {x, chain.back()}, "kernel").body.stmt(),
                   [&](const loop::Expr&) { ++nodes; });
  EXPECT_LT(nodes, 10000);
}

TEST(InlineTest, StagesThatReadTwoBeforeThemShareThem) {
  const Tensor x = Placeholder({5, 5}, Float32, "x");
  std::vector<Tensor> chain = {x, x};
  for (int k = 0; k < 40; ++k) {
    const Tensor a = chain[chain.size() - 1], b = chain[chain.size() - 2];
    chain.push_back(
        Compute({5, 5}, [&](Var i, Var j) { return (x(i, j) * a(i, j) - b(j, i) * 0.5F) * 0.5F; }));
  }
  Schedule s(chain.back());
  for (std::size_t k = 2; k + 1 < chain.size(); ++k) s[chain[k]].ComputeInline();
  int nodes = 0;
  loop::VisitExprs(Lower(s, {x, chain.back()}, "kernel").body.stmt(),
                   [&](const loop::Expr&) { ++nodes; });
  EXPECT_LT(nodes, 2000);

  const NDArray in = Random({5, 5}), out = NDArray::Empty({5, 5}, Float32);
  CompileAndRun(s, {x, chain.back()}, {in, out});
  std::vector<float> before = in.ToVector<float>(), now = before;
  for (int k = 0; k < 40; ++k) {
    std::vector<float> next(25);
    for (std::size_t i = 0; i < 5; ++i) {
      for (std::size_t j = 0; j < 5; ++j) {
        const std::size_t at = i * 5 + j;
        next[at] = (in.data<float>()[at] * now[at] - before[j * 5 + i] * 0.5F) * 0.5F;
      }
    }
    before = std::exchange(now, std::move(next));
  }
  ExpectNear(out, now);
}

class ExtentTest : public ::testing::TestWithParam<std::int64_t> {};
INSTANTIATE_TEST_SUITE_P(OddSizes, ExtentTest,
                         ::testing::Values(0, 1, 2, 3, 15, 16, 17, 63, 64, 65, 127, 200));

TEST_P(ExtentTest, VectorAddWithASymbolicExtentSplitParallelVectorized) {
  const Var n("n");
  const Tensor a = Placeholder({n}, Float32, "A"), b = Placeholder({n}, Float32, "B");
  const Tensor c = Compute(
      {n}, [&](Var i) { return a(i) + b(i); }, "C");
  Schedule s(c);
  const auto [outer, inner] = s[c].Split(c.axis(0), 64);
  s[c].Parallel(outer);
  s[c].Vectorize(inner);
  const NDArray x = Random({GetParam()}, 1), y = Random({GetParam()}, 2),
                z = NDArray::Zeros({GetParam()}, Float32);
  CompileAndRun(s, {a, b, c}, {x, y, z});
  std::vector<float> expected;
  for (std::int64_t i = 0; i < x.size(); ++i)
    expected.push_back(x.data<float>()[i] + y.data<float>()[i]);
  ExpectNear(z, expected, 0);
}

TEST_P(ExtentTest, ChainedSplitsOfAReductionCountEachTermOnce) {
  const std::int64_t n = GetParam();
  const Tensor a = Placeholder({3, n}, Float32, "A");
  const te::IterVar k = ReduceAxis(0, n);
  const Tensor c = Compute(
      {3}, [&](Var i) { return Sum(a(i, k.var), {k}); }, "C");
  Schedule s(c);
  const auto [outer, inner] = s[c].Split(c.reduce_axis(0), 10);
  s[c].Split(inner, 3);
  s[c].SplitParts(outer, 4);
  const NDArray x = Random({3, n}), y = NDArray::Zeros({3}, Float32);
  CompileAndRun(s, {a, c}, {x, y});
  std::vector<float> expected(3, 0);
  for (std::int64_t i = 0; i < 3 * n; ++i) expected[i / n] += x.data<float>()[i];
  ExpectNear(y, expected);
}

TEST_P(ExtentTest, TiledMatmulWithAnEpilogueKeepsItsTileLocal) {
  const std::int64_t n = GetParam(), m = 7, depth = 19;
  const Tensor a = Placeholder({m, depth}, Float32, "A"), b = Placeholder({depth, n}, Float32, "B");
  const te::IterVar k = ReduceAxis(0, depth);
  const Tensor c = Compute(
      {m, n}, [&](Var i, Var j) { return Sum(a(i, k.var) * b(k.var, j), {k}); }, "C");
  const Tensor d = Compute(
      {m, n}, [&](Var i, Var j) { return te::Max(c(i, j), 0.0F); }, "D");
  Schedule s(d);
  const Stage::Tiles tiles = s[d].Tile(d.axis(0), d.axis(1), 4, 32);
  s[d].Parallel(tiles.x_outer).Vectorize(tiles.y_inner);
  s[c].ComputeAt(s[d], tiles.y_outer);
  s[c].Reorder({c.reduce_axis(0), c.axis(0), c.axis(1)});
  s[c].Unroll(c.axis(0)).Vectorize(c.axis(1));
  const NDArray x = Random({m, depth}, 1), y = Random({depth, n}, 2),
                z = NDArray::Zeros({m, n}, Float32);
  CompileAndRun(s, {a, b, d}, {x, y, z});
  std::vector<float> expected;
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      float sum = 0;
      for (std::int64_t l = 0; l < depth; ++l)
        sum += x.data<float>()[i * depth + l] * y.data<float>()[l * n + j];
      expected.push_back(std::max(sum, 0.0F));
    }
  ExpectNear(z, expected);
}

TEST_P(ExtentTest, AStencilComputedAtItsReaderCoversTheHalo) {
  const std::int64_t n = GetParam();
  const Tensor a = Placeholder({n + 2}, Float32, "A");
  const Tensor doubled = Compute(
      {n + 2}, [&](Var i) { return a(i) * 2.0F; }, "doubled");
  const Tensor blur = Compute(
      {n}, [&](Var i) { return doubled(i) + doubled(i + 1) + doubled(i + 2); }, "blur");
  Schedule s(blur);
  const auto [outer, inner] = s[blur].Split(blur.axis(0), 8);
  s[doubled].ComputeAt(s[blur], outer);
  const NDArray x = Random({n + 2}), y = NDArray::Zeros({n}, Float32);
  CompileAndRun(s, {a, blur}, {x, y});
  std::vector<float> expected;
  for (std::int64_t i = 0; i < n; ++i)
    expected.push_back(2 * (x.data<float>()[i] + x.data<float>()[i + 1] + x.data<float>()[i + 2]));
  ExpectNear(y, expected);
}

TEST_P(ExtentTest, FusedAndReorderedLoopsVisitEveryElement) {
  const std::int64_t n = GetParam();
  const Tensor a = Placeholder({5, n, 3}, Float32, "A");
  const Tensor t = Compute(
      {3, 5, n}, [&](Var i, Var j, Var k) { return a(j, k, i); }, "T");
  Schedule s(t);
  const te::IterVar fused = s[t].Fuse(t.axis(0), t.axis(1));
  const auto [outer, inner] = s[t].Split(fused, 4);
  s[t].Reorder({t.axis(2), inner, outer});
  const NDArray x = Random({5, n, 3}), y = NDArray::Zeros({3, 5, n}, Float32);
  CompileAndRun(s, {a, t}, {x, y});
  std::vector<float> expected;
  for (std::int64_t i = 0; i < 3; ++i)
    for (std::int64_t j = 0; j < 5; ++j)
      for (std::int64_t k = 0; k < n; ++k) expected.push_back(x.data<float>()[(j * n + k) * 3 + i]);
  ExpectNear(y, expected, 0);
}

TEST(LowerTest, TupleReductionGivesIndexAndValue) {
  const Tensor a = Placeholder({2, 5}, Float32, "A");
  const te::IterVar k = ReduceAxis(0, 5);
  const std::vector<Tensor> best = te::ReduceTuple(
      {2},
      [&](const std::vector<Var>& i) {
        return te::ArgMax(te::Cast(Int32, k.var), a(i[0], k.var), {k});
      },
      "best");
  const NDArray x = NDArray::FromVector<float>({2, 5}, {1, 9, 3, 9, 2, -5, -1, NAN, -3, -1});
  const NDArray index = NDArray::Zeros({2}, Int32), value = NDArray::Zeros({2}, Float32);
  CompileAndRun(Schedule(best), {a, best[0], best[1]}, {x, index, value});
  EXPECT_EQ(index.ToVector<std::int32_t>(), (std::vector<std::int32_t>{1, 2}));
  EXPECT_EQ(value.data<float>()[0], 9);
  EXPECT_TRUE(std::isnan(value.data<float>()[1]));
}

TEST(LowerTest, InlinedStagesLeaveNoBuffer) {
  const Tensor a = Placeholder({8}, Float32, "A");
  const Tensor b = Compute(
      {8}, [&](Var i) { return a(i) + 1.0F; }, "B");
  const Tensor c = Compute(
      {8}, [&](Var i) { return b(i) * b(i); }, "C");
  Schedule s(c);
  s[b].ComputeInline();
  EXPECT_THAT(loop::Print(Lower(s, {a, c}, "f")), Not(HasSubstr("allocate")));
  const NDArray y = NDArray::Zeros({8}, Float32);
  CompileAndRun(s, {a, c}, {NDArray::FromVector<float>({8}, {0, 1, 2, 3, 4, 5, 6, 7}), y});
  EXPECT_EQ(y.ToVector<float>(), (std::vector<float>{1, 4, 9, 16, 25, 36, 49, 64}));
}

TEST(LowerTest, ADividingSplitHasNoGuard) {
  const Tensor a = Placeholder({64}, Float32, "A");
  const Tensor b = Compute(
      {64}, [&](Var i) { return a(i) + 1.0F; }, "B");
  Schedule s(b);
  s[b].Split(b.axis(0), 16);
  const std::string text = loop::Print(Lower(s, {a, b}, "f"));
  EXPECT_THAT(text, Not(HasSubstr("if")));
  EXPECT_THAT(text, Not(HasSubstr("min")));
}

TEST(LowerTest, ASplitOfTenByThreeLeavesTheRestBehindItsLoop) {  // check list 1
  const Tensor a = Placeholder({10}, Float32, "A");
  const Tensor b = Compute(
      {10}, [&](Var i) { return a(i) + 1.0F; }, "B");
  Schedule s(b);
  s[b].Split(b.axis(0), 3);
  EXPECT_EQ(loop::Print(Lower(s, {a, b}, "f")),
            "function f(A: float32[10], B: float32[10]) {\n"
            "  for ax0.outer in [0, 3) {\n"
            "    for ax0.inner in [0, 3) {\n"
            "      B[((ax0.outer * 3) + ax0.inner)] = (A[((ax0.outer * 3) + ax0.inner)] + 1f)\n"
            "    }\n"
            "  }\n"
            "  B[9] = (A[9] + 1f)\n"
            "}\n");
}

TEST(LowerTest, AFactorThatIsAnExtentMayBeZero) {
  const Var n("n");
  const Tensor a = Placeholder({10}, Float32, "A"), b = Placeholder({n}, Float32, "B");
  const Tensor c = Compute(
      {10}, [&](Var i) { return a(i) + 1.0F; }, "C");
  for (const bool by_parts : {false, true}) {
    Schedule s(c);
    if (by_parts) {
      s[c].SplitParts(c.axis(0), n);
    } else {
      s[c].Split(c.axis(0), n);
    }
    for (const std::int64_t extent : {0, 1, 3, 16}) {
      const NDArray in = Random({10}), out = NDArray::Zeros({10}, Float32);
      CompileAndRun(s, {a, b, c}, {in, Random({extent}), out});
      std::vector<float> expected = in.ToVector<float>();
      for (float& value : expected) value += 1.0F;
      ExpectNear(out, expected);
    }
  }
}

TEST(LowerTest, AFactorLargerThanTheExtentLeavesOneLoop) {  // check list 3
  const Tensor a = Placeholder({10}, Float32, "A");
  const Tensor b = Compute(
      {10}, [&](Var i) { return a(i) + 1.0F; }, "B");
  Schedule s(b);
  s[b].Split(b.axis(0), 64);
  EXPECT_THAT(loop::Print(Lower(s, {a, b}, "f")),
              HasSubstr("for ax0.inner in [0, 10) {\n    B[ax0.inner]"));
}

TEST(LowerTest, AnAttachedStageFollowsItsLoopThroughALaterSplit) {  // check list 14
  const Tensor a = Placeholder({16}, Float32, "A");
  const Tensor b = Compute(
      {16}, [&](Var i) { return a(i) + 1.0F; }, "B");
  const Tensor c = Compute(
      {16}, [&](Var i) { return b(i) * 2.0F; }, "C");
  Schedule s(c);
  s[b].ComputeAt(s[c], c.axis(0));
  s[c].Split(c.axis(0), 4);
  EXPECT_THAT(loop::Print(Lower(s, {a, c}, "f")), HasSubstr("allocate B: float32[1]"));
}

TEST(LowerTest, AVectorOfWhichMoreThanHalfIsNeededIsComputedWhole) {
  const auto lanes_computed = [](std::int64_t needed) {
    const Tensor a = Placeholder({4, 16}, Float32, "A");
    const Tensor b = Compute(
        {4, 16}, [&](Var i, Var j) { return a(i, j) + 1.0F; }, "B");
    const Tensor c = Compute(
        {4, needed}, [&](Var i, Var j) { return b(i, j) * 2.0F; }, "C");
    Schedule s(c);
    s[b].ComputeAt(s[c], c.axis(0)).Vectorize(b.axis(1));
    return loop::Print(Lower(s, {a, c}, "f"));
  };
  EXPECT_THAT(lanes_computed(14), HasSubstr("B[ramp(0, 1, 16)] ="));
  EXPECT_THAT(lanes_computed(9), HasSubstr("B[ramp(0, 1, 16)] ="));
  EXPECT_THAT(lanes_computed(8), HasSubstr("B[ramp(0, 1, 8)] ="));
}

template <typename Body>
std::string Refusal(Body body) {
  try {
    body();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), absl::StatusCode::kInvalidArgument) << error.what();
    return error.what();
  }
  return "no error";
}

// The second vector of a block ends past it, under a condition.
TEST(LowerTest, WhatAConditionLeavesOutIsNotComputed) {
  for (const std::int64_t n : {48, 50}) {
    const Tensor a = Placeholder({n}, Float32, "a");
    const Tensor blocks = Compute(
        {(n + 11) / 12, 12},
        [&](Var i, Var j) { return a(te::Min(i * 12 + j, te::Expr(n - 1))) * 2.0F; }, "blocks");
    const Tensor b = Compute(
        {n}, [&](Var i) { return blocks(te::FloorDiv(i, 12), te::FloorMod(i, 12)) + 1.0F; }, "b");
    Schedule s(b);
    const auto [block, within] = s[b].Split(s[b].op()->axes[0], 12);
    s[b].Split(within, 8);
    s[blocks].ComputeAt(s[b], block);
    EXPECT_THAT(loop::Print(Lower(s, {a, b}, "kernel")),
                HasSubstr("allocate blocks: float32[1, 12]"));
    const NDArray in = Random({n}), out = NDArray::Empty({n}, Float32);
    CompileAndRun(s, {a, b}, {in, out});
    std::vector<float> expected = in.ToVector<float>();
    for (float& x : expected) x = x * 2 + 1;
    ExpectNear(out, expected);
  }
}

TEST(LowerErrorTest, EachIllegalScheduleIsRefusedInWords) {
  const Var n("n");
  const Tensor a = Placeholder({n, 8}, Float32, "A");
  const Tensor b = Compute(
      {n, 8}, [&](Var i, Var j) { return a(i, j) + 1.0F; }, "B");
  const Tensor c = Compute(
      {n, 8}, [&](Var i, Var j) { return b(i, j) * 2.0F; }, "C");
  const auto lower = [&](auto change) {
    return Refusal([&] {
      Schedule s(c);
      change(s);
      Lower(s, {a, c}, "f");
    });
  };
  EXPECT_THAT(lower([&](Schedule& s) { s[c].Vectorize(c.axis(0)); }),
              HasSubstr("vectorize: loop ax0 has the extent n; it must be constant"));
  EXPECT_THAT(lower([&](Schedule& s) { s[c].Unroll(c.axis(0)); }),
              HasSubstr("unroll: loop ax0 has the extent n; it must be constant"));
  EXPECT_THAT(
      lower([&](Schedule& s) { s[c].Parallel(c.axis(0)).Parallel(c.axis(1)); }),
      HasSubstr(
          "parallel: loop ax1 runs inside the parallel loop ax0; parallel loops may not nest"));
  EXPECT_THAT(Refusal([&] { Lower(Schedule(c), {c}, "f"); }),
              HasSubstr("placeholder A is read but is not among the arguments"));
  EXPECT_THAT(Refusal([&] { Lower(Schedule(c), {a}, "f"); }),
              HasSubstr("output C is not among the arguments"));
  EXPECT_THAT(Refusal([&] {
                Lower(Schedule(c), {a, b, c}, "f");
              }),
              HasSubstr("argument B is an intermediate stage"));
}

TEST(LowerErrorTest, AStageComputedWhereItIsNotReadIsRefused) {
  const Tensor a = Placeholder({8}, Float32, "A");
  const Tensor b = Compute(
      {8}, [&](Var i) { return a(i) + 1.0F; }, "B");
  const Tensor c = Compute(
      {8}, [&](Var i) { return b(i) * 2.0F; }, "C");
  const Tensor d = Compute(
      {8}, [&](Var i) { return b(i) + c(i); }, "D");
  Schedule outside(d);
  outside[b].ComputeAt(outside[c], c.axis(0));
  EXPECT_THAT(Refusal([&] {
                Lower(outside, {a, d}, "f");
              }),
              HasSubstr("stage B has a reader outside the loop that it is computed in"));
  const Tensor e = Compute(
      {8}, [&](Var i) { return a(i) * 3.0F; }, "E");
  const Tensor f = Compute(
      {8}, [&](Var i) { return c(i) + e(i); }, "F");
  Schedule off_path(f);
  EXPECT_EQ(
      Refusal([&] { off_path[b].ComputeAt(off_path[e], e.axis(0)); }),
      "compute_at: stage B, axis ax0: stage E reads nothing of it; choose a loop of a reader");
}

TEST(ComputeAtErrorTest, AStageOfAnotherScheduleIsRefused) {
  const Tensor a = Placeholder({8}, Float32, "A");
  const Tensor b = Compute(
      {8}, [&](Var i) { return a(i) + 1.0F; }, "B");
  const Tensor c = Compute(
      {8}, [&](Var i) { return b(i) * 2.0F; }, "C");
  Schedule s(c), other(c);
  EXPECT_EQ(Refusal([&] { s[b].ComputeAt(other[c], c.axis(0)); }),
            "compute_at: stage B: the other stage, C, belongs to another schedule");
}

}  // namespace
}  // namespace tenon::schedule
