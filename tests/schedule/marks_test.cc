// What storage and loop marks do to the loops and to the code, with the values unchanged.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

class MarksTest : public ::testing::TestWithParam<std::int64_t> {
 protected:
  const std::int64_t n = GetParam();
  Tensor a = Placeholder({6, n}, Float32, "A");
  Tensor b = Compute(
      {6, n}, [this](Var i, Var j) { return a(i, j) * 2.0F; }, "B");
  Tensor c = Compute(
      {6, n}, [this](Var i, Var j) { return b(i, j) + b(5 - i, j); }, "C");
};
INSTANTIATE_TEST_SUITE_P(OddSizes, MarksTest,
                         ::testing::Values(0, 1, 2, 3, 15, 16, 17, 63, 64, 65));

// Check 32.
TEST_P(MarksTest, StorageAlignPadsTheStride) {
  Schedule s(c);
  s[b].StorageAlign(b.axis(0), 32, 5);
  const std::int64_t stride = n + (((5 - n) % 32) + 32) % 32;
  EXPECT_THAT(LoopsOf(s, {a, c}), HasSubstr(StrCat("allocate B: float32[", 6 * stride, "]")));
  ExpectRight(s, {a});
}

TEST_P(MarksTest, AlignedTilesAndTheirCopiesAreRight) {
  Schedule s(c);
  const auto [outer, inner] = s[c].Split(c.axis(1), 7);
  s[c].Reorder({outer, c.axis(0), inner});
  s[b].ComputeAt(s[c], outer).StorageAlign(b.axis(0), 16, 1).DoubleBuffer();
  ExpectRight(s, {a});
}

TEST_P(MarksTest, ADoubleBufferedStageComputesOneIterationAhead) {
  Schedule s(c);
  const auto [outer, inner] = s[c].Split(c.axis(1), 8);
  s[c].Reorder({outer, c.axis(0), inner});
  s[b].ComputeAt(s[c], outer).DoubleBuffer();
  ExpectRight(s, {a});
}

TEST_P(MarksTest, PrefetchChangesNoValue) {
  Schedule s(c);
  const auto [outer, inner] = s[c].Split(c.axis(1), 8);
  s[c].Reorder({outer, c.axis(0), inner});
  s[b].ComputeInline();
  // A loop that runs once is refused; see below.
  if (n > 8) s.Prefetch(a, c, outer, 3);
  s.Prefetch(a, c, c.axis(0), 1);
  s.Prefetch(c, c, c.axis(0), 1);
  ExpectRight(s, {a});
}

TEST_P(MarksTest, AutoUnrollChangesNoValue) {
  for (const std::int64_t is_explicit : {0, 1}) {
    Schedule s(c);
    const auto [outer, inner] = s[c].Split(c.axis(1), 3);
    s[b].ComputeAt(s[c], outer);
    s[c].Pragma(c.axis(0), "auto_unroll_max_step", 8);
    s[c].Pragma(c.axis(0), "unroll_explicit", is_explicit);
    ExpectRight(s, {a});
  }
}

TEST(DoubleBufferTest, TheLoopsShowTwoCopies) {
  const Tensor a = Placeholder({32}, Float32, "A");
  const Tensor b = Compute(
      {32}, [&](Var i) { return a(i) * 2.0F; }, "B");
  const Tensor c = Compute(
      {32}, [&](Var i) { return b(i) + 1.0F; }, "C");
  Schedule s(c);
  const auto [outer, inner] = s[c].Split(c.axis(0), 8);
  s[b].ComputeAt(s[c], outer).DoubleBuffer();
  EXPECT_EQ(LoopsOf(s, {a, c}),
            "function f(A: float32[32], C: float32[32]) {\n"
            "  allocate B: float32[2, 8]\n"
            "  for ax0 in [0, 8) {\n"
            "    B[ax0] = (A[ax0] * 2f)\n"
            "  }\n"
            "  for ax0.outer in [0, 3) {\n"
            "    for ax0 in [0, 8) {\n"
            "      B[((floormod((ax0.outer + 1), 2) * 8) + ax0)] = "
            "(A[(((ax0.outer * 8) + ax0) + 8)] * 2f)\n"
            "    }\n"
            "    for ax0.inner in [0, 8) {\n"
            "      C[((ax0.outer * 8) + ax0.inner)] = "
            "(B[((floormod(ax0.outer, 2) * 8) + ax0.inner)] + 1f)\n"
            "    }\n"
            "  }\n"
            "  for ax0.inner in [0, 8) {\n"
            "    C[(ax0.inner + 24)] = (B[(ax0.inner + 8)] + 1f)\n"
            "  }\n"
            "}\n");
}

// Check 31, and what the peer says only when it lowers.
TEST(DoubleBufferTest, IsRefusedWithoutALoopToRunAhead) {
  const Tensor a = Placeholder({32}, Float32, "A");
  const Tensor b = Compute(
      {32}, [&](Var i) { return a(i) * 2.0F; }, "B");
  const Tensor c = Compute(
      {32}, [&](Var i) { return b(i) + 1.0F; }, "C");
  Schedule s(c);
  EXPECT_THAT(Refusal([&] { s[c].DoubleBuffer(); }),
              HasSubstr("double_buffer: stage C: the caller gives its memory"));
  EXPECT_THAT(Refusal([&] { s[a].DoubleBuffer(); }), HasSubstr("the caller gives its memory"));
  s[b].DoubleBuffer();
  EXPECT_THAT(Refusal([&] {
                Lower(s, {a, c}, "f");
              }),
              HasSubstr("double_buffer: stage B is not computed at a loop"));
  const auto [outer, inner] = s[c].Split(c.axis(0), 8);
  s[b].ComputeAt(s[c], outer);
  s[c].Parallel(outer);
  EXPECT_THAT(Refusal([&] {
                Lower(s, {a, c}, "f");
              }),
              HasSubstr("axis ax0.outer of C: the loop is parallel; it must be serial"));
}

TEST(SetScopeTest, LocalMemoryIsOnTheStack) {
  const Tensor a = Placeholder({30000}, Float32, "A");
  const Tensor b = Compute(
      {30000}, [&](Var i) { return a(i) * 2.0F; }, "B");
  const Tensor c = Compute(
      {30000}, [&](Var i) { return b(29999 - i); }, "C");
  Schedule s(c);
  const auto code = [&] { return jit::Compile(Lower(s, {a, c}, "f"))->LlvmIr(false); };
  EXPECT_THAT(code(), HasSubstr("tenon_take_memory"));
  s[b].SetScope("local");
  EXPECT_THAT(code(), Not(HasSubstr("tenon_take_memory")));
  ExpectRight(s, {a});
  s[b].SetScope("global");
  EXPECT_THAT(code(), HasSubstr("tenon_take_memory"));
}

TEST(SetScopeTest, IsRefusedWhereTheStackCannotServe) {
  const Var n("n");
  const Tensor a = Placeholder({n, 100000}, Float32, "A");
  const Tensor b = Compute(
      {n, 100000}, [&](Var i, Var j) { return a(i, j) * 2.0F; }, "B");
  const Tensor c = Compute(
      {n, 100000}, [&](Var i, Var j) { return b(i, j) + b(i, 99999 - j); }, "C");
  Schedule s(c);
  s[b].SetScope("local");
  EXPECT_THAT(Refusal([&] {
                Lower(s, {a, c}, "f");
              }),
              HasSubstr("set_scope: stage B is local, but its extent n is not constant"));
  s[b].ComputeAt(s[c], c.axis(0));
  EXPECT_THAT(Refusal([&] {
                Lower(s, {a, c}, "f");
              }),
              HasSubstr("stage B is local, but needs 400000 bytes; at most 262144 are allowed"));
  EXPECT_THAT(Refusal([&] { s[b].SetScope("texture"); }),
              HasSubstr("there is no memory scope \"texture\" on a CPU; it has global and local"));
  EXPECT_THAT(Refusal([&] { s[c].SetScope("local"); }),
              HasSubstr("set_scope: stage C: the caller gives its memory"));
}

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

// 32 weights in 3 rows of 4 steps: shares of 3.
TEST_F(NextBlockTest, IsFetchedInSharesWhileThisOneIsUsed) {
  Schedule s = Scheduled();
  s.PrefetchNextBlock(weights_, sums_, k_, 3);
  EXPECT_THAT(LoopsOf(s, {rows_, weights_, y_}),
              HasSubstr("prefetch(weights[((((floordiv(ax0.ax1.fused, 3) * 32) + "
                        "(floormod(ax0.ax1.fused, 3) * 12)) + (k * 3)) + 32)])\n"));
  ExpectRight(s, {rows_, weights_});
}

// A share of more than a line is several.
TEST_F(NextBlockTest, IsFetchedInLines) {
  const Tensor wide = Placeholder({6, 4, 40}, Float32, "wide");
  const IterVar k = ReduceAxis(0, 4, "k");
  const Tensor sums = Compute(
      {6, 40}, [&](Var i, Var j) { return Sum(wide(i, k.var, j), {k}); }, "sums");
  const Tensor y = Compute(
      {6, 40}, [&](Var i, Var j) { return sums(i, j) + 1.0F; }, "y");
  Schedule s(y);
  s[sums].ComputeAt(s[y], y.axis(0)).Reorder({k, sums.axis(1)});
  s.PrefetchNextBlock(wide, sums, k, 1);
  EXPECT_THAT(LoopsOf(s, {wide, y}),
              HasSubstr("      prefetch(wide[(((ax0 * 160) + (k * 40)) + 160)])\n"
                        "      prefetch(wide[(((ax0 * 160) + (k * 40)) + 176)])\n"
                        "      prefetch(wide[(((ax0 * 160) + (k * 40)) + 192)])\n"));
  ExpectRight(s, {wide});
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
  const Tensor wide = Placeholder({3, 2, 4096}, Float32, "wide");
  const IterVar k = ReduceAxis(0, 2, "k");
  const Tensor sums = Compute(
      {3, 4096}, [&](Var i, Var j) { return Sum(wide(i, k.var, j), {k}); }, "sums");
  const Tensor y = Compute(
      {3, 4096}, [&](Var i, Var j) { return sums(i, j) + 1.0F; }, "y");
  Schedule s(y);
  s[sums].ComputeAt(s[y], y.axis(0)).Reorder({k, sums.axis(1)});
  s.PrefetchNextBlock(wide, sums, k, 1);
  EXPECT_THAT(LoopsOf(s, {wide, y}),
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
}

TEST(PragmaTest, AutoUnrollCopiesShortLoopsOnly) {
  const Tensor a = Placeholder({10, 4}, Float32, "A");
  const Tensor b = Compute(
      {10, 4}, [&](Var i, Var j) { return a(i, j) * 2.0F; }, "B");
  Schedule s(b);
  s[b].Pragma(b.axis(0), "auto_unroll_max_step", 4);
  const std::string loops = LoopsOf(s, {a, b});
  EXPECT_THAT(loops, HasSubstr("for ax0 in [0, 10) {\n    B[(ax0 * 4)] ="));
  EXPECT_THAT(loops, Not(HasSubstr("ax1")));
  s[b].Pragma(b.axis(0), "unroll_explicit", 0);
  EXPECT_THAT(LoopsOf(s, {a, b}), HasSubstr("unrolled ax1 in [0, 4) {"));
  EXPECT_THAT(jit::Compile(Lower(s, {a, b}, "f"))->LlvmIr(false),
              HasSubstr("llvm.loop.unroll.full"));
  s[b].Pragma(b.axis(0), "auto_unroll_max_step", 3);
  EXPECT_THAT(LoopsOf(s, {a, b}), HasSubstr("for ax1 in [0, 4) {"));
  s[b].Pragma(b.axis(0), "unroll_explicit").Pragma(b.axis(0), "auto_unroll_max_step", 40);
  EXPECT_THAT(LoopsOf(s, {a, b}), Not(HasSubstr("ax0")));
}

TEST(PragmaTest, UnrollAndVectorizeAreThosePrimitives) {
  const Tensor a = Placeholder({10, 4}, Float32, "A");
  const Tensor b = Compute(
      {10, 4}, [&](Var i, Var j) { return a(i, j) * 2.0F; }, "B");
  Schedule s(b);
  s[b].Pragma(b.axis(0), "unroll").Pragma(b.axis(1), "vectorize");
  EXPECT_EQ(s[b].KindOf(b.axis(0)), loop::ForKind::kUnrolled);
  EXPECT_EQ(s[b].KindOf(b.axis(1)), loop::ForKind::kVectorized);
}

TEST(StorageAlignTest, IsRefusedOfAnInlinedStage) {
  const Tensor a = Placeholder({8, 8}, Float32, "A");
  const Tensor b = Compute(
      {8, 8}, [&](Var i, Var j) { return a(i, j) * 2.0F; }, "B");
  const Tensor c = Compute(
      {8, 8}, [&](Var i, Var j) { return b(i, j) + 1.0F; }, "C");
  Schedule s(c);
  s[b].StorageAlign(b.axis(0), 16).ComputeInline();
  EXPECT_THAT(Refusal([&] {
                Lower(s, {a, c}, "f");
              }),
              HasSubstr("storage_align: stage B is inlined, so that it has no memory"));
  s[b].ComputeRoot();
  ExpectRight(s, {a});
}

// 129 iterations are eight parts of 16 and one more.
TEST(UnrollTest, ALongLoopIsUnrolledInParts) {
  for (const int extent : {0, 1, 127, 128, 129, 131, 256, 1000}) {
    const Tensor a = Placeholder({extent}, Float32, "A");
    const Tensor b = Compute(
        {extent}, [&](Var i) { return a(i) * 2.0F; }, "B");
    Schedule s(b);
    s[b].Unroll(b.axis(0));
    ExpectRight(s, {a});
    const std::string loops = LoopsOf(s, {a, b});
    EXPECT_EQ(extent > 128,
              loops.find("for ax0.part in [0, " + std::to_string(extent / 16)) != std::string::npos)
        << loops;
  }
}

TEST(MarksErrorTest, EachIllegalMarkIsRefusedInWords) {
  const Tensor a = Placeholder({8, 8}, Float32, "A");
  const te::IterVar k = ReduceAxis(0, 8);
  const Tensor b = Compute(
      {8, 8}, [&](Var i, Var j) { return Sum(a(i, k.var) * a(k.var, j), {k}); }, "B");
  const Tensor c = Compute(
      {8, 8}, [&](Var i, Var j) { return b(i, j) + 1.0F; }, "C");
  Schedule s(c);
  EXPECT_THAT(Refusal([&] { s[b].StorageAlign(b.axis(1), 16); }),
              HasSubstr("storage_align: stage B, axis ax1: elements of the last axis lie side by"));
  EXPECT_THAT(Refusal([&] { s[b].StorageAlign(k, 16); }),
              HasSubstr("axis k: this is no data axis of the operation"));
  EXPECT_THAT(Refusal([&] { s[b].StorageAlign(b.axis(0), 0); }),
              HasSubstr("the factor is 0 and the offset 0; the factor must be at least 1"));
  EXPECT_THAT(Refusal([&] { s[b].StorageAlign(b.axis(0), 4, 4); }),
              HasSubstr("the factor is 4 and the offset 4"));
  EXPECT_THAT(Refusal([&] { s[c].StorageAlign(c.axis(0), 4); }),
              HasSubstr("the caller gives its memory"));
  EXPECT_THAT(Refusal([&] { s[b].Pragma(b.axis(0), "import_llvm"); }),
              HasSubstr("pragma: stage B, axis ax0: the key \"import_llvm\" is unknown; known are "
                        "auto_unroll_max_step, unroll_explicit, unroll and vectorize"));
  EXPECT_THAT(Refusal([&] { s[b].Pragma(b.axis(0), "unroll_explicit", 2); }),
              HasSubstr("the value of unroll_explicit is 2; it must be 0 or 1"));
  EXPECT_THAT(Refusal([&] { s[b].Pragma(b.axis(0), "auto_unroll_max_step", -1); }),
              HasSubstr("is -1; it must be at least 0"));
  EXPECT_THAT(Refusal([&] { s[b].Pragma(c.axis(0), "auto_unroll_max_step", 1); }),
              HasSubstr("is not part of the schedule of this stage"));
  EXPECT_THAT(s.record(), ::testing::IsEmpty());
}

}  // namespace
}  // namespace tenon::schedule
