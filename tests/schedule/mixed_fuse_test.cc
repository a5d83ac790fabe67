// Loops over data and reduce axes together: elements start before the first term, whatever is done
// to the loop, and what cannot rewrite such a loop says so.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/schedule/schedule.h"
#include "tenon/support/strings.h"
#include "tenon/te/math.h"
#include "tenon/te/reduce.h"
#include "tenon/tests/schedule/schedule_testing.h"

namespace tenon::schedule {
namespace {

using te::Compute;
using te::Placeholder;
using te::ReduceAxis;
using te::Var;
using ::testing::HasSubstr;

// sums[i] = start[i] + the terms of row i.
struct RowSums {
  explicit RowSums(std::int64_t rows, std::int64_t terms, bool starts = false)
      : a(Placeholder({rows, terms}, Float32, "A")),
        start(Placeholder({rows}, Float32, "start")),
        k(ReduceAxis(0, terms)),
        sums(Compute(
            {rows},
            [&](Var i) {
              te::Reduction sum = te::Sum(a(i, k.var), {k});
              return starts ? te::StartingAt(sum, {start(i)}) : sum;
            },
            "sums")),
        s(sums) {
    args = {a};
    if (starts) args.push_back(start);
  }
  Tensor a, start;
  te::IterVar k;
  Tensor sums;
  Schedule s;
  std::vector<Tensor> args;
};

class MixedFuseTest : public testing::TestWithParam<std::pair<std::int64_t, std::int64_t>> {
 protected:
  RowSums Rows(bool starts = false) const {
    return RowSums(GetParam().first, GetParam().second, starts);
  }
};

TEST_P(MixedFuseTest, ElementsStartBeforeTheLoop) {
  for (const bool starts : {false, true}) {
    RowSums r = Rows(starts);
    const IterVar both = r.s[r.sums].Fuse(r.sums.axis(0), r.k);
    EXPECT_TRUE(both.is_reduce);
    EXPECT_EQ(both.var.name(), "ax0.k.fused");
    ExpectRight(r.s, r.args);
  }
}

TEST_P(MixedFuseTest, TheReduceAxisMayBeOutside) {
  RowSums r = Rows();
  r.s[r.sums].Reorder({r.k, r.sums.axis(0)});
  r.s[r.sums].Unroll(r.s[r.sums].Split(r.s[r.sums].Fuse(r.k, r.sums.axis(0)), 3).second);
  ExpectRight(r.s, r.args);
}

TEST_P(MixedFuseTest, PartsOfBothKindsSplitFuseAndReorder) {
  for (const bool starts : {false, true}) {
    RowSums r = Rows(starts);
    Stage& stage = r.s[r.sums];
    const auto [rows, row] = stage.Split(r.sums.axis(0), 4);
    const auto [blocks, term] = stage.Split(r.k, 5);
    const IterVar both = stage.Fuse(row, blocks);
    const auto [first, second] = stage.Split(both, 3);
    stage.Reorder({second, first});
    stage.Fuse(first, term);
    stage.Parallel(rows);
    ExpectRight(r.s, r.args);
  }
}

TEST_P(MixedFuseTest, OtherDataAxesAreVectorsInside) {
  const auto [rows, terms] = GetParam();
  const Tensor a = Placeholder({rows, terms, 9}, Float32, "A");
  const IterVar k = ReduceAxis(0, terms);
  const Tensor sums = Compute(
      {rows, 9}, [&](Var i, Var j) { return te::Sum(a(i, k.var, j), {k}); }, "sums");
  Schedule s(sums);
  s[sums].Reorder({sums.axis(0), k, sums.axis(1)});
  s[sums].Fuse(sums.axis(0), k);
  s[sums].Vectorize(sums.axis(1));
  ExpectRight(s, {a});
}

TEST_P(MixedFuseTest, ALoopOfOneIterationFusesWithAReduceAxis) {
  RowSums r = Rows();
  const IterVar one = r.s[r.sums].Fuse();
  r.s[r.sums].Reorder({r.sums.axis(0), one});
  r.s[r.sums].Fuse(one, r.k);
  ExpectRight(r.s, r.args);
}

TEST_P(MixedFuseTest, ProducersAreComputedInsideAndReadersOutside) {
  const auto [rows, terms] = GetParam();
  const Tensor a = Placeholder({rows, terms}, Float32, "A");
  const Tensor twice = Compute(
      {rows, terms}, [&](Var i, Var j) { return a(i, j) * 2.0F; }, "twice");
  const IterVar k = ReduceAxis(0, terms);
  const Tensor sums = Compute(
      {rows}, [&](Var i) { return te::Sum(twice(i, k.var), {k}); }, "sums");
  const Tensor out = Compute(
      {rows}, [&](Var i) { return sums(i) + 1.0F; }, "out");
  Schedule s(out);
  const auto [outer, inner] = s[out].Split(out.axis(0), 3);
  s[sums].ComputeAt(s[out], outer);
  const IterVar both = s[sums].Fuse(sums.axis(0), k);
  s[twice].ComputeAt(s[sums], s[sums].Split(both, 4).first);
  ExpectRight(s, {a});
}

INSTANTIATE_TEST_SUITE_P(Extents, MixedFuseTest,
                         testing::Values(std::pair(1, 1), std::pair(7, 13), std::pair(8, 16),
                                         std::pair(0, 5), std::pair(5, 0)));

// The last term that is not negative wins: order counts.
TEST(MixedFuseTest, TermsOfAnElementKeepTheirOrder) {
  const Tensor a = Placeholder({5, 7}, Float32, "A");
  const IterVar k = ReduceAxis(0, 7);
  const te::Combiner last = te::MakeCombiner(
      "last", {Float32},
      [](const std::vector<Var>& x, const std::vector<Var>& y) {
        return std::vector<te::Expr>{te::Select(y[0] >= 0.0F, y[0], x[0])};
      },
      {te::Cast(Float32, -1)}, /*is_commutative=*/false);
  const Tensor b = te::ReduceTuple(
      {5}, [&](const std::vector<Var>& i) { return te::Reduce(last, {a(i[0], k.var)}, {k}); },
      "b")[0];
  for (const bool reduce_outside : {false, true}) {
    Schedule s(b);
    if (reduce_outside) s[b].Reorder({k, b.axis(0)});
    s[b].Split(s[b].Fuse(b.axis(0), k), 4);
    ExpectRight(s, {a});
  }
}

TEST(MixedFuseTest, TheElementsOfAnUpdateStartInLoopsOfTheirOwn) {
  const Tensor a = Placeholder({3, 9}, Float32, "A");
  const IterVar x = ReduceAxis(0, 9, "x");
  const Tensor h = Compute(
      {3, 4},
      [&](Var y, Var) {
        return te::Into(te::Sum(a(y, x.var), {x}), {y, te::Cast(Int64, x.var) % te::Expr(4)});
      },
      "h");
  Schedule s(h);
  s[h].Reorder({h.axis(1), h.axis(0), x});
  s[h].Split(s[h].Fuse(h.axis(0), x), 5);
  ExpectRight(s, {a});
  Schedule other(h);
  EXPECT_THAT(Refusal([&] { other[h].Fuse(h.axis(1), x); }), HasSubstr("at computed indices"));
}

TEST(MixedFuseTest, TheLoopsSayWhichElementATermIsOf) {
  RowSums r(3, 4);
  r.s[r.sums].Fuse(r.sums.axis(0), r.k);
  EXPECT_EQ(LoopsOf(r.s, {r.a, r.sums}),
            "function f(A: float32[3, 4], sums: float32[3]) {\n"
            "  for ax0.init in [0, 3) {\n"
            "    sums[ax0.init] = 0f\n"
            "  }\n"
            "  for ax0.k.fused in [0, 12) {\n"
            "    sums[floordiv(ax0.k.fused, 4)] = (sums[floordiv(ax0.k.fused, 4)] + "
            "A[ax0.k.fused])\n"
            "  }\n"
            "}\n");
}

TEST(MixedFuseErrorTest, WhatRewritesTheReductionComesBefore) {
  const auto refused = [](auto change) {
    RowSums r(6, 8);
    const auto [outer, inner] = r.s[r.sums].Split(r.k, 2);
    r.s[r.sums].Fuse(r.sums.axis(0), outer);
    return Refusal([&] { change(&r, inner); });
  };
  EXPECT_THAT(refused([](RowSums* r, const IterVar& term) { r->s.RFactor(r->sums, term); }),
              HasSubstr("rfactor: stage sums, axis ax0.k.outer.fused: it is fused of ax0 and "
                        "k.outer, of which one is a data and one a reduce axis; call rfactor "
                        "before fuse"));
  EXPECT_THAT(refused([](RowSums* r, const IterVar&) { r->s.CacheWrite(r->sums, "global"); }),
              HasSubstr("the reduce axis has been split or fused"));
  for (const bool vector : {false, true}) {
    EXPECT_THAT(refused([&](RowSums* r, const IterVar&) {
                  Stage& stage = r->s[r->sums];
                  const IterVar both = stage.Loop("ax0.k.outer.fused");
                  if (vector) {
                    stage.Vectorize(both);
                  } else {
                    stage.Parallel(both);
                  }
                }),
                HasSubstr("this is a reduce axis"));
  }
}

}  // namespace
}  // namespace tenon::schedule
