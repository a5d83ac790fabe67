// Each primitive refuses what it must in words, and changes nothing then. Numbers are those of the
// check list of scheduling behaviours.
#include <cstdint>
#include <functional>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/schedule/lower.h"
#include "tenon/schedule/record.h"
#include "tenon/schedule/schedule.h"
#include "tenon/support/error.h"
#include "tenon/te/reduce.h"

namespace tenon::schedule {
namespace {

using loop::Expr;
using te::Compute;
using te::Placeholder;
using te::Var;
using ::testing::HasSubstr;

struct Fixture {
  Tensor a = Placeholder({8, 16}, Float32, "A");
  te::IterVar k = te::ReduceAxis(0, 16);
  Tensor middle = Compute(
      {8, 16}, [this](Var i, Var j) { return a(i, j) + 1.0F; }, "middle");
  Tensor sum = Compute(
      {8}, [this](Var i) { return te::Sum(middle(i, k.var), {k}); }, "sum");
  Tensor out = Compute(
      {8}, [this](Var i) { return sum(i) * 2.0F; }, "out");
  Schedule s{out};
};

std::vector<std::string> Loops(const Stage& stage) {
  std::vector<std::string> names;
  for (const IterVar& leaf : stage.leaves()) names.push_back(leaf.var.name());
  return names;
}

struct Case {
  std::string name;
  std::function<void(Fixture&)> apply;
  std::string message;
};

class RefusalTest : public ::testing::TestWithParam<Case> {};

TEST_P(RefusalTest, IsRefusedInWordsAndChangesNothing) {
  Fixture f;
  try {
    GetParam().apply(f);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(error.what(), HasSubstr(GetParam().message));
  }
  EXPECT_EQ(Loops(f.s[f.middle]), (std::vector<std::string>{"ax0", "ax1"}));
  EXPECT_EQ(f.s[f.middle].placement(), Stage::Placement::kRoot);
  EXPECT_EQ(f.s[f.sum].placement(), Stage::Placement::kRoot);
  EXPECT_EQ(f.s[f.out].placement(), Stage::Placement::kRoot);
}

INSTANTIATE_TEST_SUITE_P(
    CheckList, RefusalTest,
    ::testing::Values(
        Case{"SplitByZero", [](Fixture& f) { f.s[f.middle].Split(f.middle.axis(0), 0); },
             "split: stage middle, axis ax0: the factor is 0; it must be an int64 of at least 1"},
        Case{"SplitIntoNoParts", [](Fixture& f) { f.s[f.middle].SplitParts(f.middle.axis(0), -1); },
             "number of parts is -1"},
        Case{"SplitIntoTooManyParts",
             [](Fixture& f) {
               f.s[f.middle].SplitParts(f.middle.axis(0), std::numeric_limits<std::int64_t>::max());
             },
             "the number of parts is 9223372036854775807; it must be at most 1099511627776"},
        Case{
            "SplitByAnElement",
            [](Fixture& f) { f.s[f.middle].Split(f.middle.axis(0), loop::Cast(Int64, f.a(0, 0))); },
            "it reads memory; it must be made of constants and extents alone"},
        Case{"SplitByNull", [](Fixture& f) { f.s[f.middle].Split(f.middle.axis(0), Expr()); },
             "a factor, or a number of parts, is null"},
        Case{"FuseOfALoopTwice",
             [](Fixture& f) {
               const auto &x = f.middle.axis(0), &y = f.middle.axis(1);
               f.s[f.middle].Fuse(std::vector<te::IterVar>{x, y, x});
             },
             "fuse: stage middle, axis ax0: it does not lie beside those before it in the list"},
        Case{"AlignmentTooLarge",
             [](Fixture& f) {
               f.s[f.middle].StorageAlign(f.middle.axis(0),
                                          std::numeric_limits<std::int64_t>::max(), 7);
             },
             "the factor must be one of 1 to 2^40"},
        Case{"NoStorePredicate", [](Fixture& f) { f.s[f.middle].SetStorePredicate(nullptr); },
             "set_store_predicate: stage middle: the predicate is null"},
        Case{"NoPrefetchOffset",
             [](Fixture& f) {
               const te::IterVar axis = f.s[f.middle].axis(0);
               f.s.Prefetch(f.a, f.middle, axis, Expr());
             },
             "the offset is null"},
        Case{"NoIntrinsic",
             [](Fixture& f) {
               f.s[f.middle].Tensorize(f.s[f.middle].axis(0), te::TensorIntrinsic());
             },
             "the intrinsic is null"},
        Case{"SplitOfAForeignAxis", [](Fixture& f) { f.s[f.middle].Split(f.sum.axis(0), 2); },
             "is not part of the schedule of this stage; its loops are: ax0, ax1"},
        Case{"FuseOfNoAxes", [](Fixture& f) { f.s[f.middle].Fuse(std::vector<te::IterVar>()); },
             "fuse: stage middle: no loop is given; there must be one at least"},
        Case{"FuseOfDistantAxes",
             [](Fixture&) {
               const Tensor t = Compute(
                   {2, 3, 4}, [](Var i, Var, Var) { return loop::Cast(Float32, Expr(i)); }, "t");
               Schedule s(t);
               s[t].Fuse(t.axis(0), t.axis(2));
             },
             "it and ax2 are not consecutive loops"},
        Case{"ReorderTwice",
             [](Fixture& f) {
               f.s[f.middle].Reorder({f.middle.axis(0), f.middle.axis(0)});
             },
             "appears more than once"},
        Case{"VectorizeAReduceAxis", [](Fixture& f) { f.s[f.sum].Vectorize(f.sum.reduce_axis(0)); },
             "only data axes are allowed"},
        Case{"ParallelAReduceAxis", [](Fixture& f) { f.s[f.sum].Parallel(f.sum.reduce_axis(0)); },
             "only data axes are allowed"},
        Case{"ComputeAtAForeignAxis",
             [](Fixture& f) { f.s[f.sum].ComputeAt(f.s[f.out], f.middle.axis(0)); },
             "not part of the schedule"},
        Case{"ComputeAtItself", [](Fixture& f) { f.s[f.sum].ComputeAt(f.s[f.sum], f.sum.axis(0)); },
             "cannot be computed inside itself"},
        Case{"OutputComputeAt", [](Fixture& f) { f.s[f.out].ComputeAt(f.s[f.sum], f.sum.axis(0)); },
             "an output must be computed at the root, or in a loop of a stage that reads it, which "
             "sum does not"},
        Case{"InlineAReduction", [](Fixture& f) { f.s[f.sum].ComputeInline(); },
             "a reduction has loops of its own"},
        Case{"InlineAnOutput", [](Fixture& f) { f.s[f.out].ComputeInline(); },
             "an output has to be stored"},
        Case{"InlineAPlaceholder", [](Fixture& f) { f.s[f.a].ComputeInline(); },
             "a placeholder is given"},
        Case{"TileTwiceTheSame",
             [](Fixture& f) { f.s[f.middle].Tile(f.middle.axis(0), f.middle.axis(0), 2, 2); },
             "the two axes are the same"},
        Case{"TileByZero",
             [](Fixture& f) { f.s[f.middle].Tile(f.middle.axis(0), f.middle.axis(1), 2, 0); },
             "the factor is 0; it must be an int64 of at least 1"}),
    [](const auto& info) { return info.param.name; });

TEST(PrimitiveTest, SplitOfASplitAxisNamesTheLoops) {
  Fixture f;
  f.s[f.middle].Split(f.middle.axis(0), 2);
  try {
    f.s[f.middle].Split(f.middle.axis(0), 2);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(
        error.what(),
        HasSubstr("already been split or fused; the loops are now: ax0.outer, ax0.inner, ax1"));
  }
}

TEST(PrimitiveTest, AListIsFusedFromLeftToRight) {
  const Tensor t = Compute(
      {2, 3, 4}, [](Var i, Var, Var) { return loop::Cast(Float32, Expr(i)); }, "t");
  Schedule by_pairs(t), of_list(t);
  by_pairs[t].Fuse(by_pairs[t].Fuse(t.axis(0), t.axis(1)), t.axis(2));
  of_list[t].Fuse(std::vector<te::IterVar>{t.axis(0), t.axis(1), t.axis(2)});
  EXPECT_EQ(PrintRecord(of_list), PrintRecord(by_pairs));
  Schedule of_one(t);
  EXPECT_TRUE(of_one[t].Fuse(std::vector<te::IterVar>{t.axis(1)}).var.same_as(t.axis(1).var));
  EXPECT_EQ(Loops(of_one[t]), (std::vector<std::string>{"ax0", "ax1", "ax2"}));
}

TEST(PrimitiveTest, ALoopIsGivenByItsPlaceInTheStagesOwnList) {
  Fixture f;
  Stage& stage = f.s[f.middle];
  stage.Fuse(stage.leaves());
  EXPECT_EQ(Loops(stage), (std::vector<std::string>{"ax0.ax1.fused"}));
  Fixture g;
  Stage& tiled = g.s[g.middle];
  tiled.Tile(tiled.leaves()[0], tiled.leaves()[1], 2, 4);
  EXPECT_EQ(Loops(tiled),
            (std::vector<std::string>{"ax0.outer", "ax1.outer", "ax0.inner", "ax1.inner"}));
}

TEST(PrimitiveTest, ALoopHasFewerThan2To63Iterations) {
  const Tensor a = Placeholder({8, 16}, Float32, "A");
  const Tensor b = Compute(
      {8, 16}, [&](Var i, Var j) { return a(i, j) + 1.0F; }, "B");
  Schedule s(b);
  const Expr most = std::int64_t{1} << 40;
  const auto rows = s[b].SplitParts(b.axis(0), most), columns = s[b].SplitParts(b.axis(1), most);
  s[b].Reorder({rows.first, columns.first, rows.second});
  s[b].Fuse(rows.first, columns.first);
  try {
    Lower(s, {a, b}, "f");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "fuse: the loops ax0.outer and ax1.outer have 1099511627776 times 1099511627776 "
                 "iterations; a loop has less than 2^63");
  }
}

TEST(PrimitiveTest, ComputesInlinedInEachOtherAreRefusedWhereTheStackWouldEnd) {
  Tensor last = Placeholder({8}, Float32, "A");
  const Tensor a = last;
  std::vector<Tensor> chain;
  for (int k = 0; k < 20000; ++k) {
    last = Compute(
        {8}, [&](Var i) { return last(i) + 1.0F; }, "B");
    chain.push_back(last);
  }
  Schedule s(last);
  chain.pop_back();
  for (const Tensor& t : chain) s[t].ComputeInline();
  try {
    Lower(s, {a, last}, "f");
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("compute_inline: stage B"));
  }
}

TEST(PrimitiveTest, SplitAndReorderAndFuseName) {
  Fixture f;
  Stage& stage = f.s[f.middle];
  const auto [outer, inner] = stage.Split(f.middle.axis(1), 4);
  EXPECT_EQ(Loops(stage), (std::vector<std::string>{"ax0", "ax1.outer", "ax1.inner"}));
  stage.Reorder({inner, f.middle.axis(0)});
  EXPECT_EQ(Loops(stage), (std::vector<std::string>{"ax1.inner", "ax1.outer", "ax0"}));
  stage.Fuse(f.middle.axis(0), outer);  // neighbours in the other order
  EXPECT_EQ(Loops(stage), (std::vector<std::string>{"ax1.inner", "ax1.outer.ax0.fused"}));
}

TEST(PrimitiveTest, ATensorOfAnotherScheduleIsNotFound) {
  Fixture f;
  const Tensor other = Placeholder({1}, Float32, "other");
  try {
    f.s[other];
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), absl::StatusCode::kNotFound);
    EXPECT_THAT(
        error.what(),
        HasSubstr(
            "tensor other is not part of this schedule; its stages are: A, middle, sum, out"));
  }
}

}  // namespace
}  // namespace tenon::schedule
