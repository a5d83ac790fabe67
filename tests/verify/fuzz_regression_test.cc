// What fuzzing found, each in its smallest form (docs/bugs-found.md).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/schedule/lower.h"
#include "tenon/support/error.h"
#include "tenon/te/math.h"
#include "tenon/te/reduce.h"
#include "tenon/te/scan.h"
#include "tenon/verify/verify_schedule.h"

namespace tenon::verify {
namespace {

using schedule::Schedule;
using te::IterVar;
using te::Tensor;
using te::Var;
using ::testing::HasSubstr;

absl::Status Verified(const Schedule& s, std::vector<Tensor> args,
                      const jit::VerifyOptions& options = {}) {
  args.insert(args.end(), s.outputs().begin(), s.outputs().end());
  return jit::Verify(s, args, options);
}

TEST(FuzzRegressionTest, ABoxOfASymbolicPartIsNoLargerThanTheTensor) {
  const Var n("n");
  const Tensor a = te::Placeholder({n}, Float32, "A");
  const IterVar k = te::ReduceAxis(0, n);
  const Tensor b = te::Compute(
      {17}, [&](const Var&) { return te::Sum(a(k.var), {k}); }, "B");
  Schedule s(b);
  const IterVar inner = s[b].SplitParts(k, 3).second;
  const Tensor part = s.RFactor(b, inner)[0];
  s[part].ComputeAt(s[b], b.axis(0));
  for (const std::int64_t size : {0, 1, 2, 13, 64})
    EXPECT_TRUE(Verified(s, {a}, {.sizes = {{n, size}}}).ok()) << size;
}

TEST(FuzzRegressionTest, ATupleReductionWithASplitTailIsVectorised) {
  const Tensor a = te::Placeholder({4, 16, 8}, Int32, "A");
  const IterVar k = te::ReduceAxis(0, 16);
  const std::vector<Tensor> b = te::ReduceTuple(
      {4, 8},
      [&](const std::vector<Var>& i) {
        return te::ArgMax(te::Cast(Int32, k.var), a(i[0], k.var, i[1]), {k});
      },
      "B");
  Schedule s(b);
  s[b[0]].Vectorize(b[0].axis(1));
  s[b[0]].Split(k, 5);
  const absl::Status status = Verified(s, {a});
  EXPECT_TRUE(status.ok()) << status;
}

TEST(FuzzRegressionTest, AProductKeepsTheOperationsOfItsTermsTogether) {
  const Tensor a = te::Placeholder({64}, Float32, "A");
  const IterVar k = te::ReduceAxis(0, 64);
  // Each term is about 1; the product of the factors alone is 0, that of the rest infinite.
  const Tensor b = te::Compute(
      {3}, [&](const Var&) { return te::Prod((a(k.var) * 0.0F + 1024.0F) * 0x1p-10F, {k}); }, "B");
  Schedule s(b);
  const absl::Status status = Verified(s, {a});
  EXPECT_TRUE(status.ok()) << status;
}

// k * inf was summed up as the sum of k, times inf; the first term is 0 * inf.
TEST(FuzzRegressionTest, ASumTakesOutNoCommonFactor) {
  const Tensor a = te::Placeholder({3}, Float32, "A");
  const IterVar k = te::ReduceAxis(0, 8);
  const Tensor b = te::Compute(
      {3},
      [&](const Var& i) {
        const loop::Expr infinity = (a(i) * 0.0F + 3e38F) * 1024.0F;
        return te::Sum(te::Cast(Float32, k.var) * infinity, {k});
      },
      "B");
  const absl::Status status = Verified(Schedule(b), {a});
  EXPECT_TRUE(status.ok()) << status;
}

// Elements were gathered before the store of the vector that holds them.
TEST(FuzzRegressionTest, ElementsOfAVectorAreReadAfterItIsStored) {
  const Tensor a = te::Placeholder({1, 33}, Float32, "A");
  const auto inside = [](const loop::Expr& x, std::int64_t n) {
    return loop::Expr(0) <= x && x < n;
  };
  const Tensor whole = te::Compute(
      {4, 1},
      [&](const Var& i, const Var& j) {
        const loop::Expr x = te::IfThenElse(inside(i * 3 - 2, 33), a(j, i * 3 - 2), 1.0F);
        return te::Cast(Int32, x);
      },
      "whole");
  const Tensor signs = te::Compute(
      {8, 2, 4},
      [&](const Var&, const Var&, const Var& k) {
        return loop::Call(loop::Intrinsic::kSign, {whole(3 - k, 0)});
      },
      "signs");
  const IterVar c = te::ReduceAxis(0, 2), x = te::ReduceAxis(0, 4);
  const Tensor sums = te::Compute(
      {8, 1},
      [&](const Var& i, const Var& j) {
        const loop::Expr place = j * 2 + x.var - 2;
        return te::Sum(
            te::IfThenElse(inside(place, 1), whole(loop::FloorDiv(i, 4) * 2 + c.var, place),
                           te::Cast(Int32, 0)) *
                signs(i, c.var, x.var),
            {c, x});
      },
      "sums");
  const absl::Status status = Verified(Schedule(sums), {a});
  EXPECT_TRUE(status.ok()) << status;
}

// Lanes whose condition holds read i % n, which was computed where the first lane's holds.
TEST(FuzzRegressionTest, AnInvariantRemainderBehindAConditionIsComputedForEachLane) {
  const Var n("n");
  const Tensor a = te::Placeholder({4, 24}, Float32, "A"), b = te::Placeholder({n}, Float64, "B");
  const Tensor c = te::Compute(
      {4, 24},
      [&](const Var& i, const Var& j) {
        return te::IfThenElse(te::Cast(Int64, a(i, j)) > 0, b(loop::FloorMod(i, te::Max(n, 1))),
                              0.0);
      },
      "C");
  for (const std::int64_t size : {1, 3, 13}) {
    const absl::Status status = Verified(Schedule(c), {a, b}, {.sizes = {{n, size}}});
    EXPECT_TRUE(status.ok()) << status;
  }
}

TEST(FuzzRegressionTest, AnInvariantQuotientBehindAConditionIsComputedForEachLane) {
  const Tensor a = te::Placeholder({8, 24}, Float32, "A"), b = te::Placeholder({8}, Int32, "B");
  const Tensor c = te::Compute(
      {8, 24},
      [&](const Var& i, const Var& j) {
        // What is divided by may be 0 or -1.
        return te::IfThenElse(te::Cast(Int64, a(i, j)) > 0,
                              loop::FloorDiv(te::Cast(Int32, i) + 5, b(i)), te::Cast(Int32, 0));
      },
      "C");
  const absl::Status status = Verified(Schedule(c), {a, b});
  EXPECT_TRUE(status.ok()) << status;
}

// Lanes of a product were left without a value.
TEST(FuzzRegressionTest, SmallMatricesAreMultipliedInFull) {
  const Tensor a = te::Placeholder({3, 1, 3}, Int64, "A"),
               b = te::Placeholder({3, 1, 3}, Int64, "B");
  const IterVar k = te::ReduceAxis(0, 1);
  const Tensor c = te::Compute(
      {3, 3, 3},
      [&](const Var& i, const Var& j, const Var& l) {
        return te::Sum(a(i, k.var, j) * b(i, k.var, l), {k});
      },
      "C");
  Schedule s(c);
  s[c].Fuse(c.axis(0), c.axis(1));
  s[c].Reorder({k, c.axis(2)});
  const absl::Status status = Verified(s, {a, b});
  EXPECT_TRUE(status.ok()) << status;
}

TEST(FuzzRegressionTest, AProductOfHalvesIsTakenInOrder) {
  const Tensor a = te::Placeholder({23}, Int32, "A");
  const IterVar k = te::ReduceAxis(0, 15), l = te::ReduceAxis(0, 23);
  const Tensor b = te::Compute(
      {23},
      [&](const Var&) {
        return te::Prod(te::Cast(Float16, a(l.var)) * te::Cast(Float16, 0.0625), {k, l});
      },
      "B");
  const absl::Status status = Verified(Schedule(b), {a});
  EXPECT_TRUE(status.ok()) << status;
}

TEST(FuzzRegressionTest, AStepOfAScanWhoseReaderIsElsewhereIsRefused) {
  const Tensor x = te::Placeholder({4}, Float32, "X");
  const auto sum_over_time = [&](const std::string& name, Tensor* update) {
    const Tensor state = te::Placeholder({4}, Float32, name + "_state");
    const Tensor init = te::Compute(
        {1}, [&](Var t) { return x(t); }, name + "_init");
    *update = te::Compute(
        {4}, [&](Var t) { return state(t - 1) + x(t); }, name + "_update");
    return te::Scan({init}, {*update}, {state}, name)[0];
  };
  Tensor first_update, second_update;
  const Tensor first = sum_over_time("first", &first_update);
  const Tensor second = sum_over_time("second", &second_update);
  Schedule s({first, second});
  const Tensor cached = s.CacheWrite(second_update, "global");
  const absl::Status status = CatchErrors([&] { s[cached].ComputeAt(s[first], first.axis(0)); });
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("stage first reads nothing of it"));
  s.CacheWrite(cached, "global");
  EXPECT_NO_THROW(schedule::Lower(s, {x, first, second}, "f"));
}

// Steps 0 and 1, which have no state two steps back, were computed together with step 2.
TEST(FuzzRegressionTest, AStepOfAScanIsCachedAlone) {
  const Tensor x = te::Placeholder({9}, Float32, "X");
  const Tensor state = te::Placeholder({9}, Float32, "state");
  const Tensor init = te::Compute(
      {2}, [&](Var t) { return x(t); }, "init");
  const Tensor update = te::Compute(
      {9}, [&](Var t) { return state(t - 2) * 0.5F + x(t); }, "update");
  const Tensor sum = te::Scan({init}, {update}, {state}, "sum")[0];
  for (const bool splits : {false, true}) {
    Schedule s(sum);
    if (splits) s[update].Split(update.axis(0), 3);
    s.CacheWrite(update, "local");
    const absl::Status status = Verified(s, {x});
    EXPECT_EQ(status.ok(), !splits) << status;
    EXPECT_THAT(std::string(status.message()),
                HasSubstr(splits ? "more than one step of scan" : ""));
  }
}

TEST(FuzzRegressionTest, AConditionThatLoadsUnderAMaskIsTakenByLane) {
  const Tensor a = te::Placeholder({64, 64}, Int32, "A"), b = te::Placeholder({7}, Int32, "B");
  const Tensor c = te::Compute(
      {64, 7},
      [&](Var i, Var j) {
        const loop::Expr inner =
            te::IfThenElse(b(j) != te::Cast(Int32, 3), b(6 - j), te::Cast(Int32, 5));
        return te::IfThenElse(loop::Expr(i) < 40 && a(i, i) != te::Cast(Int32, 1), inner,
                              te::Cast(Int32, 2));
      },
      "C");
  Schedule s(c);
  s[c].Reorder({c.axis(1), c.axis(0)});
  s[c].Vectorize(c.axis(0));
  const absl::Status status = Verified(s, {a, b});
  EXPECT_TRUE(status.ok()) << status;
}

TEST(FuzzRegressionTest, ASumOfBoolsIsTrueWhenOneIs) {
  const Tensor a = te::Placeholder({65}, Bool, "A"), b = te::Placeholder({65}, Bool, "B");
  const Tensor c = te::Compute(
      {65}, [&](Var i) { return a(i) + b(i); }, "C");
  Schedule s(c);
  s[c].Vectorize(s[c].Split(c.axis(0), 16).second);
  const absl::Status status = Verified(s, {a, b});
  EXPECT_TRUE(status.ok()) << status;
}

TEST(FuzzRegressionTest, TheLeastOfBoolsAsSignedIntegersIsZeroWhenOneIsFalse) {
  const Tensor a = te::Placeholder({4}, Bool, "A");
  const te::IterVar k = te::ReduceAxis(0, 4, "k");
  const Tensor b = te::Compute(
      {1}, [&](Var) { return te::Min(te::Cast(Int8, a(3 - k.var)), {k}); }, "B");
  const absl::Status status = Verified(Schedule(b), {a});
  EXPECT_TRUE(status.ok()) << status;
}

// 65 lanes lie in registers of which the last has no lane: its index would be undefined.
TEST(FuzzRegressionTest, AMaskedGatherThatFillsNoVectorsHasIndicesForAllLanes) {
  for (const std::int64_t n : {9, 17, 18, 33, 65}) {
    const Tensor a = te::Placeholder({5}, Int64, "A"), b = te::Placeholder({3, n}, Int8, "B"),
                 c = te::Placeholder({5, 5}, Int8, "C");
    const Tensor d = te::Compute(
        {3, n},
        [&](Var i, Var j) {
          const loop::Expr inside = loop::Expr(j) < 5 && loop::FloorDiv(j, 2) >= 2;
          return te::IfThenElse(
              te::Cast(BFloat16, b(i, j)) <= te::Cast(BFloat16, 0),
              te::Cast(BFloat16, a(loop::FloorMod(j, 5))),
              te::Cast(BFloat16,
                       te::IfThenElse(inside, c(j, loop::FloorDiv(j, 2) - 2), te::Cast(Int8, 7))));
        },
        "D");
    Schedule s(d);
    s[d].Vectorize(d.axis(1));
    const absl::Status status = Verified(s, {a, b, c});
    EXPECT_TRUE(status.ok()) << n << ": " << status;
  }
}

}  // namespace
}  // namespace tenon::verify
