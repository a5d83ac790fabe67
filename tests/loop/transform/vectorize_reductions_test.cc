// Which reductions get vectors of results, what becomes of them, and that results stay.
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/loop/print.h"
#include "tenon/loop/simplify/simplify.h"
#include "tenon/loop/transform/transforms.h"
#include "tenon/loop/visit.h"
#include "tenon/tests/loop/interpreter.h"

namespace tenon::loop {
namespace {

using ::testing::HasSubstr;

const Var k("k"), r("r"), n("n");
const Buffer flags = Buffer::Make("flags", Bool, {200}), any = Buffer::Make("any", Bool, {1});
const Buffer reals = Buffer::Make("reals", Float32, {200}), sum = Buffer::Make("sum", Float32, {1});
const Buffer data = Buffer::Make("data", Int64, {200}), best = Buffer::Make("best", Int64, {1}),
             where = Buffer::Make("where", Int64, {1});

Stmt Over(const Expr& extent, const Stmt& body, ForKind kind = ForKind::kSerial) {
  return For(k, 0, extent, kind, body);
}

Stmt AnyOf() { return Store(any, Load(any, {0}) || Load(flags, {k}), {0}); }

// The largest element and the first place of it.
Stmt LargestOf(StoreKind kind) {
  const Var place("place"), value("value"), new_place("new_place"), new_best("new_best");
  const Expr old = Load(best, {0}), old_place = Load(where, {0});
  const Expr keep = old > value || (old == value && old_place < place);
  const Stmt stores = Seq({Store(where, new_place, {0}, kind), Store(best, new_best, {0}, kind)});
  const Stmt joined = LetStmt(new_place, Select(keep, old_place, place),
                              LetStmt(new_best, Select(keep, old, value), stores));
  return LetStmt(place, k, LetStmt(value, Load(data, {k}), joined));
}

Stmt SumOfExps() {
  return Store(sum, Load(sum, {0}) + Call(Intrinsic::kExp, {Load(reals, {k})}), {0},
               StoreKind::kReassociated);
}

TEST(VectorizeReductionsTest, ADisjunctionKeepsAResultALane) {
  const std::string text = Print(Simplify(VectorizeReductions(Over(200, AnyOf()))));
  EXPECT_THAT(text, HasSubstr("allocate any.lanes: bool[128]"));
  EXPECT_THAT(text, HasSubstr("vectorized k.lane in [0, 128)"));
  EXPECT_THAT(text, HasSubstr("any[0] = any.lanes[0]"));
}

TEST(VectorizeReductionsTest, ValuesOfVectorMathComeFirst) {
  EXPECT_EQ(Print(Simplify(VectorizeReductions(Over(128, SumOfExps())))),
            "for k.block in [0, 2) {\n"
            "  allocate values: float32[64]\n"
            "  vectorized k.lane in [0, 64) {\n"
            "    values[k.lane] = exp(reals[((k.block * 64) + k.lane)])\n"
            "  }\n"
            "  for k.element in [0, 64) {\n"
            "    sum[0] = (sum[0] + values[k.element])\n"
            "  }\n"
            "}\n");
}

Stmt Fetching(const Stmt& body) {
  return Seq({Evaluate(Call(Intrinsic::kPrefetch, {Load(data, {k + 128})})), body});
}

// Lines of 8 elements.
TEST(VectorizeReductionsTest, ABlockFetchesOncePerLine) {
  const std::string text = Print(
      Simplify(VectorizeReductions(Over(128, Fetching(LargestOf(StoreKind::kReassociated))))));
  EXPECT_THAT(text, HasSubstr("for k.block in [1, 4) {\n"
                              "  prefetch(data[((k.block * 32) + 128)])\n"
                              "  prefetch(data[((k.block * 32) + 136)])\n"
                              "  prefetch(data[((k.block * 32) + 144)])\n"
                              "  prefetch(data[((k.block * 32) + 152)])\n"
                              "  vectorized"));
  // Those of the first block, from which the lanes start.
  EXPECT_THAT(text, HasSubstr("prefetch(data[152])\nfor k.block"));
}

TEST(VectorizeReductionsTest, AnExtremumOfFloatsFetchesOncePerLine) {
  const Stmt largest = Store(sum, Max(Load(sum, {0}), Load(reals, {k})), {0});
  const std::string text = Print(Simplify(VectorizeReductions(Over(128, Fetching(largest)))));
  EXPECT_THAT(text, HasSubstr("for k.block in [0, 2) {\n"
                              "  prefetch(data[((k.block * 64) + 128)])\n"
                              "  prefetch(data[((k.block * 64) + 136)])\n"));
}

TEST(VectorizeReductionsTest, OtherLoopsStay) {
  const Expr here = Load(any, {0}), flag = Load(flags, {k});
  for (const Stmt& loop :
       {Over(7, AnyOf()), For(r, 0, 9, ForKind::kSerial, Over(r, AnyOf())),
        Over(200, AnyOf(), ForKind::kVectorized), Over(200, AnyOf(), ForKind::kParallel),
        // LLVM does these itself.
        Over(200, Store(any, here && flag, {0})),
        Over(200, Store(sum, Load(sum, {0}) + Load(reals, {k}), {0}, StoreKind::kReassociated)),
        // It fetches lines far apart.
        Over(128, Seq({Evaluate(Call(Intrinsic::kPrefetch, {Load(data, {k * 64})})),
                       LargestOf(StoreKind::kReassociated)})),
        // What it fetches would be lost.
        Over(128, Fetching(SumOfExps())),
        // Each iteration has a result of its own.
        Over(200, Store(flags, flag || flag, {k})),
        // The order matters, or nobody says that it does not.
        Over(200, LargestOf(StoreKind::kPlain)),
        // More than one element of the result's buffer is read.
        Over(200, Store(flags, Load(flags, {0}) || flag, {0})),
        // The value is called for its effect.
        Over(200, Store(any, here || ExternCall(Bool, "next", {k}), {0}))}) {
    EXPECT_TRUE(VectorizeReductions(loop) == loop) << Print(loop);
  }
}

TEST(VectorizeReductionsTest, AnOpenExtentHasLanesForLongAndForShortRows) {
  const std::string text = Print(Simplify(VectorizeReductions(Over(n, AnyOf()))));
  EXPECT_THAT(text, HasSubstr("if (n >= 128) {\n  allocate any.lanes: bool[128]"));
  EXPECT_THAT(text, HasSubstr("if (n >= 32) {\n    allocate any.lanes_1: bool[32]"));
  EXPECT_THAT(text, HasSubstr("any[0] = (any[0] || flags[k])"));
}

// The variable of a loop and of a copy of it with other bounds is the same.
TEST(VectorizeReductionsTest, AnOpenCopyOfALoopKnowsNothingOfItsExtent) {
  const Var place("place"), value("value"), new_place("new_place"), new_best("new_best");
  const Expr old = Load(best, {0}), old_place = Load(where, {0});
  const Expr keep = old > value || (old == value && (old_place < place || place < 50));
  const Stmt stores = Seq({Store(where, new_place, {0}, StoreKind::kReassociated),
                           Store(best, new_best, {0}, StoreKind::kReassociated)});
  const Stmt joined = LetStmt(new_place, Select(keep, old_place, place),
                              LetStmt(new_best, Select(keep, old, value), stores));
  const Stmt body = LetStmt(place, k, LetStmt(value, Load(data, {k}), joined));
  const Stmt both = VectorizeReductions(Seq({Over(40, body), Over(n, body)}));
  EXPECT_EQ(Print(both.As<SeqNode>()->stmts[1]), Print(VectorizeReductions(Over(n, body))));
}

TEST(VectorizeReductionsTest, TheLastBlockOfASplitKeepsALoopForFewIterations) {
  // Both as lowering makes it, with the guard inside, and hoisted.
  for (const Stmt& loop : {Over(100, If(k + n < 200, AnyOf())), Over(Min(100, 200 - n), AnyOf())}) {
    const std::string text = Print(Simplify(VectorizeReductions(loop)));
    EXPECT_THAT(text, HasSubstr("allocate any.lanes: bool[64]")) << text;
    EXPECT_THAT(text, HasSubstr("if (")) << text;
    EXPECT_THAT(text, HasSubstr("any[0] = (any[0] || flags[k])")) << text;
  }
}

// Every later transform runs, too.
class ReductionExtentTest : public ::testing::TestWithParam<std::int64_t> {};
INSTANTIATE_TEST_SUITE_P(Extents, ReductionExtentTest,
                         ::testing::Values(1, 7, 8, 9, 15, 16, 17, 31, 33, 64, 65, 127, 200));

TEST_P(ReductionExtentTest, ResultsStayTheSame) {
  std::mt19937 generator(3);
  const Stmt any_of = AnyOf(), largest_of = LargestOf(StoreKind::kReassociated);
  // The last two but two end with the data, and the last two are of any length.
  for (const Stmt& loop :
       {Over(GetParam(), any_of), Over(GetParam(), largest_of),
        Over(GetParam(), If(k + n < 200, any_of)), Over(Min(GetParam(), 200 - n), largest_of),
        Over(n, any_of), Over(n, largest_of)}) {
    Stmt made = Simplify(HoistGuards(Simplify(VectorizeReductions(loop))));
    made = Simplify(FlattenBuffers(Simplify(PartitionLoops(made))));
    made = Simplify(UnrollLoops(VectorizeLoops(made)));
    if (GetParam() >= 8) {
      EXPECT_THAT(Print(made), HasSubstr("ramp"));
    }
    for (int count = 0; count < 20; ++count) {
      std::vector<std::int64_t> some_flags(200), numbers(200);
      // A single flag, often at the end, and numbers with many ties.
      some_flags[generator() % 220 % 200] = count % 4 == 0 ? 0 : 1;
      for (std::int64_t& number : numbers) number = static_cast<std::int64_t>(generator() % 9);
      const auto results = [&](const Stmt& stmt) {
        Interpreter interpreter;
        interpreter.Set(flags, some_flags);
        interpreter.Set(data, numbers);
        interpreter.Set(any, {0});
        interpreter.Set(best, {-1});
        interpreter.Set(where, {-1});
        interpreter.Set(n, 200 - (count * 13 % 200));
        interpreter.Execute(stmt);
        return std::vector<std::int64_t>{interpreter.Of(any)[0], interpreter.Of(best)[0],
                                         interpreter.Of(where)[0]};
      };
      ASSERT_EQ(results(made), results(loop)) << Print(made);
    }
  }
}

}  // namespace
}  // namespace tenon::loop
