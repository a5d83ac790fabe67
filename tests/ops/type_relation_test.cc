// For each family of operators: the type of the result, or the words in which it is refused; and
// the rules that relations share. Other families are in files of their own.
#include "tenon/ops/type_relation.h"

#include <limits>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/tests/ops/result_type.h"
#include "tenon/tests/ops/type_relation_rows.h"

namespace tenon::ops {

TEST_P(TypeRelationTest, GivesTheTypeOrRefuses) {
  EXPECT_EQ(ResultType(GetParam().params, GetParam().body), GetParam().result);
}

namespace {

INSTANTIATE_TEST_SUITE_P(
    Unary, TypeRelationTest,
    ::testing::Values(
        Row{"KeepsTheType", "%x: Tensor[(n, 3), float16]", "exp(%x)", "Tensor[(n, 3), float16]"},
        Row{"ClassIsBool", kM, "isnan(%x)", "Tensor[(2, 3), bool]"},
        Row{"Cast", kM, "cast(%x, dtype=\"int8\")", "Tensor[(2, 3), int8]"},
        Row{"CastLike", "%x: Tensor[(2), float32], %y: int64", "cast_like(%x, %y)",
            "Tensor[(2), int64]"},
        Row{"CastToNothing", kM, "cast(%x, dtype=\"\")",
            "cast: a tensor type cannot have the element type void"},
        Row{"LogicalNotOfBool", "%x: Tensor[(2), bool]", "logical_not(%x)", "Tensor[(2), bool]"},
        Row{"LogicalNotOfNumbers", kM, "logical_not(%x)", "logical_not: the input must be bool"},
        Row{"FullLike", "%x: Tensor[(2), float32], %y: float32", "full_like(%x, %y)",
            "Tensor[(2), float32]"},
        Row{"FullLikeOfAVector", "%x: Tensor[(2), float32]", "full_like(%x, %x)",
            "full_like: fill_value must have rank 0"},
        Row{"PRelu", "%x: Tensor[(2, 3), float32], %a: Tensor[(2), float32]",
            "nn.prelu(%x, %a, axis=0)", "Tensor[(2, 3), float32]"},
        Row{"PReluOfAWrongLength", "%x: Tensor[(2, 3), float32], %a: Tensor[(2), float32]",
            "nn.prelu(%x, %a)",
            "nn.prelu: the variable %a cannot have both types: the type Tensor[(2), float32] is "
            "not Tensor[(3), float32]"}),
    NameOf);

INSTANTIATE_TEST_SUITE_P(
    Broadcast, TypeRelationTest,
    ::testing::Values(
        Row{"OneBothWays", "%x: Tensor[(2, 1, 4), float32], %y: Tensor[(3, 1), float32]",
            "add(%x, %y)", "Tensor[(2, 3, 4), float32]"},
        Row{"ScalarAgainstAnything", kX, "multiply(%x, 2f)", "Tensor[(2, 6, 4, 5), float32]"},
        Row{"Scalars", kS, "subtract(%x, 1f)", "float32"},
        Row{"ZeroExtent", "%x: Tensor[(0, 3), float32], %y: Tensor[(1, 3), float32]",
            "maximum(%x, %y)", "Tensor[(0, 3), float32]"},
        Row{"UnknownAgainstOne", "%x: Tensor[(?), float32], %y: Tensor[(1), float32]",
            "add(%x, %y)", "Tensor[(?), float32]"},
        Row{"UnknownAgainstKnown", "%x: Tensor[(?), float32], %y: Tensor[(4), float32]",
            "add(%x, %y)", "Tensor[(4), float32]"},
        Row{"OneSymbol", "%x: Tensor[(n, 3), float32], %y: Tensor[(n, 1), float32]", "add(%x, %y)",
            "Tensor[(n, 3), float32]"},
        Row{"TwoSymbols", "%x: Tensor[(n), float32], %y: Tensor[(m), float32]", "add(%x, %y)",
            "Tensor[(max(m, n)), float32]"},
        Row{"ExtentsThatDiffer", "%x: Tensor[(2, 3), float32], %y: Tensor[(2), float32]",
            "add(%x, %y)",
            "add: the shapes do not broadcast: extent 3 against 2 in dimension 1; extents must be "
            "equal or one of them 1"},
        Row{"TypesThatDiffer", "%x: Tensor[(2), float32], %y: Tensor[(2), float64]",
            "power(%x, %y)",
            "power: the element types differ: float32 and float64; cast one of them"},
        Row{"ComparisonIsBool", "%x: Tensor[(2, 1), int8], %y: Tensor[(3), int8]",
            "less_equal(%x, %y)", "Tensor[(2, 3), bool]"},
        Row{"ComparisonOfTypesThatDiffer", "%x: int32, %y: int64", "equal(%x, %y)",
            "equal: the element types differ: int32 and int64; cast one of them"},
        Row{"LogicalOfBool", "%x: Tensor[(2, 1), bool], %y: Tensor[(3), bool]",
            "logical_and(%x, %y)", "Tensor[(2, 3), bool]"},
        Row{"LogicalOfNumbers", kM, "logical_or(%x, %x)", "logical_or: both inputs must be bool"},
        Row{"BitsOfIntegers", "%x: Tensor[(2), uint8]", "bitwise_xor(%x, %x)",
            "Tensor[(2), uint8]"},
        Row{"ShiftOfBools", "%x: Tensor[(2, 3), bool]", "right_shift(%x, %x)",
            "right_shift: the inputs must be integers"},
        Row{"ShiftOfFloats", kM, "left_shift(%x, %x)", "left_shift: the inputs must be integers"},
        Row{"Where",
            "%c: Tensor[(2, 1), bool], %x: Tensor[(3), float32], %y: Tensor[(1, 1), float32]",
            "where(%c, %x, %y)", "Tensor[(2, 3), float32]"},
        Row{"WhereOfTypesThatDiffer", "%c: bool, %x: float32, %y: float64", "where(%c, %x, %y)",
            "where: x and y must have one element type"},
        Row{"WhereThatDoesNotBroadcast", "%c: Tensor[(2), bool], %x: Tensor[(3), float32]",
            "where(%c, %x, %x)",
            "where: the shapes do not broadcast: extent 2 against 3 in dimension 0; extents must "
            "be equal or one of them 1"},
        Row{"BroadcastTo", "%x: Tensor[(3, 1), float32]", "broadcast_to(%x, shape=[2, 3, 4])",
            "Tensor[(2, 3, 4), float32]"},
        Row{"BroadcastToLess", kM, "broadcast_to(%x, shape=[1, 3])",
            "broadcast_to: the input does not broadcast to the shape"},
        Row{"BroadcastToOther", kM, "broadcast_to(%x, shape=[2, 4])",
            "broadcast_to: the shapes do not broadcast: extent 3 against 4 in dimension 1; extents "
            "must be equal or one of them 1"},
        Row{"BroadcastToLike", "%x: Tensor[(3), float32], %y: Tensor[(2, 3), int8]",
            "broadcast_to_like(%x, %y)", "Tensor[(2, 3), float32]"}),
    NameOf);

INSTANTIATE_TEST_SUITE_P(
    Reduce, TypeRelationTest,
    ::testing::Values(
        Row{"All", kX, "sum(%x)", "float32"},
        Row{"AllKept", kX, "sum(%x, keepdims=True)", "Tensor[(1, 1, 1, 1), float32]"},
        Row{"OneAxis", kX, "max(%x, axis=[1])", "Tensor[(2, 4, 5), float32]"},
        Row{"FromTheEnd", kX, "sum(%x, axis=[-1])", "Tensor[(2, 6, 4), float32]"},
        Row{"TwoKept", kX, "mean(%x, axis=[2, 3], keepdims=True)", "Tensor[(2, 6, 1, 1), float32]"},
        Row{"Excluded", kX, "min(%x, axis=[1], exclude=True)", "Tensor[(6), float32]"},
        Row{"NoAxes", kM, "sum(%x, axis=[])", "Tensor[(2, 3), float32]"},
        Row{"Scalar", kS, "sum(%x)", "float32"},
        Row{"Symbolic", "%x: Tensor[(n, 3), float32]", "sum(%x, axis=[1])", "Tensor[(n), float32]"},
        Row{"TooFar", kM, "sum(%x, axis=[2])",
            "sum: axis is 2; a tensor of rank 2 has the axes -2 to 1"},
        Row{"Twice", kM, "sum(%x, axis=[1, -1])", "sum: axis names the axis -1 twice"},
        Row{"AxisOfAScalar", kS, "sum(%x, axis=[0])",
            "sum: axis is 0; a tensor of rank 0 has no axes"},
        Row{"ExcludeWithoutAxis", kM, "sum(%x, exclude=True)",
            "sum: exclude needs axis to be given"},
        Row{"AnyOfBool", "%x: Tensor[(2, 3), bool]", "any(%x, axis=[0])", "Tensor[(3), bool]"},
        Row{"AllOfNumbers", kM, "all(%x)", "all: the input must be bool"},
        Row{"ArgMaxIsInt32", kX, "argmax(%x, axis=[1])", "Tensor[(2, 4, 5), int32]"},
        Row{"ArgMinOfAll", kX, "argmin(%x)", "int32"},
        Row{"ArgMaxOfAScalar", kS, "argmax(%x)",
            "argmax: the input must have an axis to search along"},
        Row{"Variance", "%x: Tensor[(2, 3), float32], %m: Tensor[(2, 1), float32]",
            "variance(%x, %m, axis=[1])", "Tensor[(2), float32]"},
        Row{"VarianceOfAnotherRank", "%x: Tensor[(2, 3), float32], %m: Tensor[(2), float32]",
            "variance(%x, %m, axis=[1])",
            "variance: the mean must have the rank of the data (keepdims=True)"},
        Row{"VarianceOfMoreMeans", "%x: Tensor[(1, 3), float32], %m: Tensor[(4, 1), float32]",
            "variance(%x, %m, axis=[1])",
            "variance: dimension 0 of the mean is 4 and that of the data 1; the mean is broadcast "
            "to the data"},
        Row{"CollapseSumLike", "%x: Tensor[(2, 3), float32], %y: Tensor[(3), float32]",
            "collapse_sum_like(%x, %y)", "Tensor[(3), float32]"},
        Row{"CollapseSumLikeOther", "%x: Tensor[(2, 3), float32], %y: Tensor[(5), float32]",
            "collapse_sum_like(%x, %y)",
            "collapse_sum_like: the shapes do not broadcast: extent 3 against 5 in dimension 1; "
            "extents must be equal or one of them 1"},
        Row{"CollapseSumTo", "%x: Tensor[(2, 3, 5), float32]", "collapse_sum_to(%x, shape=[3, 1])",
            "Tensor[(3, 1), float32]"},
        Row{"CollapseSumToMore", "%x: Tensor[(2, 1), float32]", "collapse_sum_to(%x, shape=[2, 3])",
            "collapse_sum_to: the input cannot be summed to the shape"},
        Row{"CollapseSumToAnotherType", "%x: Tensor[(2, 3), float32]",
            "collapse_sum_to(%x, shape=[3], dtype=\"int32\")",
            "collapse_sum_to: dtype must be that of the input where it is given"},
        Row{"Reinterpret", "%x: Tensor[(n, 3), float32]", "reinterpret(%x, dtype=\"int32\")",
            "Tensor[(n, 3), int32]"},
        Row{"ReinterpretAsWider", "%x: Tensor[(2), float32]", "reinterpret(%x, dtype=\"int64\")",
            "reinterpret: elements of float32 have 32 bits and those of int64 64"},
        Row{"ReinterpretAsBool", "%x: Tensor[(2), uint8]", "reinterpret(%x, dtype=\"bool\")",
            "reinterpret: bool has no bits that another type shares"}),
    NameOf);

TEST(BroadcastDimTest, OneGivesWayAndUnknownsAreTaken) {
  const ir::Dim n = ir::Dim::Symbol("n");
  EXPECT_EQ(BroadcastDim(1, 3), ir::Dim(3));
  EXPECT_EQ(BroadcastDim(3, 1), ir::Dim(3));
  EXPECT_EQ(BroadcastDim(n, 1), n);
  EXPECT_EQ(BroadcastDim(n, n), n);
  EXPECT_EQ(BroadcastDim(ir::Dim(), 3), ir::Dim(3));
  EXPECT_EQ(BroadcastDim(2, 3), std::nullopt);
  EXPECT_EQ(BroadcastDim(0, 1), ir::Dim(0));
  EXPECT_EQ(BroadcastDim(0, 3), std::nullopt);
}

TEST(ProductTest, IsUnknownWhenOneIsAndRefusedBeyond64Bits) {
  EXPECT_EQ(Product({}), ir::Dim(1));
  EXPECT_EQ(Product({2, 3}), ir::Dim(6));
  EXPECT_EQ(Product({ir::Dim::Symbol("n")}), ir::Dim::Symbol("n"));
  EXPECT_TRUE(Product({2, ir::Dim()}).is_any());
  EXPECT_EQ(Product({2, ir::Dim::Symbol("n")}).ToString(), "2*n");
  EXPECT_THAT(ErrorOf([] {
                Product({std::int64_t{1} << 32, std::int64_t{1} << 32});
              }).message(),
              ::testing::HasSubstr("does not fit 64 bits"));
}

// What a call says that depends on values.
std::vector<std::string> ConditionsOf(const TypeCall& call) {
  std::vector<std::string> all;
  for (const ExtentCondition& condition : call.conditions()) all.push_back(condition.ToString());
  return all;
}

TEST(TypeCallTest, NumbersDifferOrExceedWithoutConditions) {
  const attrs::Attrs none;
  TypeCall call("op", none, {}, ir::Type());
  EXPECT_TRUE(call.Differ(2, 3));
  EXPECT_FALSE(call.Differ(3, 3));
  EXPECT_TRUE(call.Exceeds(3, 2));
  EXPECT_FALSE(call.Exceeds(3, 3));
  EXPECT_TRUE(call.Exceeds(std::numeric_limits<std::int64_t>::max(), -5));
  EXPECT_TRUE(call.HasRest(7, 2));
  EXPECT_FALSE(call.HasRest(6, 2));
  EXPECT_THAT(ConditionsOf(call), ::testing::IsEmpty());
}

TEST(TypeCallTest, VariablesGiveConditionsWhereTheyDecide) {
  const attrs::Attrs none;
  TypeCall call("op", none, {}, ir::Type());
  const ir::Dim n = ir::Dim::Symbol("n"), m = ir::Dim::Symbol("m");
  EXPECT_FALSE(call.Differ(n, 3));
  EXPECT_FALSE(call.Exceeds(4, n + 1));
  EXPECT_FALSE(call.Exceeds(n, m));
  EXPECT_FALSE(call.HasRest(n, 4));
  EXPECT_THAT(ConditionsOf(call),
              ::testing::ElementsAre("n == 3, for op", "4 <= n + 1, for op", "n <= m, for op",
                                     "n == 4*floordiv(n, 4), for op"));
}

TEST(TypeCallTest, WhatHoldsForAllValuesIsNoCondition) {
  const attrs::Attrs none;
  TypeCall call("op", none, {}, ir::Type());
  const ir::Dim n = ir::Dim::Symbol("n");
  EXPECT_FALSE(call.Differ(n + n, n * 2));
  EXPECT_TRUE(call.Differ(n, n + 1));
  EXPECT_FALSE(call.Exceeds(1, n));
  EXPECT_FALSE(call.Exceeds(n, n + 2));
  EXPECT_TRUE(call.Exceeds(n + 1, n));
  EXPECT_FALSE(call.HasRest(n * 4, 2));
  EXPECT_TRUE(call.HasRest(n * 4 + 1, 2));
  EXPECT_FALSE(call.Differ(ir::Dim(), 3));
  EXPECT_FALSE(call.Exceeds(3, ir::Dim()));
  EXPECT_THAT(ConditionsOf(call), ::testing::IsEmpty());
}

TEST(TypeCallTest, ShapesOfOtherRanksDiffer) {
  const attrs::Attrs none;
  TypeCall call("op", none, {}, ir::Type());
  const ir::Dim n = ir::Dim::Symbol("n");
  EXPECT_TRUE(call.Differ({n, 2}, std::vector<ir::Dim>{n}));
  EXPECT_TRUE(call.Differ({n, 2}, std::vector<ir::Dim>{n, 3}));
  EXPECT_FALSE(call.Differ({n, 2}, std::vector<ir::Dim>{4, 2}));
  EXPECT_THAT(ConditionsOf(call), ::testing::ElementsAre("n == 4, for op"));
}

TEST(TypeCallTest, NeedsOfAPartAreThoseOfTheWhole) {
  const attrs::Attrs none;
  TypeCall call("op", none, {}, ir::Type()), part("op", none, {}, ir::Type());
  const ir::Dim n = ir::Dim::Symbol("n");
  part.Differ(n, 4);
  part.AssumeEqual(n, 5);
  call.AddNeedsOf(part);
  EXPECT_THAT(ConditionsOf(call), ::testing::ElementsAre("n == 4, for op"));
  EXPECT_EQ(call.assumed_equal(), part.assumed_equal());
}

TEST(TypeCallTest, ElementsAreTakenOnlyWhereThereAreSome) {
  const attrs::Attrs none;
  TypeCall call("op", none, {}, ir::Type());
  const ir::Dim n = ir::Dim::Symbol("n");
  RequireElements(call, n, "axis 0", {3, n});
  RequireElements(call, 0, "axis 0", {3, 0});
  RequireElements(call, 0, "axis 0", {3, ir::Dim()});
  EXPECT_THAT(ConditionsOf(call), ::testing::IsEmpty());
  RequireElements(call, n - 1, "axis 0", {3, n});
  RequireElements(call, n - 1, "axis 0", {3, n - 1});
  RequireElements(call, 0, "axis 0", {3, n});
  EXPECT_THAT(ConditionsOf(call), ::testing::ElementsAre("1 <= n - 1, for op", "n <= 0, for op"));
  EXPECT_EQ(ErrorOf([&] {
              RequireElements(call, 0, "axis 0", {3, 2});
            }).message(),
            "op: axis 0 of the data has no elements, so that none can be taken");
}

}  // namespace
}  // namespace tenon::ops
