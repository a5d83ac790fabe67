// Equal computations made twice say the same; whatever may change their kernels changes the bytes.
#include "tenon/te/content.h"

#include <set>

#include <gtest/gtest.h>

#include "tenon/loop/extern_function.h"
#include "tenon/te/math.h"
#include "tenon/te/reduce.h"

namespace tenon::te {
namespace {

// B[i] = value(A[i]) for i below `extent`.
template <typename Value>
Tensor Made(const Value& value, std::int64_t extent = 8, const std::string& name = "B",
            const Label& label = {}, DataType type = Float32) {
  const Tensor a = Placeholder({extent}, type, "A");
  return Compute(
      {extent}, [&](Var i) { return value(Expr(a(i))); }, name, label);
}

Expr PlusOne(const Expr& x) { return x + Expr(loop::Constant(x.dtype(), 1)); }

Tensor Reduced(std::int64_t terms, bool is_max = false) {
  const Tensor a = Placeholder({4, 9}, Float32, "A");
  const IterVar k = ReduceAxis(0, terms, "k");
  return Compute(
      {4}, [&](Var i) { return is_max ? Max(a(i, k.var), {k}) : Sum(a(i, k.var), {k}); }, "B");
}

std::string ContentOf(const Tensor& output) {
  return te::ContentOf({output}, {output}).value_or("");
}

TEST(ContentTest, EqualComputationsMadeTwiceSayTheSame) {
  EXPECT_NE(ContentOf(Made(PlusOne)), "");
  EXPECT_EQ(ContentOf(Made(PlusOne)), ContentOf(Made(PlusOne)));
  EXPECT_EQ(ContentOf(Reduced(9)), ContentOf(Reduced(9)));
}

TEST(ContentTest, ComputationsThatDifferSayDifferentThings) {
  const std::vector<Tensor> tensors = {
      Made(PlusOne),
      Made(PlusOne, 9),
      Made(PlusOne, 8, "C"),
      Made(PlusOne, 8, "B", "injective"),
      Made(PlusOne, 8, "B", Stored{}),
      Made(PlusOne, 8, "B", WrittenOut{}),
      Made(PlusOne, 8, "B", {"injective", Stored{}}),
      Made(PlusOne, 8, "B", {}, Float64),
      Made([](const Expr& x) { return x + 2.0F; }),
      Made([](const Expr& x) { return x + x; }),
      Made([](const Expr& x) { return Exp(x); }),
      Reduced(9),
      Reduced(8),
      Reduced(9, true),
      Compute(
          {8}, [](Var) { return Expr(1.0F); }, "B"),
  };
  std::set<std::string> all;
  for (const Tensor& tensor : tensors) all.insert(ContentOf(tensor));
  EXPECT_EQ(all.size(), tensors.size());
}

TEST(ContentTest, TellsWhichOfTwoInputsOfOneNameIsRead) {
  const auto made = [](bool first) {
    const Tensor a = Placeholder({4}, Float32, "A"), b = Placeholder({4}, Float32, "A");
    return Compute(
        {4}, [&](Var i) { return first ? a(i) - b(i) : b(i) - b(i); }, "B");
  };
  EXPECT_NE(ContentOf(made(true)), ContentOf(made(false)));
}

TEST(ContentTest, TheOrderOfOutputsCounts) {
  const Tensor b = Made(PlusOne);
  const Tensor c = Compute(
      {8}, [&](Var i) { return b(i) * 2.0F; }, "C");
  EXPECT_NE(te::ContentOf({b, c}, {b, c}), te::ContentOf({c, b}, {b, c}));
}

// A kernel takes its arrays by position, and their names need not differ.
TEST(ContentTest, TheOrderOfArgumentsOfOneNameCounts) {
  const Tensor a = Placeholder({4}, Float32, "x"), b = Placeholder({4}, Float32, "x");
  const Tensor c = Compute(
      {4}, [&](Var i) { return a(i) - b(i); }, "C");
  EXPECT_NE(te::ContentOf({c}, {a, b, c}), te::ContentOf({c}, {b, a, c}));
}

TEST(ContentTest, WhatCallsCodeOfItsOwnSaysNothing) {
  const auto callee = loop::ExternFunction::Named<float(float)>("expf", loop::Effect::kPure);
  EXPECT_EQ(ContentOf(Made([&](const Expr& x) { return loop::ExternCall(callee, {x}); })), "");
}

}  // namespace
}  // namespace tenon::te
