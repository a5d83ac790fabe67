// Tensor expressions: what is refused, how operations hang together, and their text.
#include "tenon/te/tensor.h"

#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/loop/print.h"
#include "tenon/support/error.h"
#include "tenon/te/math.h"
#include "tenon/te/reduce.h"

namespace tenon::te {
namespace {

using ::testing::ElementsAre;

// The message of the error of `code` that `body` throws.
template <typename Body>
std::string Refusal(Body body, absl::StatusCode code = absl::StatusCode::kInvalidArgument) {
  try {
    body();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.what();
  }
  return "no error";
}

const Var n("n");

Tensor Matrix() { return Placeholder({n, 8}, Float32, "A"); }

TEST(PlaceholderTest, HasTheGivenShapeTypeAndName) {
  const Tensor a = Matrix();
  EXPECT_EQ(a.name(), "A");
  EXPECT_EQ(a.dtype(), Float32);
  ASSERT_EQ(a.ndim(), 2U);
  EXPECT_TRUE(a.shape()[0].same_as(n));
  EXPECT_EQ(loop::Print(a.shape()[1]), "8");
  EXPECT_TRUE(a.op()->is_placeholder());
  EXPECT_FALSE(a.op()->is_reduction());
}

TEST(PlaceholderTest, RefusesAnExtentThatIsNotInt64) {
  EXPECT_EQ(Refusal([] { Placeholder({Var("m", Int32)}, Float32, "A"); }),
            "tensor A: extent 0, m, has the type int32; it must be int64");
}

TEST(PlaceholderTest, RefusesANegativeExtent) {
  EXPECT_EQ(Refusal([] {
              Placeholder({4, -3}, Float32, "A");
            }),
            "tensor A: the extent of dimension 1 is -3; it must be at least 0");
  EXPECT_EQ(Refusal([] {
              Compute(
                  {-1}, [](const Var&) { return Expr(1.0F); }, "B");
            }),
            "tensor B: the extent of dimension 0 is -1; it must be at least 0");
}

TEST(ReadTest, RefusesAWrongNumberOfIndices) {
  const Tensor a = Matrix();
  EXPECT_EQ(Refusal([&] { a(0); }), "tensor A has 2 dimensions; it is read with 1 indices");
  EXPECT_EQ(Refusal([&] { a(0, 0, 0); }), "tensor A has 2 dimensions; it is read with 3 indices");
  EXPECT_EQ(Refusal([&] { a[{}]; }), "tensor A has 2 dimensions; it is read with 0 indices");
}

TEST(ReadTest, RefusesAFractionAsAnIndex) {
  EXPECT_EQ(Refusal([] { Matrix()(0, loop::Constant(Float32, 1.5)); }),
            "tensor A is read at 1.5f, a float32; an index must be an integer");
}

TEST(ReadTest, IndicesBecomeInt64) {
  EXPECT_EQ(loop::Print(Matrix()(Var("i", Int32), 3)), "A[int64(i), 3]");
}

TEST(ReadTest, AReadKnowsItsTensor) {
  const Tensor a = Matrix();
  const Expr read = a(0, 1);
  EXPECT_TRUE(TensorOf(*read.As<loop::LoadNode>()) == a);
}

TEST(ComputeTest, TheTypeIsThatOfTheBody) {
  const Tensor a = Matrix();
  EXPECT_EQ(Compute({n}, [&](Var i) { return a(i, 0) > 0.0F; }).dtype(), Bool);
  EXPECT_EQ(Compute({n}, [&](Var i) { return Cast(Int8, a(i, 0)); }).dtype(), Int8);
  EXPECT_EQ(Compute({n}, [&](Var i) { return Expr(i); }).dtype(), Int64);
}

TEST(ComputeTest, ABodyMayTakeItsAxesOneByOneOrAsAList) {
  const Tensor one_by_one = Compute(
                   {2, 3}, [](Var i, Var j) { return i * 3 + j; }, "T"),
               as_list = Compute(
                   {2, 3}, [](const std::vector<Var>&axes) { return axes[0] * 3 + axes[1]; }, "T");
  EXPECT_EQ(Print({one_by_one}), Print({as_list}));
  EXPECT_EQ(Compute({}, [] { return Expr(1.0F); }).ndim(), 0U);
}

// The compiler names the concept, in a line or two for each call.
TEST(ComputeTest, OtherBodiesDoNotCompile) {
  const auto of_two = [](const Var& i, const Var& j) { return i + j; };
  const auto of_a_list = [](const std::vector<Var>& i) { return i[0] + 1; };
  const auto of_a_pointer = [](const Var& i, int* /*j*/) { return i + 1; };
  static_assert(ElementBody<decltype(of_two)> && ElementBody<decltype(of_a_list)>);
  static_assert(!ElementBody<decltype(of_a_pointer)>);
}

TEST(ComputeTest, RefusesABodyOfAnotherRank) {
  EXPECT_EQ(Refusal([] {
              Compute(
                  {2, 3}, [](Var i) { return Expr(i); }, "T");
            }),
            "compute T: the body takes 1 axes; the shape has 2 dimensions");
  EXPECT_EQ(Refusal([] {
              Compute(
                  {2}, [](Var i, Var j) { return i + j; }, "T");
            }),
            "compute T: the body takes 2 axes; the shape has 1 dimensions");
  EXPECT_EQ(Refusal([] {
              Compute(
                  {}, [](Var i) { return Expr(i); }, "T");
            }),
            "compute T: the body takes 1 axes; the shape has 0 dimensions");
}

TEST(ComputeTest, RefusesABodyOfNoValue) {
  EXPECT_EQ(Refusal([] {
              ComputeTuple(
                  {2}, [](const std::vector<Var>&) { return std::vector<Expr>(); }, "T");
            }),
            "compute T: the body has no value");
}

TEST(ComputeTest, RefusesAnExtentThatIsNotInt64) {
  EXPECT_EQ(Refusal([] {
              Compute(
                  {Var("m", Int32)}, [](Var i) { return Expr(i); }, "T");
            }),
            "tensor T: extent 0, m, has the type int32; it must be int64");
}

TEST(ComputeTest, AxesAreDataAxesOverTheShape) {
  const Tensor t = Compute(
      {n, 3}, [](Var i, Var j) { return i + j; }, "T");
  EXPECT_EQ(t.axis(0).var.name(), "ax0");
  EXPECT_TRUE(t.axis(0).extent.same_as(n));
  EXPECT_TRUE(loop::IsConstInt(t.axis(1).min, 0));
  EXPECT_TRUE(loop::IsConstInt(t.axis(1).extent, 3));
  EXPECT_FALSE(t.axis(1).is_reduce);
}

TEST(ComputeTest, RefusesAnAxisThatIsNotThere) {
  const Tensor t = Compute(
      {2, 3}, [](Var i, Var j) { return i + j; }, "T");
  const auto code = absl::StatusCode::kOutOfRange;
  EXPECT_EQ(Refusal([&] { t.axis(2); }, code), "tensor T has 2 data axes; there is no number 2");
  EXPECT_EQ(Refusal([&] { t.axis(-1); }, code), "tensor T has 2 data axes; there is no number -1");
  EXPECT_EQ(Refusal([&] { t.reduce_axis(0); }, code),
            "tensor T has 0 reduce axes; there is no number 0");
}

TEST(ComputeTest, ATupleHasOneTensorAValue) {
  const Tensor a = Matrix();
  const std::vector<Tensor> pair = ComputeTuple(
      {n},
      [&](const std::vector<Var>& i) {
        return std::vector<Expr>{a(i[0], 0), Cast(Int32, i[0])};
      },
      "P");
  ASSERT_EQ(pair.size(), 2U);
  EXPECT_EQ(pair[0].name(), "P.v0");
  EXPECT_EQ(pair[1].name(), "P.v1");
  EXPECT_EQ(pair[1].dtype(), Int32);
  EXPECT_TRUE(pair[0].op() == pair[1].op());
  EXPECT_FALSE(pair[0] == pair[1]);
  const Expr read = pair[1](0);
  EXPECT_TRUE(TensorOf(*read.As<loop::LoadNode>()) == pair[1]);
}

TEST(ReduceTest, AReductionKnowsItsAxes) {
  const Tensor a = Matrix();
  const IterVar k = ReduceAxis(1, 7, "k");
  const Tensor sum = Compute(
      {n}, [&](Var i) { return Sum(a(i, k.var), {k}); }, "S");
  EXPECT_TRUE(sum.op()->is_reduction());
  EXPECT_TRUE(sum.reduce_axis(0).var.same_as(k.var));
  EXPECT_TRUE(sum.reduce_axis(0).is_reduce);
  EXPECT_EQ(sum.dtype(), Float32);
}

TEST(ReduceTest, RefusesADataAxis) {
  const Tensor a = Matrix();
  const IterVar data{Var("d"), 0, 8, false};
  EXPECT_EQ(Refusal([&] { Sum(a(0, data.var), {data}); }),
            "reducer sum: d is no reduce axis; make one with ReduceAxis");
}

TEST(ReduceTest, RefusesAnAxisThatIsGivenTwice) {
  const Tensor a = Placeholder({4}, Float32, "A");
  const IterVar k = ReduceAxis(0, 4, "k");
  EXPECT_EQ(Refusal([&] { Sum(a(k.var), {k, k}); }), "reducer sum: axis k is given twice");
}

TEST(ReduceTest, RefusesWhatIsNull) {
  const std::vector<DataType> one = {Float32};
  const auto first = [](const std::vector<Var>& x, const std::vector<Var>&) {
    return std::vector<Expr>{x[0]};
  };
  const Expr zero = loop::Constant(Float32, 0);
  EXPECT_EQ(Refusal([&] { MakeCombiner("c", one, nullptr, {zero}); }),
            "reducer c: there is no function that combines");
  EXPECT_EQ(Refusal([&] {
              MakeCombiner("c", one, [](const auto&, const auto&) { return std::vector<Expr>(1); },
                           {zero});
            }),
            "reducer c: its value 0 is null; give it a value first");
  EXPECT_EQ(Refusal([&] { MakeCombiner("c", one, first, {Expr()}); }),
            "reducer c: its identity 0 is null; give it a value first");
  const Combiner combiner = MakeCombiner("c", one, first, {zero});
  EXPECT_EQ(Refusal([&] { Reduce(combiner, {Expr()}, {ReduceAxis(0, 4)}); }),
            "reducer c: its term 0 is null; give it a value first");
  EXPECT_EQ(Refusal([&] { StartingAt(Reduce(combiner, {zero}, {}), {Expr()}); }),
            "reducer c: its initial value 0 is null; give it a value first");
}

TEST(ReduceTest, RefusesNumbersWhereBoolsAreReduced) {
  const Tensor a = Matrix();
  const IterVar k = ReduceAxis(0, 8);
  const char* const wanted = "an operand of and, or must be bool; it is float32";
  EXPECT_EQ(Refusal([&] { All(a(0, k.var), {k}); }), wanted);
  EXPECT_EQ(Refusal([&] { Any(a(0, k.var), {k}); }), wanted);
}

TEST(ReduceTest, IdentitiesAreThoseOfTheType) {
  const IterVar k = ReduceAxis(0, 8);
  const auto identity = [&](Reduction (*reduce)(const Expr&, std::vector<IterVar>), DataType type) {
    return loop::Print(reduce(Expr(Var("x", type)), {k}).combiner.identity[0]);
  };
  EXPECT_EQ(identity(Sum, Float32), "0f");
  EXPECT_EQ(identity(Sum, Int8), "0i8");
  EXPECT_EQ(identity(Prod, Float64), "1");
  EXPECT_EQ(identity(Max, Float32), "-inff");
  EXPECT_EQ(identity(Min, Float32), "inff");
  EXPECT_EQ(identity(Max, Int8), "-128i8");
  EXPECT_EQ(identity(Min, Int8), "127i8");
  EXPECT_EQ(identity(Max, UInt8), "0u8");
  EXPECT_EQ(identity(Min, UInt8), "255u8");
  EXPECT_EQ(identity(Max, Int64), "-9223372036854775808");
  EXPECT_EQ(identity(Min, Int64), "9223372036854775807");
  EXPECT_EQ(identity(Max, Bool), "false");
  EXPECT_EQ(identity(Min, Bool), "true");
  EXPECT_EQ(identity(All, Bool), "true");
  EXPECT_EQ(identity(Any, Bool), "false");
}

TEST(ReduceTest, OnlySumsMayBeReordered) {
  const IterVar k = ReduceAxis(0, 8);
  const Expr x = Var("x", Float32), flag = Var("flag", Bool);
  EXPECT_TRUE(Sum(x, {k}).combiner.is_sum);
  EXPECT_FALSE(Prod(x, {k}).combiner.is_sum);
  EXPECT_FALSE(Max(x, {k}).combiner.is_sum);
  EXPECT_FALSE(Min(x, {k}).combiner.is_sum);
  EXPECT_FALSE(MaxOfNumbers(x, {k}).combiner.is_sum);
  EXPECT_FALSE(Any(flag, {k}).combiner.is_sum);
  EXPECT_FALSE(ArgMax(Cast(Int32, k.var), x, {k}).combiner.is_sum);
}

TEST(ReduceTest, AnExtremesIndexAndValueAreAPair) {
  const Tensor a = Matrix();
  const IterVar k = ReduceAxis(0, 8);
  const std::vector<Tensor> best = ReduceTuple(
      {n},
      [&](const std::vector<Var>& i) { return ArgMin(Cast(Int32, k.var), a(i[0], k.var), {k}); },
      "best");
  ASSERT_EQ(best.size(), 2U);
  EXPECT_EQ(best[0].dtype(), Int32);
  EXPECT_EQ(best[1].dtype(), Float32);
  EXPECT_EQ(loop::Print(best[0].op()->combiner->identity[0]), "-1i32");
  EXPECT_EQ(loop::Print(best[0].op()->combiner->identity[1]), "inff");
}

using Vars = std::vector<Var>;
using Values = std::vector<Expr>;

TEST(CombinerTest, AUsersReducerTakesTuples) {
  const Combiner mean = MakeCombiner("moments", {Float32, Int64},
                                     [](const Vars& l, const Vars& r) {
                                       return Values{l[0] + r[0], l[1] + r[1]};
                                     },
                                     {0.0F, 0});
  EXPECT_EQ(mean.lhs.size(), 2U);
  EXPECT_EQ(mean.rhs[1].dtype(), Int64);
  EXPECT_FALSE(mean.is_sum);
}

TEST(CombinerTest, RefusesAnotherNumberOfResults) {
  EXPECT_EQ(Refusal([] {
              MakeCombiner("r", {Float32, Float32},
                           [](const Vars& l, const Vars& r) { return Values{l[0] + r[0]}; },
                           {0.0F, 0.0F});
            }),
            "reducer r: 2 values are reduced, but it combines 1 and has 2 identities");
}

TEST(CombinerTest, RefusesAnotherNumberOfIdentities) {
  EXPECT_EQ(Refusal([] {
              MakeCombiner("r", {Float32},
                           [](const Vars& l, const Vars& r) { return Values{l[0] + r[0]}; }, {});
            }),
            "reducer r: 1 values are reduced, but it combines 1 and has 0 identities");
}

TEST(CombinerTest, RefusesAResultOfAnotherType) {
  EXPECT_EQ(Refusal([] {
              MakeCombiner("r", {Float32},
                           [](const Vars& l, const Vars& r) { return Values{l[0] < r[0]}; },
                           {0.0F});
            }),
            "reducer r: value 0 is float32; it combines to bool and its identity is float32");
}

TEST(CombinerTest, RefusesAnIdentityOfAnotherType) {
  EXPECT_EQ(Refusal([] {
              MakeCombiner("r", {Float32},
                           [](const Vars& l, const Vars& r) { return Values{l[0] + r[0]}; }, {0});
            }),
            "reducer r: value 0 is float32; it combines to float32 and its identity is int64");
}

Combiner Add() {
  return MakeCombiner("add", {Float32},
                      [](const Vars& l, const Vars& r) { return Values{l[0] + r[0]}; }, {0.0F});
}

TEST(CombinerTest, RefusesASourceOfAnotherNumber) {
  const IterVar k = ReduceAxis(0, 8);
  EXPECT_EQ(Refusal([&] {
              Reduce(Add(), {1.0F, 2.0F}, {k});
            }),
            "reducer add takes 1 values; 2 are given");
}

TEST(CombinerTest, RefusesASourceOfAnotherType) {
  const IterVar k = ReduceAxis(0, 8);
  EXPECT_EQ(Refusal([&] { Reduce(Add(), {k.var}, {k}); }),
            "reducer add: value 0 is int64; it must be float32");
}

TEST(ReduceTest, ARangeIsMadeOfInt64sThatNothingReads) {
  const Tensor counts = Placeholder({4}, Int64, "counts");
  EXPECT_EQ(
      Refusal([&] { ReduceAxis(0, counts(0)); }),
      "reduce axis k: the extent, counts[0], reads memory; it must be made of constants and of "
      "extents of arguments alone");
  EXPECT_EQ(Refusal([&] { ReduceAxis(0, loop::IntImm(Int32, 7)); }),
            "reduce axis k: the extent, 7i32, has the type int32; it must be int64");
  EXPECT_EQ(Refusal([&] { ReduceAxis(std::numeric_limits<std::int64_t>::max() - 2, 7); }),
            "reduce axis k has 7 values from 9223372036854775805 on; they must be less than 2^63");
}

TEST(ComputeTest, RefusesAnExtentThatIsReadFromATensor) {
  const Tensor counts = Placeholder({4}, Int64, "counts");
  EXPECT_EQ(Refusal([&] {
              Compute(
                  {counts(0)}, [&](Var i) { return counts(i); }, "B");
            }),
            "tensor B: extent 0, counts[0], reads memory; it must be made of "
            "constants and of extents of arguments alone");
}

TEST(ComputeTest, RefusesABodyThatIsTooDeepForTheStack) {
  for (const int depth : {4000, 100000}) {
    const auto build = [&] {
      const Tensor a = Matrix();
      const Tensor b = Compute({n}, [&](Var i) {
        Expr sum = a(i, 0);
        for (int k = 0; k < depth; ++k) sum = sum + 1.5F;
        return sum;
      });
      Print({b});
    };
    EXPECT_EQ(Refusal(build), depth == 4000
                                  ? "no error"
                                  : "compute compute has more than 4096 operands within each "
                                    "other; store a part of it in a tensor of its own");
  }
}

TEST(ComputeTest, RefusesElementsThatAreNoNumbers) {
  EXPECT_EQ(Refusal([] { Placeholder({4}, DataType::Void(), "A"); }),
            "tensor A: elements cannot be void; they must be numbers or bools");
  EXPECT_EQ(Refusal([] { Cast(DataType::Void(), Cast(Float32, 1)); }),
            "a cast to void; numbers and bools are allowed");
}

TEST(ComputeTest, RefusesWhatIsNull) {
  const Tensor a = Matrix();
  const Expr none;
  const std::string expression = "an expression is null; give it a value first";
  EXPECT_EQ(Refusal([&] { Exp(none); }), expression);
  EXPECT_EQ(Refusal([&] { a(0, 0) + none; }), expression);
  EXPECT_EQ(Refusal([&] { Select(none, a(0, 0), a(0, 0)); }), expression);
  EXPECT_EQ(Refusal([&] { a(0, none); }), expression);
  EXPECT_EQ(Refusal([&] { Compute({n}, [&](Var) { return none; }); }),
            "compute compute is null; give it a value first");
  EXPECT_EQ(Refusal([&] { Sum(none, {ReduceAxis(0, 4)}); }),
            "what is reduced is null; give it a value first");
  EXPECT_EQ(Refusal([] { Tensor()(0); }), "a tensor is null; make it by Placeholder or Compute");
  EXPECT_EQ(Refusal([] { PostOrder({Tensor()}); }),
            "a tensor is null; make it by Placeholder or Compute");
}

TEST(GraphTest, PostOrderPutsProducersFirstAndEachOnce) {
  const Tensor a = Matrix();
  const Tensor b = Compute(
      {n}, [&](Var i) { return a(i, 0) + a(i, 1); }, "B");
  const Tensor c = Compute(
      {n}, [&](Var i) { return b(i) * b(i); }, "C");
  const Tensor d = Compute(
      {n}, [&](Var i) { return b(i) + c(i); }, "D");
  std::vector<std::string> names;
  for (const Operation& op : PostOrder({d, c})) names.push_back(op->name);
  EXPECT_THAT(names, ElementsAre("A", "B", "C", "D"));
}

TEST(GraphTest, ALongChainDoesNotExhaustTheStack) {
  Tensor t = Placeholder({4}, Float32, "A");
  for (int step = 0; step < 20000; ++step) {
    const Tensor previous = t;
    t = Compute(
        {4}, [&](Var i) { return previous(i) + 1.0F; }, "T");
  }
  EXPECT_EQ(PostOrder({t}).size(), 20001U);
}

TEST(GraphTest, InputsComeInOrderOfFirstUseAndOnce) {
  const Tensor a = Placeholder({4}, Float32, "A"), b = Placeholder({4}, Float32, "B");
  const Tensor c = Compute(
      {4}, [&](Var i) { return (b(i) + a(i)) * b(3 - Expr(i)); }, "C");
  const std::vector<Tensor> inputs = InputsOf(*c.op());
  ASSERT_EQ(inputs.size(), 2U);
  EXPECT_TRUE(inputs[0] == b);
  EXPECT_TRUE(inputs[1] == a);
}

TEST(GraphTest, AReadInsideAnIndexIsAnInput) {
  const Tensor table = Placeholder({9}, Float32, "table"), at = Placeholder({4}, Int32, "at");
  const Tensor c = Compute(
      {4}, [&](Var i) { return table(at(i)); }, "C");
  EXPECT_EQ(InputsOf(*c.op()).size(), 2U);
}

TEST(PrintTest, ComputesArePrintedALineAnOperation) {
  const Tensor a = Matrix();
  const Tensor b = Compute(
      {n, 8}, [&](Var i, Var j) { return Max(a(i, j), 0.0F) + Exp(a(i, j)); }, "B");
  EXPECT_EQ(Print({b}),
            "A = placeholder float32[n, 8]\n"
            "B[ax0, ax1] = (max(A[ax0, ax1], 0f) + exp(A[ax0, ax1]))  : float32[n, 8]\n");
}

TEST(PrintTest, ReductionsShowTheirRanges) {
  const Tensor a = Matrix();
  const IterVar k = ReduceAxis(1, 7, "k");
  const Tensor sum = Compute(
      {n}, [&](Var i) { return Sum(a(i, k.var) * 2.0F, {k}); }, "S");
  EXPECT_EQ(Print({sum}),
            "A = placeholder float32[n, 8]\n"
            "S[ax0] = sum((A[ax0, k] * 2f), k in [1, 8))  : float32[n]\n");
}

TEST(PrintTest, TuplesShowAllTheirValues) {
  const Tensor a = Matrix();
  const IterVar k = ReduceAxis(0, 8);
  const std::vector<Tensor> best = ReduceTuple(
      {n},
      [&](const std::vector<Var>& i) { return ArgMax(Cast(Int32, k.var), a(i[0], k.var), {k}); },
      "best");
  EXPECT_EQ(Print(best),
            "A = placeholder float32[n, 8]\n"
            "best[ax0] = argmax(int32(k), A[ax0, k], k in [0, 8))  : int32[n]\n");
}

TEST(ComputeTest, AxesHaveNames) {
  const Tensor a = Placeholder({4, 6}, Float32, "a");
  const Tensor b = Compute(
      NamedShape{{"y", 4}, {"x", 6}}, [&](const Var& y, const Var& x) { return a(y, x) + 1.0F; },
      "b");
  EXPECT_EQ(b.axis(0).var.name(), "y");
  EXPECT_THAT(Print({b}), ::testing::HasSubstr("b[y, x] = (a[y, x] + 1f)"));
  const auto refusal = [&](const NamedShape& shape) {
    try {
      Compute(
          shape, [&](const std::vector<Var>&) { return Expr(1.0F); }, "b");
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  EXPECT_THAT(
      refusal({{"y", 4}, {"y", 6}}),
      ::testing::HasSubstr("axis 1 has the name \"y\"; names must differ and not be empty"));
  EXPECT_THAT(refusal({{"", 4}}), ::testing::HasSubstr("axis 0 has the name \"\""));
}

}  // namespace
}  // namespace tenon::te
