// transform_layout changes where elements lie and in which order they are computed, not what they
// are; index maps that are not one-to-one are refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/schedule/index_map.h"
#include "tenon/te/math.h"
#include "tenon/te/reduce.h"
#include "tenon/tests/schedule/schedule_testing.h"

namespace tenon::schedule {
namespace {

using loop::Expr;
using loop::FloorDiv;
using loop::FloorMod;
using te::Compute;
using te::Placeholder;
using te::ReduceAxis;
using te::Sum;
using te::Var;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Indices = std::vector<Var>;
using Exprs = std::vector<Expr>;

struct LayoutCase {
  std::string name;
  LayoutFunction layout;
  std::vector<std::int64_t> shape;  // of a tensor of 12 by 10 by 7
};

class LayoutTest : public ::testing::TestWithParam<LayoutCase> {};

TEST_P(LayoutTest, ReadersFollow) {
  const Tensor a = Placeholder({12, 10, 7}, Float32, "A");
  const te::IterVar k = ReduceAxis(0, 7);
  const Tensor b = Compute(
      {12, 10, 7},
      [&](Var i, Var j, Var l) { return Sum(a(i, j, k.var) * a(i, 9 - Expr(j), l), {k}); }, "B");
  const Tensor c = Compute(
      {10, 12}, [&](Var i, Var j) { return b(j, i, 3) - b(11 - Expr(j), i, 0); }, "C");
  Schedule s(c);
  const std::vector<IterVar> axes = s.TransformLayout(b, GetParam().layout);
  std::vector<std::int64_t> shape;
  for (const Expr& extent : s[b].op()->outputs[0]->shape)
    shape.push_back(extent.As<loop::IntImmNode>()->value);
  EXPECT_EQ(shape, GetParam().shape);
  ASSERT_EQ(axes.size(), shape.size());
  // The new loops can be scheduled.
  s[b].Split(axes[0], 5);
  if (axes.size() > 1) s[b].Reorder({k, axes.back()}).Unroll(axes.back());
  ExpectRight(s, {a});
  s[c].Split(c.axis(0), 4);
  s[b].ComputeAt(s[c], c.axis(1));
  ExpectRight(s, {a});
}

INSTANTIATE_TEST_SUITE_P(
    Maps, LayoutTest,
    ::testing::Values(
        LayoutCase{"Transpose",
                   [](const Indices& i) {
                     return Exprs{i[2], i[0], i[1]};
                   },
                   {7, 12, 10}},
        LayoutCase{"Blocked",
                   [](const Indices& i) {
                     return Exprs{FloorDiv(i[0], 4), i[1], i[2], FloorMod(i[0], 4)};
                   },
                   {3, 10, 7, 4}},
        LayoutCase{"TwoLevels",
                   [](const Indices& i) {
                     return Exprs{FloorDiv(i[0], 6), FloorMod(i[0], 2), i[1],
                                  FloorMod(FloorDiv(i[0], 2), 3), i[2]};
                   },
                   {2, 2, 10, 3, 7}},
        LayoutCase{
            "Flat", [](const Indices& i) { return Exprs{(i[0] * 10 + i[1]) * 7 + i[2]}; }, {840}},
        LayoutCase{
            "FusedThenSplit",
            [](const Indices& i) {
              const Expr flat = i[1] * 7 + i[2];
              return Exprs{FloorMod(flat, 7), FloorDiv(flat, 7) / 5, i[0], FloorDiv(flat, 7) % 5};
            },
            {7, 2, 12, 5}},
        LayoutCase{"AnIndexOfOne",
                   [](const Indices& i) {
                     return Exprs{i[1], 0, i[0], i[2]};
                   },
                   {10, 1, 12, 7}}),
    [](const auto& info) { return info.param.name; });

// Blocks that do not divide the extents: what is between is the pad value.
class PaddedLayoutTest : public ::testing::TestWithParam<std::int64_t> {};

TEST_P(PaddedLayoutTest, ReadersFindTheirElements) {
  const std::int64_t n = GetParam();
  const Tensor a = Placeholder({5, n}, Float32, "A");
  const Tensor b = Compute(
      {5, n}, [&](const Var& i, const Var& j) { return a(i, j) * 2.0F; }, "B");
  const te::IterVar k = te::ReduceAxis(0, n, "k");
  const Tensor sum = Compute(
      {5, n}, [&](const Var& i, const Var& j) { return te::Sum(b(i, k.var) * b(4 - i, j), {k}); },
      "S");
  const Tensor c = Compute(
      {5, n}, [&](const Var& i, const Var& j) { return sum(i, j) + b(i, n - 1 - j); }, "C");
  Schedule s(c);
  const auto panels = [](const Indices& i) {
    return Exprs{FloorDiv(i[1], 4), FloorDiv(i[0], 3), FloorMod(i[0], 3), FloorMod(i[1], 4)};
  };
  s.TransformLayout(b, panels, 7);
  const std::vector<te::IterVar> axes = s.TransformLayout(sum, panels, -1);
  s[sum].Vectorize(axes.back());
  ExpectRight(s, {a}, 1e-3F);
  Schedule fresh(c);
  Replay(s.record(), fresh);
  EXPECT_EQ(LoopsOf(fresh, {a, c}), LoopsOf(s, {a, c}));
  EXPECT_THAT(PrintRecord(s), HasSubstr("FloorMod(i[1], 4)}; }, 7);"));
}

INSTANTIATE_TEST_SUITE_P(Sizes, PaddedLayoutTest, ::testing::Values(1, 3, 4, 7, 16, 17));

TEST(PaddedLayoutTest, PaddingIsThePadValue) {
  const Tensor a = Placeholder({6}, Float32, "A");
  const Tensor b = Compute(
      {6}, [&](const Var& i) { return a(i) * 2.0F; }, "B");
  const Tensor c = Compute(
      {6}, [&](const Var& i) { return b(i) + 1.0F; }, "C");
  Schedule s(c);
  s.TransformLayout(
      b,
      [](const Indices& i) {
        return Exprs{FloorDiv(i[0], 4), FloorMod(i[0], 4)};
      },
      0.5);
  EXPECT_THAT(LoopsOf(s, {a, c}), HasSubstr("B[((ax0 * 4) + ax1)] = 0.5f"));
  const Tensor d = Compute(
      {6}, [&](const Var& i) { return te::Cast(Int32, i); }, "D");
  const Tensor e = Compute(
      {6}, [&](const Var& i) { return d(i) + 1; }, "E");
  Schedule of_ints(e);
  EXPECT_THAT(Refusal([&] {
                of_ints.TransformLayout(
                    d,
                    [](const Indices& i) {
                      return Exprs{FloorDiv(i[0], 4), FloorMod(i[0], 4)};
                    },
                    3e10);
              }),
              HasSubstr("3e+10"));
}

TEST(PaddedLayoutTest, WhatAConditionReadsIsNotReadForPadding) {
  const Tensor a = Placeholder({10, 5}, Float32, "A"), mask = Placeholder({10}, Float32, "mask");
  const te::IterVar k = ReduceAxis(0, 5);
  const Tensor b = Compute(
      {10}, [&](Var i) { return te::Where(Sum(a(i, k.var), {k}), mask(i) > 0.0F); }, "B");
  const Tensor c = Compute(
      {10}, [&](Var i) { return b(i) * 2.0F; }, "C");
  for (const bool is_vector : {false, true}) {
    Schedule s(c);
    const std::vector<te::IterVar> axes = s.TransformLayout(
        b,
        [](const Indices& i) {
          return Exprs{FloorDiv(i[0], 8), FloorMod(i[0], 8)};
        },
        0);
    s[b].Reorder({axes[0], k, axes[1]});
    if (is_vector) s[b].Vectorize(axes[1]);
    ExpectRight(s, {a, mask});
  }
}

TEST(IndexMapTest, TheInverseIsTheInverse) {
  IndexMap map{{Var("i"), Var("j")}, {}};
  const Expr i = map.from[0], j = map.from[1];
  map.to = {FloorDiv(j, 3), FloorMod(i, 2) * 3 + FloorMod(j, 3), FloorDiv(i, 2)};
  const InverseMap inverse = Invert("test", map, {6, 9});
  EXPECT_THAT(inverse.extents, ElementsAre(3, 6, 3));
  for (std::int64_t x = 0; x < 6; ++x) {
    for (std::int64_t y = 0; y < 9; ++y) {
      const std::vector<Expr> there = map({Expr(x), Expr(y)});
      loop::ExprMap values;
      for (std::size_t r = 0; r < there.size(); ++r) values[inverse.from[r]] = there[r];
      EXPECT_TRUE(loop::IsConstInt(loop::Substitute(inverse.to[0], values), x)) << x << " " << y;
      EXPECT_TRUE(loop::IsConstInt(loop::Substitute(inverse.to[1], values), y)) << x << " " << y;
    }
  }
}

TEST(LayoutErrorTest, EachIllegalLayoutIsRefusedInWordsAndChangesNothing) {
  const Var n("n");
  const Tensor a = Placeholder({12, 10}, Float32, "A");
  const Tensor b = Compute(
      {12, 10}, [&](Var i, Var j) { return a(i, j) + 1.0F; }, "B");
  const Tensor c = Compute(
      {12, 10}, [&](Var i, Var j) { return b(i, j) * 2.0F; }, "C");
  const LayoutFunction transpose = [](const Indices& i) { return Exprs{i[1], i[0]}; };
  const auto refused = [&](auto change) {
    Schedule s(c);
    const te::Operation before = s[b].op();
    const std::string words = Refusal([&] { change(s); });
    EXPECT_EQ(s[b].op(), before);
    return words;
  };
  const auto layout = [&](const LayoutFunction& f) {
    return refused([&](Schedule& s) { s.TransformLayout(b, f); });
  };
  // Check 39.
  EXPECT_THAT(
      refused([&](Schedule& s) {
        s[b].Reorder({b.axis(1), b.axis(0)});
        s.TransformLayout(b, transpose);
      }),
      HasSubstr("transform_layout: stage B, axis ax1: the axis has already been reordered"));
  EXPECT_THAT(refused([&](Schedule& s) {
                s[b].Split(b.axis(1), 2);
                s.TransformLayout(b, transpose);
              }),
              HasSubstr("axis ax1: the axis has already been split or fused"));
  EXPECT_THAT(refused([&](Schedule& s) { s.TransformLayout(c, transpose); }),
              HasSubstr("transform_layout: stage C: the caller gives its memory; cache_read or"));
  EXPECT_THAT(refused([&](Schedule& s) { s.TransformLayout(a, transpose); }),
              HasSubstr("stage A: the caller gives its memory"));
  EXPECT_THAT(layout(nullptr), HasSubstr("the layout is null"));
  EXPECT_THAT(layout([](const Indices& i) {
                return Exprs{i[0], te::Expr()};
              }),
              HasSubstr("gives an index that is null"));
  EXPECT_THAT(layout([](const Indices&) { return Exprs{}; }), HasSubstr("gives no index"));
  // Padding, overlap, a lost index, a constant, an unknown operation.
  EXPECT_THAT(layout([](const Indices& i) {
                return Exprs{FloorDiv(i[0], 5), i[1], FloorMod(i[0], 5)};
              }),
              HasSubstr("does not take index 0, of extent 12, apart whole: its parts cover 15"));
  EXPECT_THAT(layout([](const Indices& i) { return Exprs{i[0] * 9 + i[1]}; }),
              HasSubstr("its values have gaps or overlap"));
  EXPECT_THAT(layout([](const Indices& i) {
                return Exprs{i[0], i[1] * 2};
              }),
              HasSubstr("its values have gaps or overlap"));
  EXPECT_THAT(layout([](const Indices& i) { return Exprs{i[0]}; }),
              HasSubstr("does not take index 1, of extent 10, apart whole: its parts cover 1;"));
  EXPECT_THAT(layout([](const Indices& i) {
                return Exprs{i[0], i[1], i[0]};
              }),
              HasSubstr("does not take index 0, of extent 12, apart whole: its parts cover 144"));
  EXPECT_THAT(layout([](const Indices& i) {
                return Exprs{i[0] + 1, i[1]};
              }),
              HasSubstr("the layout uses 1; allowed are sums of indices"));
  EXPECT_THAT(layout([](const Indices& i) { return Exprs{i[0] * i[1]}; }),
              HasSubstr("the layout uses (ax0 * ax1)"));
  EXPECT_THAT(layout([](const Indices& i) {
                const Expr flat = i[0] * 10 + i[1];
                return Exprs{FloorDiv(flat, 4), FloorMod(flat, 4)};
              }),
              HasSubstr("the layout divides by 4, which cuts through a part of an index"));

  const Tensor e = Placeholder({n}, Float32, "E");
  const Tensor f = Compute(
      {n}, [&](Var i) { return e(i) + 1.0F; }, "F");
  const Tensor g = Compute(
      {n}, [&](Var i) { return f(i) * 2.0F; }, "G");
  Schedule s(g);
  EXPECT_THAT(Refusal([&] { s.TransformLayout(f, [](const Indices& i) { return Exprs{i[0]}; }); }),
              HasSubstr("the extent is n; it must be constant"));
}

}  // namespace
}  // namespace tenon::schedule
