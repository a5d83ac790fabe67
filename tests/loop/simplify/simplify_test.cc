#include "tenon/loop/simplify/simplify.h"

#include <functional>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/tests/loop/interpreter.h"

namespace tenon::loop {
namespace {

constexpr std::int64_t kLowest = Interval::kLowest, kHighest = Interval::kHighest;
using Ends = std::pair<std::int64_t, std::int64_t>;

const Var i("i"), j("j"), n("n"), k("k");

// i in [0, 9], j in [-4, 4], n in [1, 100], nothing of k.
Bounds Known() {
  Bounds bounds;
  bounds.Bind(i, {0, 9});
  bounds.Bind(j, {-4, 4});
  bounds.Bind(n, {1, 100});
  return bounds;
}

struct Case {
  const char* name;
  Expr expr;
  const char* text;
};
void PrintTo(const Case& c, std::ostream* out) { *out << Print(c.expr); }

class SimplifyTest : public ::testing::TestWithParam<Case> {};
TEST_P(SimplifyTest, GivesTheExpectedText) {
  EXPECT_EQ(Print(Simplify(GetParam().expr, Known())), GetParam().text) << Print(GetParam().expr);
}

INSTANTIATE_TEST_SUITE_P(
    Sums, SimplifyTest,
    ::testing::Values(Case{"ConstantsJoin", i + 3 + 4, "(i + 7)"},
                      Case{"EqualTermsJoin", i + i * 2 + i, "(i * 4)"},
                      Case{"OppositeTermsCancel", i + j - i, "j"},
                      Case{"EverythingCancels", (i + 1) * 2 - i * 2 - 2, "0"},
                      Case{"ProductsDistributeOverConstants", (i + j + 1) * 3,
                           "(((i * 3) + (j * 3)) + 3)"},
                      Case{"NegativeTermsAreSubtracted", i - j * 2, "(i - (j * 2))"},
                      Case{"AConstantComesFirstBeforeANegativeTerm", 10 - Expr(i), "(10 - i)"},
                      Case{"NegativeConstantsAreSubtracted", i + -3, "(i - 3)"},
                      Case{"SymbolicProductsAreAtoms", i* n + i* n, "((i * n) * 2)"}),
    [](const auto& info) { return info.param.name; });

// Four indices from `base` on.
Expr Lanes(const Expr& base) { return Ramp(base, 1, 4); }

INSTANTIATE_TEST_SUITE_P(
    Vectors, SimplifyTest,
    ::testing::Values(
        Case{"AllLanesAreBelow", Lanes(i) < Broadcast(13, 4), "x4(true)"},
        Case{"NoLaneIsBelow", Lanes(n) < Broadcast(1, 4), "x4(false)"},
        Case{"SomeLanesMayBeBelow", Lanes(i) < Broadcast(12, 4), "(ramp(i, 1, 4) < x4(12))"},
        Case{"SomeLanesAreAtLeast", Lanes(2) >= Broadcast(3, 4), "(ramp(2, 1, 4) >= x4(3))"},
        Case{"LanesOfUnknownPlaces", Lanes(k) < Broadcast(12, 4), "(ramp(k, 1, 4) < x4(12))"},
        Case{"AChoiceOfAllLanes", Select(Lanes(i) < Broadcast(13, 4), Lanes(i), Lanes(n)),
             "ramp(i, 1, 4)"},
        Case{"AChoiceOfNoLane", Select(Lanes(n) < Broadcast(1, 4), Lanes(i), Lanes(n)),
             "ramp(n, 1, 4)"},
        Case{"AConjunctionWithAllLanes", Lanes(i) < Broadcast(13, 4) && Lanes(k) < Broadcast(12, 4),
             "(ramp(k, 1, 4) < x4(12))"},
        Case{"AConjunctionWithNoLane", Lanes(k) < Broadcast(12, 4) && Lanes(n) < Broadcast(1, 4),
             "x4(false)"},
        Case{"ADisjunctionWithNoLane", Lanes(n) < Broadcast(1, 4) || Lanes(k) < Broadcast(12, 4),
             "(ramp(k, 1, 4) < x4(12))"},
        Case{"ANegationOfAllLanes", Not(Lanes(i) < Broadcast(13, 4)), "x4(false)"}),
    [](const auto& info) { return info.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Quotients, SimplifyTest,
    ::testing::Values(
        Case{"MultiplesLeaveADivision", FloorDiv(i + 10 * Expr(j), 10), "j"},
        Case{"MultiplesLeaveARemainder", FloorMod(i + 10 * Expr(j), 10), "i"},
        Case{"ARestThatMayCarryStays", FloorDiv(i + 1 + 10 * Expr(j), 10),
             "(j + floordiv((i + 1), 10))"},
        Case{"ARemainderOfAMultipleIsZero", FloorMod(k * 6, 3), "0"},
        Case{"ADivisionOfAMultipleIsExact", FloorDiv(k * 6, 3), "(k * 2)"},
        Case{"TheConstantSplits", FloorDiv(k * 4 + 9, 4), "(k + 2)"},
        Case{"ANegativeConstantFloors", FloorDiv(k * 4 - 1, 4), "(k - 1)"},
        Case{"TruncationOfNoNegativeIsFloor", (i + 10 * Expr(n)) / 10, "n"},
        Case{"TruncationOfNegativesStays", (j * 2) / 2, "((j * 2) / 2)"},
        Case{"TruncationByANegativeStays", i / -4, "(i / -4)"},
        Case{"TruncationByAnUnknownSignStays", i / k, "(i / k)"},
        Case{"RemaindersByAnUnknownSignStay", i % k, "(i % k)"},
        Case{"RemaindersOfNegativesStay", (j * 2 + 1) % 2, "(((j * 2) + 1) % 2)"},
        Case{"AQuotientAndItsRemainderRejoin", FloorDiv(k, 8) * 8 + FloorMod(k, 8), "k"},
        Case{"TheyRejoinInTheOtherOrder", FloorMod(k, 8) + FloorDiv(k, 8) * 8, "k"},
        Case{"TheyRejoinScaled", FloorDiv(k, 8) * 24 + FloorMod(k, 8) * 3, "(k * 3)"},
        Case{"TheMiddleOfThreeSplitAxesRejoins",
             FloorDiv(k + 16, 96) * 96 + FloorMod(FloorDiv(k, 16) + 1, 6) * 16 + FloorMod(k, 16),
             "(k + 16)"},
        Case{"TheOrderOfTermsDoesNotMatter",
             FloorDiv(k + n * 16 + i, 96) * 96 + FloorMod(FloorDiv(i + k, 16) + n, 6) * 16 +
                 FloorMod(k + i, 16),
             "((k + i) + (n * 16))"},
        Case{"ARemainderOfAQuotientRejoinsScaled",
             FloorMod(FloorDiv(k, 8) + n, 3) * 16 + FloorMod(k, 8) * 2,
             "(floormod((k + (n * 8)), 24) * 2)"},
        Case{"ARemainderOfAnotherQuotientDoesNot", FloorMod(FloorDiv(k, 4), 3) * 8 + FloorMod(k, 8),
             "((floormod(floordiv(k, 4), 3) * 8) + floormod(k, 8))"},
        Case{"AQuotientOfAQuotientRejoins", FloorDiv(k, 4) * 2 + FloorMod(FloorDiv(k, 2), 2),
             "floordiv(k, 2)"},
        Case{"AQuotientByANegativeIsNoQuotientOfAQuotient",
             FloorDiv(k, -4) * -2 + FloorMod(FloorDiv(k, 2), -2),
             "((floordiv(k, -4) * -2) + floormod(floordiv(k, 2), -2))"},
        Case{"OtherFactorsDoNotRejoin", FloorDiv(k, 8) * 4 + FloorMod(k, 8),
             "((floordiv(k, 8) * 4) + floormod(k, 8))"},
        Case{"WhatCannotCarryLeavesAQuotient", FloorDiv(k * 20 + i, 60), "floordiv(k, 3)"},
        Case{"WhatCannotCarryComesOutOfARemainder", FloorMod(k * 20 + i * 2 + 1, 60),
             "(((i * 2) + (floormod(k, 3) * 20)) + 1)"},
        Case{"WhatMayCarryStaysInAQuotient", FloorDiv(k * 6 + i, 60),
             "floordiv(((k * 6) + i), 60)"},
        Case{"QuotientsOfGranulesRejoin", FloorDiv(k * 8 + 3, 112) * 112 + FloorMod(k * 8 + 3, 112),
             "((k * 8) + 3)"},
        Case{"NegativeGranulesFloor", FloorDiv(k * -4 - 1, 12), "(floordiv((2 - k), 3) - 1)"},
        Case{"SymbolicDivisorsStay", FloorDiv(k* n, n), "floordiv((k * n), n)"},
        Case{"NegativeDivisorsStay", FloorDiv(k, -2), "floordiv(k, -2)"},
        Case{"ZeroDivisorsStay", FloorMod(k, 0), "floormod(k, 0)"}),
    [](const auto& info) { return info.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Decisions, SimplifyTest,
    ::testing::Values(
        Case{"LessInRange", i < 10, "true"}, Case{"LessOutOfRange", i < 0, "false"},
        Case{"LessUndecided", i < 9, "(i < 9)"}, Case{"LessEqualAtTheEnd", i <= 9, "true"},
        Case{"GreaterAtTheStart", i > -1, "true"}, Case{"GreaterEqualAtTheStart", i >= 0, "true"},
        Case{"EqualOutOfRange", i == 10, "false"}, Case{"NotEqualOutOfRange", i != -1, "true"},
        Case{"EqualToItself", i + k == k + i, "true"},
        Case{"DifferenceDecides", i + k < k + 10, "true"},
        Case{"UnknownIsUndecided", k < 10, "(k < 10)"}, Case{"MinInRange", Min(i, 9), "i"},
        Case{"MinOutOfRange", Min(i, -1), "-1"}, Case{"MinUndecided", Min(i, 5), "min(i, 5)"},
        Case{"MaxInRange", Max(i, 0), "i"}, Case{"MaxOutOfRange", Max(i, 20), "20"},
        Case{"MaxOfDifferences", Max(k, k + 1), "(k + 1)"},
        Case{"ConjunctionDropsWhatHolds", i >= 0 && k < 3, "(k < 3)"},
        Case{"SelectionTakesItsSide", Select(i < 10, k + 0 * Expr(i), n), "k"}),
    [](const auto& info) { return info.param.name; });

INSTANTIATE_TEST_SUITE_P(
    OtherTypes, SimplifyTest,
    ::testing::Values(
        Case{"FloatsKeepTheirShape", Expr(2.0F) * (Expr(1.0F) + Expr(3.0F)), "(2f * (1f + 3f))"},
        Case{"IndicesOfLoadsAreSimplified",
             Load(Buffer::Make("A", Float32, {100}), {FloorDiv(i + 10 * Expr(j), 10)}), "A[j]"},
        Case{"CastsOfIndicesAreSimplified", Cast(Float32, i - i + j), "float32(j)"}),
    [](const auto& info) { return info.param.name; });

TEST(SimplifyBoundsTest, RangesFollowTheVariables) {
  const auto range = [](const Expr& e) {
    const Interval r = RangeOf(e, Known());
    return Ends(r.low, r.high);
  };
  EXPECT_EQ(range(i * 3 - 2), Ends(-2, 25));
  EXPECT_EQ(range(i - j), Ends(-4, 13));
  EXPECT_EQ(range(FloorDiv(j, 3)), Ends(-2, 1));
  EXPECT_EQ(range(FloorMod(k, 7)), Ends(0, 6));
  EXPECT_EQ(range(Min(j, i)), Ends(-4, 4));
  EXPECT_EQ(range(Max(j, i)), Ends(0, 9));
  EXPECT_EQ(range(i * n), Ends(0, 900));
  EXPECT_EQ(range(k), Ends(kLowest, kHighest));
  EXPECT_EQ(range(k - 5), Ends(kLowest, kHighest));
}

TEST(SimplifyBoundsTest, ProvesOnlyWhatHoldsForAllValues) {
  EXPECT_TRUE(CanProve(i < 10, Known()));
  EXPECT_FALSE(CanProve(i < 9, Known()));
  EXPECT_FALSE(CanProve(i >= 10, Known()));
  EXPECT_FALSE(CanProve(k == k + 1, Known()));
}

TEST(SimplifyBoundsTest, TheLowestInt64IsANumberAndNoLackOfBounds) {
  EXPECT_EQ(Print(Simplify(k > Expr(kLowest))), "(k > -9223372036854775808)");
  EXPECT_EQ(Print(Simplify(Max(k, Expr(kLowest)))), "k");
  EXPECT_EQ(Print(Simplify(Min(k, Expr(kLowest)))), "-9223372036854775808");
}

TEST(SimplifyLinearTest, SumsAreTakenApart) {
  const Linear l = ToLinear((i + 2) * 3 - k + FloorMod(k, 4), {});
  EXPECT_EQ(l.constant, 6);
  EXPECT_EQ(l.CoefficientOf(i), 3);
  EXPECT_EQ(l.CoefficientOf(k), -1);
  EXPECT_EQ(l.CoefficientOf(j), 0);
  EXPECT_EQ(l.terms.size(), 3U);
}

// Random expressions, and what they give before and after.
class RandomExpr {
 public:
  explicit RandomExpr(unsigned seed) : generator_(seed) {}

  std::int64_t Number(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(generator_);
  }

  Expr Integer(int depth) {
    if (depth == 0 || Number(0, 9) == 0) {
      const Expr leaves[] = {i, j, n, k, Expr(Number(-12, 12))};
      return leaves[Number(0, 4)];
    }
    switch (Number(0, 10)) {
      case 0:
      case 1:
        return Integer(depth - 1) + Integer(depth - 1);
      case 2:
        return Integer(depth - 1) - Integer(depth - 1);
      case 3:
        return Integer(depth - 1) * Number(-6, 6);
      case 4:
        return Integer(depth - 1) * Integer(depth - 2 < 0 ? 0 : depth - 2);
      case 5:
        return FloorDiv(Integer(depth - 1), Divisor());
      case 6:
        return FloorMod(Integer(depth - 1), Divisor());
      case 7:
        return Number(0, 1) == 0 ? Integer(depth - 1) / Divisor() : Integer(depth - 1) % Divisor();
      case 8:
        return Min(Integer(depth - 1), Integer(depth - 1));
      case 9:
        return Max(Integer(depth - 1), Integer(depth - 1));
      default:
        return Select(Condition(depth - 1), Integer(depth - 1), Integer(depth - 1));
    }
  }

  Expr Condition(int depth) {
    const BinaryOp comparisons[] = {BinaryOp::kEQ, BinaryOp::kNE, BinaryOp::kLT,
                                    BinaryOp::kLE, BinaryOp::kGT, BinaryOp::kGE};
    switch (depth == 0 ? 9 : Number(0, 9)) {
      case 0:
        return Condition(depth - 1) && Condition(depth - 1);
      case 1:
        return Condition(depth - 1) || Condition(depth - 1);
      case 2:
        return !Condition(depth - 1);
      default:
        return Binary(comparisons[Number(0, 5)], Integer(depth), Integer(depth));
    }
  }

 private:
  Expr Divisor() {
    const std::int64_t kind = Number(0, 19);
    if (kind == 0) return 0;
    if (kind == 1) return Number(-5, -1);
    if (kind == 2) return n;
    if (kind == 3) return j;
    return Number(1, 12);
  }

  std::mt19937 generator_;
};

void ForEachAssignment(RandomExpr& random, const std::function<void(Interpreter&)>& visit) {
  Interpreter interpreter;
  for (int round = 0; round < 40 && !::testing::Test::HasFatalFailure(); ++round) {
    // Corners of the ranges as well as what lies within.
    interpreter.Set(i, round < 4 ? (round % 2) * 9 : random.Number(0, 9));
    interpreter.Set(j, round < 4 ? (round / 2) * 8 - 4 : random.Number(-4, 4));
    interpreter.Set(n, round < 2 ? 1 : random.Number(1, 100));
    interpreter.Set(k, random.Number(-50, 50));
    visit(interpreter);
  }
}

class SimplifyValueTest : public ::testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(Seeds, SimplifyValueTest, ::testing::Range(1U, 9U));

TEST_P(SimplifyValueTest, AnIntegerKeepsItsValueAndStaysInItsRange) {
  RandomExpr random(GetParam());
  for (int count = 0; count < 400; ++count) {
    const Expr before = random.Integer(4);
    const Expr after = Simplify(before, Known());
    const Interval range = RangeOf(before, Known());
    ForEachAssignment(random, [&](Interpreter& interpreter) {
      const std::int64_t wanted = interpreter.Value(before);
      ASSERT_EQ(interpreter.Value(after), wanted) << Print(before) << "\n  became " << Print(after);
      ASSERT_LE(range.low, wanted) << Print(before);
      ASSERT_GE(range.high, wanted) << Print(before);
    });
    if (HasFatalFailure()) return;
  }
}

TEST_P(SimplifyValueTest, AConditionKeepsItsValue) {
  RandomExpr random(GetParam() + 100);
  for (int count = 0; count < 400; ++count) {
    const Expr before = random.Condition(3);
    const Expr after = Simplify(before, Known());
    ForEachAssignment(random, [&](Interpreter& interpreter) {
      ASSERT_EQ(interpreter.Value(after), interpreter.Value(before))
          << Print(before) << "\n  became " << Print(after);
    });
    if (HasFatalFailure()) return;
  }
}

TEST_P(SimplifyValueTest, ALinearFormHasTheSameValue) {
  RandomExpr random(GetParam() + 200);
  for (int count = 0; count < 400; ++count) {
    const Expr before = random.Integer(4);
    const Expr after = ToLinear(before, Known()).ToExpr();
    ForEachAssignment(random, [&](Interpreter& interpreter) {
      ASSERT_EQ(interpreter.Value(after), interpreter.Value(before))
          << Print(before) << "\n  became " << Print(after);
    });
    if (HasFatalFailure()) return;
  }
}

const Buffer out = Buffer::Make("out", Int64, {100});

TEST(SimplifyStmtTest, ALoopThatRunsOnceIsItsBody) {
  EXPECT_EQ(Print(Simplify(For(i, 5, 1, ForKind::kSerial, Store(out, i * 2, {i})))),
            "out[5] = 10\n");
}

TEST(SimplifyStmtTest, ALoopThatNeverRunsGoesAway) {
  EXPECT_EQ(Print(Simplify(For(i, 5, 0, ForKind::kSerial, Store(out, i, {i})))), "");
  EXPECT_EQ(Print(Simplify(For(i, 5, -3, ForKind::kSerial, Store(out, i, {i})))), "");
}

TEST(SimplifyStmtTest, LoopsGiveTheirVariablesRanges) {
  const Stmt body = If(i >= 2 && i < 8, Store(out, 1, {i}));
  EXPECT_EQ(Print(Simplify(For(i, 2, 6, ForKind::kSerial, body))),
            "for i in [2, 8) {\n  out[i] = 1\n}\n");
}

TEST(SimplifyStmtTest, ADecidedBranchIsTaken) {
  EXPECT_EQ(Print(Simplify(If(i < 10, Store(out, 1, {i}), Store(out, 2, {i})), Known())),
            "out[i] = 1\n");
  EXPECT_EQ(Print(Simplify(If(i > 9, Store(out, 1, {i}), Store(out, 2, {i})), Known())),
            "out[i] = 2\n");
}

TEST(SimplifyStmtTest, LoopsAroundNothingGoAway) {
  EXPECT_EQ(Print(Simplify(For(i, 0, 4, ForKind::kSerial, If(i > 9, Store(out, 1, {i}))))), "");
}

TEST(SimplifyStmtTest, ALetGivesItsVariableARange) {
  const Var v("v");
  EXPECT_EQ(Print(Simplify(LetStmt(v, i + 1, If(v > 0, Store(out, v, {v}))), Known())),
            "let v = (i + 1)\nout[v] = v\n");
}

// Two loops over one variable share their body, as copies of an unrolled loop do.
TEST(SimplifyStmtTest, ASharedConditionIsDecidedForEachLoopAroundIt) {
  const Stmt body = If(i < 4, Store(out, 1, {i}), Store(out, 2, {i}));
  const Stmt both =
      Seq({For(i, 0, 4, ForKind::kSerial, body), For(i, 4, 4, ForKind::kSerial, body)});
  Interpreter interpreter;
  interpreter.Set(out, std::vector<std::int64_t>(8, 0));
  interpreter.Execute(Simplify(both));
  EXPECT_THAT(interpreter.Of(out), ::testing::ElementsAre(1, 1, 1, 1, 2, 2, 2, 2))
      << Print(Simplify(both));
}

TEST(SimplifyStmtTest, ASharedIndexIsSimplifiedForEachLoopAroundIt) {
  const Stmt body = Store(out, FloorDiv(i, 4), {i});
  const Stmt both =
      Seq({For(i, 0, 4, ForKind::kSerial, body), For(i, 4, 4, ForKind::kSerial, body)});
  Interpreter interpreter;
  interpreter.Set(out, std::vector<std::int64_t>(8, 9));
  interpreter.Execute(Simplify(both));
  EXPECT_THAT(interpreter.Of(out), ::testing::ElementsAre(0, 0, 0, 0, 1, 1, 1, 1))
      << Print(Simplify(both));
}

// A text or a list of the factors would have 2^40 parts.
TEST(SimplifyStmtTest, DataThatIsSquaredAgainAndAgainStaysSmall) {
  const Buffer data = Buffer::Make("data", Int64, {8});
  Expr power = Load(data, {i});
  for (int k = 0; k < 40; ++k) power = power * power;
  int nodes = 0;
  VisitExprs(Simplify(For(i, 0, 8, ForKind::kSerial, Store(out, power, {i}))),
             [&](const Expr&) { ++nodes; });
  EXPECT_LT(nodes, 400);
}

const Var h("h"), w("w"), f("f");
Bounds OfExtents(std::int64_t low = 1) {
  Bounds bounds;
  bounds.Bind(h, {low, std::int64_t{1} << 40});
  bounds.Bind(w, {low, std::int64_t{1} << 40});
  return bounds;
}

TEST(SimplifySymbolicTest, QuotientsAndRemaindersByAVariableJoin) {
  EXPECT_EQ(Print(Simplify(FloorDiv(f, w) * w + FloorMod(f, w), OfExtents())), "f");
  EXPECT_EQ(Print(Simplify((h * 24 + FloorDiv(f, w)) * w + FloorMod(f, w), OfExtents())),
            Print(Simplify(h * w * 24 + f, OfExtents())));
  const Expr other = FloorDiv(f, w) * w + FloorMod(f, h);
  EXPECT_EQ(Print(Simplify(other, OfExtents())), Print(other));
  // A remainder by 0 is 0.
  const Expr of_any = FloorDiv(f, w) * w + FloorMod(f, w);
  EXPECT_EQ(Print(Simplify(of_any, OfExtents(0))), Print(of_any));
}

TEST(SimplifySymbolicTest, ProductsLookEqualInAnyOrder) {
  EXPECT_EQ(Print(Simplify(h * w - w * h, OfExtents())), "0");
  EXPECT_EQ(Print(Simplify((h * 4) * w - (w * h) * 4, OfExtents())), "0");
}

// The text of `if (condition) ...` in a loop over f in [0, h * w).
std::string InFusedLoop(const Expr& condition) {
  const Buffer out = Buffer::Make("out", Float32, {Expr(8)});
  const Stmt store = Store(out, FloatImm(Float32, 0), {Expr(0)});
  return Print(Simplify(For(f, 0, h * w, ForKind::kSerial, If(condition, store)), OfExtents(0)));
}

TEST(SimplifySymbolicTest, LoopsToExtentsOfVariablesDecideBounds) {
  const std::string always = InFusedLoop(True());
  EXPECT_EQ(InFusedLoop(FloorDiv(f, w) < h), always);
  EXPECT_EQ(InFusedLoop(FloorDiv(f, w) >= Expr(0)), always);
  EXPECT_EQ(InFusedLoop(FloorMod(f, w) < w), always);
  EXPECT_EQ(InFusedLoop(f < w * h), always);
  EXPECT_NE(InFusedLoop(FloorDiv(f, w) < h - 1), always);
  EXPECT_NE(InFusedLoop(FloorDiv(f, h) < h), always);
  EXPECT_NE(InFusedLoop(f < w), always);
}

// What such loops tell of a quotient or a minimum holds where its operands do not wrap around.
TEST(SimplifySymbolicTest, OperandsOfDataThatWrapAroundDecideNothing) {
  const Expr x = Load(Buffer::Make("x", Int64, {h * w}), {f}),
             y = Load(Buffer::Make("y", Int64, {h * w}), {f}),
             word = Cast(Int64, Load(Buffer::Make("word", Int32, {h * w}), {f}));
  const std::string always = InFusedLoop(True());
  EXPECT_NE(InFusedLoop(Min(x, y - 1) < y), always);
  EXPECT_NE(InFusedLoop(Max(x, y + 1) > y), always);
  EXPECT_NE(InFusedLoop(FloorDiv(y * 2, 2) <= y), always);
  EXPECT_NE(InFusedLoop(f * Max(y, 0) <= h * w * Max(y, 0)), always);
  EXPECT_EQ(InFusedLoop(Min(x, word - 1) < word), always);
}

// The rest of a line in tiles of 6 is no whole tile.
TEST(SimplifySymbolicTest, ALoopThatStartsAtAVariableDecidesWhatNeverHolds) {
  const Buffer out = Buffer::Make("out", Float32, {w});
  const auto rest = [&](const Expr& condition) {
    const Stmt store = Store(out, FloatImm(Float32, 0), {f});
    const Expr first = FloorDiv(w, 6);
    return Print(Simplify(For(f, first, FloorDiv(w + 5, 6) - first, ForKind::kSerial,
                              If(condition, store, Store(out, FloatImm(Float32, 1), {f}))),
                          OfExtents(0)));
  };
  EXPECT_EQ(rest(f * 6 + 5 < w), rest(False()));
  EXPECT_EQ(rest(f * 6 < w), rest(True()));
  EXPECT_EQ(rest(f * 6 + 5 >= w), rest(True()));
  EXPECT_NE(rest(f * 6 + 4 < w), rest(False()));
}

// Sizes: their product is one, too, and is not negative.
TEST(SimplifySymbolicTest, AProductOfExtentsIsNotNegative) {
  Bounds bounds;
  for (const Var& extent : {h, w}) bounds.Bind(extent, kExtents);
  EXPECT_EQ(Print(Simplify(Max(FloorDiv(h * w, 3), 0), bounds)), "floordiv((h * w), 3)");
  EXPECT_EQ(Print(Simplify(h * w * h * w * h < 0, bounds)), "false");
}

// Of the minimum that keeps tiles of 8 inside h * w elements, whole tiles need nothing.
TEST(SimplifySymbolicTest, WholeTilesLoseTheMinimumThatKeepsTheLastOneInside) {
  const Buffer out = Buffer::Make("out", Float32, {h * w});
  const auto tiles = [&](const Expr& count, std::int64_t offset) {
    const Stmt store = Store(out, FloatImm(Float32, 0), {Min(f * 8 + offset, h * w - 1)});
    Bounds bounds;
    for (const Var& extent : {h, w}) bounds.Bind(extent, {0, Interval::kHighest});
    return Print(Simplify(For(f, 0, count, ForKind::kSerial, store), bounds));
  };
  const Expr whole = Max(FloorDiv(h * w, 8), 0);
  EXPECT_EQ(tiles(whole, 7).find("min("), std::string::npos) << tiles(whole, 7);
  EXPECT_NE(tiles(whole, 8).find("min("), std::string::npos);
  EXPECT_NE(tiles(FloorDiv(h * w + 7, 8), 0).find("f"), std::string::npos);
  EXPECT_NE(tiles(FloorDiv(h * w + 7, 8), 1).find("min("), std::string::npos);
}

// What one loop tells of its variable does not hold in another loop of the same variable.
TEST(SimplifySymbolicTest, TwoLoopsOfOneVariableHaveEndsOfTheirOwn) {
  const Buffer out = Buffer::Make("out", Int64, {h * w});
  const Var start("start"), other("other");  // of which no range is known
  const Stmt body = Store(out, Select(f < start + h, Expr(1), Expr(0)), {f});
  Bounds bounds;
  bounds.Bind(h, {1, Interval::kHighest});
  const Stmt first = For(f, start, h, ForKind::kSerial, body),
             second = For(f, other, h, ForKind::kSerial, body);
  const auto text = [&](const Stmt& stmt) { return Print(Simplify(stmt, bounds)); };
  EXPECT_EQ(text(Seq({first, second})), text(first) + text(second));
  EXPECT_EQ(text(Seq({second, first})), text(second) + text(first));
  EXPECT_EQ(text(first).find("select"), std::string::npos) << text(first);
}

}  // namespace
}  // namespace tenon::loop
