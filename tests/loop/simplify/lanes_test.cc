#include "tenon/loop/simplify/lanes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/loop/print.h"

namespace tenon::loop {
namespace {

using ::testing::ElementsAre;

TEST(LanesTest, OffsetsAreWhatLanesAddToOneNumber) {
  const Var i("i");
  const Expr lanes = Ramp(0, 1, 4);
  const auto of = [](const Expr& e) { return OffsetsOf(e).value(); };
  EXPECT_EQ(Print(of(Ramp(i * 8, 3, 4)).base), "(i * 8)");
  EXPECT_THAT(of(Ramp(i * 8, 3, 4)).offsets, ElementsAre(0, 3, 6, 9));
  EXPECT_THAT(of(Ramp(7, -1, 4)).offsets, ElementsAre(7, 6, 5, 4));
  EXPECT_THAT(of(FloorDiv(lanes, 2)).offsets, ElementsAre(0, 0, 1, 1));
  EXPECT_THAT(of(FloorDiv(Ramp(-2, 1, 4), 2)).offsets, ElementsAre(-1, -1, 0, 0));
  EXPECT_THAT(of(Min(FloorMod(lanes * 5, 4), 2)).offsets, ElementsAre(0, 1, 2, 2));
  const LaneOffsets sum = of((Broadcast(i, 4) - Ramp(1, 1, 4)) * 2 + FloorMod(lanes, 2));
  EXPECT_EQ(Print(sum.base), "(i * 2)");
  EXPECT_THAT(sum.offsets, ElementsAre(-2, -3, -6, -7));
  EXPECT_TRUE(IsConstInt(of(lanes).base, 0));
}

TEST(LanesTest, RowsPutIntoEachOtherHaveMultiplesOfTheirDistance) {
  const Var i("i"), n("n");
  const Expr lanes = Ramp(0, 1, 4);
  const auto of = [](const Expr& e) { return SteppedOffsetsOf(e).value(); };
  const Expr rows = FloorMod(lanes, 2) * Broadcast(n * 3, 4);
  const SteppedOffsets made = of(Broadcast(i, 4) + (FloorDiv(lanes, 2) - rows) * 2);
  EXPECT_EQ(Print(made.near.base), "i");
  EXPECT_THAT(made.near.offsets, ElementsAre(0, 0, 2, 2));
  EXPECT_EQ(Print(made.step), "((n * 3) * 2)");
  EXPECT_THAT(made.steps, ElementsAre(0, -1, 0, -1));
  const SteppedOffsets places =
      of(((Broadcast(i, 4) + FloorMod(lanes, 2) * 16) * Broadcast(n, 4) + 1) * Broadcast(n, 4));
  EXPECT_EQ(Print(places.near.base), "(((i * n) + 1) * n)");
  EXPECT_EQ(Print(places.step), "(n * n)");
  EXPECT_THAT(places.steps, ElementsAre(0, 16, 0, 16));
  EXPECT_THAT(of(rows + FloorDiv(lanes, 2) * Broadcast(n * 3, 4)).steps, ElementsAre(0, 1, 1, 2));
  EXPECT_THAT(of(Broadcast(n + 1, 4) * Ramp(1, 1, 4)).steps, ElementsAre(1, 2, 3, 4));
  EXPECT_FALSE(of(lanes).step.defined());
  EXPECT_FALSE(SteppedOffsetsOf(rows + lanes * Broadcast(i, 4)));
  EXPECT_FALSE(SteppedOffsetsOf(FloorDiv(rows, 2)));
}

TEST(LanesTest, LanesThatDependOnANumberDifferentlyHaveNoOffsets) {
  const Var i("i");
  const Expr copies = Broadcast(i, 4);
  const Expr lanes = Ramp(0, 1, 4);
  EXPECT_FALSE(OffsetsOf(Ramp(0, i, 4)));
  EXPECT_FALSE(OffsetsOf(FloorDiv(Ramp(i, 1, 4), 2)));
  EXPECT_FALSE(OffsetsOf(copies * lanes));
  EXPECT_FALSE(OffsetsOf(lanes * copies));
  EXPECT_FALSE(OffsetsOf(Max(copies, lanes)));
  EXPECT_FALSE(OffsetsOf(FloorDiv(lanes, 0)));
}

}  // namespace
}  // namespace tenon::loop
