// Each transform's text on small loops, and the results of random nests before and after all.
#include "tenon/loop/transform/transforms.h"

#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/loop/simplify/simplify.h"
#include "tenon/support/error.h"
#include "tenon/tests/loop/interpreter.h"

namespace tenon::loop {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const Var i("i"), j("j"), k("k"), n("n");
const Buffer in = Buffer::Make("in", Int64, {64}), out = Buffer::Make("out", Int64, {64});

Stmt Loop(const Var& var, const Expr& extent, const Stmt& body, ForKind kind = ForKind::kSerial) {
  return For(var, 0, extent, kind, body);
}

template <typename Body>
std::string Refusal(Body body) {
  try {
    body();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), absl::StatusCode::kInvalidArgument) << error.what();
    return error.what();
  }
  return "no error";
}

TEST(FlattenTest, IndicesBecomeOneRowMajorOffset) {
  const Buffer cube = Buffer::Make("C", Int64, {4, n, 5});
  const Stmt store = Store(cube, Load(cube, {j, 0, i}), {i, j, 2});
  EXPECT_EQ(Print(FlattenBuffers(store)),
            "C[((((i * n) + j) * 5) + 2)] = C[(((j * n) * 5) + i)]\n");
}

TEST(FlattenTest, AScalarBufferHasOneElement) {
  const Buffer scalar = Buffer::Make("S", Int64, {});
  EXPECT_EQ(Print(FlattenBuffers(Store(scalar, Load(scalar, {}) + 1, {}))), "S[0] = (S[0] + 1)\n");
}

TEST(FlattenTest, LoadsInsideIndicesAreFlattened) {
  const Buffer table = Buffer::Make("T", Int64, {2, 8});
  EXPECT_EQ(Print(FlattenBuffers(Store(out, 1, {Load(table, {1, i})}))), "out[T[(8 + i)]] = 1\n");
}

// Pads, joins and the like: whatever the conditions, every element is what it was, and no condition
// is left inside a loop.
TEST(PartitionTest, EveryElementIsStoredWithoutATest) {
  const Expr a = Load(in, {i}), b = IntImm(Int64, -1);
  const Expr joined = IfThenElse(i < 5, Load(in, {i + 9}), IfThenElse(i < 11, b, a));
  for (const Expr& value :
       {IfThenElse(i >= 3 && i < 9, Load(in, {i - 3}), b), IfThenElse(i >= 20, a, b),
        IfThenElse(i < 0, b, a), IfThenElse(i >= 9 && i < 3, a, b),
        IfThenElse(n > 2 && i < n, a, b), joined}) {
    const Stmt loop = For(i, 0, 16, ForKind::kSerial, Store(out, value, {i}));
    const Stmt parted = Simplify(PartitionSelects(loop));
    EXPECT_THAT(Print(parted), Not(HasSubstr("if_then_else")));
    for (const std::int64_t extent : {0, 3, 7, 40}) {
      std::vector<std::int64_t> elements(64);
      for (std::size_t k = 0; k < elements.size(); ++k) elements[k] = 100 + static_cast<int>(k);
      const auto result = [&](const Stmt& stmt) {
        Interpreter interpreter;
        interpreter.Set(n, extent);
        interpreter.Set(in, elements);
        interpreter.Set(out, std::vector<std::int64_t>(64, -7));
        interpreter.Execute(stmt);
        return interpreter.Of(out);
      };
      EXPECT_EQ(result(parted), result(loop)) << Print(loop) << Print(parted);
    }
  }
}

// Every second element of a padded row.
TEST(PartitionTest, StepsOfMoreThanOneDivide) {
  const Expr at = i * 2 - 3;
  const Stmt loop =
      For(i, 0, 12, ForKind::kSerial,
          Store(out, IfThenElse(at >= 0 && at < 16, Load(in, {at}), IntImm(Int64, 0)), {i}));
  EXPECT_EQ(Print(Simplify(PartitionSelects(loop))),
            "for i in [0, 2) {\n  out[i] = 0\n}\n"
            "for i in [2, 10) {\n  out[i] = in[((i * 2) - 3)]\n}\n"
            "for i in [10, 12) {\n  out[i] = 0\n}\n");
}

TEST(PartitionTest, ConditionsThatReadMemoryStay) {
  const Stmt loop =
      For(i, 0, 16, ForKind::kSerial,
          Store(out, IfThenElse(Load(in, {i}) > 3, Load(in, {i}), IntImm(Int64, 0)), {i}));
  EXPECT_THAT(Print(PartitionSelects(loop)), HasSubstr("if_then_else"));
}

// As many loops as there are fields where the ends are known, and one where each field would
// double their number.
TEST(PartitionTest, ConcatenationsOfManyFieldsStaySmall) {
  Expr known = IntImm(Int64, 0), unknown = known;
  for (std::int64_t k = 0; k < 40; ++k) {
    known = IfThenElse(i >= 5 * k && i < 5 * k + 5, Load(in, {i}) + k, known);
    unknown = IfThenElse(FloorMod(n, k + 2) <= i && i < k, Load(in, {i}) + k, unknown);
  }
  const Stmt parted = PartitionSelects(For(i, 0, 200, ForKind::kSerial, Store(out, known, {i})));
  EXPECT_THAT(Print(parted), Not(HasSubstr("if_then_else")));
  const Stmt loop = For(i, 0, 200, ForKind::kSerial, Store(out, unknown, {i}));
  EXPECT_EQ(Print(PartitionSelects(loop)), Print(loop));
}

TEST(PartitionTest, VectorisedLoopsStay) {
  const Stmt loop = For(i, 0, 16, ForKind::kVectorized,
                        Store(out, IfThenElse(i < 3, Load(in, {i}), IntImm(Int64, 0)), {i}));
  EXPECT_EQ(Print(PartitionSelects(loop)), Print(loop));
}

TEST(HoistTest, AnUpperGuardShortensTheLoop) {
  EXPECT_EQ(Print(HoistGuards(Loop(i, 8, If(i + 2 < n, Store(out, 1, {i}))))),
            "for i in [0, min(8, (n - 2))) {\n  out[i] = 1\n}\n");
  EXPECT_EQ(Print(HoistGuards(Loop(i, 8, If(i <= n, Store(out, 1, {i}))))),
            "for i in [0, min(8, (n + 1))) {\n  out[i] = 1\n}\n");
}

TEST(HoistTest, ALowerGuardRaisesTheStart) {
  const Stmt hoisted = HoistGuards(Loop(i, 8, If(i >= 3, Store(out, 1, {i}))));
  EXPECT_EQ(Print(hoisted), "for i in [3, 8) {\n  out[i] = 1\n}\n");
}

TEST(HoistTest, AConditionWithoutTheVariableGoesAroundTheLoop) {
  EXPECT_EQ(Print(HoistGuards(Loop(i, 8, If(n > 3, Store(out, 1, {i}))))),
            "if (n > 3) {\n  for i in [0, 8) {\n    out[i] = 1\n  }\n}\n");
}

TEST(HoistTest, EachConjunctGoesWhereItBelongs) {
  EXPECT_EQ(
      Print(HoistGuards(Loop(i, 8, If(n > 3 && i < n && FloorMod(i, 2) == 0, Store(out, 1, {i}))))),
      "if (n > 3) {\n"
      "  for i in [0, min(8, n)) {\n"
      "    if (floormod(i, 2) == 0) {\n"
      "      out[i] = 1\n"
      "    }\n"
      "  }\n"
      "}\n");
}

TEST(HoistTest, AConditionOnDataStays) {
  const std::string text =
      Print(HoistGuards(Loop(i, 8, If(Load(in, {j}) > 0, Store(out, 1, {i})))));
  EXPECT_EQ(text, "for i in [0, 8) {\n  if (in[j] > 0) {\n    out[i] = 1\n  }\n}\n");
}

// It holds for 0, 2 and 3: twice 2^62 is the lowest number.
TEST(HoistTest, AConditionThatWrapsAroundStays) {
  const Stmt loop = Loop(i, 4, If(i * (std::int64_t{1} << 62) < 5, Store(out, 1, {i})));
  EXPECT_EQ(Print(HoistGuards(loop)), Print(loop));
}

TEST(HoistTest, ABranchWithElseStays) {
  const Stmt loop = Loop(i, 8, If(i < n, Store(out, 1, {i}), Store(out, 2, {i})));
  EXPECT_TRUE(HoistGuards(loop) == loop);
}

TEST(HoistTest, AVectorisedLoopGetsAWholeAndARest) {
  EXPECT_EQ(Print(HoistGuards(Loop(i, 8, If(i < n, Store(out, 1, {i})), ForKind::kVectorized))),
            "if (7 < n) {\n"
            "  vectorized i in [0, 8) {\n"
            "    out[i] = 1\n"
            "  }\n"
            "} else {\n"
            "  vectorized i in [0, 8) {\n"
            "    if (i < n) {\n"
            "      out[i] = 1\n"
            "    }\n"
            "  }\n"
            "}\n");
}

TEST(HoistTest, AnUnrolledLoopGetsASerialRest) {
  EXPECT_EQ(Print(HoistGuards(Loop(i, 8, If(i < n, Store(out, 1, {i})), ForKind::kUnrolled))),
            "if (7 < n) {\n"
            "  unrolled i in [0, 8) {\n"
            "    out[i] = 1\n"
            "  }\n"
            "} else {\n"
            "  for i in [0, min(8, n)) {\n"
            "    out[i] = 1\n"
            "  }\n"
            "}\n");
}

TEST(HoistTest, LoopsGoInsideAChoiceThatTheyDoNotChange) {
  const Stmt choice = If(n > 3, Store(out, 1, {i}), Store(out, 2, {i}));
  EXPECT_EQ(Print(HoistGuards(Loop(i, 8, choice))),
            "if (n > 3) {\n  for i in [0, 8) {\n    out[i] = 1\n  }\n} else {\n"
            "  for i in [0, 8) {\n    out[i] = 2\n  }\n}\n");
}

TEST(HoistTest, CopiesThatAreAllWholeDoNotAskOneByOne) {
  const Stmt choice = If(i * 2 < n, Store(out, 1, {i}), Store(out, 2, {i}));
  EXPECT_EQ(Print(HoistGuards(Loop(i, 4, choice, ForKind::kUnrolled))),
            "if (6 < n) {\n  unrolled i in [0, 4) {\n    out[i] = 1\n  }\n} else {\n"
            "  unrolled i in [0, 4) {\n    if ((i * 2) < n) {\n      out[i] = 1\n    } else {\n"
            "      out[i] = 2\n    }\n  }\n}\n");
  const Stmt serial = Loop(i, 4, choice);
  EXPECT_TRUE(HoistGuards(serial) == serial);
}

TEST(HoistTest, AChoiceThatReadsMemoryStaysInside) {
  const Stmt loop = Loop(i, 8, If(Load(in, {0}) > 3, Store(out, 1, {i}), Store(out, 2, {i})));
  EXPECT_TRUE(HoistGuards(loop) == loop);
}

TEST(HoistTest, EqualChoicesInARowBecomeOne) {
  const auto choice = [](const Expr& at) {
    return If(n > 3, Store(out, 1, {at}), Store(out, 2, {at}));
  };
  EXPECT_EQ(Print(HoistGuards(Seq({choice(0), choice(1)}))),
            "if (n > 3) {\n  out[0] = 1\n  out[1] = 1\n} else {\n  out[0] = 2\n  out[1] = 2\n}\n");
  const Stmt others = Seq({choice(0), If(n > 4, Store(out, 1, {1}), Store(out, 2, {1}))});
  EXPECT_TRUE(HoistGuards(others) == others);
}

std::string Partitioned(const Stmt& stmt) { return Print(Simplify(PartitionLoops(stmt))); }

TEST(PartitionLoopsTest, TheLastBlockAloneAsks) {
  const Stmt lanes =
      Loop(j, 16, If(i * 16 + j < 1000, Store(out, 1, {i * 16 + j})), ForKind::kVectorized);
  EXPECT_EQ(
      Print(VectorizeLoops(Simplify(PartitionLoops(Simplify(HoistGuards(Loop(i, 63, lanes))))))),
      "for i in [0, 62) {\n  out[ramp((i * 16), 1, 16)] = x16(1)\n}\n"
      "out[ramp(992, 1, 16)] = x16(1) where (ramp(992, 1, 16) < x16(1000))\n");
}

TEST(PartitionLoopsTest, ALowerConditionSplitsTheStart) {
  EXPECT_EQ(Partitioned(Loop(i, 9, Seq({If(i >= 2, Store(out, 1, {i})), Store(in, 2, {i})}))),
            "for i in [0, 2) {\n  in[i] = 2\n}\n"
            "for i in [2, 9) {\n  out[i] = 1\n  in[i] = 2\n}\n");
}

TEST(PartitionLoopsTest, TheTruthOfAChoiceIsKnownOnBothSides) {
  EXPECT_EQ(Partitioned(Loop(i, 9, If(i * 2 < 9, Store(out, 1, {i}), Store(out, 2, {i})))),
            "for i in [0, 5) {\n  out[i] = 1\n}\nfor i in [5, 9) {\n  out[i] = 2\n}\n");
  // The ends are symbolic, and neither loop asks.
  EXPECT_THAT(Partitioned(Loop(i, n, If(i * 2 < j, Store(out, 1, {i}), Store(out, 2, {i})))),
              Not(HasSubstr("if")));
}

// Whatever the inner variable is, the middle holds; the rest still asks.
TEST(PartitionLoopsTest, InnerVariablesTakeTheirWorstValues) {
  const Stmt inner = Loop(j, 4, Seq({If(i + j < 9, Store(out, 1, {i})), Store(in, 2, {j})}));
  const std::string text = Partitioned(Loop(i, 8, inner));
  EXPECT_THAT(text, HasSubstr("for i in [0, 6) {\n  for j in [0, 4) {\n    out[i] = 1\n"));
  EXPECT_THAT(text, HasSubstr("for i in [6, 8)"));
}

TEST(PartitionLoopsTest, AShortenedInnerLoopIsWholeInTheMiddle) {
  EXPECT_EQ(Partitioned(Loop(i, 4, Loop(j, Min(8, 30 - i * 8), Store(out, 1, {i * 8 + j})))),
            "for i in [0, 3) {\n  for j in [0, 8) {\n    out[((i * 8) + j)] = 1\n  }\n}\n"
            "for j in [0, 6) {\n  out[(j + 24)] = 1\n}\n");
}

// The copy would be as long as the loop, and the inner loop no shorter to compile.
TEST(PartitionLoopsTest, ALoopOfLoopsToAVariableIsNoReasonForACopy) {
  const auto nest = [&](const Expr& end) {
    const Stmt inner = Loop(k, 8, Store(out, 1, {i * 32 + j * 8 + k}));
    return Loop(i, FloorDiv(end + 3, 4), Loop(j, Min(4, end - i * 4), inner));
  };
  EXPECT_TRUE(PartitionLoops(nest(n)) == nest(n) ||
              Print(PartitionLoops(nest(n))) == Print(nest(n)));
  EXPECT_NE(Print(PartitionLoops(nest(30))), Print(nest(30)));
}

// The rest of a line is short: its vectors need not be written out, except where each of them is a
// register.
TEST(PartitionLoopsTest, ARestOfAnyLengthIsRolledUpUnlessItHoldsRegisters) {
  const Buffer line = Buffer::Make("line", Int64, {n}), sums = Buffer::Make("sums", Int64, {4});
  const auto tile = [&](const Stmt& store) {
    return Loop(i, FloorDiv(n + 3, 4), Loop(j, 4, If(i * 4 + j < n, store), ForKind::kUnrolled));
  };
  const auto rest = [](const std::string& text) { return text.substr(text.rfind("for i")); };
  const std::string rolled = Partitioned(tile(Store(line, 1, {i * 4 + j})));
  EXPECT_THAT(rolled, HasSubstr("unrolled"));
  EXPECT_THAT(rest(rolled), Not(HasSubstr("unrolled")));
  EXPECT_THAT(rest(Partitioned(tile(Store(sums, 1, {j})))), HasSubstr("unrolled"));
  EXPECT_THAT(rest(Partitioned(tile(Store(line, Load(sums, {j}), {i * 4 + j})))),
              HasSubstr("unrolled"));
}

TEST(PartitionLoopsTest, OtherLoopsStay) {
  const Stmt store = Store(out, 1, {i});
  for (const Stmt& loop :
       {Loop(i, 8, If(i < n, store), ForKind::kParallel),
        Loop(i, 8, If(i < n, store), ForKind::kVectorized),
        Loop(i, 8, If(FloorMod(i, 2) < 1, store)), Loop(i, 8, If(Load(in, {i}) < i, store)),
        Loop(i, 8, If(i == 3, store)), Loop(i, 8, LetStmt(j, Load(in, {i}), If(i < j, store))),
        Loop(i, 8, If(n < 3, store)), Loop(i, 8, If(i > 9, store))})
    EXPECT_TRUE(PartitionLoops(loop) == loop) << Print(loop) << Print(PartitionLoops(loop));
}

TEST(UnrollTest, CopiesFollowTheVariable) {
  EXPECT_EQ(Print(UnrollLoops(For(i, 2, 3, ForKind::kUnrolled, Store(out, i * 2, {i})))),
            "out[2] = 4\nout[3] = 6\nout[4] = 8\n");
}

TEST(UnrollTest, OtherLoopsStay) {
  const Stmt loop = Loop(i, 4, Store(out, i, {i}));
  EXPECT_TRUE(UnrollLoops(loop) == loop);
}

TEST(UnrollTest, ALongLoopIsALoopOverParts) {
  EXPECT_THAT(Print(UnrollLoops(Loop(i, 1000, Store(out, i, {0}), ForKind::kUnrolled))),
              HasSubstr("for i.part in [0, 62) {\n  out[0] = (i.part * 16)\n"));
}

TEST(UnrollTest, RefusesASymbolicExtent) {
  EXPECT_EQ(Refusal([] { UnrollLoops(Loop(i, n, Store(out, i, {i}), ForKind::kUnrolled)); }),
            "unroll: loop i has the extent n; it must be constant");
}

std::string Vectorized(const Stmt& body) {
  return Print(VectorizeLoops(Loop(i, 4, body, ForKind::kVectorized)));
}

TEST(VectorizeTest, LinearIndicesBecomeRamps) {
  EXPECT_EQ(Vectorized(Store(out, Load(in, {j * 4 + i}) + 1, {i * 3 + 2})),
            "out[ramp(2, 3, 4)] = (in[ramp((j * 4), 1, 4)] + x4(1))\n");
}

TEST(VectorizeTest, AStartIsTheBaseOfTheRamp) {
  EXPECT_EQ(Print(VectorizeLoops(For(i, j, 4, ForKind::kVectorized, Store(out, 0, {i + 1})))),
            "out[ramp((j + 1), 1, 4)] = x4(0)\n");
}

TEST(VectorizeTest, AStrideMayBeASumOfProductsOfVariables) {
  EXPECT_EQ(Vectorized(Store(out, Load(in, {i * n * 3 + j * i + 2}), {i})),
            "out[ramp(0, 1, 4)] = in[ramp(2, ((n * 3) + j), 4)]\n");
}

TEST(VectorizeTest, ASquareOfTheLaneIsNoRamp) {
  EXPECT_EQ(Vectorized(Store(out, Load(in, {i * i}), {i})),
            "out[ramp(0, 1, 4)] = in[(ramp(0, 1, 4) * ramp(0, 1, 4))]\n");
}

TEST(VectorizeTest, WhatIsTheSameInAllLanesIsBroadcast) {
  EXPECT_EQ(Vectorized(Store(out, Load(in, {j}), {i})), "out[ramp(0, 1, 4)] = x4(in[j])\n");
}

TEST(VectorizeTest, OtherIndicesAreVectorsOfTheirOwn) {
  EXPECT_EQ(Vectorized(Store(out, Load(in, {FloorMod(i, 2)}), {i})),
            "out[ramp(0, 1, 4)] = in[floormod(ramp(0, 1, 4), x4(2))]\n");
}

TEST(VectorizeTest, AnInnerLoopStaysAroundVectors) {
  EXPECT_EQ(Vectorized(Loop(j, 8, Store(out, Load(out, {i}) + Load(in, {j}), {i}))),
            "for j in [0, 8) {\n"
            "  out[ramp(0, 1, 4)] = (out[ramp(0, 1, 4)] + x4(in[j]))\n"
            "}\n");
}

TEST(VectorizeTest, AStoreThatAllLanesHitStaysSerial) {
  EXPECT_EQ(Vectorized(Store(out, Load(out, {j}) + Load(in, {i}), {j})),
            "for i in [0, 4) {\n  out[j] = (out[j] + in[i])\n}\n");
}

TEST(VectorizeTest, AConditionThatDiffersByLaneIsThePredicateOfWhatItGuards) {
  EXPECT_EQ(Vectorized(If(i < n, Store(out, Load(in, {i}), {i}))),
            "if (0 < n) {\n"
            "  out[ramp(0, 1, 4)] = in[ramp(0, 1, 4) where (ramp(0, 1, 4) < x4(n))]"
            " where (ramp(0, 1, 4) < x4(n))\n"
            "}\n");
  EXPECT_EQ(Vectorized(Store(out, IfThenElse(i < n, Load(in, {i}), 0), {i})),
            "out[ramp(0, 1, 4)] = select((ramp(0, 1, 4) < x4(n)), "
            "in[ramp(0, 1, 4) where (ramp(0, 1, 4) < x4(n))], x4(0))\n");
}

// The first lane of i < n tells, the last one of i >= n; of both, whether there is one between.
TEST(VectorizeTest, WhatAllLanesShareIsLoadedWhenOneOfThemRuns) {
  const Stmt store = Store(out, Load(in, {j}), {i});
  EXPECT_THAT(Vectorized(If(i < n && j > 2, store)),
              AllOf(HasSubstr("if ((0 < n) && (j > 2))"), HasSubstr("= x4(in[j]) where")));
  EXPECT_THAT(Vectorized(If(i >= n, store)), HasSubstr("if (3 >= n)"));
  EXPECT_THAT(Vectorized(If(i >= n && i < j, store)),
              AllOf(HasSubstr("if (((3 >= n) && (0 < j)) && (((n - j) + 1) <= 0))"),
                    HasSubstr("= x4(in[j]) where")));
  EXPECT_THAT(Vectorized(If(i * 2 >= n && i * 2 < j, store)), HasSubstr("in[x4(j) where"));
  EXPECT_THAT(Vectorized(If(FloorMod(i, 2) == 0, store)), HasSubstr("in[x4(j) where"));
}

TEST(VectorizeTest, BothSidesOfAChoiceRunInTheirOwnLanes) {
  EXPECT_EQ(Vectorized(If(FloorMod(i, 2) == 0, Store(out, 1, {i}), Store(out, 2, {i}))),
            "out[ramp(0, 1, 4)] = x4(1) where (floormod(ramp(0, 1, 4), x4(2)) == x4(0))\n"
            "out[ramp(0, 1, 4)] = x4(2) where !(floormod(ramp(0, 1, 4), x4(2)) == x4(0))\n");
}

TEST(VectorizeTest, AStatementUnderAConditionThatReadsMemoryStaysSerial) {
  EXPECT_THAT(Vectorized(If(Load(out, {i}) < n, Store(out, 1, {i}))), HasSubstr("for i in [0, 4)"));
}

// A loop that must stay serial is shortened rather than asking each time.
TEST(VectorizeTest, ASerialRestIsShortened) {
  EXPECT_EQ(Vectorized(If(i < n, Store(out, Load(out, {j}) + 1, {j}))),
            "for i in [0, min(4, n)) {\n  out[j] = (out[j] + 1)\n}\n");
}

TEST(VectorizeTest, AConditionThatIsTheSameInAllLanesDoesNot) {
  EXPECT_EQ(Vectorized(If(j < n, Store(out, 1, {i}))),
            "if (j < n) {\n  out[ramp(0, 1, 4)] = x4(1)\n}\n");
}

TEST(VectorizeTest, AnAllocationStaysSerial) {
  const Buffer local = Buffer::Make("local", Int64, {1});
  EXPECT_THAT(
      Vectorized(Allocate(local, Seq({Store(local, i, {0}), Store(out, Load(local, {0}), {i})}))),
      HasSubstr("for i in [0, 4)"));
}

TEST(VectorizeTest, AnInnerBoundThatDiffersByLaneStaysSerial) {
  EXPECT_THAT(Vectorized(Loop(j, i + 1, Store(out, 1, {i}))), HasSubstr("for i in [0, 4)"));
  const Expr bound = Max(i, 1);  // what was a vector of values is no bound
  EXPECT_THAT(Vectorized(Seq({Store(out, bound, {i}), Loop(j, bound, Store(out, 1, {i}))})),
              HasSubstr("for i in [0, 4)"));
}

TEST(VectorizeTest, AnInnerBoundThatIsLoadedUnderAConditionStaysSerial) {
  const Stmt loop = Loop(j, Load(in, {0}), Store(out, 1, {i}));
  EXPECT_THAT(Vectorized(If(FloorMod(i, 2) == k, loop)), HasSubstr("for i in [0, 4)"));
  EXPECT_THAT(Vectorized(If(i < n, loop)), HasSubstr("out[ramp(0, 1, 4)] = x4(1) where"));
}

TEST(VectorizeTest, ALoopOfMoreLanesThanRegistersHoldRunsOverBlocks) {
  const Buffer large = Buffer::Make("large", Int64, {70000});
  const auto text = [&](std::int64_t extent) {
    return Print(VectorizeLoops(Loop(i, extent, Store(large, i, {i}), ForKind::kVectorized)));
  };
  EXPECT_EQ(text(256), "large[ramp(0, 1, 256)] = ramp(0, 1, 256)\n");
  EXPECT_EQ(text(257),
            "for i.block in [0, 4) {\n"
            "  large[ramp((i.block * 64), 1, 64)] = ramp((i.block * 64), 1, 64)\n"
            "}\n"
            "large[256] = 256\n");
  EXPECT_THAT(text(70000), HasSubstr("large[ramp(69952, 1, 48)]"));
}

TEST(VectorizeTest, RefusesASymbolicExtent) {
  EXPECT_EQ(Refusal([] { VectorizeLoops(Loop(i, n, Store(out, i, {i}), ForKind::kVectorized)); }),
            "vectorize: loop i has the extent n; it must be constant");
}

TEST(VectorizeTest, ALoopAroundAVectorisedOneThatItSharesAnIndexWithStaysSerial) {
  EXPECT_EQ(
      Print(VectorizeLoops(Loop(j, 4, Loop(i, 4, Store(out, i, {j * 4 + i}), ForKind::kVectorized),
                                ForKind::kVectorized))),
      "for j in [0, 4) {\n  out[ramp((j * 4), 1, 4)] = ramp(0, 1, 4)\n}\n");
}

// A nest of three loops of all kinds around a guarded update, as schedules make them: splits that
// do not divide, halos, and conditions on other loops' variables.
class RandomNest {
 public:
  explicit RandomNest(unsigned seed) : generator_(seed) {}

  std::int64_t Number(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(generator_);
  }

  Stmt Make() {
    const Var loops[] = {Var("a"), Var("b"), Var("c")};
    std::vector<Expr> extents;
    for (int d = 0; d < 3; ++d)
      extents.push_back(Number(0, 5) == 0 && d < 2 ? Expr(n) : Number(1, 6));
    // Every iteration of the two inner loops has an element of its own; the outer one may share it.
    const bool shared = Number(0, 3) == 0;
    const Expr row = shared ? Expr(0) : Expr(loops[0]);
    const Buffer& buffer = cube_;
    const Expr a = loops[0], b = loops[1], c = loops[2];
    const Expr sum = a * Number(-2, 3) + b * Number(0, 3) + c + Number(-3, 3);
    Expr value = Load(source_, {FloorMod(sum, 16)}) + FloorDiv(sum, Number(1, 4));
    if (Number(0, 2) == 0)
      value = IfThenElse(Guard(a, b, c), Load(source_, {Max(Min(sum, 15), 0)}), value);
    if (Number(0, 2) == 0) value = Select(Guard(a, b, c), value, Min(value, sum));
    const std::vector<Expr> at = {row, b, c};
    Stmt stmt = Store(buffer, Load(buffer, at) * 3 + value, at);
    Expr guard = Guard(a, b, c);
    for (std::int64_t extra = Number(0, 3); extra > 0; --extra) guard = guard && Guard(a, b, c);
    if (Number(0, 3) != 0) stmt = If(guard, stmt);
    for (int d = 2; d >= 0; --d) {
      const bool constant = extents[static_cast<std::size_t>(d)].As<IntImmNode>() != nullptr;
      const ForKind kinds[] = {ForKind::kSerial, constant ? ForKind::kUnrolled : ForKind::kSerial,
                               d == 2 ? ForKind::kVectorized : ForKind::kSerial};
      const Expr min =
          Number(0, 2) == 0 && d > 0 ? Min(loops[0], Number(0, 2)) : Expr(Number(0, 2));
      stmt = For(loops[d], min, extents[static_cast<std::size_t>(d)], kinds[Number(0, 2)], stmt);
      if (d > 0 && Number(0, 2) == 0) stmt = If(Guard(loops[0], loops[0], loops[0]), stmt);
    }
    return stmt;
  }

  std::vector<std::int64_t> Result(const Stmt& stmt, std::int64_t size) {
    Interpreter interpreter;
    interpreter.Set(n, size);
    std::vector<std::int64_t> source(16), cube(1000, 1);
    for (std::size_t e = 0; e < source.size(); ++e)
      source[e] = static_cast<std::int64_t>(e * e) % 11;
    interpreter.Set(source_, source);
    interpreter.Set(cube_, cube);
    interpreter.Execute(stmt);
    return interpreter.Of(cube_);
  }

 private:
  Expr Guard(const Expr& a, const Expr& b, const Expr& c) {
    switch (Number(0, 6)) {
      case 0:
        return a + c < Number(1, 9);
      case 1:
        return c + Number(-2, 2) >= a;
      case 2:
        return b * 2 + c <= n + Number(0, 6);
      case 3:
        return a > Number(-1, 3);
      case 4:
        return c < Number(1, 7);
      case 5:
        return FloorMod(b + c, 2) == 0;
      default:
        return c - b < n;
    }
  }

  std::mt19937 generator_;
  Buffer source_ = Buffer::Make("source", Int64, {16});
  Buffer cube_ = Buffer::Make("cube", Int64, {10, 10, 10});
};

class NestTest : public ::testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(Seeds, NestTest, ::testing::Range(1U, 9U));

TEST_P(NestTest, EveryTransformKeepsTheResult) {
  RandomNest random(GetParam());
  Bounds bounds;
  bounds.Bind(n, {0, 7});
  for (int count = 0; count < 150; ++count) {
    const Stmt made = random.Make();
    std::vector<std::pair<const char*, Stmt>> steps = {{"made", made}};
    const auto add = [&](const char* name, const Stmt& stmt) { steps.emplace_back(name, stmt); };
    add("simplified", Simplify(steps.back().second, bounds));
    add("hoisted", HoistGuards(steps.back().second));
    add("simplified again", Simplify(steps.back().second, bounds));
    add("partitioned", PartitionLoops(steps.back().second));
    add("simplified in parts", Simplify(steps.back().second, bounds));
    add("flattened", FlattenBuffers(steps.back().second));
    add("simplified flat", Simplify(steps.back().second, bounds));
    add("vectorised", VectorizeLoops(steps.back().second));
    add("transposed", TransposeTiles(steps.back().second, RowLoads::kParts));
    add("transposed by whole rows",
        TransposeTiles(steps[steps.size() - 2].second, RowLoads::kWhole));
    add("unrolled", UnrollLoops(steps.back().second));
    add("simplified at last", Simplify(steps.back().second, bounds));
    for (const std::int64_t size : {0, 1, 4, 7}) {
      const std::vector<std::int64_t> wanted = random.Result(made, size);
      for (std::size_t s = 1; s < steps.size(); ++s) {
        ASSERT_EQ(random.Result(steps[s].second, size), wanted)
            << steps[s].first << ", n = " << size << "\nbefore:\n"
            << Print(steps[s - 1].second) << "after:\n"
            << Print(steps[s].second);
      }
    }
  }
}

TEST_P(NestTest, NoVectorisedAndNoUnrolledLoopIsLeft) {
  RandomNest random(GetParam() + 50);
  for (int count = 0; count < 150; ++count) {
    const Stmt made = FlattenBuffers(PartitionLoops(HoistGuards(Simplify(random.Make()))));
    const std::string text = Print(UnrollLoops(VectorizeLoops(made)));
    ASSERT_THAT(text, Not(HasSubstr("vectorized "))) << text;
    ASSERT_THAT(text, Not(HasSubstr("unrolled "))) << text;
  }
}

}  // namespace
}  // namespace tenon::loop
