// What masked vectors of sums become, what stays, and the results before and after.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/loop/transform/transforms.h"
#include "tenon/loop/visit.h"
#include "tenon/tests/loop/interpreter.h"

namespace tenon::loop {
namespace {

const Var r("r"), q("q"), n("n");
const Buffer in = Buffer::Make("in", Int64, {256}), out = Buffer::Make("out", Int64, {64});

Expr Vector(const Expr& first) { return Ramp(first, 1, 8); }
Expr FirstLanes(const Expr& count) { return Ramp(0, 1, 8) < Broadcast(count, 8); }
Expr From(const Buffer& buffer, const Expr& first, const Expr& mask) {
  return Load(buffer, {Vector(first)}, nullptr, mask);
}
// out[first...] += what `row` begins with, under the mask.
Stmt Add(const Expr& first, const Expr& row, const Expr& mask) {
  return Store(out, From(out, first, mask) + From(in, row, mask), {Vector(first)},
               StoreKind::kReassociated, mask);
}
Stmt Zero(const Expr& first, const Expr& mask) {
  return Store(out, Broadcast(IntImm(Int64, 0), 8), {Vector(first)}, StoreKind::kPlain, mask);
}
Stmt Loop(const Var& var, const Stmt& body, ForKind kind = ForKind::kSerial) {
  return For(var, 0, 5, kind, body);
}

const Expr five = FirstLanes(5);

std::vector<std::int64_t> Result(const Stmt& stmt) {
  Interpreter interpreter;
  std::vector<std::int64_t> elements(256);
  for (std::size_t k = 0; k < elements.size(); ++k) elements[k] = static_cast<int>(k * k % 101);
  interpreter.Set(n, 3);
  interpreter.Set(in, elements);
  interpreter.Set(out, std::vector<std::int64_t>(64, -7));
  interpreter.Execute(stmt);
  return interpreter.Of(out);
}

TEST(PromoteAccumulatorsTest, AMaskedSumIsAVectorAroundItsLoops) {
  const Stmt nest = Seq({Zero(16, five), Loop(q, Loop(r, Add(16, q * 40 + r * 8, five)))});
  const Stmt promoted = PromoteAccumulators(nest);
  EXPECT_EQ(Print(promoted),
            "allocate out.acc: int64[8] on the stack\n"
            "out.acc[ramp(0, 1, 8)] = x8(0)\n"
            "for q in [0, 5) {\n"
            "  for r in [0, 5) {\n"
            "    out.acc[ramp(0, 1, 8)] = (out.acc[ramp(0, 1, 8)] + "
            "in[ramp(((q * 40) + (r * 8)), 1, 8) where (ramp(0, 1, 8) < x8(5))])\n"
            "  }\n"
            "}\n"
            "out[ramp(16, 1, 8)] = out.acc[ramp(0, 1, 8)] where (ramp(0, 1, 8) < x8(5))\n");
  EXPECT_EQ(Result(promoted), Result(nest));
}

TEST(PromoteAccumulatorsTest, WithoutAFirstValueItIsRead) {
  const Stmt loop = Loop(r, Add(n * 2, r * 8, FirstLanes(n)));
  const Stmt promoted = PromoteAccumulators(loop);
  EXPECT_THAT(Print(promoted),
              ::testing::HasSubstr("out.acc[ramp(0, 1, 8)] = out[ramp((n * 2), 1, 8) where"));
  EXPECT_EQ(Result(promoted), Result(loop));
}

TEST(PromoteAccumulatorsTest, NeighboursAndWholeVectorsStandBeside) {
  const Stmt nest =
      Seq({Zero(0, Expr()), Zero(8, five), Zero(16, FirstLanes(3)),
           Loop(r, Seq({Add(0, r, Expr()), Add(8, r + 8, five), Add(16, r + 16, FirstLanes(3))}))});
  const Stmt promoted = PromoteAccumulators(nest);
  int buffers = 0;
  VisitStmts(promoted, [&](const Stmt& s) { buffers += s.kind() == StmtKind::kAllocate ? 1 : 0; });
  EXPECT_EQ(buffers, 2);
  EXPECT_EQ(Result(promoted), Result(nest));
}

// What is left of an unrolled loop, and who reads the sum right after it.
TEST(PromoteAccumulatorsTest, StoresInARowAreAVectorInTheirOrder) {
  const Stmt copy = Store(out, From(out, 16, five) * 2, {Vector(32)}, StoreKind::kPlain, five);
  const Stmt row = Seq({Zero(16, five), Add(16, 0, five), Add(16, 8, five), copy});
  const Stmt promoted = PromoteAccumulators(row);
  EXPECT_EQ(Print(promoted),
            "allocate out.acc: int64[8] on the stack\n"
            "out.acc[ramp(0, 1, 8)] = x8(0)\n"
            "out.acc[ramp(0, 1, 8)] = (out.acc[ramp(0, 1, 8)] + "
            "in[ramp(0, 1, 8) where (ramp(0, 1, 8) < x8(5))])\n"
            "out.acc[ramp(0, 1, 8)] = (out.acc[ramp(0, 1, 8)] + "
            "in[ramp(8, 1, 8) where (ramp(0, 1, 8) < x8(5))])\n"
            "out[ramp(32, 1, 8)] = (out.acc[ramp(0, 1, 8)] * x8(2)) where (ramp(0, 1, 8) < x8(5))\n"
            "out[ramp(16, 1, 8)] = out.acc[ramp(0, 1, 8)] where (ramp(0, 1, 8) < x8(5))\n");
  VisitStmts(promoted, [](const Stmt& s) {
    const auto* store = s.As<StoreNode>();
    EXPECT_TRUE(store == nullptr || store->store_kind == StoreKind::kPlain);
  });
  EXPECT_EQ(Result(promoted), Result(row));
}

TEST(PromoteAccumulatorsTest, ARowOfStoresInALoopBeginsWithWhatIsThere) {
  const Stmt loop = Loop(r, Seq({Add(r * 8, r, five), Add(r * 8, r + 8, five)}));
  const Stmt promoted = PromoteAccumulators(loop);
  EXPECT_THAT(Print(promoted),
              ::testing::HasSubstr("out.acc[ramp(0, 1, 8)] = out[ramp((r * 8), 1, 8) where"));
  EXPECT_EQ(Result(promoted), Result(loop));
}

// A load under a mask reads 0 in the other lanes, a vector what was left there.
TEST(PromoteAccumulatorsTest, OtherLanesAreNeverSeen) {
  const Expr sum = From(out, 0, five);
  const Expr reversed = Shuffle(sum, sum, {7, 6, 5, 4, 3, 2, 1, 0});
  const Expr gathered = Load(in, {sum % 64}, nullptr, five);
  const auto store = [](const Expr& value, const Expr& mask) {
    return Store(out, value, {Vector(32)}, StoreKind::kPlain, mask);
  };
  for (const Stmt& reader : {store(sum, Expr()), store(sum, FirstLanes(6)), store(reversed, five),
                             store(gathered, five)}) {
    const Stmt row = Seq({Add(0, 0, five), Add(0, 8, five), reader});
    EXPECT_TRUE(PromoteAccumulators(row) == row) << Print(PromoteAccumulators(row));
    const Stmt loop = Loop(r, row);
    EXPECT_TRUE(PromoteAccumulators(loop) == loop) << Print(PromoteAccumulators(loop));
  }
}

TEST(PromoteAccumulatorsTest, OthersStay) {
  const Stmt overlapping = Loop(r, Seq({Add(0, r, five), Add(4, r + 8, five)}));
  const Stmt unknown = Loop(r, Seq({Add(0, r, five), Add(n, r + 8, five)}));
  const Stmt asked = Loop(r, If(n < Expr(r), Add(0, r, five)));
  for (const Stmt& stmt :
       {Loop(r, Add(0, r, Expr())), Loop(r, Add(r, r, five)), Loop(r, Add(0, r, FirstLanes(r))),
        Loop(r, Add(0, r, five), ForKind::kParallel), Loop(r, Zero(0, five)), overlapping, unknown,
        asked, Seq({Add(0, 0, five), Add(8, 8, five)}), Seq({Zero(0, five), Zero(0, five)}),
        Seq({Add(0, 0, five), Add(0, 8, FirstLanes(6))}), Seq({Add(0, 0, five), Add(4, 8, five)})})
    EXPECT_TRUE(PromoteAccumulators(stmt) == stmt) << Print(PromoteAccumulators(stmt));
}

// The first value of a sum that something else stands in between is left where it is.
TEST(PromoteAccumulatorsTest, AFirstValueBehindAReadStays) {
  const Stmt read = Store(out, From(out, 0, five) + 1, {Vector(0)}, StoreKind::kPlain, five);
  const Stmt nest = Seq({Zero(0, five), read, Loop(r, Add(0, r, five))});
  EXPECT_EQ(Result(PromoteAccumulators(nest)), Result(nest));
}

}  // namespace
}  // namespace tenon::loop
