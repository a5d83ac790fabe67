#include "tenon/loop/expr.h"

#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/loop/print.h"
#include "tenon/loop/visit.h"
#include "tenon/support/error.h"

namespace tenon::loop {
namespace {

using ::testing::HasSubstr;

// The message of the InvalidArgument that `body` throws.
template <typename Body>
std::string Refusal(Body body) {
  try {
    body();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), absl::StatusCode::kInvalidArgument) << error.what();
    return error.what();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "a foreign exception: " << error.what();
    return error.what();
  }
  return "no error";
}

const Var i("i");
const Var u8("u8", UInt8);
const Var u64("u64", UInt64);
const Var i32("i32", Int32);
const Var x("x", Float32);
const Var y("y", Float64);
const Var flag("flag", Bool);

TEST(ExprTest, ConstantsHaveTheTypeOfTheirCppType) {
  EXPECT_EQ(Expr(1).dtype(), Int64);
  EXPECT_EQ(Expr(std::int64_t{1}).dtype(), Int64);
  EXPECT_EQ(Expr(1.0F).dtype(), Float32);
  EXPECT_EQ(Expr(1.0).dtype(), Float64);
  EXPECT_EQ(True().dtype(), Bool);
}

TEST(ExprTest, ConstantsPrintWithTheirType) {
  EXPECT_EQ(Print(Expr(3)), "3");
  EXPECT_EQ(Print(IntImm(Int32, -3)), "-3i32");
  EXPECT_EQ(Print(IntImm(UInt8, 200)), "200u8");
  EXPECT_EQ(Print(Expr(0.5F)), "0.5f");
  EXPECT_EQ(Print(Expr(0.5)), "0.5");
  EXPECT_EQ(Print(FloatImm(Float16, 0.5)), "0.5h");
  EXPECT_EQ(Print(FloatImm(BFloat16, 0.5)), "0.5bf");
  EXPECT_EQ(Print(True()), "true");
  EXPECT_EQ(Print(False()), "false");
}

TEST(ExprTest, IntegerConstantsWrapIntoTheirType) {
  EXPECT_EQ(Print(IntImm(UInt8, 300)), "44u8");
  EXPECT_EQ(Print(IntImm(Int8, 200)), "-56i8");
  EXPECT_EQ(Print(IntImm(UInt32, -1)), "4294967295u32");
  EXPECT_EQ(Print(IntImm(Bool, 5)), "true");
}

TEST(ExprTest, Float32ConstantsAreRounded) {
  EXPECT_EQ(FloatImm(Float32, 0.1).As<FloatImmNode>()->value, static_cast<double>(0.1F));
  EXPECT_EQ(FloatImm(Float64, 0.1).As<FloatImmNode>()->value, 0.1);
}

TEST(ExprTest, AVariablesIdentityIsItsNode) {
  const Var a("v"), b("v");
  EXPECT_FALSE(a.same_as(b));
  EXPECT_TRUE(a.same_as(Expr(a)));
}

TEST(ExprTest, EqualNamesAreNumberedInReadingOrder) {
  const Var a("v"), b("v"), c("v");
  EXPECT_EQ(Print(a + b * c - a), "((v + (v_1 * v_2)) - v)");
}

TEST(ExprTest, AnIntegerConstantTakesTheTypeOfTheOtherSide) {
  EXPECT_EQ(Print(x + 1), "(x + 1f)");
  EXPECT_EQ(Print(2 * Expr(x)), "(2f * x)");
  EXPECT_EQ(Print(u8 + 1), "(u8 + 1u8)");
  EXPECT_EQ(Print(i32 < 7), "(i32 < 7i32)");
  EXPECT_EQ(Print(Select(flag, x, 0)), "select(flag, x, 0f)");
}

TEST(ExprTest, AnIntegerConstantKeepsItsValueInAWiderType) {
  const std::int64_t odd = (std::int64_t{1} << 53) + 1;  // no double
  EXPECT_EQ(Print(u64 + Expr(odd)), "(u64 + 9007199254740993u64)");
}

TEST(ExprTest, ComparisonsAreBool) {
  for (const BinaryOp op :
       {BinaryOp::kEQ, BinaryOp::kNE, BinaryOp::kLT, BinaryOp::kLE, BinaryOp::kGT, BinaryOp::kGE}) {
    EXPECT_EQ(Binary(op, x, Expr(2.0F)).dtype(), Bool) << ToString(op);
    EXPECT_TRUE(IsComparison(op)) << ToString(op);
  }
  EXPECT_FALSE(IsComparison(BinaryOp::kMax));
  EXPECT_FALSE(IsComparison(BinaryOp::kAnd));
}

TEST(ExprTest, AScalarIsBroadcastToTheLanesOfTheOtherSide) {
  const Expr sum = Ramp(i, 1, 4) + i;
  EXPECT_EQ(sum.dtype(), Int64.WithLanes(4));
  EXPECT_EQ(Print(sum), "(ramp(i, 1, 4) + x4(i))");
  EXPECT_EQ((Ramp(i, 1, 4) < 3).dtype(), Bool.WithLanes(4));
  EXPECT_EQ(Select(Ramp(i, 1, 4) < 3, x, 0.0F).dtype(), Float32.WithLanes(4));
}

TEST(ExprTest, ARampOfOneLaneIsItsBase) { EXPECT_TRUE(Ramp(i, 5, 1).same_as(i)); }

TEST(ExprTest, ALoadHasTheBuffersTypeAndTheIndexsLanes) {
  const Buffer a = Buffer::Make("A", Float16, {8});
  EXPECT_EQ(Load(a, {i}).dtype(), Float16);
  EXPECT_EQ(Load(a, {Ramp(i, 2, 4)}).dtype(), Float16.WithLanes(4));
  EXPECT_EQ(Print(Load(a, {i + 1})), "A[(i + 1)]");
}

TEST(ExprTest, PredicatesOfFloatsAreBool) {
  EXPECT_EQ(Call(Intrinsic::kIsNan, {x}).dtype(), Bool);
  EXPECT_EQ(Call(Intrinsic::kExp, {x}).dtype(), Float32);
  EXPECT_EQ(Call(Intrinsic::kPopcount, {u8}).dtype(), UInt8);
}

TEST(ExprTest, ReinterpretingKeepsWidthAndLanes) {
  const Expr bits = Reinterpret(UInt32, x);
  EXPECT_EQ(bits.dtype(), UInt32);
  EXPECT_EQ(Print(bits), "reinterpret<uint32>(x)");
  EXPECT_TRUE(Reinterpret(Float32, x).same_as(x));
  EXPECT_EQ(Reinterpret(Float64, Ramp(i, 1, 4)).dtype(), Float64.WithLanes(4));
  const Var z("z", Float32);
  EXPECT_EQ(Print(Substitute(bits, {{x, z}})), "reinterpret<uint32>(z)");
  EXPECT_FALSE(StructuralEqual(bits, Reinterpret(Int32, x)));
}

TEST(ExprFoldTest, ConstantsOfSignedIntegersFold) {
  EXPECT_EQ(Print(Expr(2) + 3), "5");
  EXPECT_EQ(Print(Expr(2) - 3), "-1");
  EXPECT_EQ(Print(Expr(7) / -2), "-3");
  EXPECT_EQ(Print(Expr(7) % -2), "1");
  EXPECT_EQ(Print(FloorDiv(7, -2)), "-4");
  EXPECT_EQ(Print(FloorMod(7, -2)), "-1");
  EXPECT_EQ(Print(FloorMod(-7, 4)), "1");
  EXPECT_EQ(Print(Min(3, -4)), "-4");
  EXPECT_EQ(Print(Max(3, -4)), "3");
  EXPECT_EQ(Print(Expr(3) < 4), "true");
  EXPECT_EQ(Print(Expr(3) == 4), "false");
  EXPECT_EQ(Print(Binary(BinaryOp::kBitXor, 6, 3)), "5");
}

TEST(ExprFoldTest, NarrowConstantsWrapAsRegistersDo) {
  EXPECT_EQ(Print(IntImm(Int8, 100) + IntImm(Int8, 100)), "-56i8");
  EXPECT_EQ(Print(IntImm(Int16, 300) * IntImm(Int16, 300)), "24464i16");
  EXPECT_EQ(Print(IntImm(Int8, -128) / IntImm(Int8, -1)), "(-128i8 / -1i8)");
}

TEST(ExprFoldTest, NeutralElementsOfIndexArithmeticGoAway) {
  for (const Expr& same : {i + 0, 0 + Expr(i), i - 0, i * 1, 1 * Expr(i), i / 1, FloorDiv(i, 1)})
    EXPECT_TRUE(same.same_as(i)) << Print(same);
  for (const Expr& zero : {i * 0, 0 * Expr(i), i % 1, FloorMod(i, 1)})
    EXPECT_TRUE(IsConstInt(zero, 0)) << Print(zero);
}

TEST(ExprFoldTest, FloatsDoNotFold) {
  // x + 0 differs from x for -0, and x * 0 from 0 for NaN.
  EXPECT_EQ(Print(x + 0.0F), "(x + 0f)");
  EXPECT_EQ(Print(x * 0.0F), "(x * 0f)");
  EXPECT_EQ(Print(x * 1.0F), "(x * 1f)");
}

TEST(ExprFoldTest, NegationKeepsTheSignOfZero) { EXPECT_EQ(Print(-Expr(x)), "(-0f - x)"); }

TEST(ExprFoldTest, DivisionByZeroIsLeftToTheKernel) {
  EXPECT_EQ(Print(Expr(5) / 0), "(5 / 0)");
  EXPECT_EQ(Print(Expr(5) % 0), "(5 % 0)");
  EXPECT_EQ(Print(FloorDiv(5, 0)), "floordiv(5, 0)");
  EXPECT_EQ(Print(FloorMod(5, 0)), "floormod(5, 0)");
}

TEST(ExprFoldTest, AnOverflowIsNotFolded) {
  const Expr highest(std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(Print(highest + 1), "(9223372036854775807 + 1)");
  EXPECT_EQ(Print(highest * 2), "(9223372036854775807 * 2)");
}

TEST(ExprFoldTest, DecidedBoolsGoAway) {
  EXPECT_TRUE((flag && True()).same_as(flag));
  EXPECT_TRUE((True() && Expr(flag)).same_as(flag));
  EXPECT_EQ(Print(flag && False()), "false");
  EXPECT_EQ(Print(flag || True()), "true");
  EXPECT_TRUE((flag || False()).same_as(flag));
  EXPECT_EQ(Print(!True()), "false");
}

TEST(ExprFoldTest, ADecidedSelectionIsItsSide) {
  EXPECT_TRUE(Select(True(), x, 0.0F).same_as(x));
  EXPECT_TRUE(IfThenElse(False(), 0.0F, x).same_as(x));
}

TEST(ExprFoldTest, CastsOfConstantsFold) {
  EXPECT_EQ(Print(Cast(Float32, Expr(3))), "3f");
  EXPECT_EQ(Print(Cast(UInt8, Expr(-1))), "255u8");
  EXPECT_EQ(Print(Cast(Bool, Expr(2))), "true");
  EXPECT_EQ(Print(Cast(Float32, Expr(0.1))), "0.1f");
  EXPECT_TRUE(Cast(Int64, i).same_as(i));
}

TEST(ExprFoldTest, AFoldedCastRoundsOnce) {
  // 2^53 + 2^29 + 1 lies above the middle of two floats; by way of double it would land below.
  const std::int64_t value = (std::int64_t{1} << 53) + (std::int64_t{1} << 29) + 1;
  EXPECT_EQ(Print(Cast(Float32, Expr(value))), Print(Expr(static_cast<float>(value))));
}

TEST(ExprErrorTest, RefusesOperandsOfDifferentTypes) {
  EXPECT_EQ(Refusal([] { x + y; }),
            "the operands of + have the types float32 and float64; cast one to the other");
  EXPECT_EQ(Refusal([] { return i < i32; }),
            "the operands of < have the types int64 and int32; cast one to the other");
  EXPECT_EQ(Refusal([] { Max(x, i); }),
            "the operands of max have the types float32 and int64; cast one to the other");
  EXPECT_EQ(Refusal([] { return flag == 1; }),
            "the operands of == have the types bool and int64; cast one to the other");
}

TEST(ExprErrorTest, RefusesAFractionNextToAnInteger) {
  EXPECT_THAT(Refusal([] { i * 0.5F; }), HasSubstr("cast one to the other"));
  EXPECT_THAT(Refusal([] { Select(flag, i, 0.5F); }), HasSubstr("cast one to the other"));
}

TEST(ExprErrorTest, RefusesOperandsOfDifferentLanes) {
  EXPECT_EQ(Refusal([] { Ramp(i, 1, 4) + Ramp(i, 1, 8); }), "the operands of + have 4 and 8 lanes");
}

TEST(ExprErrorTest, RefusesLogicOfNumbers) {
  EXPECT_EQ(Refusal([] { i&& i; }), "an operand of and, or must be bool; it is int64");
  EXPECT_EQ(Refusal([] { !Expr(x); }), "the operand of not must be bool; it is float32");
  EXPECT_EQ(Refusal([] { Select(i, x, x); }),
            "the condition of a selection must be bool; it is int64");
}

TEST(ExprErrorTest, RefusesBitOperationsOfFloats) {
  EXPECT_EQ(Refusal([] { Binary(BinaryOp::kBitAnd, x, x); }),
            "the operands of & must be integers; they are float32");
  EXPECT_EQ(Refusal([] { Binary(BinaryOp::kShl, x, x); }),
            "the operands of << must be integers; they are float32");
  EXPECT_EQ(Refusal([] { Binary(BinaryOp::kShr, flag, flag); }),
            "the operands of >> must be integers; they are bool");
}

TEST(ExprErrorTest, RefusesASelectionOfDifferentTypes) {
  EXPECT_EQ(Refusal([] { Select(flag, x, y); }),
            "the sides of a selection have the types float32 and float64; cast one to the other");
}

TEST(ExprErrorTest, RefusesAnIndexThatIsNotInt64) {
  const Buffer a = Buffer::Make("A", Float32, {8});
  EXPECT_EQ(Refusal([&] { Load(a, {i32}); }), "A: an index has the type int32; cast it to int64");
}

TEST(ExprErrorTest, RefusesAnExtentThatIsNotInt64) {
  EXPECT_EQ(Refusal([] { Buffer::Make("A", Float32, {i32}); }),
            "buffer A: an extent has the type int32; extents are int64");
}

TEST(ExprErrorTest, RefusesIntrinsicsOfTheWrongType) {
  EXPECT_EQ(Refusal([] { Call(Intrinsic::kExp, {i}); }),
            "exp does not take int64; it needs a floating type");
  EXPECT_EQ(Refusal([] { Call(Intrinsic::kPopcount, {x}); }),
            "popcount does not take float32; it needs an integer");
  EXPECT_EQ(Refusal([] { Call(Intrinsic::kOpaque, {x}); }),
            "opaque does not take float32; it needs an integer");
  EXPECT_EQ(Refusal([] { Call(Intrinsic::kOpaque, {Ramp(i, 1, 4)}); }),
            "opaque does not take int64x4; it needs one lane");
  EXPECT_EQ(Refusal([] {
              Call(Intrinsic::kPow, {x, y});
            }),
            "the arguments of pow have the types float32 and float64");
}

TEST(ExprErrorTest, RefusesBitsOfAnotherWidthAndOfBool) {
  EXPECT_EQ(Refusal([] { Reinterpret(Int16, x); }),
            "the bits of float32 are not those of int16; both must have one width and not be bool");
  EXPECT_EQ(Refusal([] { Reinterpret(Bool, u8); }),
            "the bits of uint8 are not those of bool; both must have one width and not be bool");
}

TEST(ExprErrorTest, RefusesBitsWithoutAType) {
  EXPECT_EQ(Refusal([] { Call(Intrinsic::kReinterpret, {x}); }),
            "reinterpret needs the type of its result; call Reinterpret instead");
}

TEST(ExprErrorTest, RefusesAWrongNumberOfArguments) {
  EXPECT_THAT(Refusal([] { Call(Intrinsic::kPow, {x}); }), HasSubstr("pow"));
  EXPECT_THAT(Refusal([] { Call(Intrinsic::kExp, {x, x}); }), HasSubstr("exp"));
  EXPECT_THAT(Refusal([] { Call(Intrinsic::kExp, {}); }), HasSubstr("exp"));
}

TEST(ExprErrorTest, RefusesARampOfVectors) {
  EXPECT_EQ(Refusal([] { Ramp(Ramp(i, 1, 4), 1, 4); }),
            "the base of a ramp is a vector already; loops may not be vectorised twice");
}

TEST(VisitTest, EachNodeIsVisitedOnceOperandsFirst) {
  const Expr shared = i + 1, whole = shared * shared;
  std::vector<std::string> seen;
  VisitExpr(whole, [&](const Expr& e) { seen.push_back(Print(e)); });
  EXPECT_THAT(seen, ::testing::ElementsAre("i", "1", "(i + 1)", "((i + 1) * (i + 1))"));
}

TEST(VisitTest, SubstituteKeepsWhatItDoesNotChange) {
  const Var j("j");
  const Expr kept = j * 3, e = kept + i;
  EXPECT_TRUE(Substitute(e, {{Var("other"), Expr(1)}}).same_as(e));
  const Expr changed = Substitute(e, {{i, j + 5}});
  EXPECT_EQ(Print(changed), "((j * 3) + (j + 5))");
  EXPECT_TRUE(changed.As<BinaryNode>()->a.same_as(kept));
}

TEST(VisitTest, SubstituteReplacesAllAtOnce) {
  const Var j("j");
  EXPECT_EQ(Print(Substitute(i - j, {{i, j}, {j, i}})), "(j - i)");
}

TEST(VisitTest, SubstituteReplacesWholeNodesBeforeWhatIsInside) {
  const Var j("j");
  const Expr sum = i + 1;
  // A node goes by identity: an equal one keeps its own operands.
  EXPECT_EQ(Print(Substitute(sum * (i + 1) - i, {{sum, j}, {i, Expr(7)}})), "((j * 8) - 7)");
}

TEST(VisitTest, StructuralEqualityGoesByContentOfIdenticalVariables) {
  EXPECT_TRUE(StructuralEqual(i + 1, i + 1));
  EXPECT_FALSE(StructuralEqual(i + 1, i + 2));
  EXPECT_FALSE(StructuralEqual(i + 1, i - 1));
  EXPECT_FALSE(StructuralEqual(i + 1, Var("i") + 1));
  EXPECT_FALSE(StructuralEqual(Expr(1), IntImm(Int32, 1)));
  EXPECT_FALSE(StructuralEqual(ExternCall(Int64, "f", {i}), ExternCall(Int64, "f", {i})));
  const Buffer a = Buffer::Make("A", Float32, {8}), b = Buffer::Make("A", Float32, {8});
  EXPECT_TRUE(StructuralEqual(Load(a, {i}), Load(a, {i})));
  EXPECT_FALSE(StructuralEqual(Load(a, {i}), Load(b, {i})));
}

TEST(VisitTest, ZerosOfDifferentSignAreDifferentContent) {
  EXPECT_FALSE(StructuralEqual(Expr(0.0F), Expr(-0.0F)));
}

TEST(VisitTest, UsesVarGoesByIdentity) {
  EXPECT_TRUE(UsesVar(Max(i * 2, 3), i));
  EXPECT_FALSE(UsesVar(Max(i * 2, 3), Var("i")));
}

TEST(PrintTest, AnExpressionThatSharesItsPartsHasATextOfBoundedLength) {
  Expr e = i;
  for (int depth = 0; depth < 200; ++depth) e = e * e + 1;
  const std::string text = Print(e);
  EXPECT_LT(text.size(), 1000000U);
  EXPECT_THAT(text, HasSubstr("..."));
  EXPECT_EQ(Print((i + 1) * (i + 1)), "((i + 1) * (i + 1))");
}

// A comparison with a wrapped constant would be another one.
TEST(ExprTest, AnIntegerConstantMustFitTheTypeOfTheOtherSide) {
  const Buffer bytes = Buffer::Make("U", UInt8, {4}), words = Buffer::Make("I", Int32, {4});
  const Expr u = Load(bytes, {0}), i = Load(words, {0});
  EXPECT_EQ(Refusal([&] { return u < 300; }),
            "constant 300 does not fit uint8, the type of the other operand of <; cast that side "
            "to a wider type");
  EXPECT_THAT(Refusal([&] { return -1 == u; }), HasSubstr("constant -1 does not fit"));
  EXPECT_THAT(Refusal([&] { return i + std::int64_t{5000000000}; }),
              HasSubstr("constant 5000000000 does not fit int32"));
  EXPECT_THAT(Refusal([&] { return Select(u < 3, u, 256); }),
              HasSubstr("the type of the other side of a selection"));
  EXPECT_THAT(Refusal([] { return Constant(Int8, 300); }),
              HasSubstr("constant 300 does not fit int8, whose numbers are -128 to 127"));
  EXPECT_EQ(Print(u < 255), "(U[0] < 255u8)");
  EXPECT_EQ(Print(Cast(Int8, 300)), Print(IntImm(Int8, 44)));  // a cast wraps around
}

// A constant is a number of its type, also where a cast of it is folded.
TEST(ExprTest, AConstantOf16BitsIsRoundedBeforeItIsCast) {
  const auto widened = [](DataType type, double value) {
    return Cast(Float32, FloatImm(type, value)).As<FloatImmNode>()->value;
  };
  EXPECT_EQ(widened(Float16, 0.1), 0.0999755859375);
  EXPECT_EQ(widened(BFloat16, 0.1), 0.10009765625);
  EXPECT_EQ(widened(Float16, 65520), HUGE_VAL);
  EXPECT_EQ(widened(Float16, 2049), 2048);
  EXPECT_EQ(FloatImm(Float32, 0.1).As<FloatImmNode>()->value, static_cast<double>(0.1F));
  EXPECT_EQ(FloatImm(Float64, 0.1).As<FloatImmNode>()->value, 0.1);
}

}  // namespace
}  // namespace tenon::loop
