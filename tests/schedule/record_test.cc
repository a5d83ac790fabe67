// A schedule is a record: played on a new schedule it gives the same loops, and printed it is the
// C++ that made it.
#include "tenon/schedule/record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/te/math.h"
#include "tenon/te/reduce.h"
#include "tenon/tests/schedule/schedule_testing.h"

namespace tenon::schedule {
namespace {

using loop::Expr;
using te::Compute;
using te::Placeholder;
using te::ReduceAxis;
using te::Sum;
using te::Var;
using ::testing::HasSubstr;
using ::testing::SizeIs;

struct Network {
  Tensor A = Placeholder({30, 40}, Float32, "A");
  Tensor B = Placeholder({40, 50}, Float32, "B");
  te::IterVar k = ReduceAxis(0, 40);
  Tensor shifted = Compute(
      {30, 40}, [this](Var i, Var j) { return A(i, j) + 1.0F; }, "shifted");
  Tensor C = Compute(
      {30, 50}, [this](Var i, Var j) { return Sum(shifted(i, k.var) * B(k.var, j), {k}); }, "C");
  Tensor relu = Compute(
      {30, 50}, [this](Var i, Var j) { return te::Max(C(i, j), 0.0F); }, "relu");
  te::IterVar m = ReduceAxis(0, 50, "m");
  Tensor total = Compute(
      {30}, [this](Var i) { return Sum(relu(i, m.var), {m}); }, "total");
};

// The text that ScheduleAll's record prints, pasted here as the code that it is.
void ScheduleAll(Schedule& s, const Network& network) {
  const auto& [A, B, k, shifted, C, relu, m, total] = network;
  // clang-format off
  auto A_local = s.CacheRead(A, "local", {shifted});
  s[A_local].ComputeInline();
  auto [ax0_outer, ax0_inner] = s[C].Split(C.axis(0), 4);
  auto [ax1_outer, ax1_inner] = s[C].SplitParts(C.axis(1), 3);
  s[C].Reorder({ax1_outer, ax0_outer, ax1_inner, ax0_inner});
  auto ax1_outer_ax0_outer_fused = s[C].Fuse(ax1_outer, ax0_outer);
  auto C_global = s.CacheWrite(C, "global");
  s[C_global].Parallel(C_global.axis(0));
  s[C_global].Vectorize(C_global.axis(2));
  auto [k_outer, k_inner] = s[C_global].Split(C_global.reduce_axis(0), 8);
  s[C_global].Unroll(k_inner);
  auto C_axes = s.TransformLayout(C, [](const std::vector<Var>& i) { return std::vector<Expr>{loop::FloorDiv(i[0], 5), i[1], loop::FloorMod(i[0], 5)}; });
  s[C].Unroll(C_axes[2]);
  auto [m_outer, m_inner] = s[total].Split(total.reduce_axis(0), 16);
  auto total_rf = s.RFactor(total, m_inner, 1);
  s[total_rf[0]].Vectorize(total_rf[0].axis(1));
  s[total_rf[0]].ComputeAt(s[total], total.axis(0));
  s[total_rf[0]].SetScope("local");
  s[relu].ComputeAt(s[total], total.axis(0));
  s[relu].ComputeRoot();
  s[relu].StorageAlign(relu.axis(0), 16, 3);
  s[total].Pragma(total.axis(0), "auto_unroll_max_step", 4);
  s.Prefetch(C_global, C, C_axes[0], 2);
  s.PrefetchNextBlock(relu, total_rf[0], total_rf[0].reduce_axis(0), 1, {.blocks = 2, .past_nearest = true});
  s[total].Unroll(s[total].reduce_axis(0));
  auto singleton = s[total].Fuse();
  // clang-format on
}

constexpr char kText[] =
    R"(auto A_local = s.CacheRead(A, "local", {shifted});
s[A_local].ComputeInline();
auto [ax0_outer, ax0_inner] = s[C].Split(C.axis(0), 4);
auto [ax1_outer, ax1_inner] = s[C].SplitParts(C.axis(1), 3);
s[C].Reorder({ax1_outer, ax0_outer, ax1_inner, ax0_inner});
auto ax1_outer_ax0_outer_fused = s[C].Fuse(ax1_outer, ax0_outer);
auto C_global = s.CacheWrite(C, "global");
s[C_global].Parallel(C_global.axis(0));
s[C_global].Vectorize(C_global.axis(2));
auto [k_outer, k_inner] = s[C_global].Split(C_global.reduce_axis(0), 8);
s[C_global].Unroll(k_inner);
auto C_axes = s.TransformLayout(C, [](const std::vector<Var>& i) { return std::vector<Expr>{loop::FloorDiv(i[0], 5), i[1], loop::FloorMod(i[0], 5)}; });
s[C].Unroll(C_axes[2]);
auto [m_outer, m_inner] = s[total].Split(total.reduce_axis(0), 16);
auto total_rf = s.RFactor(total, m_inner, 1);
s[total_rf[0]].Vectorize(total_rf[0].axis(1));
s[total_rf[0]].ComputeAt(s[total], total.axis(0));
s[total_rf[0]].SetScope("local");
s[relu].ComputeAt(s[total], total.axis(0));
s[relu].ComputeRoot();
s[relu].StorageAlign(relu.axis(0), 16, 3);
s[total].Pragma(total.axis(0), "auto_unroll_max_step", 4);
s.Prefetch(C_global, C, C_axes[0], 2);
s.PrefetchNextBlock(relu, total_rf[0], total_rf[0].reduce_axis(0), 1, {.blocks = 2, .past_nearest = true});
s[total].Unroll(s[total].reduce_axis(0));
auto singleton = s[total].Fuse();
)";

TEST(RecordTest, APrintedRecordIsTheCodeThatPrintsIt) {
  const Network network;
  Schedule s(network.total);
  ScheduleAll(s, network);
  EXPECT_EQ(PrintRecord(s), kText);
}

TEST(RecordTest, AReplayGivesTheSameLoopsAndTheSameRecord) {
  const Network network;
  Schedule s(network.total), copy(network.total);
  ScheduleAll(s, network);
  Replay(s.record(), copy);
  const std::vector<Tensor> args = {network.A, network.B, network.total};
  EXPECT_EQ(LoopsOf(copy, args), LoopsOf(s, args));
  EXPECT_EQ(PrintRecord(copy), kText);
  ExpectRight(copy, {network.A, network.B}, 2e-3F);
}

TEST(RecordTest, ARecordFitsTheSameComputationWrittenAgain) {
  const Network first, second;
  Schedule s(first.total), copy(second.total);
  ScheduleAll(s, first);
  Replay(s.record(), copy);
  EXPECT_EQ(LoopsOf(copy, {second.A, second.B, second.total}),
            LoopsOf(s, {first.A, first.B, first.total}));
}

TEST(RecordTest, ARefusedCallIsNotRecorded) {
  const Network network;
  Schedule s(network.total);
  const Stage& stage = s[network.total];
  EXPECT_THROW(s[network.total].Split(network.C.axis(0), 4), Error);
  EXPECT_THROW(s[network.total].Vectorize(network.m), Error);
  EXPECT_THROW(s[network.total].ComputeInline(), Error);
  EXPECT_THROW(s[network.C].ComputeAt(stage, network.C.axis(0)), Error);
  EXPECT_THROW(s[network.C].SetScope("shared"), Error);
  EXPECT_THROW(s[network.C].Pragma(network.k, "import_c"), Error);
  EXPECT_THROW(s.CacheRead(network.A, "local", {network.total}), Error);
  EXPECT_THROW(s.CacheWrite(network.A, "local"), Error);
  EXPECT_THROW(s.RFactor(network.total, network.total.axis(0)), Error);
  EXPECT_THAT(s.record(), SizeIs(0));
}

TEST(RecordTest, NamesThatCppHasAreReplaced) {
  const Tensor s_tensor = Placeholder({8}, Float32, "s");
  const Tensor c = Compute(
      {8}, [&](Var i) { return s_tensor(i) + 1.0F; }, "for");
  const Tensor d = Compute(
      {8}, [&](Var i) { return c(i) + 1.0F; }, "2__d");
  Schedule s(d);
  s.CacheRead(s_tensor, "local", {c});
  s[d].Split(d.axis(0), 2);
  EXPECT_EQ(PrintRecord(s),
            "auto s_local = s.CacheRead(s1, \"local\", {for1});\n"
            "auto [ax0_outer, ax0_inner] = s[t2_d].Split(t2_d.axis(0), 2);\n");
}

TEST(RecordTest, SymbolicFactorsGoByName) {
  const Var n("n");
  const Tensor a = Placeholder({n}, Float32, "A");
  const Tensor b = Compute(
      {n}, [&](Var i) { return a(i) + 1.0F; }, "B");
  Schedule s(b);
  s[b].Split(b.axis(0), loop::FloorDiv(n + 3, 4));
  EXPECT_EQ(PrintRecord(s),
            "auto [ax0_outer, ax0_inner] = s[B].Split(B.axis(0), loop::FloorDiv((n + 3), 4));\n");
}

TEST(RecordTest, AMoveKeepsTheRecord) {
  const Network network;
  Schedule s(network.total);
  s[network.C].Split(network.k, 4);
  Schedule moved = std::move(s);
  moved[network.C].Unroll(network.C.axis(0));
  EXPECT_THAT(moved.record(), SizeIs(2));
}

TEST(RecordErrorTest, AScheduleThatWasMovedFromIsRefusedInWords) {
  const Network network;
  Schedule s(network.total);
  s[network.C].Split(network.k, 4);
  const Schedule moved = std::move(s);
  const auto expect_refused = [](const auto& use) {
    try {
      use();
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), absl::StatusCode::kFailedPrecondition);
      EXPECT_EQ(error.message(), "the schedule has been moved from");
    }
  };
  expect_refused([&] { Replay(moved.record(), s); });
  expect_refused([&] { PrintRecord(s); });
}

TEST(RecordErrorTest, ARecordThatDoesNotFitIsRefusedInWords) {
  const Network network;
  const Tensor a = Placeholder({30}, Float32, "A");
  const Tensor small = Compute(
      {30}, [&](Var i) { return a(i) * 2.0F; }, "small");
  Schedule s(network.total);
  s[network.total].Split(network.total.axis(0), 4);
  EXPECT_THAT(Refusal([&] { Replay(s.record(), s); }),
              HasSubstr("replay: the schedule has already been changed by 1 calls"));
  Schedule other(small);
  EXPECT_THAT(Refusal([&] { Replay(s.record(), other); }),
              HasSubstr("replay: a step is about stage 5; the schedule has 2 stages"));
  EXPECT_THAT(Refusal([&] {
                Replay({KindStep{{1, 7}, loop::ForKind::kUnrolled}}, other);
              }),
              HasSubstr("replay: a step is about axis 7 of stage small, which has 1"));
  EXPECT_THAT(Refusal([&] {
                Replay({RFactorStep{{1, 3}, {1, 0}, 0}}, other);
              }),
              HasSubstr("replay: a step is about output 3 of stage small, which has 1"));
}

}  // namespace
}  // namespace tenon::schedule
