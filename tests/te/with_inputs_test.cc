#include "tenon/te/with_inputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/support/error.h"
#include "tenon/te/extern.h"
#include "tenon/te/interpret.h"
#include "tenon/te/reduce.h"
#include "tenon/te/scan.h"

namespace tenon::te {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Refusal(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), absl::StatusCode::kInvalidArgument);
    return error.what();
  }
  return "no error";
}

TEST(WithInputsTest, VariablesOfExtentsBecomeNumbers) {
  const Var n("n");
  const Tensor a = Placeholder({n, n * 2}, Float32, "A");
  const IterVar k = ReduceAxis(0, n * 2);
  const Tensor twice = Compute(
      {n, n * 2}, [&](Var i, Var j) { return a(i, j) * 2.0F; }, "twice");
  const Tensor b = Compute(
      {n}, [&](Var i) { return Sum(twice(i, k.var), {k}); }, "B");
  const Tensor x = Placeholder({3, 6}, Float32, "x");
  const std::vector<Tensor> copies = WithInputs({b, twice}, {{a, x}}, {{n, 3}});
  EXPECT_EQ(Print(copies),
            "x = placeholder float32[3, 6]\n"
            "twice[ax0, ax1] = (x[ax0, ax1] * 2f)  : float32[3, 6]\n"
            "B[ax0] = sum(twice[ax0, k], k in [0, 6))  : float32[3]\n");
  EXPECT_FALSE(copies[0].axis(0).var.same_as(b.axis(0).var));
  EXPECT_FALSE(copies[0].reduce_axis(0).var.same_as(k.var));
}

TEST(WithInputsTest, ReducersMayUseVariablesOfExtents) {
  const Var n("n");
  const Tensor a = Placeholder({n}, Float32, "A"), x = Placeholder({3}, Float32, "x");
  const IterVar k = ReduceAxis(0, n);
  const Combiner scaled =
      MakeCombiner("scaled", {Float32},
                   [&](const std::vector<Var>& l, const std::vector<Var>& r) {
                     return std::vector<Expr>{l[0] + r[0] * loop::Cast(Float32, n)};
                   },
                   {loop::Constant(Float32, 0)});
  const Tensor b = Compute(
      {}, [&](const std::vector<Var>&) { return Reduce(scaled, {a(k.var)}, {k}); }, "B");
  const Tensor copy = WithInputs({b}, {{a, x}}, {{n, 3}})[0];
  const NDArray values = NDArray::FromVector<float>({3}, {1, 2, 4});
  EXPECT_THAT(Interpret({copy}, {{x, values}})[0].ToVector<float>(), ElementsAre(21));
}

// Of states alone, which are placeholders that nobody gives.
TEST(WithInputsTest, ScansKeepTheirStates) {
  const Var n("n");
  const Tensor x = Placeholder({n, 2}, Float32, "X"), state = Placeholder({n, 2}, Float32, "state");
  const Tensor first = Compute(
      {1, 2}, [&](Var t, Var i) { return x(t, i); }, "first");
  const Tensor next = Compute(
      {n, 2}, [&](Var t, Var i) { return state(t - 1, i) + x(t, i); }, "next");
  const Tensor sums = Scan({first}, {next}, {state}, "sums")[0];
  const Tensor given = Placeholder({3, 2}, Float32, "given");
  const Tensor copy = WithInputs({sums}, {{x, given}}, {{n, 3}})[0];
  const NDArray values = NDArray::FromVector<float>({3, 2}, {1, 2, 3, 4, 5, 6});
  EXPECT_THAT(Interpret({copy}, {{given, values}})[0].ToVector<float>(),
              ElementsAre(1, 2, 4, 6, 9, 12));
}

void Negate(const float* in, float* out, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) out[i] = -in[i];
}

TEST(WithInputsTest, ExternalOperationsGetTheNewArrays) {
  const ExternFunction negate = ExternFunction::At("negate", &Negate);
  const Var n("n");
  const Tensor a = Placeholder({n}, Float32, "A");
  const Tensor b = Compute(
      {n}, [&](Var i) { return a(i) + 1.0F; }, "B");
  const Tensor c = Extern(
      {{n}}, {b}, {Float32},
      [&](const auto& in, const auto& out) {
        return ExternCall(negate, {in[0], out[0], n});
      },
      "C")[0];
  const Tensor x = Placeholder({2}, Float32, "x");
  const Tensor copy = WithInputs({c}, {{a, x}}, {{n, 2}})[0];
  EXPECT_THAT(
      Interpret({copy}, {{x, NDArray::FromVector<float>({2}, {1, 5})}})[0].ToVector<float>(),
      ElementsAre(-2, -6));
}

TEST(WithInputsTest, WhatDoesNotFitIsRefused) {
  const Tensor a = Placeholder({4}, Float32, "A"), b = Placeholder({4}, Float32, "B");
  const Tensor c = Compute(
      {4}, [&](Var i) { return a(i) + b(i); }, "C");
  EXPECT_THAT(Refusal([&] {
                WithInputs({c}, {{a, b}});
              }),
              HasSubstr("the placeholder B is read, but not given"));
  EXPECT_THAT(Refusal([&] {
                WithInputs({c}, {{c, b}});
              }),
              HasSubstr("C is computed; only placeholders are replaced"));
  const Tensor other = Placeholder({4, 4}, Float32, "other"), half = Placeholder({4}, Float16, "h");
  for (const Tensor& wrong : {other, half})
    EXPECT_THAT(Refusal([&] {
                  WithInputs({c}, {{a, wrong}, {b, b}});
                }),
                HasSubstr("A is float32 of 1 dimensions; "));
}

}  // namespace
}  // namespace tenon::te
