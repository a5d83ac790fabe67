// Splits that do not divide, by each tail.
#include "tenon/te/math.h"
#include "tenon/te/reduce.h"
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
using ::testing::Not;

class TailTest : public ::testing::TestWithParam<std::int64_t> {
 protected:
  const std::int64_t n = GetParam();
  const Tensor a = Placeholder({3, n + 2}, Float32, "A");
  const IterVar k = ReduceAxis(0, 3, "k");
  const Tensor b = Compute(
      {3, n}, [this](const Var& y, const Var& x) { return Sum(a(y, x + k.var), {k}); }, "B");
  const Tensor c = Compute(
      {3, n}, [this](const Var& y, const Var& x) { return te::Max(b(y, x), 0.0F); }, "C");
};

TEST_P(TailTest, ABlockThatBeginsEarlier) {
  Schedule s(c);
  const auto [outer, inner] = s[c].Split(c.axis(1), 8, Tail::kShiftInwards);
  s[c].Vectorize(inner);
  s[b].ComputeAt(s[c], outer);
  s[b].Vectorize(b.axis(1)).Unroll(k);
  s[c].Parallel(c.axis(0));
  ExpectRight(s, {a});
  // Every block is whole.
  if (n >= 8) {
    EXPECT_THAT(LoopsOf(s, {a, c}), Not(HasSubstr("if ")));
  }
  Schedule both(c);
  const auto rows = both[b].Split(b.axis(0), 2, Tail::kShiftInwards);
  const auto columns = both[b].Split(b.axis(1), 5, Tail::kShiftInwards);
  both[b].Reorder({columns.first, rows.first, rows.second, columns.second});
  ExpectRight(both, {a});
}

TEST_P(TailTest, ACacheOfShiftedBlocks) {
  Schedule s(c);
  s[c].Split(c.axis(1), 4, Tail::kShiftInwards);
  s.CacheWrite(c, "global");
  ExpectRight(s, {a});
}

// A cache is made of all blocks, but of no element past the end.
TEST_P(TailTest, ACacheOfARoundedStage) {
  Schedule s(c);
  s[b].Split(b.axis(1), 4, Tail::kRoundUp);
  s.CacheWrite(b, "global");
  ExpectRight(s, {a});
}

// The first 3 * n elements of a stage of more.
TEST_P(TailTest, MoreElementsInMemoryThatHasRoomForThem) {
  const Tensor wide = Compute(
      {3, n},
      [this](const Var& y, const Var& x) {
        return te::IfThenElse(x < n, a(y, x) * 2.0F, loop::Expr(0.0F));
      },
      "W");
  const Tensor d = Compute(
      {3, n}, [&](const Var& y, const Var& x) { return wide(2 - y, x) + 1.0F; }, "D");
  Schedule s(d);
  const auto [outer, inner] = s[wide].Split(wide.axis(1), 8, Tail::kRoundUp);
  s[wide].Vectorize(inner);
  ExpectRight(s, {a});
  const IterVar r = ReduceAxis(0, 3, "r");
  const Tensor rows = Compute(
      {n, 3},
      [&](const Var& x, const Var& y) { return Sum(a(y, r.var) * te::Cast(Float32, x), {r}); },
      "R");
  const Tensor e = Compute(
      {n, 3}, [&](const Var& x, const Var& y) { return rows(n - 1 - x, y) + 1.0F; }, "E");
  Schedule of_rows(e);
  const auto [blocks, row] = of_rows[rows].Split(rows.axis(0), 4, Tail::kRoundUp);
  of_rows[rows].Reorder({blocks, rows.axis(1), r, row}).Vectorize(row).Parallel(blocks);
  ExpectRight(of_rows, {a});
}

INSTANTIATE_TEST_SUITE_P(Sizes, TailTest, ::testing::Values(1, 2, 5, 7, 8, 9, 16, 17, 57));

// What a term reads counts as what an element reads, but where its condition bounds the axis.
TEST_P(TailTest, TermsPastTheEndAreReadOnlyWhereTheirConditionBoundsTheAxis) {
  const auto masked = [&](const auto& condition) {
    const Tensor b = Compute(
        {3, n},
        [&](const Var& y, const Var& x) {
          return te::Where(Sum(a(y, n + 1 - x) * te::Cast(Float32, k.var), {k}),
                           condition(x, k.var));
        },
        "B");
    const Tensor c = Compute(
        {3, n}, [&](const Var& y, const Var& x) { return b(y, x) * 2.0F; }, "C");
    Schedule s(c);
    const auto [blocks, lanes] = s[b].Split(b.axis(1), 8, Tail::kRoundUp);
    s[b].Reorder({blocks, k, lanes}).Vectorize(lanes);
    return s;
  };
  ExpectRight(masked([&](const Var& x, const Var& r) { return x < n && r <= x; }), {a});
  const Schedule s = masked([](const Var& x, const Var& r) { return r <= x; });
  // With two elements to spare, some sizes have room for all reads.
  const std::int64_t rounded = (n + 7) / 8 * 8;
  if (rounded <= n + 2) return ExpectRight(s, {a});
  EXPECT_THAT(Refusal([&] {
                Lower(s, {a, s.outputs()[0]}, "f");
              }),
              HasSubstr("stage B, Tail::kRoundUp: the iterations past the end read A"));
}

TEST_P(TailTest, AnUpdateThatIsRoundedUp) {
  const auto rows = [&](std::int64_t size, const auto& condition) {
    const Tensor e = Placeholder({size, 3}, Float32, "E");
    const Tensor h = Compute(
        {3, n},
        [&](const Var&, const Var& y) {
          return te::Where(te::Into(Sum(e(y, k.var), {k}), {2 - k.var, y}), condition(y));
        },
        "H");
    const Tensor d = Compute(
        {n, 3}, [&](const Var& y, const Var& c) { return h(c, y) * 2.0F; }, "D");
    Schedule s(d);
    s[h].Split(h.axis(1), 8, Tail::kRoundUp);
    return std::pair(std::move(s), e);
  };
  const auto all = [](const Var& y) { return y >= 0; };
  const auto [s, e] = rows(n, all);
  if (n % 8 == 0) {
    ExpectRight(s, {e});
  } else {
    EXPECT_THAT(Refusal([&] {
                  Lower(s, {e, s.outputs()[0]}, "f");
                }),
                HasSubstr("stage H, Tail::kRoundUp: the iterations past the end read E at ax1"));
  }
  const auto [of_more, more] = rows(n + 7, all);
  ExpectRight(of_more, {more});
  const auto [of_some, some] = rows(n, [&](const Var& y) { return y < n; });
  ExpectRight(of_some, {some});
}

TEST(TailTest, AreRecorded) {
  const Tensor a = Placeholder({10}, Float32, "A");
  const Tensor b = Compute(
      {10}, [&](const Var& i) { return a(i) * 2.0F; }, "B");
  Schedule s(b);
  s[b].Split(b.axis(0), 4, Tail::kShiftInwards);
  EXPECT_THAT(PrintRecord(s), HasSubstr("s[B].Split(B.axis(0), 4, Tail::kShiftInwards);"));
  Schedule fresh(b);
  Replay(s.record(), fresh);
  EXPECT_EQ(LoopsOf(fresh, {a, b}), LoopsOf(s, {a, b}));
  EXPECT_THAT(LoopsOf(s, {a, b}), HasSubstr("min((ax0.outer * 4), 6)"));
}

// If it is 0, there is no block.
TEST(TailTest, ABlockMayBeAsLongAsAnExtentOfUnknownLength) {
  const Var n("n");
  const Tensor a = Placeholder({n}, Float32, "A");
  const Tensor b = Compute(
      {n}, [&](const Var& i) { return a(i) * 2.0F; }, "B");
  Schedule s(b);
  s[b].Split(b.axis(0), n, Tail::kShiftInwards);
  EXPECT_THAT(LoopsOf(s, {a, b}), HasSubstr("ax0.inner"));
  s.CacheWrite(b, "global");
  EXPECT_THAT(LoopsOf(s, {a, b}), HasSubstr("B.global"));
}

TEST(TailTest, MisuseIsRefusedInWords) {
  const Var n("n");
  const Tensor a = Placeholder({n, 10}, Float32, "A");
  const IterVar k = ReduceAxis(0, 10, "k");
  const Tensor b = Compute(
      {n}, [&](const Var& i) { return Sum(a(i, k.var), {k}); }, "B");
  const Tensor c = Compute(
      {10}, [&](const Var& j) { return a(0, j) * 2.0F; }, "C");
  const Tensor d = Compute(
      {10}, [&](const Var& j) { return c(j) + 1.0F; }, "D");
  const auto refused = [&](const auto& calls) {
    Schedule s({b, d});
    return Refusal([&] {
      calls(s);
      Lower(s, {a, b, d}, "f");
    });
  };
  EXPECT_THAT(refused([&](Schedule& s) { s[b].Split(k, 4, Tail::kShiftInwards); }),
              HasSubstr("split: stage B, axis k: this is a reduce axis"));
  EXPECT_THAT(refused([&](Schedule& s) { s[b].Split(b.axis(0), 4, Tail::kShiftInwards); }),
              HasSubstr("split: stage B, axis ax0, Tail::kShiftInwards: the extent n may be less "
                        "than the factor 4; use Tail::kGuard"));
  EXPECT_THAT(
      refused([&](Schedule& s) {
        const auto [outer, inner] = s[d].Split(d.axis(0), 4, Tail::kShiftInwards);
        s[d].Parallel(outer);
      }),
      HasSubstr("loop ax0.outer is parallel, so that two iterations would write an element"));
  EXPECT_THAT(refused([&](Schedule& s) {
                const auto [outer, inner] = s[b].Split(b.axis(0), 4, Tail::kShiftInwards);
                s[b].Reorder({k, outer});
              }),
              HasSubstr("is inside a reduce loop, so that an element that is computed twice would "
                        "get its terms twice"));
  EXPECT_THAT(refused([&](Schedule& s) { s[d].Split(d.axis(0), 4, Tail::kRoundUp); }),
              HasSubstr("Tail::kRoundUp: its memory is given and has no room for more elements"));
  EXPECT_THAT(
      refused([&](Schedule& s) { s[c].Split(c.axis(0), 4, Tail::kRoundUp); }),
      HasSubstr("split: stage C, Tail::kRoundUp: the iterations past the end read A at ax0, "
                "which may be outside of the extent 10 of dimension 1"));
  // The condition says nothing of the axis that is rounded up.
  const Tensor e = Placeholder({10, 10}, Float32, "E");
  const Tensor f = Compute(
      {10, 10},
      [&](const Var& i, const Var& j) {
        return te::IfThenElse(i < 5, e(i, 9 - j), loop::Expr(0.0F));
      },
      "F");
  const Tensor g = Compute(
      {10, 10}, [&](const Var& i, const Var& j) { return f(i, j) + 1.0F; }, "G");
  Schedule of_f(g);
  of_f[f].Split(f.axis(1), 4, Tail::kRoundUp);
  EXPECT_THAT(Refusal([&] {
                Lower(of_f, {e, g}, "f");
              }),
              HasSubstr("stage F, Tail::kRoundUp: the iterations past the end read E"));
  EXPECT_THAT(refused([&](Schedule& s) {
                s[c].Split(c.axis(0), 4, Tail::kRoundUp);
                s[c].ComputeAt(s[d], d.axis(0));
              }),
              HasSubstr("the stage is not computed at the root by itself"));
  EXPECT_THAT(
      refused([&](Schedule& s) { s[c].Split(s[c].Split(c.axis(0), 5).second, 4, Tail::kRoundUp); }),
      HasSubstr("it is no axis of the operation, but a loop that was split"));
}

}  // namespace
}  // namespace tenon::schedule
