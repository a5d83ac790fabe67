// cache_read and cache_write keep what a program computes, whatever loops the stage has, and change
// where it computes it.
#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class CacheTest : public ::testing::TestWithParam<std::int64_t> {};
INSTANTIATE_TEST_SUITE_P(OddSizes, CacheTest,
                         ::testing::Values(0, 1, 2, 3, 7, 15, 16, 17, 31, 63, 64, 65));

struct Matmul {
  Matmul(std::int64_t m, std::int64_t n, std::int64_t depth)
      : a(Placeholder({m, depth}, Float32, "A")),
        b(Placeholder({depth, n}, Float32, "B")),
        k(ReduceAxis(0, depth)),
        c(Compute(
            {m, n}, [&](Var i, Var j) { return Sum(a(i, k.var) * b(k.var, j), {k}); }, "C")) {}
  Tensor a, b;
  te::IterVar k;
  Tensor c;
};

std::vector<std::int64_t> ShapeOf(const Tensor& tensor) {
  std::vector<std::int64_t> shape;
  for (const loop::Expr& extent : tensor.shape())
    shape.push_back(extent.As<loop::IntImmNode>()->value);
  return shape;
}

TEST_P(CacheTest, CacheWriteGivesAMatmulALocalTile) {
  const Matmul p(9, GetParam(), 13);
  Schedule s(p.c);
  const Tensor local = s.CacheWrite(p.c, "local");
  const Stage::Tiles tiles = s[p.c].Tile(p.c.axis(0), p.c.axis(1), 4, 16);
  s[p.c].Vectorize(tiles.y_inner);
  s[local].ComputeAt(s[p.c], tiles.y_outer);
  s[local].Reorder({local.reduce_axis(0), local.axis(0), local.axis(1)});
  s[local].Unroll(local.axis(0)).Vectorize(local.axis(1));
  ExpectRight(s, {p.a, p.b});
}

// Check 18: the cached tensor's dimensions are the loops of the stage.
TEST(CacheWriteTest, AfterASplitTheCachedTensorHasTheLoopsAsDimensions) {
  const Matmul p(10, 8, 5);
  Schedule s(p.c);
  const auto [outer, inner] = s[p.c].Split(p.c.axis(0), 4);
  s[p.c].Reorder({outer, p.c.axis(1), inner});
  const Tensor cache = s.CacheWrite(p.c, "global");
  EXPECT_EQ(cache.name(), "C.global");
  EXPECT_THAT(ShapeOf(cache), ElementsAre(3, 8, 4));
  EXPECT_EQ(s[p.c].leaves().size(), 2U);
  ExpectRight(s, {p.a, p.b});
}

TEST_P(CacheTest, CacheWriteAfterSplitFuseAndReorderComputesTheSame) {
  const std::int64_t n = GetParam();
  const Matmul p(6, n, 5);
  Schedule s(p.c);
  const auto [outer, inner] = s[p.c].Split(p.c.axis(1), 7);
  const IterVar fused = s[p.c].Fuse(p.c.axis(0), outer);
  const auto [high, low] = s[p.c].SplitParts(fused, 4);
  s[p.c].Reorder({low, inner, high});
  const Tensor cache = s.CacheWrite(p.c, "global");
  s[cache].Vectorize(cache.axis(1));
  s[p.c].Split(p.c.axis(1), 16);
  ExpectRight(s, {p.a, p.b});
}

TEST_P(CacheTest, APackedCacheIsComputedInsideItsReader) {
  const Matmul p(5, GetParam(), 11);
  Schedule s(p.c);
  const auto [outer, inner] = s[p.c].Split(p.c.axis(1), 8);
  s[p.c].Reorder({outer, p.c.axis(0), inner});
  const Tensor cache = s.CacheWrite(p.c, "local");
  const auto [block, lane] = s[p.c].Split(p.c.axis(1), 8);
  s[p.c].Reorder({block, p.c.axis(0), lane});
  s[cache].ComputeAt(s[p.c], block);
  s[cache].Reorder({cache.reduce_axis(0), cache.axis(0), cache.axis(1), cache.axis(2)});
  ExpectRight(s, {p.a, p.b});
}

TEST_P(CacheTest, CacheReadPacksAnOperandPerTile) {
  const Matmul p(9, GetParam(), 13);
  Schedule s(p.c);
  const Tensor packed = s.CacheRead(p.b, "global", {p.c});
  const auto [outer, inner] = s[p.c].Split(p.c.axis(1), 16);
  s[p.c].Reorder({outer, p.c.axis(0), p.c.reduce_axis(0), inner});
  s[packed].ComputeAt(s[p.c], outer);
  s[packed].Vectorize(packed.axis(1));
  s[p.c].Vectorize(inner);
  ExpectRight(s, {p.a, p.b});
}

TEST(CacheReadTest, OnlyTheNamedReadersReadTheCopy) {
  const Tensor a = Placeholder({8}, Float32, "A");
  const Tensor b = Compute(
      {8}, [&](Var i) { return a(i) + 1.0F; }, "B");
  const Tensor c = Compute(
      {8}, [&](Var i) { return a(i) * b(i); }, "C");
  Schedule s(c);
  const Tensor copy = s.CacheRead(a, "local", {c});
  EXPECT_EQ(copy.name(), "A.local");
  EXPECT_EQ(s.CacheRead(a, "local", {b}).name(), "A.local.d");
  const std::string text = LoopsOf(s, {a, c});
  EXPECT_THAT(text, HasSubstr("allocate A.local: float32[8] on the stack"));
  EXPECT_THAT(text, HasSubstr("C[ax0_3] = (A.local[ax0_3] * B[ax0_3])"));
  EXPECT_THAT(text, HasSubstr("B[ax0_2] = (A.local.d[ax0_2] + 1f)"));
  ExpectRight(s, {a});
}

TEST(CacheReadTest, ACachedComputedTensorIsReadByItsOldHandle) {
  const Matmul p(5, 7, 3);
  const Tensor d = Compute(
      {5, 7}, [&](Var i, Var j) { return te::Max(p.c(i, j), 0.0F); }, "D");
  Schedule s(d);
  const Tensor written = s.CacheWrite(p.c, "global");
  const Tensor read = s.CacheRead(p.c, "global", {d});
  EXPECT_EQ(read.name(), "C.global.d");
  s[p.c].ComputeAt(s[d], d.axis(0));
  s[written].ComputeAt(s[p.c], p.c.axis(1));
  s[read].ComputeInline();
  ExpectRight(s, {p.a, p.b});
}

TEST(CacheWriteTest, AllOutputsOfOneOperationAreCachedTogether) {
  const Tensor a = Placeholder({5, 9}, Float32, "A");
  const te::IterVar k = ReduceAxis(0, 9);
  const std::vector<Tensor> best = te::ReduceTuple(
      {5},
      [&](const std::vector<Var>& i) {
        return te::ArgMax(te::Cast(Int32, k.var), a(i[0], k.var), {k});
      },
      "best");
  Schedule s(best);
  const std::vector<Tensor> cached = s.CacheWrite(best, "local");
  ASSERT_EQ(cached.size(), 2U);
  s[cached[0]].ComputeAt(s[best[0]], best[0].axis(0));
  ExpectRight(s, {a});
  // Check 19.
  EXPECT_THAT(Refusal([&] { Schedule(best).CacheWrite(best[0], "local"); }),
              HasSubstr("cache_write: stage best: the operation has 2 outputs, which are computed "
                        "together; give all of them"));
}

TEST(CacheWriteTest, ADividingSplitNeedsNoGuard) {
  const Tensor a = Placeholder({8}, Float32, "A");
  const Tensor b = Compute(
      {8}, [&](Var i) { return a(i) + 1.0F; }, "B");
  Schedule s(b);
  s[b].Split(b.axis(0), 4);
  s.CacheWrite(b, "global");
  EXPECT_EQ(LoopsOf(s, {a, b}),
            "function f(A: float32[8], B: float32[8]) {\n"
            "  allocate B.global: float32[2, 4]\n"
            "  for ax0.outer in [0, 2) {\n"
            "    for ax0.inner in [0, 4) {\n"
            "      B.global[((ax0.outer * 4) + ax0.inner)] = (A[((ax0.outer * 4) + ax0.inner)] + "
            "1f)\n"
            "    }\n"
            "  }\n"
            "  for ax0 in [0, 8) {\n"
            "    B[ax0] = B.global[ax0]\n"
            "  }\n"
            "}\n");
}

// A row of scores less the sum of its doubled elements; what it is made of lies between.
struct Rows {
  Tensor x = Placeholder({6, 20}, Float32, "X");
  te::IterVar k = ReduceAxis(0, 20);
  Tensor doubled = Compute(
      {6, 20}, [&](Var i, Var j) { return x(i, j) * 2.0F; }, "D");
  Tensor sum = Compute(
      {6}, [&](Var i) { return Sum(doubled(i, k.var), {k}); }, "S");
  Tensor y = Compute(
      {6, 20}, [&](Var i, Var j) { return doubled(i, j) - sum(i); }, "Y");

  // Both intermediate stages inside the rows of the result, and then what `rewrite` has made.
  void ExpectRightWith(const std::function<Tensor(const Rows&, Schedule&)>& rewrite) const {
    Schedule s(y);
    const Tensor made = rewrite(*this, s);
    s[sum].ComputeAt(s[y], y.axis(0));
    s[doubled].ComputeAt(s[y], y.axis(0));
    s[made].ComputeAt(s[y], y.axis(0));
    ExpectRight(s, {x});
  }
};

TEST(CachePlacementTest, ACopyIsComputedAtALoopOfAReaderOfItsReader) {
  const Rows rows;
  rows.ExpectRightWith(
      [](const Rows& r, Schedule& s) { return s.CacheRead(r.x, "local", {r.doubled}); });
  rows.ExpectRightWith([](const Rows& r, Schedule& s) { return s.CacheWrite(r.doubled, "local"); });
  rows.ExpectRightWith([](const Rows& r, Schedule& s) {
    return s.RFactor(r.sum, s[r.sum].Split(r.k, 8).second)[0];
  });
}

TEST(CachePlacementTest, ACopyAndAReaderOfItsReaderShareNoLoop) {
  const Rows rows;
  Schedule s(rows.y);
  const Tensor copy = s.CacheRead(rows.x, "global", {rows.doubled});
  EXPECT_THAT(Refusal([&] { s[copy].ComputeWith(s[rows.y], rows.y.axis(0)); }),
              HasSubstr("stage Y needs the results of X.global"));
}

TEST(CacheErrorTest, EachIllegalCallIsRefusedInWordsAndChangesNothing) {
  const Matmul p(8, 8, 8);
  const Tensor d = Compute(
      {8, 8}, [&](Var i, Var j) { return p.c(i, j) * 2.0F; }, "D");
  const auto refused = [&](auto change) {
    Schedule s(d);
    const std::string words = Refusal([&] { change(s); });
    EXPECT_EQ(s.stages().size(), 4U);
    return words;
  };
  // Check 20.
  EXPECT_THAT(refused([&](Schedule& s) { s.CacheRead(p.a, "local", {d}); }),
              HasSubstr("cache_read: stage A: stage D does not read it; only readers of A"));
  EXPECT_THAT(refused([&](Schedule& s) { s.CacheRead(p.a, "local", {}); }),
              HasSubstr("no readers are given"));
  EXPECT_THAT(refused([&](Schedule& s) { s.CacheRead(p.a, "shared", {p.c}); }),
              HasSubstr("there is no memory scope \"shared\" on a CPU; it has global and local"));
  EXPECT_THAT(refused([&](Schedule& s) { s.CacheWrite(p.a, "local"); }),
              HasSubstr("cache_write: stage A: a placeholder is given"));
  EXPECT_THAT(refused([&](Schedule& s) { s.CacheWrite(p.c, "warp"); }),
              HasSubstr("there is no memory scope \"warp\""));
  EXPECT_THAT(refused([&](Schedule& s) { s.CacheWrite(std::vector<Tensor>{}, "local"); }),
              HasSubstr("no tensor is given"));
  EXPECT_THAT(refused([&](Schedule& s) {
                s.CacheWrite(std::vector<Tensor>{p.c, d}, "local");
              }),
              HasSubstr("tensor D is not of the same operation"));
  EXPECT_THAT(refused([&](Schedule& s) {
                s[p.c].Split(p.c.reduce_axis(0), 2);
                s.CacheWrite(p.c, "local");
              }),
              HasSubstr("cache_write: stage C, axis k: the reduce axis has been split or fused"));
  EXPECT_THAT(refused([&](Schedule& s) {
                s[p.c].ComputeAt(s[d], d.axis(0));
                s.CacheWrite(d, "local");
              }),
              HasSubstr("cache_write: stage D: stage C is computed inside its loops"));
}

TEST(CacheErrorTest, ATensorOfAnotherScheduleIsNotFound) {
  const Matmul p(8, 8, 8), q(8, 8, 8);
  Schedule s(p.c);
  EXPECT_THROW(s.CacheRead(q.a, "local", {p.c}), Error);
  EXPECT_THROW(s.CacheRead(p.a, "local", {q.c}), Error);
}

}  // namespace
}  // namespace tenon::schedule
