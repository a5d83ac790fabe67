// Which parallel loops are spread over their segments, which stay, and that every iteration runs
// once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/loop/print.h"
#include "tenon/loop/simplify/simplify.h"
#include "tenon/loop/transform/transforms.h"

namespace tenon::loop {
namespace {

const Var c("c"), i("i");
const Buffer x = Buffer::Make("x", Float32, {4096}), y = Buffer::Make("y", Float32, {4096});

Expr X() { return Load(x, {Expr(c)}); }
Expr Dear() { return Call(Intrinsic::kExp, {X()}); }
Stmt Over(const Expr& extent, const Expr& value, ForKind kind = ForKind::kParallel,
          const Expr& min = 0) {
  return For(c, min, extent, kind, Store(y, value, {Expr(c)}));
}
Expr Parts(const Expr& condition) { return IfThenElse(condition, X(), Dear()); }

TEST(BalanceParallelTest, SegmentsAreSharedByAllThreads) {
  EXPECT_EQ(Print(Simplify(BalanceParallel(Over(128, Parts(c < Expr(64)))))),
            "parallel c.place in [0, 16) {\n"
            "  for c.segment in [0, 8) {\n"
            "    y[((c.segment * 16) + c.place)] = if_then_else((((c.segment * 16) + c.place) < "
            "64), x[((c.segment * 16) + c.place)], exp(x[((c.segment * 16) + c.place)]))\n"
            "  }\n"
            "}\n");
}

TEST(BalanceParallelTest, AnExtentIsCutByItsLargestDivisorUpToEight) {
  const auto first_line = [](int extent) {
    const std::string text =
        Print(Simplify(BalanceParallel(Over(extent, Parts(c < Expr(5)), ForKind::kParallel, 3))));
    return text.substr(0, text.find(" {"));
  };
  EXPECT_EQ(first_line(98), "parallel c.place in [0, 14)");
  EXPECT_EQ(first_line(33), "parallel c.place in [0, 11)");
  EXPECT_EQ(first_line(64), "parallel c.place in [0, 8)");
}

TEST(BalanceParallelTest, OtherLoopsStay) {
  const Expr uneven = Parts(c < Expr(64));
  const std::pair<const char*, Stmt> loops[] = {
      {"a serial loop", Over(128, uneven, ForKind::kSerial)},
      {"sides that both call math", Over(128, IfThenElse(c < Expr(64), Dear(), Dear() + 1.0F))},
      {"sides without math", Over(128, IfThenElse(c < Expr(64), X(), X() + 1.0F))},
      {"a choice that alternates", Over(128, Parts(FloorMod(c, 2) < Expr(1)))},
      {"a choice on data", Over(128, Parts(X() < Expr(0.0F)))},
      {"a choice on another variable", For(i, 0, 8, ForKind::kSerial, Over(128, Parts(i < 4)))},
      {"a prime extent", Over(127, uneven)},
      {"an extent that is not known", Over(i, uneven)},
      {"too few iterations to share", Over(14, uneven)},
  };
  for (const auto& [name, loop] : loops)
    EXPECT_TRUE(BalanceParallel(loop) == loop) << name << "\n" << Print(BalanceParallel(loop));
}

}  // namespace
}  // namespace tenon::loop
