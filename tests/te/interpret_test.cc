#include "tenon/te/interpret.h"

#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/support/error.h"
#include "tenon/te/math.h"
#include "tenon/te/reduce.h"

namespace tenon::te {
namespace {

using ::testing::HasSubstr;

template <typename Body>
std::string Refusal(Body body) {
  try {
    body();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(InterpretTest, BlocksCoverEverySize) {
  for (const std::int64_t size : {0, 1, 1023, 1024, 1025, 3000}) {
    const Tensor a = Placeholder({size}, Float32, "a");
    const Tensor b = Compute(
        {size}, [&](const Var& i) { return a(i) + 1.0F; }, "b");
    NDArray value = NDArray::Empty({size}, Float32);
    for (std::int64_t i = 0; i < size; ++i) value.data<float>()[i] = static_cast<float>(i);
    const NDArray result = Interpret({b}, {{a, value}})[0];
    for (std::int64_t i = 0; i < size; ++i)
      ASSERT_EQ(result.data<float>()[i], static_cast<float>(i + 1)) << size;
  }
}

TEST(InterpretTest, SymbolicExtentsComeFromTheInputs) {
  const Var n("n");
  const Tensor a = Placeholder({n}, Int32, "a");
  const IterVar k = ReduceAxis(0, n);
  const Tensor s = Compute(
      {}, [&](const std::vector<Var>&) { return Sum(a(k.var), {k}); }, "s");
  EXPECT_EQ(*Interpret({s}, {{a, NDArray::FromVector<std::int32_t>({4}, {1, 2, 3, 4})}})[0]
                 .data<std::int32_t>(),
            10);
}

TEST(InterpretTest, FloatsAreRoundedAfterEachOperation) {
  const Tensor a = Placeholder({1}, Float32, "a");
  const Tensor b = Compute(
      {1}, [&](const Var& i) { return (a(i) + 1.0F) - a(i); }, "b");
  const NDArray big = NDArray::FromVector<float>({1}, {16777216.0F});
  EXPECT_EQ(*Interpret({b}, {{a, big}})[0].data<float>(), 16777216.0F + 1.0F - 16777216.0F);
}

TEST(InterpretTest, IntegersWrapToTheirType) {
  const Tensor a = Placeholder({1}, Int8, "a");
  const Tensor b = Compute(
      {1}, [&](const Var& i) { return a(i) + a(i); }, "b");
  EXPECT_EQ(
      *Interpret({b}, {{a, NDArray::FromVector<std::int8_t>({1}, {100})}})[0].data<std::int8_t>(),
      static_cast<std::int8_t>(200));
}

TEST(InterpretTest, AGuardKeepsLoadsInside) {
  const Tensor a = Placeholder({3}, Float32, "a");
  const Tensor b = Compute(
      {5},
      [&](const Var& i) {
        return IfThenElse(i >= Expr(1) && i < Expr(4), a(i - 1), Cast(Float32, 0));
      },
      "b");
  const NDArray result = Interpret({b}, {{a, NDArray::FromVector<float>({3}, {1, 2, 3})}})[0];
  EXPECT_EQ(result.ToVector<float>(), (std::vector<float>{0, 1, 2, 3, 0}));
}

TEST(InterpretTest, MaximaKeepNaN) {
  const Tensor a = Placeholder({2}, Float32, "a");
  const Tensor b = Compute(
      {2}, [&](const Var& i) { return Max(a(i), Cast(Float32, 0)); }, "b");
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const NDArray result = Interpret({b}, {{a, NDArray::FromVector<float>({2}, {nan, -1})}})[0];
  EXPECT_TRUE(std::isnan(result.data<float>()[0]));
  EXPECT_EQ(result.data<float>()[1], 0);
}

TEST(InterpretErrorTest, InputsAreChecked) {
  const Tensor a = Placeholder({3}, Float32, "a");
  const Tensor b = Compute(
      {3}, [&](const Var& i) { return a(i); }, "b");
  EXPECT_THAT(Refusal([&] { Interpret({b}, {}); }), HasSubstr("the tensor a has no value"));
  EXPECT_THAT(Refusal([&] {
                Interpret({b}, {{a, NDArray::Zeros({4}, Float32)}});
              }),
              HasSubstr("the extent 4 in dimension 0; 3 is needed"));
  EXPECT_THAT(Refusal([&] {
                Interpret({b}, {{a, NDArray::Zeros({3}, Int32)}});
              }),
              HasSubstr("float32 of rank 1 is needed"));
}

TEST(InterpretErrorTest, AnIndexOutsideIsNamed) {
  const Tensor a = Placeholder({3}, Float32, "a");
  const Tensor b = Compute(
      {3}, [&](const Var& i) { return a(i + 1); }, "b");
  EXPECT_THAT(Refusal([&] {
                Interpret({b}, {{a, NDArray::Zeros({3}, Float32)}});
              }),
              HasSubstr("index 3 of dimension 0 of a, whose extent is 3"));
}

TEST(InterpretErrorTest, ExternalFunctionsWithoutASignatureAreRefused) {
  const Tensor b = Compute(
      {1}, [&](const Var&) { return loop::ExternCall(Float32, "f", {}); }, "b");
  EXPECT_THAT(Refusal([&] { Interpret({b}, {}); }), HasSubstr("cannot call f"));
}

}  // namespace
}  // namespace tenon::te
