// External operations and scans through schedules: what primitives refuse, and compiled results
// against the interpreter.
#include <cmath>
#include <cstring>
#include <functional>
#include <numeric>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/jit/kernel.h"
#include "tenon/loop/print.h"
#include "tenon/schedule/lower.h"
#include "tenon/support/error.h"
#include "tenon/te/extern.h"
#include "tenon/te/interpret.h"
#include "tenon/te/math.h"
#include "tenon/te/reduce.h"
#include "tenon/te/scan.h"

namespace tenon::schedule {
namespace {

using te::Compute;
using te::Expr;
using te::ExternCall;
using te::ExternFunction;
using te::IterVar;
using te::Placeholder;
using te::Var;
using ::testing::HasSubstr;

template <typename Body>
std::string Refusal(Body body, absl::StatusCode code = absl::StatusCode::kInvalidArgument) {
  try {
    body();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.what();
  }
  return "no error";
}

NDArray Random(Shape shape, unsigned seed) {
  NDArray array = NDArray::Empty(std::move(shape), Float32);
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> values(-1, 1);
  for (std::int64_t i = 0; i < array.size(); ++i) array.data<float>()[i] = values(generator);
  return array;
}

using Inputs = std::vector<std::pair<Tensor, NDArray>>;

// Compiles and runs `s`; every output must be what the interpreter says, within `tolerance`.
void ExpectLikeInterpreter(const Schedule& s, const Inputs& inputs, float tolerance = 0) {
  std::vector<Tensor> args;
  std::vector<NDArray> arrays;
  for (const auto& [tensor, array] : inputs) {
    args.push_back(tensor);
    arrays.push_back(array);
  }
  const std::vector<NDArray> expected = te::Interpret(s.outputs(), inputs);
  for (std::size_t i = 0; i < s.outputs().size(); ++i) {
    args.push_back(s.outputs()[i]);
    arrays.push_back(NDArray::Empty(expected[i].shape(), expected[i].dtype()));
    std::memset(arrays.back().raw(), 0xAA, arrays.back().bytes());
  }
  const absl::StatusOr<jit::Kernel> kernel = jit::Compile(Lower(s, args, "kernel"));
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  ASSERT_TRUE(kernel->Run(arrays).ok());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const NDArray& result = arrays[inputs.size() + i];
    for (std::int64_t k = 0; k < expected[i].size(); ++k) {
      ASSERT_NEAR(result.data<float>()[k], expected[i].data<float>()[k], tolerance)
          << "output " << i << ", element " << k << "\n"
          << kernel->Loops();
    }
  }
}

void Prefix(const float* in, float* sums, float* total, std::int64_t n) {
  std::partial_sum(in, in + n, sums);
  *total = sums[n - 1];
}

// sums and total of `in`.
std::vector<Tensor> PrefixOf(const Tensor& in, const Expr& n) {
  const ExternFunction prefix = ExternFunction::At("prefix", &Prefix);
  return te::Extern(
      {{n}, {1}}, {in}, {Float32, Float32},
      [&](const auto& from, const auto& to) {
        return ExternCall(prefix, {from[0], to[0], to[1], n});
      },
      "prefix");
}

TEST(ExternScheduleTest, ComputesAroundAnExternalOperationRunInOrder) {
  for (const std::int64_t size : {1, 15, 16, 17, 65}) {
    const Var n("n");
    const Tensor a = Placeholder({n}, Float32, "a");
    const Tensor before = Compute(
        {n}, [&](Var i) { return a(i) * 2.0F; }, "before");
    const std::vector<Tensor> sums = PrefixOf(before, n);
    const Tensor after = Compute(
        {n}, [&](Var i) { return sums[0](i) / sums[1](0); }, "after");
    Schedule s(after);
    s[before].Vectorize(s[before].Split(before.axis(0), 16).second);
    s[after].Vectorize(s[after].Split(after.axis(0), 16).second);
    NDArray value = NDArray::Empty({size}, Float32);
    std::iota(value.data<float>(), value.data<float>() + size, 1.0F);
    ExpectLikeInterpreter(s, {{a, value}});
  }
}

TEST(ExternScheduleTest, OutputsOfExternalOperationsCanBeOutputs) {
  const Tensor a = Placeholder({17}, Float32, "a");
  const std::vector<Tensor> sums = PrefixOf(a, 17);
  ExpectLikeInterpreter(Schedule(sums), {{a, Random({17}, 1)}});
}

TEST(ExternScheduleTest, WhatItReadsIsStoredEvenWhereItIsInlinedElsewhere) {
  const Tensor a = Placeholder({33}, Float32, "a");
  const Tensor before = Compute(
      {33}, [&](Var i) { return a(i) * 2.0F; }, "before");
  const std::vector<Tensor> sums = PrefixOf(before, 33);
  const Tensor after = Compute(
      {33}, [&](Var i) { return sums[0](i) + before(i); }, "after");
  Schedule s(after);
  s[before].ComputeInline();
  const std::string loops = loop::Print(Lower(s, {a, after}, "kernel").body);
  EXPECT_THAT(loops, HasSubstr("after[ax0_1] = (prefix.v0[ax0_1] + (a[ax0_1] * 2f))"));
  ExpectLikeInterpreter(s, {{a, Random({33}, 2)}});
}

TEST(ExternScheduleTest, PrimitivesRefuseIt) {
  const Tensor a = Placeholder({16}, Float32, "a");
  const Tensor before = Compute(
      {16}, [&](Var i) { return a(i) * 2.0F; }, "before");
  const std::vector<Tensor> sums = PrefixOf(before, 16);
  const Tensor after = Compute(
      {16}, [&](Var i) { return sums[0](i) + 1.0F; }, "after");
  Schedule s(after);
  const IterVar foreign = after.axis(0);
  EXPECT_EQ(Refusal([&] { s[sums[0]].Split(foreign, 4); }),
            "split: stage prefix: an external operation is one call, which has no loops to "
            "schedule");
  EXPECT_THAT(Refusal([&] { s[sums[0]].Vectorize(foreign); }), HasSubstr("no loops to schedule"));
  EXPECT_THAT(Refusal([&] { s[sums[0]].Parallel(foreign); }), HasSubstr("no loops to schedule"));
  EXPECT_THAT(Refusal([&] { s[before].ComputeAt(s[sums[0]], foreign); }),
              HasSubstr("no loops to schedule"));
  EXPECT_EQ(Refusal([&] { s[sums[0]].ComputeAt(s[after], foreign); }),
            "compute_at: stage prefix: an external operation computes whole buffers, at the root");
  EXPECT_THAT(Refusal([&] { s[sums[0]].ComputeInline(); }), HasSubstr("whole buffers"));
  EXPECT_THAT(Refusal([&] { sums[0].axis(0); }, absl::StatusCode::kOutOfRange),
              HasSubstr("has 0 data axes"));
}

TEST(ExternScheduleTest, AnUnknownSymbolIsAnErrorOfTheCompiler) {
  const ExternFunction missing = ExternFunction::Named<void(float*)>("tenon_no_such_function");
  const Tensor out = te::Extern(
      {{4}}, {}, {Float32},
      [&](const auto&, const auto& to) { return ExternCall(missing, {to[0]}); }, "e")[0];
  const absl::StatusOr<jit::Kernel> kernel = jit::Compile(Lower(Schedule(out), {out}, "kernel"));
  EXPECT_EQ(kernel.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(kernel.status().message()),
              HasSubstr("kernel kernel calls the external function tenon_no_such_function"));
}

// A running sum over rows of width 5.
struct RunningSum {
  Var n{"n"};
  Tensor x = Placeholder({n, 5}, Float32, "x");
  Tensor state = Placeholder({n, 5}, Float32, "s");
  Tensor init = Compute(
      {1, 5}, [&](const Var& t, const Var& i) { return x(t, i); }, "init");
  Tensor update = Compute(
      {n, 5}, [&](const Var& t, const Var& i) { return state(t - 1, i) + x(t, i); }, "update");
  Tensor sum = te::Scan({init}, {update}, {state}, "sum")[0];
};

// States of different ranks and extents, the smallest first.
TEST(ScanScheduleTest, EachStateHasItsOwnShape) {
  for (const bool first_is_small : {true, false}) {
    const Tensor a = Placeholder({5, 3}, Float32, "as"), b = Placeholder({5, 20}, Float32, "bs"),
                 c = Placeholder({5, 3, 4}, Float32, "cs"), x = Placeholder({4}, Float32, "x");
    const Tensor a0 = Compute(
        {1, 3}, [&](const Var&, const Var&) { return x(0); }, "a0");
    const Tensor b0 = Compute(
        {1, 20}, [&](const Var&, const Var&) { return x(1); }, "b0");
    const Tensor c0 = Compute(
        {1, 3, 4}, [&](const Var&, const Var&, const Var& j) { return x(j); }, "c0");
    const Tensor an = Compute(
        {5, 3}, [&](const Var& t, const Var& i) { return a(t - 1, i) + 1.0F; }, "a");
    const Tensor bn = Compute(
        {5, 20}, [&](const Var& t, const Var& i) { return b(t - 1, i) * 0.5F; }, "b");
    const Tensor cn = Compute(
        {5, 3, 4},
        [&](const Var& t, const Var& i, const Var& j) { return c(t - 1, i, j) + a(t - 1, i); },
        "c");
    const auto results = first_is_small ? te::Scan({a0, b0, c0}, {an, bn, cn}, {a, b, c}, "scan")
                                        : te::Scan({c0, b0, a0}, {cn, bn, an}, {c, b, a}, "scan");
    ExpectLikeInterpreter(Schedule(results), {{x, Random({4}, 9)}});
  }
}

class ScanLengthTest : public ::testing::TestWithParam<std::int64_t> {};
INSTANTIATE_TEST_SUITE_P(OddSizes, ScanLengthTest, ::testing::Values(1, 2, 15, 16, 17, 65));

TEST_P(ScanLengthTest, ARunningSumOfAnyLength) {
  const RunningSum r;
  ExpectLikeInterpreter(Schedule(r.sum), {{r.x, Random({GetParam(), 5}, 3)}});
}

TEST_P(ScanLengthTest, InnerAxesOfTheUpdateAreScheduled) {
  const RunningSum r;
  Schedule s(r.sum);
  s[r.init].ComputeInline();
  const auto [outer, inner] = s[r.update].Split(r.update.axis(1), 4);
  s[r.update].Parallel(outer).Vectorize(inner);
  ExpectLikeInterpreter(s, {{r.x, Random({GetParam(), 5}, 4)}});
}

TEST_P(ScanLengthTest, TheTimeAxisIsSplitAndUnrolled) {
  const RunningSum r;
  Schedule s(r.sum);
  s[r.sum].Unroll(s[r.sum].Split(r.sum.axis(0), 4).second);
  ExpectLikeInterpreter(s, {{r.x, Random({GetParam(), 5}, 5)}});
}

// S001: check 37, two states.
TEST_P(ScanLengthTest, TwoStatesOfARotation) {
  const Var n("n");
  const Tensor a = Placeholder({n, 3}, Float32, "a"), b = Placeholder({n, 3}, Float32, "b");
  const Tensor x = Placeholder({n, 3}, Float32, "x");
  const auto init = [&](const std::string& name) {
    return Compute(
        {1, 3}, [&](const Var& t, const Var& i) { return x(t, i); }, name);
  };
  const Tensor next_a = Compute(
      {n, 3},
      [&](const Var& t, const Var& i) { return a(t - 1, i) * 0.5F - b(t - 1, i) + x(t, i); },
      "next_a");
  const Tensor next_b = Compute(
      {n, 3}, [&](const Var& t, const Var& i) { return a(t - 1, i) + b(t - 1, i) * 0.25F; },
      "next_b");
  const std::vector<Tensor> out =
      te::Scan({init("ia"), init("ib")}, {next_a, next_b}, {a, b}, "rotation");
  ExpectLikeInterpreter(Schedule(out), {{x, Random({GetParam(), 3}, 6)}}, 1e-4F);
}

// A cell with gates computed by a reduction over the last hidden state, and a memory that the
// hidden state reads at the same step.
struct Cell {
  static constexpr int kWidth = 7;
  Var steps{"steps"};
  Tensor x = Placeholder({steps, kWidth}, Float32, "x");
  Tensor w = Placeholder({2 * kWidth, kWidth}, Float32, "w");
  Tensor h = Placeholder({steps, kWidth}, Float32, "h"),
         c = Placeholder({steps, kWidth}, Float32, "c");
  IterVar k = te::ReduceAxis(0, kWidth, "k");
  Tensor gates = Compute(
      {steps, 2 * kWidth},
      [&](const Var& t, const Var& g) { return te::Sum(w(g, k.var) * h(t - 1, k.var), {k}); },
      "gates");
  Tensor next_c = Compute(
      {steps, kWidth},
      [&](const Var& t, const Var& i) {
        return te::Sigmoid(gates(t, i)) * c(t - 1, i) + te::Tanh(x(t, i));
      },
      "next_c");
  Tensor next_h = Compute(
      {steps, kWidth},
      [&](const Var& t, const Var& i) {
        return te::Sigmoid(gates(t, i + kWidth)) * te::Tanh(next_c(t, i));
      },
      "next_h");
  Tensor first = Compute(
      {1, kWidth}, [&](const Var&, const Var&) { return Expr(0.0F); }, "first");
  std::vector<Tensor> out = te::Scan({first, first}, {next_h, next_c}, {h, c}, "cell");
  Inputs inputs(std::int64_t length) const {
    return {{x, Random({length, kWidth}, 7)}, {w, Random({2 * kWidth, kWidth}, 8)}};
  }
};

TEST_P(ScanLengthTest, ARecurrentCellWithGates) {
  const Cell cell;
  ExpectLikeInterpreter(Schedule(cell.out), cell.inputs(GetParam()), 1e-5F);
}

TEST_P(ScanLengthTest, StepsBetweenStateAndUpdateArePlacedAtLoopsOfTheUpdate) {
  const Cell cell;
  Schedule s(cell.out);
  s[cell.next_c].ComputeRoot();
  s[cell.gates].Vectorize(s[cell.gates].Split(cell.gates.axis(1), 8).second);
  s[cell.first].ComputeInline();
  const Tensor result = cell.out[0];
  s[cell.gates].ComputeAt(s[result], result.axis(0));
  ExpectLikeInterpreter(s, cell.inputs(GetParam()), 1e-5F);
}

TEST(ScanScheduleTest, WhatDoesNotDependOnAStateIsComputedWhereItIsPut) {
  for (const bool at_time : {false, true}) {
    const RunningSum r;
    const Tensor scaled = Compute(
        {r.n, 5}, [&](const Var& t, const Var& i) { return r.x(t, i) * 3.0F; }, "scaled");
    const Tensor update = Compute(
        {r.n, 5}, [&](const Var& t, const Var& i) { return r.state(t - 1, i) + scaled(t, i); },
        "u");
    const Tensor sum = te::Scan({r.init}, {update}, {r.state}, "sum")[0];
    Schedule s(sum);
    if (at_time) s[scaled].ComputeAt(s[sum], sum.axis(0));
    const std::string loops = loop::Print(Lower(s, {r.x, sum}, "kernel").body);
    EXPECT_EQ(loops.find("allocate scaled: float32[1, 5]") != std::string::npos, at_time) << loops;
    ExpectLikeInterpreter(s, {{r.x, Random({9, 5}, 9)}}, 1e-5F);
  }
}

TEST(ScanScheduleTest, NoStepsAreMade) {
  const Cell cell;
  ExpectLikeInterpreter(Schedule(cell.out), cell.inputs(0));
}

TEST(ScanScheduleTest, AConsumerReadsTheScan) {
  const RunningSum r;
  const Tensor last = Compute(
      {r.n, 5}, [&](const Var& t, const Var& i) { return r.sum(t, i) * 2.0F; }, "last");
  ExpectLikeInterpreter(Schedule(last), {{r.x, Random({6, 5}, 10)}});
}

TEST(ScanScheduleTest, TheTimeAxisRefusesWhatBreaksItsOrder) {
  const RunningSum r;
  Schedule s(r.sum);
  const IterVar time = r.sum.axis(0);
  EXPECT_EQ(Refusal([&] { s[r.sum].Vectorize(time); }),
            "vectorize: stage sum, axis t: this is the time axis of a scan, whose steps need each "
            "other's results; only data axes are allowed");
  EXPECT_THAT(Refusal([&] { s[r.sum].Parallel(time); }), HasSubstr("time axis of a scan"));
  EXPECT_THAT(Refusal([&] { s[r.sum].Reorder({time}); }), HasSubstr("one after the other"));
  const auto [outer, inner] = s[r.sum].Split(time, 4);
  EXPECT_THAT(Refusal([&] { s[r.sum].Vectorize(inner); }), HasSubstr("time axis of a scan"));
  EXPECT_THAT(Refusal([&] { s[r.sum].Reorder({inner, outer}); }), HasSubstr("one after the other"));
  // Whatever it is fused with.
  const IterVar whole = s[r.sum].Fuse(s[r.sum].Fuse(), outer);
  EXPECT_THAT(Refusal([&] { s[r.sum].Parallel(whole); }), HasSubstr("time axis of a scan"));
  EXPECT_THAT(Refusal([&] { s[r.sum].Split(whole, 2, Tail::kShiftInwards); }),
              HasSubstr("time axis of a scan"));
}

TEST(ScanScheduleTest, ScansAndUpdatesStayWhereTheyAre) {
  const RunningSum r;
  const Tensor last = Compute(
      {r.n, 5}, [&](const Var& t, const Var& i) { return r.sum(t, i) * 2.0F; }, "last");
  Schedule s(last);
  EXPECT_EQ(Refusal([&] { s[r.sum].ComputeInline(); }),
            "compute_inline: stage sum: a scan has steps of its own and cannot stand inside an "
            "expression");
  Schedule of_sum(r.sum);
  EXPECT_THAT(Refusal([&] { of_sum[r.sum].ComputeAt(of_sum[r.update], r.update.axis(0)); }),
              HasSubstr("a scan whose result the caller gets runs through all of its steps at"));
  EXPECT_EQ(Refusal([&] { s[r.update].ComputeInline(); }),
            "compute_inline: stage update: the update of a scan is computed at the scan's time "
            "loop");
  EXPECT_THAT(Refusal([&] { s[r.update].ComputeAt(s[last], last.axis(0)); }),
              HasSubstr("the scan's time loop"));
}

TEST(ScanScheduleTest, AStateAndAStepOnlyExistInsideTheScan) {
  const RunningSum r;
  const Tensor outside = Compute(
      {r.n, 5}, [&](const Var& t, const Var& i) { return r.sum(t, i) + r.state(t, i); }, "outside");
  EXPECT_THAT(Refusal([&] {
                Lower(Schedule(outside), {r.x, outside}, "kernel");
              }),
              HasSubstr("stage outside reads s, the state of a scan, outside it"));
  EXPECT_THAT(Refusal([&] {
                Lower(Schedule({r.sum, r.update}), {r.x, r.sum, r.update}, "kernel");
              }),
              HasSubstr("output update is a step of scan sum"));
}

TEST(ScanScheduleTest, AnUpdateIsCachedAndAScansResultIsRead) {
  const RunningSum r;
  const Tensor last = Compute(
      {r.n, 5}, [&](const Var& t, const Var& i) { return r.sum(t, i) * 2.0F; }, "last");
  Schedule s(last);
  const Tensor next = s.CacheWrite(r.update, "local");
  s[next].ComputeAt(s[r.update], s[r.update].axis(0));
  const Tensor copy = s.CacheRead(r.sum, "global", {last});
  s[copy].ComputeAt(s[last], last.axis(0));
  ExpectLikeInterpreter(s, {{r.x, Random({6, 5}, 11)}}, 1e-5F);
}

// A state two steps back, which the first two steps do not have.
struct TwoStepsBack {
  Tensor x = Placeholder({9, 6}, Float32, "x");
  Tensor state = Placeholder({9, 6}, Float32, "s");
  Tensor init = Compute(
      {2, 6}, [&](const Var& t, const Var& i) { return x(t, i); }, "init");
  Tensor half = Compute(
      {9, 6}, [&](const Var& t, const Var& i) { return state(t - 2, i) * 0.5F; }, "half");
  Tensor update = Compute(
      {9, 6}, [&](const Var& t, const Var& i) { return half(t, i) + x(t - 2, i); }, "update");
  Tensor sum = te::Scan({init}, {update}, {state}, "sum")[0];
  Inputs inputs() const { return {{x, Random({9, 6}, 12)}}; }
};

TEST(ScanScheduleTest, ACachedStepIsNotComputedTogetherWithOthers) {
  const auto refusal = [](const std::function<void(Schedule&, const TwoStepsBack&)>& cache) {
    const TwoStepsBack r;
    Schedule s(r.sum);
    cache(s, r);
    return Refusal([&] { Lower(s, {r.x, r.sum}, "kernel"); });
  };
  EXPECT_EQ(refusal([](Schedule& s, const TwoStepsBack& r) {
              s[r.update].Split(r.update.axis(0), 3);
              s.CacheWrite(r.update, "local");
            }),
            "lower: stage update.local is computed for a box with more than one step of scan sum, "
            "as its elements are of step ((ax0.outer * 3) + ax0.inner); the step must stay one "
            "axis: call cache_write before the time axis is split or fused, and leave it as it is "
            "in transform_layout");
  EXPECT_THAT(refusal([](Schedule& s, const TwoStepsBack& r) {
                s[r.half].Reorder({r.half.axis(1), r.half.axis(0)});
                s[r.half].Fuse(r.half.axis(1), r.half.axis(0));
                s.CacheWrite(r.half, "local");
              }),
              HasSubstr("stage half.local is computed for a box with more than one step"));
  EXPECT_THAT(refusal([](Schedule& s, const TwoStepsBack& r) {
                s.TransformLayout(r.half, [](const std::vector<Var>& i) {
                  return std::vector<Expr>{loop::FloorDiv(i[0], 3), i[1], loop::FloorMod(i[0], 3)};
                });
              }),
              HasSubstr("stage half is computed for a box with more than one step"));
  EXPECT_THAT(refusal([](Schedule& s, const TwoStepsBack& r) {
                s[r.half].Split(r.half.axis(0), 3);
                s.CacheRead(s.CacheWrite(r.half, "local"), "local", {r.half});
              }),
              HasSubstr("stage half.local.local is computed for a box with more than one step"));
}

TEST(ScanScheduleTest, AStepIsCachedWhereTheTimeAxisStaysOne) {
  const TwoStepsBack r;
  Schedule s(r.sum);
  s.TransformLayout(r.half, [](const std::vector<Var>& i) {
    return std::vector<Expr>{loop::FloorDiv(i[1], 2), i[0], loop::FloorMod(i[1], 2)};
  });
  const auto [outer, inner] = s[r.update].Split(r.update.axis(1), 4);
  s[r.update].Reorder({outer, r.update.axis(0), inner});
  const Tensor next = s.CacheWrite(r.update, "local");
  s[next].ComputeAt(s[r.update], s[r.update].axis(1));
  s.CacheRead(s.CacheWrite(next, "local"), "local", {next});
  ExpectLikeInterpreter(s, r.inputs(), 1e-5F);
}

TEST(ScanScheduleTest, DataflowPrimitivesRefuseExternalOperationsAndScans) {
  const RunningSum r;
  const Tensor before = Compute(
      {16}, [&](Var i) { return Expr(2.0F) + te::Cast(Float32, i); }, "before");
  const std::vector<Tensor> sums = PrefixOf(before, 16);
  const Tensor last = Compute(
      {r.n, 5}, [&](const Var& t, const Var& i) { return r.sum(t, i) * sums[0](i); }, "last");
  Schedule s(last);
  EXPECT_THAT(Refusal([&] { s.CacheWrite(r.sum, "local"); }), HasSubstr("only what computes"));
  EXPECT_THAT(Refusal([&] { s.CacheWrite(sums, "local"); }), HasSubstr("only what computes"));
  EXPECT_THAT(Refusal([&] { s.CacheRead(before, "local", {sums[0]}); }),
              HasSubstr("its reader prefix is an external operation or a scan"));
  EXPECT_THAT(Refusal([&] { s.CacheRead(r.init, "local", {r.sum}); }),
              HasSubstr("its reader sum is an external operation or a scan"));
  EXPECT_THAT(Refusal([&] { s[r.sum].SetScope("local"); }), HasSubstr("row-major and global"));
  EXPECT_THAT(Refusal([&] {
                s.TransformLayout(before, [](const std::vector<Var>& i) {
                  return std::vector<Expr>{loop::FloorDiv(i[0], 4), loop::FloorMod(i[0], 4)};
                });
              }),
              HasSubstr("its reader prefix is an external operation or a scan"));
}

}  // namespace
}  // namespace tenon::schedule
