// Groups and automatic inlining.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/schedule/auto_inline.h"
#include "tenon/te/math.h"
#include "tenon/te/reduce.h"
#include "tenon/te/scan.h"
#include "tenon/tests/schedule/schedule_testing.h"

namespace tenon::schedule {
namespace {

using te::Compute;
using te::Placeholder;
using te::ReduceAxis;
using te::Sum;
using te::Var;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Placement = Stage::Placement;

struct Chain {
  Tensor a = Placeholder({9, 13}, Float32, "A");
  Tensor b = Compute(
      {9, 13}, [this](Var i, Var j) { return a(i, j) + 1.0F; }, "B");
  Tensor c = Compute(
      {9, 13}, [this](Var i, Var j) { return b(i, j) * b(i, 12 - loop::Expr(j)); }, "C");
  Tensor d = Compute(
      {9, 13}, [this](Var i, Var j) { return c(i, j) - b(i, j); }, "D");
  Tensor e = Compute(
      {9, 13}, [this](Var i, Var j) { return d(i, j) * 2.0F; }, "E");
};

std::vector<std::string> Names(const Group& group) {
  std::vector<std::string> names;
  for (const Stage* stage : group.members()) names.push_back(stage->name());
  return names;
}

// Check 36.
TEST(GroupTest, AllMembersAreComputedAtOneLoop) {
  const Chain f;
  Schedule s(f.e);
  Group& group = s.CreateGroup({f.d}, {f.a});
  EXPECT_THAT(Names(group), ElementsAre("B", "C", "D"));
  group.ComputeAt(s[f.e], f.e.axis(0));
  for (const Tensor& tensor : {f.b, f.c, f.d}) EXPECT_EQ(s[tensor].placement(), Placement::kAt);
  EXPECT_THAT(LoopsOf(s, {f.a, f.e}), HasSubstr("allocate B: float32[1, 13]"));
  ExpectRight(s, {f.a});
}

TEST(GroupTest, HoldsItsInputsWhenAskedAndLeavesPlacedMembersAlone) {
  const Chain f;
  Schedule s(f.e);
  EXPECT_THAT(Names(s.CreateGroup({f.d}, {f.c})), ElementsAre("D"));
  Group& group = s.CreateGroup({f.d}, {f.c}, /*include_inputs=*/true);
  EXPECT_THAT(Names(group), ElementsAre("C", "D"));
  s[f.c].ComputeInline();
  group.ComputeAt(s[f.e], f.e.axis(1));
  EXPECT_EQ(s[f.c].placement(), Placement::kInline);
  EXPECT_EQ(s[f.d].placement(), Placement::kAt);
  ExpectRight(s, {f.a});
}

TEST(GroupErrorTest, EachIllegalGroupIsRefusedInWords) {
  const Chain f;
  Schedule s(f.e);
  EXPECT_THAT(Refusal([&] { s.CreateGroup({f.e}, {f.a}); }),
              HasSubstr("create_group: stage E: an output of the schedule stays at the root"));
  EXPECT_THAT(Refusal([&] { s.CreateGroup({f.b}, {f.c}); }),
              HasSubstr("create_group: no stage lies between B and C"));
  EXPECT_THAT(Refusal([&] { s.CreateGroup({}, {f.c}); }),
              HasSubstr("at least one output and one input"));
  Group& first = s.CreateGroup({f.c}, {f.a});
  EXPECT_THAT(Refusal([&] { s.CreateGroup({f.d}, {f.b}); }),
              HasSubstr("the stages from C to D intersect the group from B to C"));
  EXPECT_THAT(Refusal([&] { first.ComputeAt(s[f.c], f.c.axis(0)); }),
              HasSubstr("a stage cannot be computed inside itself"));
  EXPECT_EQ(s[f.b].placement(), Placement::kRoot);
}

struct Classes {
  Tensor a = Placeholder({9, 13}, Float32, "A");
  Tensor row = Placeholder({13}, Float32, "row");
  Tensor same = Compute(
      {9, 13}, [this](Var i, Var j) { return a(i, j) + 1.0F; }, "same");
  Tensor wide = Compute(
      {9, 13}, [this](Var i, Var j) { return same(i, j) * row(j); }, "wide");
  Tensor turned = Compute(
      {13, 9}, [this](Var i, Var j) { return wide(j, i); }, "turned");
  te::IterVar k = ReduceAxis(0, 9);
  Tensor sum = Compute(
      {13}, [this](Var i) { return Sum(turned(i, k.var), {k}); }, "sum");
  Tensor out = Compute(
      {13}, [this](Var i) { return sum(i) * 2.0F; }, "out");
};

// Check 35.
TEST(AutoInlineTest, EachClassHoldsTheOneBeforeIt) {
  const Classes f;
  EXPECT_EQ(DataflowOf(*f.same.op()), Dataflow::kElementwise);
  EXPECT_EQ(DataflowOf(*f.wide.op()), Dataflow::kBroadcast);
  EXPECT_EQ(DataflowOf(*f.turned.op()), Dataflow::kInjective);
  EXPECT_EQ(DataflowOf(*f.sum.op()), Dataflow::kReduction);
  const auto inlined = [&](void (*inline_class)(Schedule&)) {
    Schedule s(f.out);
    inline_class(s);
    std::vector<std::string> names;
    for (const auto& stage : s.stages()) {
      if (stage->placement() == Placement::kInline) names.push_back(stage->name());
    }
    ExpectRight(s, {f.a, f.row});
    return names;
  };
  EXPECT_THAT(inlined(AutoInlineElemWise), ElementsAre("same"));
  EXPECT_THAT(inlined(AutoInlineBroadcast), ElementsAre("same", "wide"));
  EXPECT_THAT(inlined(AutoInlineInjective), ElementsAre("same", "wide", "turned"));
}

TEST(AutoInlineTest, ScansAndTheirUpdatesStay) {
  const Tensor x = Placeholder({7, 5}, Float32, "x"), state = Placeholder({7, 5}, Float32, "s");
  const Tensor twice = Compute(
      {7, 5}, [&](Var t, Var i) { return x(t, i) * 2.0F; }, "twice");
  const Tensor first = Compute(
      {1, 5}, [&](Var t, Var i) { return x(t, i); }, "first");
  const Tensor next = Compute(
      {7, 5}, [&](Var t, Var i) { return state(t - 1, i) + twice(t, i); }, "next");
  const Tensor sum = te::Scan({first}, {next}, {state}, "sum")[0];
  const Tensor out = Compute(
      {7, 5}, [&](Var t, Var i) { return sum(t, i) + 1.0F; }, "out");
  for (void (*inline_class)(Schedule&) :
       {AutoInlineElemWise, AutoInlineBroadcast, AutoInlineInjective}) {
    Schedule s(out);
    inline_class(s);
    EXPECT_EQ(s[twice].placement(), Placement::kInline);
    EXPECT_EQ(s[next].placement(), Placement::kRoot);
    EXPECT_EQ(s[sum].placement(), Placement::kRoot);
    ExpectRight(s, {x});
  }
}

}  // namespace
}  // namespace tenon::schedule
