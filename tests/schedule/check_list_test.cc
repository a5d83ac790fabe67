// The check list of scheduling behaviours, one row a check: what a schedule becomes, or the words
// that refuse it. Where a schedule is accepted, its values are compared with the interpreter's.
//
// Not here: 24 and 25 (tensorize) and 37 (scan), which have tests of their own; 29 (a second bind)
// and 30 (threads of a scan), because a CPU has no thread indices and bind always refuses; 38
// (hybrid script), because there is no such language here.
#include <functional>
#include <type_traits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/schedule/auto_inline.h"
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

// 4: a split has a factor or a number of parts; both or neither does not compile.
template <typename S>
concept SplitsByBoth = requires(S s, IterVar v) {
  s.Split(v, 4, 2);
};
template <typename S>
concept SplitsByNothing = requires(S s, IterVar v) {
  s.Split(v);
};
static_assert(!SplitsByBoth<Stage&> && !SplitsByNothing<Stage&>);
// 26: a reduction is no expression, so it cannot stand inside one.
static_assert(!std::is_convertible_v<te::Reduction, loop::Expr>);

// A[10, 7] -> B = A + 1 -> C[i] = sum of row i of B -> D = 2 C.
struct Program {
  Tensor a = Placeholder({10, 7}, Float32, "A");
  Tensor b = Compute(
      {10, 7}, [this](Var i, Var j) { return a(i, j) + 1.0F; }, "B");
  te::IterVar k = ReduceAxis(0, 7);
  Tensor c = Compute(
      {10}, [this](Var i) { return Sum(b(i, k.var), {k}); }, "C");
  Tensor d = Compute(
      {10}, [this](Var i) { return c(i) * 2.0F; }, "D");
  Schedule s{d};

  // Names of a stage's loops.
  std::string Loops(const Tensor& tensor) {
    return StrJoin(s[tensor].leaves(), ", ",
                   [](std::string* out, const IterVar& leaf) { *out += leaf.var.name(); });
  }
};

struct Check {
  int number;
  std::string name;
  // Schedules, and gives what to look at; refusals are caught.
  std::function<std::string(Program&)> apply;
  std::string words;
};

std::string Loops(const Program& p) { return LoopsOf(p.s, {p.a, p.d}); }

class CheckListTest : public ::testing::TestWithParam<Check> {};

TEST_P(CheckListTest, Behaves) {
  Program p;
  std::string outcome;
  const std::string refusal = Refusal([&] { outcome = GetParam().apply(p); });
  EXPECT_THAT(refusal == "no error" ? outcome : refusal, HasSubstr(GetParam().words));
  if (refusal != "no error") return;
  ExpectRight(p.s, {p.a});
}

INSTANTIATE_TEST_SUITE_P(
    Numbered, CheckListTest,
    ::testing::Values(
        Check{1, "SplitByThreeOfTen",
              [](Program& p) {
                p.s[p.d].Split(p.d.axis(0), 3);
                return Loops(p);
              },
              "for ax0.outer in [0, 3) {\n    for ax0.inner in [0, 3) {"},
        Check{2, "SplitIntoThree",
              [](Program& p) {
                p.s[p.d].SplitParts(p.d.axis(0), 3);
                return Loops(p);
              },
              "for ax0.outer in [0, 2) {\n    for ax0.inner in [0, 4) {"},
        Check{3, "FactorAboveTheExtent",
              [](Program& p) {
                p.s[p.d].Split(p.d.axis(0), 64);
                return Loops(p);
              },
              "for ax0.inner in [0, 10) {\n    D[ax0.inner]"},
        Check{5, "SplitOfASplitAxis",
              [](Program& p) {
                p.s[p.d].Split(p.d.axis(0), 3);
                p.s[p.d].Split(p.d.axis(0), 3);
                return std::string();
              },
              "already been split or fused; the loops are now: ax0.outer, ax0.inner"},
        Check{6, "FuseOfDistantAxes",
              [](Program& p) {
                const auto [outer, inner] = p.s[p.b].Split(p.b.axis(0), 2);
                p.s[p.b].Fuse(outer, p.b.axis(1));
                return std::string();
              },
              "fuse: stage B, axis ax0.outer: it and ax1 are not consecutive loops"},
        Check{7, "FuseOfReversedNeighbours",
              [](Program& p) {
                p.s[p.b].Fuse(p.b.axis(1), p.b.axis(0));
                return p.Loops(p.b);
              },
              "ax0.ax1.fused"},
        Check{8, "FuseAcrossAnAttachPoint",
              [](Program& p) {
                const auto [outer, inner] = p.s[p.d].Split(p.d.axis(0), 3);
                p.s[p.c].ComputeAt(p.s[p.d], outer);
                p.s[p.d].Fuse(outer, inner);
                return Loops(p);
              },
              "allocate C: float32[1]"},
        Check{9, "ReorderTwiceTheSame",
              [](Program& p) {
                p.s[p.b].Reorder({p.b.axis(1), p.b.axis(1)});
                return std::string();
              },
              "reorder: stage B, axis ax1: the axis appears more than once"},
        Check{10, "VectorizeAReduceAxis",
              [](Program& p) {
                p.s[p.c].Vectorize(p.k);
                return std::string();
              },
              "vectorize: stage C, axis k: this is a reduce axis"},
        Check{11, "VectorizeASymbolicExtent",
              [](Program&) {
                const Var n("n");
                const Tensor x = Placeholder({n}, Float32, "X");
                const Tensor y = Compute(
                    {n}, [&](Var i) { return x(i) + 1.0F; }, "Y");
                Schedule s(y);
                s[y].Vectorize(y.axis(0));
                return LoopsOf(s, {x, y});
              },
              "vectorize: loop ax0 has the extent n; it must be constant"},
        Check{12, "ParallelOnAReduceAxis",
              [](Program& p) {
                p.s[p.c].Parallel(p.k);
                return std::string();
              },
              "parallel: stage C, axis k: this is a reduce axis"},
        Check{13, "ComputeAtAForeignAxis",
              [](Program& p) {
                p.s[p.c].ComputeAt(p.s[p.d], p.b.axis(0));
                return std::string();
              },
              "compute_at: stage D, axis ax0: the axis is not part of the schedule of this stage"},
        Check{14, "ComputeAtAnAxisSplitLater",
              [](Program& p) {
                p.s[p.c].ComputeAt(p.s[p.d], p.d.axis(0));
                p.s[p.d].Split(p.d.axis(0), 3);
                return Loops(p);
              },
              "allocate C: float32[1]"},
        Check{15, "ComputeAtInARing",
              [](Program& p) {
                p.s[p.b].ComputeAt(p.s[p.c], p.c.axis(0));
                p.s[p.c].ComputeAt(p.s[p.b], p.b.axis(0));
                return std::string();
              },
              "stage B is itself computed inside this stage; two stages cannot be inside each"},
        Check{16, "InlineOfAReduction",
              [](Program& p) {
                p.s[p.c].ComputeInline();
                return std::string();
              },
              "compute_inline: stage C: a reduction has loops of its own"},
        Check{17, "InlineOfSeveralOutputs",  // the peer refuses; here each output is inlined
              [](Program& p) {
                const std::vector<Tensor> pair = te::ComputeTuple(
                    {10},
                    [&](const std::vector<Var>& i) {
                      return std::vector<loop::Expr>{p.a(i[0], 0) + 1.0F, p.a(i[0], 1) * 2.0F};
                    },
                    "pair");
                p.d = Compute(
                    {10}, [&](Var i) { return pair[0](i) - pair[1](i); }, "D");
                p.s = Schedule(p.d);
                p.s[pair[0]].ComputeInline();
                return Loops(p);
              },
              "D[ax0] = ((A[(ax0 * 7)] + 1f) - (A[((ax0 * 7) + 1)] * 2f))"},
        Check{18, "CacheWriteAfterASplit",
              [](Program& p) {
                const auto [outer, inner] = p.s[p.b].Split(p.b.axis(0), 4);
                p.s[p.b].Reorder({p.b.axis(1), outer, inner});
                p.s.CacheWrite(p.b, "global");
                return Loops(p);
              },
              "allocate B.global: float32[7, 3, 4]"},
        Check{19, "CacheWriteOfOneOfTwoOutputs",
              [](Program& p) {
                const std::vector<Tensor> best = te::ReduceTuple(
                    {10},
                    [&](const std::vector<Var>& i) {
                      return te::ArgMax(te::Cast(Int32, p.k.var), p.a(i[0], p.k.var), {p.k});
                    },
                    "best");
                Schedule(best).CacheWrite(best[1], "global");
                return std::string();
              },
              "cache_write: stage best: the operation has 2 outputs, which are computed together"},
        Check{20, "CacheReadWithANonReader",
              [](Program& p) {
                p.s.CacheRead(p.a, "local", {p.b, p.d});
                return std::string();
              },
              "cache_read: stage A: stage D does not read it"},
        Check{21, "RFactorOfADataAxis",
              [](Program& p) {
                p.s.RFactor(p.c, p.c.axis(0));
                return std::string();
              },
              "rfactor: stage C, axis ax0: this is a data axis; only reduce axes are allowed"},
        Check{22, "RFactorOfAnAxisThatBeginsAtTwo",  // the peer refuses; here it is right
              [](Program& p) {
                const te::IterVar from_two = ReduceAxis(2, 5, "r");
                p.d = Compute(
                    {10}, [&](Var i) { return Sum(p.b(i, from_two.var), {from_two}); }, "D");
                p.s = Schedule(p.d);
                const auto [outer, inner] = p.s[p.d].Split(from_two, 2);
                p.s.RFactor(p.d, inner);
                return Loops(p);
              },
              "allocate D.rf: float32[2, 10]"},
        Check{23, "RFactorOfATupleReduction",
              [](Program& p) {
                const std::vector<Tensor> best = te::ReduceTuple(
                    {10},
                    [&](const std::vector<Var>& i) {
                      return te::ArgMax(te::Cast(Int32, p.k.var), p.a(i[0], p.k.var), {p.k});
                    },
                    "best");
                p.d = best[0];
                p.s = Schedule(p.d);
                const auto [outer, inner] = p.s[p.d].Split(p.k, 2);
                const std::vector<Tensor> parts = p.s.RFactor(p.d, inner);
                return StrCat(parts.size(), " ", parts[1].name());
              },
              "2 best.rf.v1"},
        Check{27, "UnequalTupleReduction",
              [](Program& p) {
                const te::Combiner pair = te::ArgMax(p.k.var, p.a(0, p.k.var), {p.k}).combiner;
                te::Reduce(pair, {p.a(0, p.k.var)}, {p.k});
                return std::string();
              },
              "reducer argmax takes 2 values; 1 are given"},
        Check{28, "Bind",
              [](Program& p) {
                p.s[p.d].Bind(p.d.axis(0), "threadIdx.x");
                return std::string();
              },
              "bind: stage D, axis ax0: a CPU has no thread index threadIdx.x; use parallel"},
        Check{31, "DoubleBufferOfTheOutput",
              [](Program& p) {
                p.s[p.d].DoubleBuffer();
                return std::string();
              },
              "double_buffer: stage D: the caller gives its memory"},
        Check{32, "StorageAlign",
              [](Program& p) {
                p.s[p.b].StorageAlign(p.b.axis(0), 8, 1);
                return Loops(p);
              },
              "B[((ax0 * 9) + ax1)]"},
        Check{33, "PrefetchInALoopThatRunsOnce",
              [](Program& p) {
                const auto [outer, inner] = p.s[p.b].Split(p.b.axis(0), 10);
                p.s.Prefetch(p.a, p.b, outer, 1);
                return Loops(p);
              },
              "prefetch: stage B, axis ax0.outer, of A: the loop is trivial"},
        Check{34, "InlineOfTheOutput",
              [](Program& p) {
                p.s[p.d].ComputeInline();
                return std::string();
              },
              "compute_inline: stage D: an output has to be stored"},
        Check{35, "AutoInlineElementwise",
              [](Program& p) {
                AutoInlineElemWise(p.s);
                return Loops(p);
              },
              "C[ax0] = (C[ax0] + (A[((ax0 * 7) + k)] + 1f))"},
        Check{36, "GroupComputeAt",
              [](Program& p) {
                p.s.CreateGroup({p.c}, {p.a}).ComputeAt(p.s[p.d], p.d.axis(0));
                return Loops(p);
              },
              "for ax0 in [0, 10) {\n    allocate B: float32[1, 7]"},
        Check{39, "TransformLayoutAfterReorder",
              [](Program& p) {
                p.s[p.b].Reorder({p.b.axis(1), p.b.axis(0)});
                p.s.TransformLayout(p.b, [](const std::vector<Var>& i) {
                  return std::vector<loop::Expr>{i[1], i[0]};
                });
                return std::string();
              },
              "transform_layout: stage B, axis ax1: the axis has already been reordered"},
        Check{40, "RollingBuffer",
              [](Program& p) {
                p.s[p.b].RollingBuffer();
                p.s[p.b].ComputeAt(p.s[p.c], p.c.axis(0));
                return Loops(p);
              },
              "rolling_buffer: stage B, computed at axis ax0: the window has 1 elements"}),
    [](const auto& info) { return StrCat("Check", info.param.number, info.param.name); });

TEST(SingletonTest, AScalarsProducersAreComputedAtItsOnlyLoop) {
  const Tensor a = Placeholder({6}, Float32, "A");
  const te::IterVar k = ReduceAxis(0, 6);
  const Tensor sum = Compute(
      {}, [&](const std::vector<Var>&) { return Sum(a(k.var), {k}); }, "sum");
  const Tensor root = Compute(
      {}, [&](const std::vector<Var>&) { return te::Abs(sum[{}]); }, "root");
  Schedule s(root);
  const IterVar only = s[root].Fuse();
  EXPECT_EQ(only.var.name(), "singleton");
  s[sum].ComputeAt(s[root], only);
  ExpectRight(s, {a});
  EXPECT_THAT(Refusal([&] { s[a].Fuse(); }), HasSubstr("fuse: stage A: a placeholder is given"));
}

TEST(ComputeAtTest, ARingOfThreeIsRefused) {
  Program p;
  const Tensor e = Compute(
      {10}, [&](Var i) { return p.d(i) + 1.0F; }, "E");
  Schedule s(e);
  s[p.b].ComputeAt(s[p.c], p.c.axis(0));
  s[p.c].ComputeAt(s[p.d], p.d.axis(0));
  EXPECT_THAT(Refusal([&] { s[p.d].ComputeAt(s[p.b], p.b.axis(0)); }),
              HasSubstr("stage B is itself computed inside this stage"));
  EXPECT_EQ(s[p.d].placement(), Stage::Placement::kRoot);
}

}  // namespace
}  // namespace tenon::schedule
