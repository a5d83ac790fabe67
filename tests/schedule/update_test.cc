// Schedules of reductions with computed targets, conditions and initial values.
#include <random>

#include "tenon/te/math.h"
#include "tenon/te/reduce.h"
#include "tenon/tests/schedule/schedule_testing.h"

namespace tenon::schedule {
namespace {

using te::Cast;
using te::Compute;
using te::Expr;
using te::Into;
using te::IterVar;
using te::Placeholder;
using te::ReduceAxis;
using te::StartingAt;
using te::Sum;
using te::Var;
using te::Where;
using ::testing::HasSubstr;

// A bin of a number in [-1, 1], sometimes outside.
Expr BinOf(const Expr& value, std::int64_t bins) {
  return Cast(Int64, (value + 1.1F) * (static_cast<float>(bins) * 0.5F)) - 1;
}

class HistogramTest : public ::testing::TestWithParam<std::tuple<std::int64_t, std::int64_t>> {
 protected:
  const std::int64_t size = std::get<0>(GetParam()), bins = std::get<1>(GetParam());
  const Tensor x = Placeholder({3, size}, Float32, "X");
  const IterVar r = ReduceAxis(0, size, "r");
  const Tensor h = Compute(
      {3, bins},
      [this](const Var& b, const Var&) {
        return Into(Sum(Cast(Int32, 1), {r}), {b, BinOf(x(b, r.var), bins)});
      },
      "H");
  const Tensor d = Compute(
      {3, bins}, [this](const Var& b, const Var& j) { return h(b, j) * 2; }, "D");
};

TEST_P(HistogramTest, TheDefaultSchedule) {
  ExpectRight(Schedule(h), {x});
  ExpectRight(Schedule(d), {x});
}

TEST_P(HistogramTest, LoopsOfTheUpdateAreSplitFusedReorderedAndUnrolled) {
  Schedule s(h);
  const auto [outer, inner] = s[h].Split(r, 8);
  s[h].Reorder({inner, outer});
  s[h].Unroll(inner);
  ExpectRight(s, {x});
  Schedule one(h);
  const auto [some, rest] = one[h].Split(r, 5);
  one[h].Fuse(some, rest);
  ExpectRight(one, {x});
}

TEST_P(HistogramTest, RowsRunInParallelAndInVectors) {
  Schedule s(h);
  s[h].Parallel(h.axis(0)).Vectorize(h.axis(1));
  ExpectRight(s, {x});
  Schedule lanes(h);
  lanes[h].Reorder({h.axis(1), r, h.axis(0)}).Vectorize(h.axis(0));
  ExpectRight(lanes, {x});
  Schedule parts(h);
  const auto [outer, inner] = parts[h].Split(h.axis(1), 4);
  parts[h].Reorder({outer, h.axis(0), inner, r}).Vectorize(inner);
  ExpectRight(parts, {x});
}

// A part of the result takes the terms that go there.
TEST_P(HistogramTest, IsComputedAtATileOfItsReader) {
  Schedule s(d);
  const auto [outer, inner] = s[d].Split(d.axis(1), 4);
  s[h].ComputeAt(s[d], outer);
  ExpectRight(s, {x});
  Schedule rows(d);
  rows[h].ComputeAt(rows[d], d.axis(0)).SetScope("local");
  ExpectRight(rows, {x});
}

// Rows past the end are no rows of what their bins are read from.
TEST_P(HistogramTest, IsComputedAtARowOfAnUnevenSplit) {
  for (const bool by_parts : {false, true}) {
    for (const bool inside : {false, true}) {
      Schedule s(d);
      const auto [outer, inner] =
          by_parts ? s[d].SplitParts(d.axis(0), 2) : s[d].Split(d.axis(0), 2);
      s[h].ComputeAt(s[d], inside ? inner : outer);
      ExpectRight(s, {x});
    }
  }
}

// Each part counts for itself: a histogram in parallel.
TEST_P(HistogramTest, RFactorCountsInParts) {
  Schedule s(h);
  const auto [outer, inner] = s[h].Split(r, 16);
  const Tensor parts = s.RFactor(h, outer)[0];
  s[parts].Parallel(parts.axis(0));
  ExpectRight(s, {x});
}

TEST_P(HistogramTest, IsCachedAndStoredInAnotherOrder) {
  Schedule s(h);
  const Tensor cache = s.CacheWrite(h, "global");
  const Tensor copy = s.CacheRead(x, "global", {cache});
  s[copy].ComputeAt(s[cache], s[cache].axis(0));
  ExpectRight(s, {x});
  Schedule turned(h);
  turned[h].Reorder({h.axis(1), h.axis(0)});
  turned.CacheWrite(h, "global");
  ExpectRight(turned, {x});
}

TEST_P(HistogramTest, ThePredicateIsThatOfTheElement) {
  Schedule s(d);
  s[h].SetStorePredicate([this](const std::vector<Var>& i) { return i[1] < bins; });
  ExpectRight(s, {x});
}

TEST_P(HistogramTest, IsRecorded) {
  Schedule s(h);
  s[h].Split(r, 3);
  Schedule fresh(h);
  Replay(s.record(), fresh);
  EXPECT_EQ(LoopsOf(fresh, {x, h}), LoopsOf(s, {x, h}));
}

INSTANTIATE_TEST_SUITE_P(Sizes, HistogramTest,
                         ::testing::Combine(::testing::Values(0, 1, 2, 7, 16, 17, 100),
                                            ::testing::Values(1, 4, 7, 17)));

TEST(UpdateTest, TheLoopsSetValuesAndThenUpdateThem) {
  const Tensor x = Placeholder({100}, Int32, "X");
  const IterVar r = ReduceAxis(0, 100, "r");
  const Tensor h = Compute(
      {8}, [&](const Var&) { return Into(Sum(Cast(Int32, 1), {r}), {x(r.var)}); }, "H");
  EXPECT_EQ(LoopsOf(Schedule(h), {x, h}),
            "function f(X: int32[100], H: int32[8]) {\n"
            "  for ax0.init in [0, 8) {\n"
            "    H[ax0.init] = 0i32\n"
            "  }\n"
            "  for r in [0, 100) {\n"
            "    let target = int64(X[r])\n"
            "    if ((target >= 0) && (target < 8)) {\n"
            "      H[target] = (H[target] + 1i32)\n"
            "    }\n"
            "  }\n"
            "}\n");
}

// As many terms as elements: the loops that set values and those that update stay apart.
TEST(UpdateTest, TermsAsManyAsElements) {
  const Tensor x = Placeholder({16}, Float32, "X"), v = Placeholder({16}, Float32, "V"),
               z = Placeholder({16}, Float32, "Z");
  const IterVar r = ReduceAxis(0, 16, "r");
  const Tensor y = Compute(
      {16},
      [&](const Var& i) {
        return StartingAt(Into(Sum(v(r.var), {r}), {BinOf(x(r.var), 16)}), {z(i)});
      },
      "Y");
  ExpectRight(Schedule(y), {x, v, z});
}

// A loop of one iteration around all is a dimension of the cache.
TEST(UpdateTest, ACacheInsideASingleton) {
  const Tensor x = Placeholder({33}, Float32, "X");
  const IterVar r = ReduceAxis(0, 33, "r");
  const Tensor h = Compute(
      {7}, [&](const Var&) { return Into(Sum(Cast(Int32, 1), {r}), {BinOf(x(r.var), 7)}); }, "H");
  Schedule s(h);
  s[h].Fuse();
  s.CacheWrite(h, "global");
  ExpectRight(s, {x});
}

// What the elements past the end of a split start at is not read.
TEST(UpdateTest, ACacheOfInitialValuesHasNoneOfTheOverhang) {
  const Tensor x = Placeholder({13}, Float32, "X"), z = Placeholder({13}, Float32, "Z");
  const IterVar k = ReduceAxis(0, 13, "k");
  const Tensor c = Compute(
      {13}, [&](const Var& i) { return StartingAt(Sum(x(k.var) * x(i), {k}), {z(i)}); }, "C");
  for (const bool factored : {false, true}) {
    Schedule s(c);
    s[c].Vectorize(s[c].Split(c.axis(0), 8).second);
    const Tensor cache = s.CacheWrite(c, "global");
    if (factored) s.RFactor(cache, s[cache].Split(s[cache].Loop("k"), 4).second);
    std::vector<NDArray> arrays = {RandomFloats({13}, 1), RandomFloats({13}, 2),
                                   NDArray::Empty({13}, Float32)};
    const auto kernel = jit::Compile(Lower(s, {x, z, c}, "f"), {.check_bounds = true});
    ASSERT_TRUE(kernel.ok()) << kernel.status();
    EXPECT_TRUE(kernel->Run(arrays).ok());
    ExpectRight(s, {x, z});
  }
}

class MaskedTest : public ::testing::TestWithParam<std::int64_t> {
 protected:
  const std::int64_t n = GetParam();
  const Tensor a = Placeholder({5, n}, Float32, "A"), z = Placeholder({5}, Float32, "Z");
  const IterVar k = ReduceAxis(0, n + 3, "k");
  const Tensor inside = Compute(
      {5, n}, [this](const Var& i, const Var& j) { return a(i, j) * 2.0F; }, "I");
  // Index n and further are not read.
  const Tensor c = Compute(
      {5},
      [this](const Var& i) {
        return StartingAt(Where(Sum(inside(i, k.var), {k}), k.var < n && k.var != i), {z(i)});
      },
      "C");
};

TEST_P(MaskedTest, AnySchedule) {
  ExpectRight(Schedule(c), {a, z});
  Schedule inlined(c);
  inlined[inside].ComputeInline();
  const auto [outer, inner] = inlined[c].Split(k, 4);
  inlined[c].Reorder({outer, c.axis(0), inner}).Unroll(inner);
  ExpectRight(inlined, {a, z});
  Schedule lanes(c);
  lanes[c].Reorder({k, c.axis(0)}).Vectorize(c.axis(0));
  ExpectRight(lanes, {a, z});
  Schedule factored(c);
  const Tensor parts = factored.RFactor(c, factored[c].Split(k, 4).second)[0];
  factored[parts].Vectorize(parts.axis(0));
  ExpectRight(factored, {a, z});
  Schedule cached(c);
  cached[cached.CacheWrite(c, "local")].ComputeAt(cached[c], c.axis(0));
  ExpectRight(cached, {a, z});
}

INSTANTIATE_TEST_SUITE_P(Sizes, MaskedTest, ::testing::Values(1, 2, 5, 13, 16, 33));

TEST(UpdateTest, CollidingLoopsAreRefusedInWords) {
  const Tensor x = Placeholder({3, 9}, Int32, "X");
  const IterVar r = ReduceAxis(0, 9, "r");
  const Tensor h = Compute(
      {3, 4},
      [&](const Var& b, const Var&) {
        return Into(Sum(Cast(Int32, 1), {r}), {b, x(b, r.var)});
      },
      "H");
  const Tensor d = Compute(
      {3, 4}, [&](const Var& b, const Var& j) { return h(b, j) * 2; }, "D");
  Schedule s(d);
  EXPECT_THAT(Refusal([&] { s[h].Parallel(h.axis(1)); }),
              HasSubstr("parallel: stage H, axis ax1: terms go to computed indices of this "
                        "dimension, so that its loop sets initial values alone"));
  EXPECT_THAT(Refusal([&] { s[h].Vectorize(r); }),
              HasSubstr("vectorize: stage H, axis r: this is a reduce axis"));
  EXPECT_THAT(Refusal([&] { s[h].Parallel(r); }), HasSubstr("this is a reduce axis"));
  EXPECT_THAT(Refusal([&] { s[h].Fuse(h.axis(0), h.axis(1)); }),
              HasSubstr("one is of a dimension that terms go to at computed indices"));
  EXPECT_THAT(Refusal([&] {
                s.TransformLayout(h, [](const std::vector<Var>& i) {
                  return std::vector<Expr>{i[1], i[0]};
                });
              }),
              HasSubstr("transform_layout: stage H: its terms go to computed indices"));
  s[h].Split(h.axis(1), 2);
  EXPECT_THAT(Refusal([&] { s.CacheWrite(h, "global"); }),
              HasSubstr("cache_write: stage H, axis ax1: the axis has been split or fused"));
  const Tensor e = Compute(
      {4}, [&](const Var&) { return Into(Sum(d(0, FloorMod(r.var, 4)), {r}), {x(0, r.var)}); },
      "E");
  Schedule outer(e);
  EXPECT_THAT(Refusal([&] { outer[d].ComputeAt(outer[e], e.axis(0)); }),
              HasSubstr("compute_at: stage E, axis ax0: terms go to computed indices"));
}

}  // namespace
}  // namespace tenon::schedule
