// What lowering refuses before it makes loops: unknown variables, shared reduce axes, vector loops
// in vector loops, and reads that are known to lie outside of a tensor.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/te/math.h"
#include "tenon/te/reduce.h"
#include "tenon/te/scan.h"
#include "tenon/tests/schedule/schedule_testing.h"

namespace tenon::schedule {
namespace {

using te::Compute;
using te::Expr;
using te::IterVar;
using te::Placeholder;
using te::ReduceAxis;
using te::Sum;
using te::Var;
using ::testing::HasSubstr;

const Tensor a = Placeholder({16}, Float32, "A");

std::string Lowered(const Tensor& out, const std::vector<Tensor>& inputs = {a}) {
  std::vector<Tensor> args = inputs;
  args.push_back(out);
  return Refusal([&] { Lower(Schedule(out), args, "f"); });
}

TEST(CheckStagesTest, ManyStagesOfOneKernelAreLoweredOrRefusedInWords) {
  const auto chain = [](int stages) {
    Tensor t = a;
    for (int i = 0; i < stages; ++i)
      t = Compute(
          {16}, [&](const Var& j) { return t(j) + 1.0F; }, "P");
    return t;
  };
  EXPECT_EQ(Lowered(chain(1000)), "no error");
  EXPECT_EQ(
      Lowered(chain(4097)),
      "the schedule has 4097 stages with memory of their own; at most 4096 are allowed in one "
      "kernel; inline some, or make several kernels");
}

TEST(CheckStagesTest, ABodyUsesItsOwnAxesAndExtentsOfArguments) {
  const Var z("z");
  EXPECT_EQ(Lowered(Compute(
                {16}, [&](Var i) { return a(z) + a(i); }, "P")),
            "lower f: stage P uses the variable z, which is none of its own axes (ax0) and no "
            "extent of an argument");
}

TEST(CheckStagesTest, AReduceAxisIsThatOfItsOwnReduction) {
  const IterVar k = ReduceAxis(0, 16, "k"), other = ReduceAxis(0, 16, "r");
  EXPECT_THAT(Lowered(Compute(
                  {16}, [&](Var) { return Sum(a(k.var), {other}); }, "P")),
              HasSubstr("uses the variable k, which is none of its own axes (ax0, r)"));
}

TEST(CheckStagesTest, ExtentsComeFromArguments) {
  const Var m("m");
  const IterVar k = ReduceAxis(0, m, "k");
  EXPECT_EQ(Lowered(Compute(
                {4}, [&](Var) { return Sum(a(k.var), {k}); }, "P")),
            "lower f: reduce axis k of P runs over m, but no argument's shape has m");
}

TEST(CheckStagesTest, ASplitFactorComesFromArguments) {
  const Var q("q");
  const Tensor c = Compute(
      {16}, [&](Var i) { return a(i) * 2.0F; }, "C");
  Schedule s(c);
  s[c].Split(c.axis(0), q);
  EXPECT_EQ(Refusal([&] {
              Lower(s, {a, c}, "f");
            }),
            "split: stage C, axis ax0: no argument's shape has q, which the factor q needs");
}

TEST(CheckStagesTest, TwoStagesDoNotShareTheReduceLoopThatOneIsComputedIn) {
  const IterVar k = ReduceAxis(0, 16, "k");
  const Tensor p = Compute(
      {16}, [&](Var i) { return Sum(a(i) * a(k.var), {k}); }, "P");
  const Tensor q = Compute(
      {4}, [&](Var) { return Sum(p(k.var), {k}); }, "Q");
  Schedule s(q);
  EXPECT_EQ(Refusal([&] { Lower(s, {a, q}, "f"); }), "no error");  // one after the other
  s[p].ComputeAt(s[q], k);
  EXPECT_EQ(Refusal([&] {
              Lower(s, {a, q}, "f");
            }),
            "compute_at: stage P is computed in a loop of Q over reduce axis k, which belongs to "
            "both; make one for each");
}

TEST(CheckStagesTest, AVectorisedLoopHoldsNoVectorisedOrParallelOne) {
  const Tensor x = Placeholder({16, 16}, Float32, "X");
  const Tensor y = Compute(
      {16, 16}, [&](Var i, Var j) { return x(i, j) + 1.0F; }, "Y");
  for (const bool is_parallel : {false, true}) {
    Schedule s(y);
    s[y].Vectorize(y.axis(0));
    is_parallel ? s[y].Parallel(y.axis(1)) : s[y].Vectorize(y.axis(1));
    EXPECT_THAT(Refusal([&] {
                  Lower(s, {x, y}, "f");
                }),
                HasSubstr("vectorize: stage Y, axis ax0: the loop ax1 inside is"));
  }
}

TEST(CheckReadsTest, AReadThatIsKnownToLieOutsideIsRefused) {
  EXPECT_EQ(Lowered(Compute(
                {16}, [&](Var i) { return a(i + 1); }, "B")),
            "lower f: stage B reads A at index 16 of dimension 0, whose extent is 16; the index is "
            "(ax0 + 1)");
  EXPECT_THAT(Lowered(Compute(
                  {16}, [&](Var i) { return a(10 - i); }, "B")),
              HasSubstr("reads A at index -5 of dimension 0"));
  const IterVar k = ReduceAxis(1, 16, "k");
  EXPECT_THAT(Lowered(Compute(
                  {2}, [&](Var) { return Sum(a(k.var), {k}); }, "B")),
              HasSubstr("at index 16"));
  // Through an inlined stage, too.
  const Tensor b = Compute(
      {20}, [&](Var i) { return a(i); }, "B");
  const Tensor c = Compute(
      {17}, [&](Var i) { return b(i) + 1.0F; }, "C");
  Schedule s(c);
  s[b].ComputeInline();
  EXPECT_THAT(Refusal([&] { Lower(s, {a, c}, "f"); }), HasSubstr("stage C reads A at index 16"));
}

TEST(CheckReadsTest, AReadThatIsGuardedOrStaysInsideIsNone) {
  EXPECT_EQ(
      Lowered(Compute(
          {18}, [&](Var i) { return te::IfThenElse(i >= 1 && i < 17, a(i - 1), 0.0F); }, "B")),
      "no error");
  EXPECT_EQ(Lowered(Compute(
                {40}, [&](Var i) { return a(te::FloorDiv(i, 3)); }, "B")),
            "no error");
  EXPECT_EQ(Lowered(Compute(
                {0}, [&](Var i) { return a(i + 99); }, "B")),
            "no error");
  // Of what a stage would read outside, the inlined one computes what is needed.
  const Tensor b = Compute(
      {20}, [&](Var i) { return a(i); }, "B");
  const Tensor c = Compute(
      {16}, [&](Var i) { return b(i) + 1.0F; }, "C");
  Schedule s(c);
  s[b].ComputeInline();
  EXPECT_EQ(Refusal([&] { Lower(s, {a, c}, "f"); }), "no error");
}

TEST(CheckReadsTest, LoopsOfMoreThanAVectorAreVectorisedInBlocks) {
  for (const std::int64_t n : {257, 320, 1000}) {
    const Tensor x = Placeholder({n}, Float32, "X");
    const Tensor y = Compute(
        {n}, [&](Var i) { return x(i) * 2.0F; }, "Y");
    Schedule s(y);
    s[y].Vectorize(y.axis(0));
    EXPECT_THAT(LoopsOf(s, {x, y}), HasSubstr("ramp("));
    ExpectRight(s, {x}, 0);
  }
}

// The last value that is not 0 joins in the order of its terms only.
TEST(CombinerOrderTest, AReducerThatIsNotCommutativeKeepsItsOrder) {
  const te::Combiner last = te::MakeCombiner(
      "last", {Float32},
      [](const std::vector<Var>& l, const std::vector<Var>& r) {
        return std::vector<Expr>{te::Select(r[0] != 0.0F, r[0], l[0])};
      },
      {0.0F}, /*is_commutative=*/false);
  const IterVar k = ReduceAxis(0, 16, "k");
  const Tensor b = Compute(
      {2}, [&](Var) { return te::Reduce(last, {a(k.var)}, {k}); }, "B");
  Schedule s(b);
  const auto [outer, inner] = s[b].Split(k, 4);
  const auto o = outer, i = inner;
  EXPECT_EQ(Refusal([&] {
              s[b].Reorder({i, o});
            }),
            "reorder: stage B: reducer last is not commutative, so that its reduce loops keep "
            "their order");
  EXPECT_EQ(Refusal([&] { s.RFactor(b, i); }),
            "rfactor: stage B, axis k.inner: reducer last is not commutative; rfactor joins terms "
            "in another order");
  s[b].Reorder({o, i, b.axis(0)});
  ExpectRight(s, {a});
}

}  // namespace
}  // namespace tenon::schedule
