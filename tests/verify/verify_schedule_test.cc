// jit::Verify passes right schedules and names what a wrong program gives.
#include "tenon/verify/verify_schedule.h"

#include <cstring>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/schedule/lower.h"
#include "tenon/strategies/auto_schedule.h"
#include "tenon/strategies/generic_schedule.h"
#include "tenon/te/extern.h"
#include "tenon/te/math.h"
#include "tenon/te/reduce.h"

namespace tenon::jit {
namespace {

using schedule::Schedule;
using te::Tensor;
using te::Var;
using ::testing::HasSubstr;

Tensor Doubled(const Tensor& a) {
  return te::Compute(
      a.shape(), [&](Var i) { return a(i) * 2.0F; }, "B");
}

TEST(VerifyTest, ARightScheduleOfASymbolicSizePasses) {
  const Var n("n");
  const Tensor a = te::Placeholder({n}, Float32, "A"), b = Doubled(a);
  Schedule s(b);
  s[b].Vectorize(s[b].Split(b.axis(0), 16).second);
  for (const std::int64_t size : {0, 1, 15, 16, 17, 65}) {
    const absl::Status status = Verify(s, {a, b}, {.sizes = {{n, size}}});
    EXPECT_TRUE(status.ok()) << size << ": " << status;
  }
}

TEST(VerifyTest, WorkBeyondTheInterpreterIsComparedWithUnscheduledCode) {
  const Tensor a = te::Placeholder({300, 300}, Float32, "A"),
               b = te::Placeholder({300, 300}, Float32, "B");
  const te::IterVar k = te::ReduceAxis(0, 300);
  const Tensor c = te::Compute(
      {300, 300}, [&](Var i, Var j) { return te::Sum(a(i, k.var) * b(k.var, j), {k}); }, "C");
  Schedule s(c);
  s[c].Tile(c.axis(0), c.axis(1), 8, 32);
  s[c].Reorder({s[c].leaves()[4], s[c].leaves()[2], s[c].leaves()[3]});
  s[c].Vectorize(s[c].leaves().back());
  const absl::Status status = Verify(s, {a, b, c});
  EXPECT_TRUE(status.ok()) << status;
}

TEST(VerifyTest, LoopsThatComputeSomethingElseAreCaughtAtTheFirstWrongElement) {
  const Tensor a = te::Placeholder({17}, Int32, "A");
  const Tensor right = te::Compute(
      {17}, [&](Var i) { return a(i); }, "B");
  const Tensor wrong = te::Compute(
      {17}, [&](Var i) { return te::Select(loop::Expr(i) < 5, a(i), a(i) + 1); }, "B");
  const loop::Function loops = schedule::Lower(Schedule(wrong), {a, wrong}, "f");
  const absl::Status status = VerifyLoops(loops, {right}, {a, right});
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()), HasSubstr("verify: B(5) is "));
  EXPECT_THAT(std::string(status.message()), HasSubstr("; it must be "));
}

// min(A[i], A[i + 1]) is never the greater one.
TEST(VerifyTest, LoopsThatReadOutsideAnArrayAreCaughtThoughTheResultIsRight) {
  const Tensor a = te::Placeholder({17}, Int32, "A");
  const Tensor b = te::Compute(
      {17}, [&](Var i) { return a(i); }, "B");
  const loop::Function made = schedule::Lower(Schedule(b), {a, b}, "f");
  const loop::Buffer in = made.buffers[0], out = made.buffers[1];
  const Var i("i");
  const loop::Expr x = loop::Load(in, {i});
  loop::Function loops = made;
  loops.body =
      loop::For(i, 0, 17, loop::ForKind::kSerial,
                loop::Store(out, loop::Max(x, loop::Min(x, loop::Load(in, {i + 1}))), {i}));
  const absl::Status status = VerifyLoops(loops, {b}, {a, b});
  EXPECT_EQ(status.code(), absl::StatusCode::kOutOfRange) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("A is read at element 17 of 17"));
}

TEST(VerifyTest, AnExternalFunctionThatLiesIsCaught) {
  // The interpreter calls it first, the kernel second.
  static int calls = 0;
  const loop::ExternFunction lie = loop::ExternFunction::At(
      "lie", +[](const float* in, float* out, std::int64_t n) {
        std::memcpy(out, in, static_cast<std::size_t>(n) * sizeof(float));
        if (++calls > 1) out[n - 1] = 100;
      });
  const Tensor a = te::Placeholder({9}, Float32, "A");
  const Tensor b = te::Extern(
      {{9}}, {a}, {Float32},
      [&](const auto& in, const auto& out) {
        return te::ExternCall(lie, {in[0], out[0], 9});
      },
      "B")[0];
  const absl::Status status = Verify(Schedule(b), {a, b});
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()), HasSubstr("verify: B(8) is 100; it must be "));
}

TEST(VerifyErrorTest, ASizeThatIsNoneIsRefused) {
  const Var n("n"), m("m");
  const Tensor a = te::Placeholder({n}, Float32, "A"), b = Doubled(a);
  const Schedule s(b);
  const absl::Status negative = Verify(s, {a, b}, {.sizes = {{n, -1}}});
  EXPECT_EQ(negative.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(negative.message()), HasSubstr("the size of n is -1"));
  const absl::Status foreign = Verify(s, {a, b}, {.sizes = {{m, 3}}});
  EXPECT_EQ(foreign.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(foreign.message()),
              HasSubstr("m is not a symbolic extent of an argument"));
}

// Terms that meet at one element are no parallel or vectorised loop of the automatic schedules.
TEST(VerifyTest, AutomaticSchedulesOfUpdatesPass) {
  for (const std::int64_t size : {1, 17, 3000}) {
    const Tensor x = te::Placeholder({4, size}, Int32, "X");
    const te::IterVar r = te::ReduceAxis(0, size, "r"), k = te::ReduceAxis(0, 8, "k");
    const Tensor histogram = te::Compute(
        {4, 8},
        [&](const Var& b, const Var&) {
          return te::Into(te::Sum(te::Cast(Int32, 1), {r}),
                          {b, loop::FloorMod(te::Cast(Int64, x(b, r.var)), 9)});
        },
        "H");
    const Tensor total = te::Compute(
        {4},
        [&](const Var& b) {
          return te::StartingAt(te::Where(te::Sum(histogram(b, k.var), {k}), k.var != b),
                                {te::Cast(Int32, b)});
        },
        "T");
    const Tensor twice = te::Compute(
        {4, 8}, [&](const Var& b, const Var& j) { return histogram(b, j) * total(b); }, "R");
    EXPECT_TRUE(Verify(strategies::AutoSchedule({twice}), {x, twice}).ok());
    EXPECT_TRUE(Verify(strategies::GenericSchedule({twice}), {x, twice}).ok());
  }
}

}  // namespace
}  // namespace tenon::jit
