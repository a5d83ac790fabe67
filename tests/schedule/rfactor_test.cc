// rfactor turns a reduction into two that give the same.
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

class RFactorTest : public ::testing::TestWithParam<std::int64_t> {};
INSTANTIATE_TEST_SUITE_P(OddSizes, RFactorTest,
                         ::testing::Values(0, 1, 2, 3, 7, 15, 16, 17, 63, 64, 65));

TEST_P(RFactorTest, TheInnerPartBecomesADataAxisThatVectorises) {
  const std::int64_t n = GetParam();
  const Tensor a = Placeholder({5, n}, Float32, "A");
  const te::IterVar k = ReduceAxis(0, n);
  const Tensor b = Compute(
      {5}, [&](Var i) { return Sum(a(i, k.var), {k}); }, "B");
  Schedule s(b);
  const auto [outer, inner] = s[b].Split(k, 8);
  const Tensor lanes = s.RFactor(b, inner)[0];
  EXPECT_EQ(lanes.name(), "B.rf");
  s[lanes].Reorder({lanes.axis(1), lanes.reduce_axis(0), lanes.axis(0)});
  s[lanes].Vectorize(lanes.axis(0));
  s[lanes].ComputeAt(s[b], b.axis(0));
  ExpectRight(s, {a});
}

TEST_P(RFactorTest, TheOuterPartBecomesADataAxisThatRunsInParallel) {
  const std::int64_t n = GetParam();
  const Tensor a = Placeholder({n, 3}, Float32, "A");
  const te::IterVar k = ReduceAxis(0, n), l = ReduceAxis(0, 3, "l");
  const Tensor b = Compute(
      {},
      [&](const std::vector<Var>&) {
        return te::Max(a(k.var, l.var), {k, l});
      },
      "B");
  Schedule s(b);
  const auto [outer, inner] = s[b].SplitParts(k, 4);
  const Tensor parts = s.RFactor(b, outer)[0];
  s[parts].Parallel(parts.axis(0));
  EXPECT_EQ(s[b].reduce_axis(0).var.name(), "k.outer");
  s[b].Unroll(s[b].reduce_axis(0));
  ExpectRight(s, {a});
}

// Check 23: of equal values the first index wins, in whatever order parts are joined.
TEST_P(RFactorTest, TupleReductionsAreFactoredTogether) {
  const std::int64_t n = GetParam();
  const Tensor a = Placeholder({4, n}, Float32, "A");
  const te::IterVar k = ReduceAxis(0, n);
  const std::vector<Tensor> best = te::ReduceTuple(
      {4},
      [&](const std::vector<Var>& i) {
        return te::ArgMax(te::Cast(Int32, k.var),
                          loop::Call(loop::Intrinsic::kSign, {a(i[0], k.var)}), {k});
      },
      "best");
  Schedule s(best);
  const auto [outer, inner] = s[best[0]].Split(k, 5);
  const std::vector<Tensor> parts = s.RFactor(best[1], inner, 1);
  ASSERT_EQ(parts.size(), 2U);
  s[parts[0]].ComputeAt(s[best[0]], best[0].axis(0));
  ExpectRight(s, {a}, 0);
}

// Check 22: the peer refuses this; here the factored tensor counts from the axis's beginning.
TEST_P(RFactorTest, AReduceAxisMayBeginAnywhere) {
  const std::int64_t n = GetParam();
  const Tensor a = Placeholder({n + 2}, Float32, "A");
  const te::IterVar k = ReduceAxis(2, n);
  const Tensor b = Compute(
      {1}, [&](Var) { return Sum(a(k.var), {k}); }, "B");
  Schedule s(b);
  const auto [outer, inner] = s[b].Split(k, 4);
  s.RFactor(b, outer, 1);
  ExpectRight(s, {a});
}

TEST_P(RFactorTest, FactoringTwiceAndFactoringACachedTensorCompose) {
  const std::int64_t n = GetParam();
  const Tensor a = Placeholder({3, n}, Float32, "A");
  const te::IterVar k = ReduceAxis(0, n);
  const Tensor b = Compute(
      {3}, [&](Var i) { return Sum(a(i, k.var) * 2.0F, {k}); }, "B");
  Schedule s(b);
  s[b].Split(b.axis(0), 2);
  const Tensor cache = s.CacheWrite(b, "global");
  const auto [outer, inner] = s[cache].Split(cache.reduce_axis(0), 6);
  const Tensor once = s.RFactor(cache, inner)[0];
  const auto [high, low] = s[once].Split(once.reduce_axis(0), 2);
  const Tensor twice = s.RFactor(once, low, 2)[0];
  EXPECT_EQ(twice.ndim(), 4U);
  ExpectRight(s, {a});
}

TEST(RFactorTest, ASumOverOneAxisKeepsIt) {
  const Tensor a = Placeholder({6}, Float32, "A");
  const te::IterVar k = ReduceAxis(0, 6);
  const Tensor b = Compute(
      {1}, [&](Var) { return Sum(a(k.var), {k}); }, "B");
  Schedule s(b);
  EXPECT_EQ(s.RFactor(b, k)[0].op()->reduce_axes.size(), 0U);
  ExpectRight(s, {a});
}

TEST(RFactorErrorTest, EachIllegalCallIsRefusedInWordsAndChangesNothing) {
  const Tensor a = Placeholder({8, 8}, Float32, "A");
  const te::IterVar k = ReduceAxis(0, 8);
  const Tensor middle = Compute(
      {8, 8}, [&](Var i, Var j) { return a(i, j) + 1.0F; }, "middle");
  const Tensor b = Compute(
      {8}, [&](Var i) { return Sum(middle(i, k.var), {k}); }, "B");
  const auto refused = [&](auto change) {
    Schedule s(b);
    const std::string words = Refusal([&] { change(s); });
    EXPECT_EQ(s.stages().size(), 3U);
    return words;
  };
  // Check 21.
  EXPECT_THAT(refused([&](Schedule& s) { s.RFactor(b, b.axis(0)); }),
              HasSubstr("rfactor: stage B, axis ax0: this is a data axis; only reduce axes are"));
  EXPECT_THAT(refused([&](Schedule& s) { s.RFactor(b, k, 2); }),
              HasSubstr("the factor axis is 2; it must be one of 0 to 1"));
  EXPECT_THAT(refused([&](Schedule& s) {
                s[b].Split(k, 2);
                s.RFactor(b, k);
              }),
              HasSubstr("already been split or fused; the loops are now: ax0, k.outer, k.inner"));
  EXPECT_THAT(refused([&](Schedule& s) {
                s[middle].ComputeAt(s[b], b.axis(0));
                s.RFactor(b, k);
              }),
              HasSubstr("stage middle is computed inside its loops"));
  EXPECT_THAT(refused([&](Schedule& s) { s.RFactor(middle, middle.axis(0)); }),
              HasSubstr("this is a data axis"));
}

// A reducer says that the order of its terms counts, or is caught.
TEST(RFactorErrorTest, ReducersThatAreNotAssociativeAreRefused) {
  const Tensor a = Placeholder({16}, Float32, "A");
  const te::IterVar k = ReduceAxis(0, 16, "k");
  const auto join = [](const std::vector<Var>& x, const std::vector<Var>& y) {
    return std::vector<te::Expr>{(x[0] + y[0]) * 0.5F};
  };
  for (const bool says_so : {false, true}) {
    const te::Combiner half = te::MakeCombiner("half", {Float32}, join, {te::Cast(Float32, 0)},
                                               /*is_commutative=*/!says_so);
    const Tensor b = Compute(
        {1}, [&](Var) { return te::Reduce(half, {a(k.var)}, {k}); }, "B");
    Schedule s(b);
    const auto [outer, inner] = s[b].Split(k, 4);
    const std::string why =
        says_so ? "reducer half is not commutative" : "reducer half is not associative: (";
    EXPECT_THAT(Refusal([&, o = outer] { s.RFactor(b, o); }),
                HasSubstr(StrCat("rfactor: stage B, axis k.outer: ", why)));
    EXPECT_THAT(Refusal([&, o = outer, i = inner] {
                  s[b].Reorder({i, o});
                }),
                HasSubstr(StrCat("reorder: stage B: ", why)));
    ExpectRight(s, {a});
  }
}

// Names lead to loops through splits, caches and rfactor.
// A loop that a call does not name may be passed as well.
TEST(ReorderErrorTest, NoReduceLoopPassesAnotherWhereTheOrderCounts) {
  const Tensor a = Placeholder({4, 8, 8}, Float32, "A");
  const te::IterVar k = ReduceAxis(0, 8, "k"), l = ReduceAxis(0, 8, "l");
  const te::Combiner last = te::MakeCombiner(
      "last", {Float32},
      [](const std::vector<Var>& x, const std::vector<Var>& y) {
        return std::vector<te::Expr>{loop::Select(y[0] > 0.0F, y[0], x[0])};
      },
      {te::Cast(Float32, 0)}, /*is_commutative=*/false);
  const Tensor b = Compute(
      {4},
      [&](Var i) {
        return te::Reduce(last, {a(i, k.var, l.var)}, {k, l});
      },
      "B");
  Schedule s(b);
  s[b].Reorder({k, l, b.axis(0)});
  const std::string why =
      ": stage B: reducer last is not commutative, so that its reduce loops keep their order";
  EXPECT_EQ(Refusal([&] { s[b].Reorder({b.axis(0), k}); }), "reorder" + why);
  EXPECT_EQ(Refusal([&] { s[b].Tile(k, l, 4, 4); }), "tile" + why);
  EXPECT_EQ(s[b].leaves().size(), 3U);
  s[b].Reorder({k, b.axis(0), l});
  ExpectRight(s, {a});
}

TEST(LoopTest, IsFoundByItsName) {
  const Tensor a = te::Placeholder({4, 6, 8}, Float32, "A");
  const te::IterVar k = te::ReduceAxis(0, 8, "k");
  const Tensor b = te::Compute(
      te::NamedShape{{"y", 4}, {"x", 6}},
      [&](const te::Var& y, const te::Var& x) { return te::Sum(a(y, x, k.var), {k}); }, "B");
  Schedule s(b);
  s[b].Split(s[b].Loop("x"), 4);
  s[b].Split(s[b].Loop("k"), 2);
  const Tensor parts = s.RFactor(b, s[b].Loop("k.inner"))[0];
  s[parts].Vectorize(s[parts].Loop("x")).Unroll(s[parts].Loop("k.inner"));
  const Tensor cache = s.CacheWrite(b, "global");
  s[cache].Parallel(s[cache].Loop("y"));
  ExpectRight(s, {a});
  EXPECT_EQ(Refusal([&] { s[parts].Loop("k"); }),
            "loop: stage B.rf: no loop has the name \"k\"; its loops are: k.inner, y, x, k.outer");
}

}  // namespace
}  // namespace tenon::schedule
