// Which transposed stores compute in whole vectors first, which stay, and what they become.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/loop/print.h"
#include "tenon/loop/transform/transforms.h"

namespace tenon::loop {
namespace {

using ::testing::HasSubstr;

const Var c("c"), p("p"), n("n");
const Buffer tile = Buffer::Make("tile", Float32, {128}),
             bias = Buffer::Make("bias", Float32, {64}), y = Buffer::Make("y", Float32, {4096}),
             z = Buffer::Make("z", Float32, {4096});

Expr Tile() { return Load(tile, {p * 16 + c}); }
Expr Math(const Expr& e) { return Call(Intrinsic::kExp, {e}); }
Stmt Rows(const Stmt& body, int rows = 16, ForKind kind = ForKind::kUnrolled) {
  return For(c, 0, rows, kind, body);
}
Stmt Lanes(const Stmt& body, int lanes = 8, ForKind kind = ForKind::kVectorized) {
  return For(p, 0, lanes, kind, body);
}
Stmt StoreTransposed(const Expr& value) { return Store(y, value, {c * 196 + p + n}); }

TEST(StageTransposedMathTest, CallsMathAlongTheRowsAndCopies) {
  const Expr biased = Tile() + Load(bias, {Expr(c)});
  EXPECT_EQ(Print(StageTransposedMath(Rows(Lanes(StoreTransposed(biased * Math(biased)))))),
            "allocate staged: float32[128] on the stack\n"
            "unrolled p in [0, 8) {\n"
            "  vectorized c in [0, 16) {\n"
            "    staged[((p * 16) + c)] = ((tile[((p * 16) + c)] + bias[c]) * "
            "exp((tile[((p * 16) + c)] + bias[c])))\n"
            "  }\n"
            "}\n"
            "unrolled c_1 in [0, 16) {\n"
            "  vectorized p_1 in [0, 8) {\n"
            "    y[(((c_1 * 196) + p_1) + n)] = staged[((p_1 * 16) + c_1)]\n"
            "  }\n"
            "}\n");
}

TEST(StageTransposedMathTest, AConditionGuardsBothParts) {
  const std::string text =
      Print(StageTransposedMath(Rows(Lanes(If(p + n < Expr(196), StoreTransposed(Math(Tile())))))));
  EXPECT_THAT(text, HasSubstr("if ((p + n) < 196) {\n      staged["));
  EXPECT_THAT(text, HasSubstr("if ((p_1 + n) < 196) {\n      y["));
}

TEST(StageTransposedMathTest, OtherLoopsStay) {
  const Stmt store = StoreTransposed(Math(Tile()));
  const std::pair<const char*, Stmt> loops[] = {
      {"no math", Rows(Lanes(StoreTransposed(Tile() + Load(bias, {Expr(c)}))))},
      {"vectors as long as the rows", Rows(Lanes(store, 16))},
      {"a serial loop over rows", Rows(Lanes(store), 16, ForKind::kSerial)},
      {"a serial loop along memory", Rows(Lanes(store, 8, ForKind::kSerial))},
      {"a value that lies as the result does",
       Rows(Lanes(StoreTransposed(Math(Tile()) + Load(z, {c * 196 + p}))))},
      {"what lies along no row", Rows(Lanes(StoreTransposed(Math(Load(tile, {p * 32 + c * 2})))))},
      {"nothing that differs by lane", Rows(Lanes(StoreTransposed(Math(Load(bias, {Expr(c)})))))},
      {"its own result", Rows(Lanes(StoreTransposed(Math(Tile()) + Load(y, {p * 16 + c}))))},
      {"another case", Rows(Lanes(If(p < n, store, StoreTransposed(Tile()))))},
  };
  for (const auto& [name, loop] : loops)
    EXPECT_TRUE(StageTransposedMath(loop) == loop) << name << "\n"
                                                   << Print(StageTransposedMath(loop));
}

}  // namespace
}  // namespace tenon::loop
