// Which sums get accumulators by lane, and what becomes of them. That the values stay right at all
// extents is proved of kernels (tests/jit/reductions_test.cc).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/loop/print.h"
#include "tenon/loop/simplify/simplify.h"
#include "tenon/loop/transform/transforms.h"
#include "tenon/support/strings.h"

namespace tenon::loop {
namespace {

const Var k("k"), n("n"), row("row");
const Buffer x = Buffer::Make("x", Float32, {1600}), y = Buffer::Make("y", Float64, {200});
const Buffer sum = Buffer::Make("sum", Float32, {8}), total = Buffer::Make("total", Float64, {1});
const Buffer count = Buffer::Make("count", Int32, {1}), bytes = Buffer::Make("bytes", Int32, {200});

// for k in [0, extent): sum[row] += term
Stmt SumOf(const Expr& term, const Expr& extent, StoreKind kind = StoreKind::kReassociated) {
  return For(k, 0, extent, ForKind::kSerial, Store(sum, Load(sum, {row}) + term, {row}, kind));
}

TEST(VectorizeSumsTest, TheRestIsReadAsABlockThatEndsWithTheRow) {
  EXPECT_EQ(Print(Simplify(VectorizeSums(SumOf(Load(x, {row + k}), 150)))),
            "allocate sum.lanes: float32[64]\n"
            "vectorized k.lane in [0, 64) {\n"
            "  sum.lanes[k.lane] = 0f\n"
            "}\n"
            "for k.block in [0, 2) {\n"
            "  vectorized k.lane in [0, 64) {\n"
            "    sum.lanes[k.lane] = (sum.lanes[k.lane] + x[((row + (k.block * 64)) + k.lane)])\n"
            "  }\n"
            "}\n"
            "vectorized k.lane in [0, 64) {\n"
            "  sum.lanes[k.lane] = (sum.lanes[k.lane] + select((k.lane >= 42), x[((row + k.lane) + "
            "86)], 0f))\n"
            "}\n"
            "vectorized k.lane in [0, 32) {\n"
            "  sum.lanes[k.lane] = (sum.lanes[k.lane] + sum.lanes[(k.lane + 32)])\n"
            "}\n"
            "vectorized k.lane in [0, 16) {\n"
            "  sum.lanes[k.lane] = (sum.lanes[k.lane] + sum.lanes[(k.lane + 16)])\n"
            "}\n"
            "vectorized k.lane in [0, 8) {\n"
            "  sum.lanes[k.lane] = (sum.lanes[k.lane] + sum.lanes[(k.lane + 8)])\n"
            "}\n"
            "vectorized k.lane in [0, 4) {\n"
            "  sum.lanes[k.lane] = (sum.lanes[k.lane] + sum.lanes[(k.lane + 4)])\n"
            "}\n"
            "vectorized k.lane in [0, 2) {\n"
            "  sum.lanes[k.lane] = (sum.lanes[k.lane] + sum.lanes[(k.lane + 2)])\n"
            "}\n"
            "sum.lanes[0] = (sum.lanes[0] + sum.lanes[1])\n"
            "sum[row] = (sum[row] + sum.lanes[0])\n");
}

TEST(VectorizeSumsTest, ABlockOfValuesTakesAsManyLanesAsThePowerOfTwoBelow) {
  const Buffer x = Buffer::Make("x", Float32, {64});
  EXPECT_EQ(
      Print(Simplify(VectorizeSums(SumOf(Load(x, {k}), 11)))),
      "allocate sum.lanes: float32[8]\n"
      "vectorized k.lane in [0, 8) {\n"
      "  sum.lanes[k.lane] = 0f\n"
      "}\n"
      "vectorized k.lane in [0, 8) {\n"
      "  sum.lanes[k.lane] = (sum.lanes[k.lane] + x[k.lane])\n"
      "}\n"
      "vectorized k.lane in [0, 8) {\n"
      "  sum.lanes[k.lane] = (sum.lanes[k.lane] + select((k.lane >= 5), x[(k.lane + 3)], 0f))\n"
      "}\n"
      "vectorized k.lane in [0, 4) {\n"
      "  sum.lanes[k.lane] = (sum.lanes[k.lane] + sum.lanes[(k.lane + 4)])\n"
      "}\n"
      "vectorized k.lane in [0, 2) {\n"
      "  sum.lanes[k.lane] = (sum.lanes[k.lane] + sum.lanes[(k.lane + 2)])\n"
      "}\n"
      "sum.lanes[0] = (sum.lanes[0] + sum.lanes[1])\n"
      "sum[row] = (sum[row] + sum.lanes[0])\n");
}

TEST(VectorizeSumsTest, ShortRowsTakeAsManyLanesAsThePowerOfTwoBelow) {
  for (const auto& [extent, lanes] : {std::pair(8, "8"), {15, "8"}, {32, "32"}, {63, "32"}}) {
    const std::string text = Print(Simplify(VectorizeSums(SumOf(Load(x, {row + k}), extent))));
    EXPECT_THAT(text, ::testing::HasSubstr(StrCat("allocate sum.lanes: float32[", lanes, "]")))
        << extent;
  }
}

TEST(VectorizeSumsTest, LanesFillTheSameRegistersForWiderFloats) {
  const Stmt loop = For(
      k, 0, 100, ForKind::kSerial,
      Store(total, Load(total, {0}) + Load(y, {k}) * Load(y, {k}), {0}, StoreKind::kReassociated));
  const std::string text = Print(Simplify(VectorizeSums(loop)));
  EXPECT_THAT(text, ::testing::HasSubstr("allocate total.lanes: float64[32]"));
  EXPECT_THAT(text, ::testing::HasSubstr("for k.block in [0, 3)"));
}

TEST(VectorizeSumsTest, WholeBlocksTakeLanesWhereTheRowIsAllocated) {
  const Buffer made = Buffer::Make("made", Float32, {128});
  const Stmt add = SumOf(Load(made, {k}), 128);
  EXPECT_TRUE(VectorizeSums(add) == add);
  const std::string text = Print(Simplify(VectorizeSums(Allocate(made, add))));
  EXPECT_THAT(text, ::testing::HasSubstr("for k.block in [0, 2) {"));
  EXPECT_THAT(text, ::testing::Not(::testing::HasSubstr("select")));
}

TEST(VectorizeSumsTest, OtherLoopsStay) {
  const Expr here = Load(x, {row + k});
  for (const Stmt& loop :
       {// LLVM's vectors take all of it, or it is too short for lanes.
        SumOf(here, 128), SumOf(here, 7), SumOf(here, n),
        // The order matters.
        SumOf(here, 150, StoreKind::kPlain),
        // The terms do not lie side by side.
        SumOf(Load(x, {k * n + row}), 150), SumOf(Load(x, {row + k * 2}), 70),
        SumOf(Load(x, {row + 199 - k}), 150), SumOf(Load(x, {row}), 150),
        // A load that is guarded, and a function that lanes would call one by one.
        SumOf(IfThenElse(k < n, here, 0.0F), 150), SumOf(Call(Intrinsic::kExp, {here}), 150),
        SumOf(ExternCall(Float32, "next", {here}), 150),
        // Terms that depend on the sum, other results, other kinds of loops.
        SumOf(here * Load(sum, {row}), 150),
        For(k, 0, 150, ForKind::kSerial,
            Store(count, Load(count, {0}) + Load(bytes, {k}), {0}, StoreKind::kReassociated)),
        For(k, 0, 150, ForKind::kSerial,
            Store(sum, Load(sum, {row}) * here, {row}, StoreKind::kReassociated)),
        For(k, 0, 150, ForKind::kVectorized,
            Store(sum, Load(sum, {row}) + here, {row}, StoreKind::kReassociated)),
        For(k, 0, 8, ForKind::kSerial,
            Store(sum, Load(sum, {k}) + 1.0F, {k}, StoreKind::kReassociated))}) {
    EXPECT_TRUE(VectorizeSums(loop) == loop) << Print(loop);
  }
}

}  // namespace
}  // namespace tenon::loop
