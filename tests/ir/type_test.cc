// Types: text, equality and what is refused.
#include "tenon/ir/type.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/ops/type_relation.h"
#include "tenon/tests/testing/relay_text.h"

namespace tenon::ir {
namespace {

using ::testing::HasSubstr;

const Type kFloats = TensorType({2, 3}, Float32);
const Type kInt = TensorType({}, Int32);

TEST(TypeTest, TextIsThatOfTheReference) {
  EXPECT_EQ(ToString(TensorType({1, 10}, Float32)), "Tensor[(1, 10), float32]");
  EXPECT_EQ(ToString(TensorType({10}, Int8)), "Tensor[(10), int8]");
  EXPECT_EQ(ToString(kInt), "int32");
  EXPECT_EQ(ToString(TensorType({Dim(), Dim::Symbol("n")}, Bool)), "Tensor[(?, n), bool]");
  EXPECT_EQ(ToString(TupleType({})), "()");
  EXPECT_EQ(ToString(TupleType({kInt})), "(int32,)");
  EXPECT_EQ(ToString(TupleType({kInt, Type()})), "(int32, ?)");
  EXPECT_EQ(ToString(FuncType({kInt, kFloats}, TupleType({}))),
            "fn (int32, Tensor[(2, 3), float32]) -> ()");
  EXPECT_EQ(ToString(Type()), "?");
}

TEST(TypeTest, EqualityGoesByContent) {
  EXPECT_TRUE(Equal(kFloats, TensorType({2, 3}, Float32)));
  EXPECT_FALSE(Equal(kFloats, TensorType({3, 2}, Float32)));
  EXPECT_FALSE(Equal(kFloats, TensorType({2, 3}, Float64)));
  EXPECT_FALSE(Equal(kFloats, TensorType({2, 3, 1}, Float32)));
  EXPECT_FALSE(Equal(TensorType({Dim::Symbol("n")}, Int8), TensorType({Dim::Symbol("m")}, Int8)));
  EXPECT_TRUE(Equal(TensorType({Dim::Symbol("n")}, Int8), TensorType({Dim::Symbol("n")}, Int8)));
  EXPECT_TRUE(Equal(TupleType({kInt, kFloats}), TupleType({kInt, kFloats})));
  EXPECT_FALSE(Equal(TupleType({kInt}), TupleType({kInt, kInt})));
  EXPECT_FALSE(Equal(TupleType({kInt}), kInt));
  EXPECT_TRUE(Equal(FuncType({kInt}, kInt), FuncType({kInt}, kInt)));
  EXPECT_FALSE(Equal(FuncType({kInt}, kInt), FuncType({kInt}, kFloats)));
  EXPECT_TRUE(Equal(Type(), Type()));
  EXPECT_FALSE(Equal(Type(), kInt));
  EXPECT_TRUE(Equal(TupleType({Type()}), TupleType({Type()})));
}

TEST(TypeTest, ImpossibleTensorsAreRefused) {
  EXPECT_THAT(ErrorOf([] {
                TensorType({2, -1}, Float32);
              }).message(),
              HasSubstr("the negative extent -1"));
  EXPECT_THAT(ErrorOf([] { TensorType({2}, DataType::Void()); }).message(),
              HasSubstr("cannot have the element type void"));
  EXPECT_THAT(ErrorOf([] { TensorType({2}, Float32.WithLanes(4)); }).message(),
              HasSubstr("cannot have the element type float32x4"));
}

TEST(TypeTest, StaticShapeNeedsKnownExtents) {
  EXPECT_EQ(StaticShape(kFloats, "x"), (Shape{2, 3}));
  EXPECT_TRUE(IsStaticTensor(kInt));
  EXPECT_FALSE(IsStaticTensor(TensorType({2, Dim()}, Float32)));
  EXPECT_FALSE(IsStaticTensor(TupleType({})));
  EXPECT_FALSE(IsStaticTensor(Type()));
  EXPECT_THAT(
      ErrorOf([] { StaticShape(TensorType({Dim()}, Float32), "the input x"); }).message(),
      HasSubstr("the input x has the type Tensor[(?), float32]; a tensor of known extents is "
                "needed"));
}

TEST(DimTest, IsANumberASymbolOrUnknown) {
  EXPECT_TRUE(Dim(3).is_static());
  EXPECT_EQ(Dim(3).value(), 3);
  EXPECT_FALSE(Dim().is_static());
  EXPECT_TRUE(Dim().is_any());
  EXPECT_FALSE(Dim::Symbol("n").is_any());
  EXPECT_FALSE(Dim::Symbol("n") == Dim(3));
}

// --- what two types say together

std::string Unified(const Type& a, const Type& b) {
  EXPECT_EQ(ToString(ops::Unify(a, b)), ToString(ops::Unify(b, a)));
  return ToString(ops::Unify(a, b));
}

TEST(UnifyTest, UnknownPartsAreFilledFromTheOther) {
  EXPECT_EQ(Unified(Type(), kInt), "int32");
  EXPECT_EQ(Unified(TensorType({Dim(), 3}, Float32), TensorType({2, Dim()}, Float32)),
            "Tensor[(2, 3), float32]");
  EXPECT_EQ(Unified(TensorType({Dim::Symbol("n")}, Float32), TensorType({2}, Float32)),
            "Tensor[(2), float32]");
  EXPECT_EQ(Unified(TensorType({Dim::Symbol("n")}, Float32), TensorType({Dim()}, Float32)),
            "Tensor[(n), float32]");
  EXPECT_EQ(Unified(TupleType({kInt, Type()}), TupleType({Type(), kFloats})),
            "(int32, Tensor[(2, 3), float32])");
  EXPECT_EQ(Unified(FuncType({Type()}, kInt), FuncType({kInt}, Type())), "fn (int32) -> int32");
}

TEST(UnifyTest, ContradictionsNameBothTypes) {
  const auto message = [](const Type& a, const Type& b) {
    return ErrorOf([&] { ops::Unify(a, b); }).message();
  };
  EXPECT_EQ(message(kFloats, TensorType({2, 4}, Float32)),
            "the type Tensor[(2, 3), float32] is not Tensor[(2, 4), float32]");
  EXPECT_EQ(message(kFloats, TensorType({2, 3}, Int8)),
            "the type Tensor[(2, 3), float32] is not Tensor[(2, 3), int8]");
  EXPECT_EQ(message(kFloats, kInt), "the type Tensor[(2, 3), float32] is not int32");
  EXPECT_EQ(message(kInt, TupleType({kInt})), "the type int32 is not (int32,)");
  EXPECT_EQ(message(TupleType({kInt}), TupleType({})), "the type (int32,) is not ()");
  EXPECT_EQ(message(TensorType({Dim::Symbol("n")}, Int8), TensorType({Dim::Symbol("m")}, Int8)),
            "the type Tensor[(n), int8] is not Tensor[(m), int8]");
}

}  // namespace
}  // namespace tenon::ir
