// What Prefetch and PrefetchNextBlock ask for, and what they refuse.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/te/reduce.h"
#include "tenon/tests/schedule/schedule_testing.h"

namespace tenon::schedule {
namespace {

using te::Compute;
using te::Placeholder;
using te::ReduceAxis;
using te::Sum;
using te::Var;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(PrefetchTest, EachIterationAsksForTheLinesOfALaterOne) {
  const Tensor a = Placeholder({64, 40}, Float32, "A");
  const Tensor b = Compute(
      {64, 40}, [&](Var i, Var j) { return a(i, j) * 2.0F; }, "B");
  Schedule s(b);
  s.Prefetch(a, b, b.axis(0), 4);
  EXPECT_THAT(LoopsOf(s, {a, b}),
              HasSubstr("for ax0 in [0, 64) {\n"
                        "    for fetch1 in [0, 3) {\n"
                        "      prefetch(A[(((ax0 * 40) + (fetch1 * 16)) + 160)])\n"
                        "    }\n"));
  EXPECT_THAT(jit::Compile(Lower(s, {a, b}, "f"))->LlvmIr(), HasSubstr("call void @llvm.prefetch"));
}

TEST(PrefetchTest, AScalarIsOneLine) {
  const Tensor a = Placeholder({}, Float32, "A");
  const Tensor b = Compute(
      {8}, [&](Var i) { return a() * loop::Cast(Float32, i); }, "B");
  Schedule s(b);
  s.Prefetch(a, b, b.axis(0), 4);
  EXPECT_THAT(LoopsOf(s, {a, b}), HasSubstr("    prefetch(A[0])\n"));
  ExpectRight(s, {a});
}

// Three elements of rows of five may lie in two lines of sixteen, and the next row is elsewhere.
TEST(PrefetchTest, ALineThatOnlyTheLastElementMayLieInIsAskedFor) {
  const Tensor a = Placeholder({64, 5}, Float32, "A");
  const Tensor b = Compute(
      {64, 3}, [&](Var i, Var j) { return a(i, j + 1) * 2.0F; }, "B");
  Schedule s(b);
  s.Prefetch(a, b, b.axis(0), 4);
  EXPECT_THAT(LoopsOf(s, {a, b}),
              HasSubstr("    for fetch1 in [0, 2) {\n"
                        "      prefetch(A[(((ax0 * 5) + min((fetch1 * 16), 2)) + 21)])\n"));
  ExpectRight(s, {a});
}

// A line of its own only the last iteration would have.
TEST(PrefetchTest, ALineThatTheNextIterationBeginsWithIsLeftToIt) {
  const Tensor a = Placeholder({60}, Float32, "A");
  const Tensor b = Compute(
      {60}, [&](Var i) { return a(i) * 2.0F; }, "B");
  Schedule s(b);
  const auto [outer, inner] = s[b].Split(b.axis(0), 12);
  s.Prefetch(a, b, outer, 1);
  EXPECT_THAT(LoopsOf(s, {a, b}), HasSubstr("    prefetch(A[((ax0.outer * 12) + 12)])\n"));
  ExpectRight(s, {a});
}

// Twelve pixels that are counted through rows of ten are one piece of memory; the last one is taken
// again where the image ends, and by the whole of the seventh tile.
TEST(PrefetchTest, PixelsThatCrossRowsAreOnePiece) {
  const Tensor a = Placeholder({40, 7, 10}, Float32, "A");
  const IterVar c = ReduceAxis(0, 40, "c");
  const Tensor b = Compute(
      {7, 12},
      [&](Var tile, Var i) {
        const loop::Expr pixel = loop::Min(tile * 12 + i, 69);
        return Sum(a(c.var, loop::FloorDiv(pixel, 10), loop::FloorMod(pixel, 10)), {c});
      },
      "B");
  Schedule s(b);
  s[b].Reorder({b.axis(0), c, b.axis(1)});
  s.Prefetch(a, b, c, 8);
  EXPECT_THAT(LoopsOf(s, {a, b}),
              HasSubstr("      for fetch2 in [0, 2) {\n"
                        "        prefetch(A[((((c * 70) + min((ax0 * 12), 69)) + "
                        "min((fetch2 * 16), 11)) + 560)])\n"));
  ExpectRight(s, {a});
}

TEST(PrefetchTest, AStageMayAskForTheLinesThatItWillWrite) {
  const Tensor a = Placeholder({64, 40}, Float32, "A");
  const Tensor b = Compute(
      {64, 40}, [&](Var i, Var j) { return a(i, j) * 2.0F; }, "B");
  Schedule s(b);
  s.Prefetch(b, b, b.axis(0), 4);
  EXPECT_THAT(LoopsOf(s, {a, b}),
              HasSubstr("for ax0 in [0, 64) {\n"
                        "    for fetch1 in [0, 3) {\n"
                        "      prefetch_write(B[(((ax0 * 40) + (fetch1 * 16)) + 160)])\n"
                        "    }\n"));
  constexpr const char* kToWrite = R"(call void @llvm\.prefetch[^(]*\(.*, i32 1, i32 3, i32 1\))";
  EXPECT_THAT(jit::Compile(Lower(s, {a, b}, "f"))->LlvmIr(), ContainsRegex(kToWrite));
}

TEST(PrefetchTest, AStageMayBeNamedByTheTensorThatARewriteReplaced) {
  const Tensor a = Placeholder({8, 6}, Float32, "A");
  const IterVar k = ReduceAxis(0, 6, "k");
  const Tensor b = Compute(
      {8}, [&](Var i) { return Sum(a(i, k.var), {k}); }, "B");
  Schedule s(b);
  s.RFactor(b, k, 0);
  const Tensor own(s[b].op(), 0);
  s.Prefetch(b, own, own.axis(0), 2);
  EXPECT_THAT(LoopsOf(s, {a, b}), HasSubstr("prefetch_write(B[(ax0_1 + 2)])"));
}

TEST(PrefetchTest, AProducerMayAskForTheLinesOfTheResultThatItsElementsGoInto) {
  const Tensor a = Placeholder({64, 40}, Float32, "A");
  const Tensor b = Compute(
      {64, 40}, [&](Var i, Var j) { return a(i, j) * 2.0F; }, "B");
  const Tensor c = Compute(
      {64, 40}, [&](Var i, Var j) { return b(i, j) + 1.0F; }, "C");
  Schedule s(c);
  s[b].ComputeAt(s[c], c.axis(0));
  const auto [steps, lane] = s[b].Split(b.axis(1), 16);
  s.Prefetch(c, b, steps, 0);
  EXPECT_THAT(LoopsOf(s, {a, c}),
              HasSubstr("      prefetch_write(C[((ax0 * 40) + (ax1.outer * 16))])\n"));
  ExpectRight(s, {a});
}

// Sums of a 4 x 24 tile of rows by weights: 6 blocks of 8 weights, each used by the tiles of 3
// rows.
class NextBlockTest : public ::testing::Test {
 protected:
  NextBlockTest()
      : rows_(Placeholder({3, 4}, Float32, "rows")),
        weights_(Placeholder({6, 4, 8}, Float32, "weights")),
        k_(ReduceAxis(0, 4, "k")),
        sums_(Compute(
            {6, 3, 8},
            [&](Var i, Var j, Var l) {
              return Sum(rows_(j, k_.var) * weights_(i, k_.var, l), {k_});
            },
            "sums")),
        y_(Compute(
            {6, 3, 8}, [&](Var i, Var j, Var l) { return sums_(i, j, l) + 1.0F; }, "y")) {}

  // A schedule whose sums are computed at a loop over blocks and rows.
  Schedule Scheduled() const {
    Schedule s(y_);
    s[sums_].ComputeAt(s[y_], s[y_].Fuse(y_.axis(0), y_.axis(1)));
    s[sums_].Reorder({k_, sums_.axis(2)});
    return s;
  }

  Tensor rows_, weights_;
  IterVar k_;
  Tensor sums_, y_;
};

// Rows that are each summed up over `steps` others, one row of results after the other.
struct WideRows {
  WideRows(int rows, int steps, int columns)
      : wide(Placeholder({rows, steps, columns}, Float32, "wide")),
        k(ReduceAxis(0, steps, "k")),
        sums(Compute(
            {rows, columns}, [&](Var i, Var j) { return Sum(wide(i, k.var, j), {k}); }, "sums")),
        y(Compute(
            {rows, columns}, [&](Var i, Var j) { return sums(i, j) + 1.0F; }, "y")) {}

  // The next row of `wide` is fetched while this one is used.
  Schedule Fetching() const {
    Schedule s(y);
    s[sums].ComputeAt(s[y], y.axis(0)).Reorder({k, sums.axis(1)});
    s.PrefetchNextBlock(wide, sums, k, 1);
    return s;
  }

  Tensor wide;
  IterVar k;
  Tensor sums, y;
};

// 32 weights in 3 rows of 4 steps: shares of 3.
TEST_F(NextBlockTest, IsFetchedInSharesWhileThisOneIsUsed) {
  Schedule s = Scheduled();
  s.PrefetchNextBlock(weights_, sums_, k_, 3);
  EXPECT_THAT(LoopsOf(s, {rows_, weights_, y_}),
              HasSubstr("prefetch(weights[((((floordiv(ax0.ax1.fused, 3) * 32) + "
                        "(floormod(ax0.ax1.fused, 3) * 12)) + (k * 3)) + 32)])\n"));
  ExpectRight(s, {rows_, weights_});
}

TEST_F(NextBlockTest, OrALaterOneForTheCachesAfterTheNearest) {
  Schedule s = Scheduled();
  s.PrefetchNextBlock(weights_, sums_, k_, 3, {.blocks = 2, .past_nearest = true});
  EXPECT_THAT(LoopsOf(s, {rows_, weights_, y_}),
              HasSubstr("prefetch_later(weights[((((floordiv(ax0.ax1.fused, 3) * 32) + "
                        "(floormod(ax0.ax1.fused, 3) * 12)) + (k * 3)) + 64)])\n"));
  ExpectRight(s, {rows_, weights_});
}

// A share of more than a line is several.
TEST_F(NextBlockTest, IsFetchedInLines) {
  const WideRows rows(6, 4, 40);
  const Schedule s = rows.Fetching();
  EXPECT_THAT(LoopsOf(s, {rows.wide, rows.y}),
              HasSubstr("      prefetch(wide[(((ax0 * 160) + (k * 40)) + 160)])\n"
                        "      prefetch(wide[(((ax0 * 160) + (k * 40)) + 176)])\n"
                        "      prefetch(wide[(((ax0 * 160) + (k * 40)) + 192)])\n"));
  ExpectRight(s, {rows.wide});
}

// A stage at the root has the loop over places itself.
TEST_F(NextBlockTest, IsFetchedInSharesByTheLoopOverPlaces) {
  Schedule s(y_);
  const IterVar places = s[y_].Fuse(y_.axis(0), y_.axis(1));
  s[sums_].ComputeAt(s[y_], places).Reorder({k_, sums_.axis(2)});
  s.PrefetchNextBlock(weights_, y_, places, 3);
  EXPECT_THAT(LoopsOf(s, {rows_, weights_, y_}),
              HasSubstr("    prefetch(weights[(((floordiv(ax0.ax1.fused, 3) * 32) + "
                        "(floormod(ax0.ax1.fused, 3) * 11)) + 32)])\n"));
  ExpectRight(s, {rows_, weights_});
}

// Rows of a block that are a line each: a share is some of them.
TEST_F(NextBlockTest, OfShortRowsIsFetchedRowByRow) {
  const Tensor image = Placeholder({4, 48}, Float32, "image");
  const Tensor filters = Placeholder({2, 4}, Float32, "filters");
  const IterVar k = ReduceAxis(0, 4, "k");
  const Tensor sums = Compute(
      {3, 2, 16},
      [&](Var i, Var j, Var l) { return Sum(image(k.var, i * 16 + l) * filters(j, k.var), {k}); },
      "sums");
  const Tensor y = Compute(
      {3, 2, 16}, [&](Var i, Var j, Var l) { return sums(i, j, l) + 1.0F; }, "y");
  Schedule s(y);
  const IterVar places = s[y].Fuse(y.axis(0), y.axis(1));
  s[sums].ComputeAt(s[y], places).Reorder({k, sums.axis(2)});
  s.PrefetchNextBlock(image, y, places, 2);
  EXPECT_THAT(LoopsOf(s, {image, filters, y}),
              HasSubstr("    prefetch(image[(((floormod(ax0.ax1.fused, 2) * 96) + "
                        "(floordiv(ax0.ax1.fused, 2) * 16)) + 16)])\n"
                        "    prefetch(image[(((floormod(ax0.ax1.fused, 2) * 96) + "
                        "(floordiv(ax0.ax1.fused, 2) * 16)) + 64)])\n"));
  ExpectRight(s, {image, filters});
}

TEST_F(NextBlockTest, IsFetchedInALoopWhereAShareIsLong) {
  const WideRows rows(3, 2, 4096);
  const Schedule s = rows.Fetching();
  EXPECT_THAT(LoopsOf(s, {rows.wide, rows.y}),
              HasSubstr("for fetch2 in [0, 256) {\n        prefetch(wide[((((ax0 * 8192) + "
                        "(k * 4096)) + (fetch2 * 16)) + 8192)])\n"));
}

// Of each block two rows of two planes are read.
TEST_F(NextBlockTest, IsFetchedPieceByPiece) {
  const Tensor planes = Placeholder({3, 2, 4, 8}, Float32, "planes");
  const IterVar k = ReduceAxis(0, 16, "k");
  const Tensor sums = Compute(
      {3},
      [&](Var i) {
        return Sum(planes(i, 0, loop::FloorDiv(k.var, 8) + 1, loop::FloorMod(k.var, 8)) +
                       planes(i, 1, loop::FloorDiv(k.var, 8) + 1, loop::FloorMod(k.var, 8)),
                   {k});
      },
      "sums");
  const Tensor y = Compute(
      {3}, [&](Var i) { return sums(i) + 1.0F; }, "y");
  Schedule s(y);
  s[sums].ComputeAt(s[y], y.axis(0));
  s.PrefetchNextBlock(planes, sums, k, 1);
  EXPECT_THAT(LoopsOf(s, {planes, y}),
              HasSubstr("      prefetch(planes[(((ax0 * 64) + k) + 72)])\n"
                        "      prefetch(planes[(((ax0 * 64) + k) + 104)])\n"));
  ExpectRight(s, {planes});
}

TEST_F(NextBlockTest, IsRefusedInWords) {
  const auto refused = [&](auto change) {
    return Refusal([&] {
      Schedule s = Scheduled();
      change(s);
      Lower(s, {rows_, weights_, y_}, "f");
    });
  };
  EXPECT_THAT(refused([&](Schedule& s) { s.PrefetchNextBlock(weights_, sums_, k_, 0); }),
              HasSubstr("prefetch_next_block: stage sums, axis k: a block is used at least once, "
                        "not 0 times"));
  EXPECT_THAT(
      refused([&](Schedule& s) { s.PrefetchNextBlock(weights_, sums_, k_, 3, {.blocks = 0}); }),
      HasSubstr("stage sums, axis k: the next block is 1 block later, not 0"));
  constexpr std::int64_t kMany = std::int64_t{1} << 62;
  EXPECT_THAT(refused([&](Schedule& s) { s.PrefetchNextBlock(weights_, sums_, k_, kMany); }),
              HasSubstr("stage sums, axis k: 1 blocks that are used 4611686018427387904 times each "
                        "are too many"));
  EXPECT_THAT(
      refused([&](Schedule& s) { s.PrefetchNextBlock(weights_, sums_, k_, 4, {.blocks = kMany}); }),
      HasSubstr("4611686018427387904 blocks that are used 4 times each are too many"));
  EXPECT_THAT(refused([&](Schedule& s) {
                s.PrefetchNextBlock(weights_, sums_, k_, std::int64_t{1} << 40);
              }),
              HasSubstr("of weights: its blocks would be fetched in 4 times 1099511627776 shares"));
  EXPECT_THAT(refused([&](Schedule& s) { s.PrefetchNextBlock(weights_, sums_, y_.axis(2), 3); }),
              HasSubstr("stage sums, axis ax2: the axis is not part of the schedule"));
  EXPECT_THAT(
      refused([&](Schedule& s) { s.PrefetchNextBlock(weights_, sums_, sums_.axis(0), 3); }),
      HasSubstr("prefetch_next_block: stage sums, axis ax0, of weights: the loop is trivial"));
  EXPECT_THAT(refused([&](Schedule& s) { s.PrefetchNextBlock(y_, sums_, k_, 3); }),
              HasSubstr("of y: it is not read inside the loop"));
  EXPECT_THAT(refused([&](Schedule& s) {
                s[sums_].Vectorize(sums_.axis(2));
                s.PrefetchNextBlock(weights_, sums_, sums_.axis(2), 3);
              }),
              HasSubstr("the loop is vectorised; choose one around it"));
  const Var n("n");
  const Tensor any = Placeholder({3, n}, Float32, "any");
  const Tensor twice = Compute(
      {3, n}, [&](Var i, Var j) { return any(i, j) * 2.0F; }, "twice");
  const Tensor more = Compute(
      {3, n}, [&](Var i, Var j) { return twice(i, j) + 1.0F; }, "more");
  EXPECT_THAT(Refusal([&] {
                Schedule s(more);
                s[twice].ComputeAt(s[more], more.axis(0));
                s.PrefetchNextBlock(any, twice, twice.axis(1), 1);
                Lower(s, {any, more}, "f");
              }),
              HasSubstr("of any: the loop or what it reads has no constant extents"));
}

TEST_F(NextBlockTest, ALoopThatNeverRunsFetchesNothing) {
  for (const auto& [rows, columns] : {std::pair{0, 5}, {5, 0}, {0, 0}}) {
    const Tensor x = Placeholder({3, rows, columns}, Float32, "x");
    const Tensor twice = Compute(
        {3, rows, columns}, [&](Var i, Var j, Var k) { return x(i, j, k) * 2.0F; }, "twice");
    const Tensor more = Compute(
        {3, rows, columns}, [&](Var i, Var j, Var k) { return twice(i, j, k) + 1.0F; }, "more");
    for (const std::size_t axis : {1, 2}) {
      Schedule s(more);
      s[twice].ComputeAt(s[more], more.axis(0));
      s.PrefetchNextBlock(x, twice, twice.axis(axis), 1);
      EXPECT_THAT(LoopsOf(s, {x, more}), Not(HasSubstr("prefetch(")));
      ExpectRight(s, {x});
    }
  }
}

TEST_F(NextBlockTest, OfAScalarIsRefusedInWords) {
  const Tensor factor = Placeholder({}, Float32, "factor");
  const Tensor scaled = Compute(
      {3, 8}, [&](Var i, Var j) { return weights_(i, 0, j) * factor(); }, "scaled");
  const Tensor more = Compute(
      {3, 8}, [&](Var i, Var j) { return scaled(i, j) + 1.0F; }, "more");
  EXPECT_THAT(Refusal([&] {
                Schedule s(more);
                s[scaled].ComputeAt(s[more], more.axis(0));
                s.PrefetchNextBlock(factor, scaled, scaled.axis(1), 1);
                Lower(s, {weights_, factor, more}, "f");
              }),
              HasSubstr("axis ax1, of factor: it is a scalar, of which every block is the same"));
}

// Check 33, and prefetches of what is not there.
TEST(PrefetchTest, IsRefusedInWords) {
  const Tensor a = Placeholder({1, 64}, Float32, "A");
  const Tensor b = Compute(
      {1, 64}, [&](Var i, Var j) { return a(i, j) * 2.0F; }, "B");
  const Tensor c = Compute(
      {1, 64}, [&](Var i, Var j) { return b(i, j) + 1.0F; }, "C");
  const auto refused = [&](auto change) {
    return Refusal([&] {
      Schedule s(c);
      change(s);
      Lower(s, {a, c}, "f");
    });
  };
  EXPECT_THAT(refused([&](Schedule& s) { s.Prefetch(b, c, c.axis(0), 1); }),
              HasSubstr("prefetch: stage C, axis ax0, of B: the loop is trivial"));
  EXPECT_THAT(refused([&](Schedule& s) { s.Prefetch(a, c, c.axis(1), 1); }),
              HasSubstr("of A: it is not read inside the loop"));
  const Tensor sums = Compute(
      {1}, [&](Var i) { return c(i, 0) + c(i, 1); }, "sums");
  EXPECT_THAT(Refusal([&] {
                Schedule s(sums);
                s.Prefetch(sums, c, c.axis(1), 0);
                Lower(s, {a, sums}, "f");
              }),
              HasSubstr("stage C, axis ax1, of sums: it is not read inside the loop"));
  EXPECT_THAT(refused([&](Schedule& s) {
                s[c].Vectorize(c.axis(1));
                s.Prefetch(b, c, c.axis(1), 1);
              }),
              HasSubstr("the loop is vectorised; choose one around it"));
  EXPECT_THAT(refused([&](Schedule& s) {
                s[b].ComputeAt(s[c], c.axis(0));
                s.Prefetch(b, c, c.axis(1), 1);
              }),
              HasSubstr("only arguments and stages at the root are there before the loop begins"));
  EXPECT_THAT(refused([&](Schedule& s) {
                s[b].ComputeAt(s[c], c.axis(0));
                s.Prefetch(b, b, b.axis(1), 1);
              }),
              HasSubstr("only arguments and stages at the root are there before the loop begins"));
  EXPECT_THAT(refused([&](Schedule& s) { s.Prefetch(a, c, b.axis(1), 1); }),
              HasSubstr("prefetch: stage C, axis ax1: the axis is not part of the schedule"));
  EXPECT_THAT(refused([&](Schedule& s) { s.Prefetch(b, c, c.axis(1), 1.5); }),
              HasSubstr("the offset 1.5 is no int64 number of iterations"));
  EXPECT_THAT(refused([&](Schedule& s) { s.Prefetch(b, c, c.axis(0), c.axis(1).var); }),
              HasSubstr("prefetch: stage C, axis ax0: the offset ax1 uses ax1, which is neither an "
                        "extent of an argument nor a loop of the stage around it"));
}

}  // namespace
}  // namespace tenon::schedule
