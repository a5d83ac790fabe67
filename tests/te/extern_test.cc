// Calls of C functions in tensor expressions: what is refused, and the interpreter's results.
#include "tenon/te/extern.h"

#include <cmath>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/support/error.h"
#include "tenon/te/interpret.h"

namespace tenon::te {
namespace {

using ::testing::HasSubstr;

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

float Blend(float a, double b, std::int8_t c) { return a + static_cast<float>(b) * c; }
bool IsOdd(std::uint8_t x) { return x % 2 == 1; }
void Prefix(const float* in, float* sums, std::int64_t* count, std::int64_t n) {
  std::partial_sum(in, in + n, sums);
  *count = n;
}
ExternFunction PrefixFunction() { return ExternFunction::At("prefix", &Prefix); }

TEST(CallIntrinsicTest, InterpretCallsTheFunctionForEachElement) {
  const ExternFunction blend = ExternFunction::At("blend", &Blend, Effect::kPure);
  const Tensor a = Placeholder({3}, Float32, "a"), c = Placeholder({3}, Int8, "c");
  const Tensor out = Compute(
      {3},
      [&](const Var& i) {
        return CallIntrinsic(blend, {a(i), Expr(0.5), c(i)});
      },
      "out");
  const NDArray result =
      Interpret({out}, {{a, NDArray::FromVector<float>({3}, {1, 2, 3})},
                        {c, NDArray::FromVector<std::int8_t>({3}, {-4, 0, 100})}})[0];
  EXPECT_EQ(result.data<float>()[0], -1.0F);
  EXPECT_EQ(result.data<float>()[1], 2.0F);
  EXPECT_EQ(result.data<float>()[2], 53.0F);
}

TEST(CallIntrinsicTest, InterpretFindsSymbolsOfTheProcess) {
  const ExternFunction hypot =
      ExternFunction::Named<double(double, double)>("hypot", Effect::kPure);
  const Tensor out = Compute(
      {1},
      [&](const Var&) {
        return CallIntrinsic(hypot, {Expr(3.0), Expr(4.0)});
      },
      "out");
  EXPECT_EQ(*Interpret({out}, {})[0].data<double>(), 5.0);
}

TEST(CallIntrinsicTest, BoolsAndUnsignedBytesKeepTheirValues) {
  const ExternFunction odd = ExternFunction::At("is_odd", &IsOdd, Effect::kPure);
  const Tensor a = Placeholder({4}, UInt8, "a");
  const Tensor out = Compute(
      {4}, [&](const Var& i) { return CallIntrinsic(odd, {a(i)}); }, "out");
  const NDArray result =
      Interpret({out}, {{a, NDArray::FromVector<std::uint8_t>({4}, {255, 254, 0, 129})}})[0];
  EXPECT_EQ(out.dtype(), Bool);
  const auto* bytes = static_cast<const std::uint8_t*>(result.raw());
  EXPECT_THAT(std::vector<int>(bytes, bytes + 4), ::testing::ElementsAre(1, 0, 0, 1));
}

TEST(CallIntrinsicTest, RefusesWhatCannotStandInAnExpression) {
  const ExternFunction impure = ExternFunction::At("blend", &Blend);
  EXPECT_THAT(Refusal([&] {
                CallIntrinsic(impure, {1.0F, 1.0, 1});
              }),
              HasSubstr("intrinsic blend: only pure functions"));
  const ExternFunction silent = ExternFunction::Named<void(float)>("silent", Effect::kPure);
  EXPECT_THAT(Refusal([&] { CallIntrinsic(silent, {1.0F}); }), HasSubstr("must return a number"));
  const ExternFunction pointer =
      ExternFunction::Named<float(const float*)>("pointer", Effect::kPure);
  const ExternFunction root = ExternFunction::Named<float(float)>("sqrtf", Effect::kPure);
  EXPECT_THAT(Refusal([&] { CallIntrinsic(root, {Expr()}); }),
              HasSubstr("intrinsic sqrtf: an argument is null"));
  const Tensor a = Placeholder({3}, Float32, "a");
  EXPECT_THAT(Refusal([&] { CallIntrinsic(pointer, {loop::Address(a.buffer())}); }),
              HasSubstr("called by Extern"));
}

TEST(CallIntrinsicTest, RefusesArgumentsThatDoNotFitTheSignature) {
  const ExternFunction blend = ExternFunction::At("blend", &Blend, Effect::kPure);
  EXPECT_EQ(Refusal([&] { CallIntrinsic(blend, {1.0F}); }),
            "the external function blend takes 3 arguments; 1 is given");
  const Tensor a = Placeholder({3}, Int32, "a");
  EXPECT_EQ(Refusal([&] {
              CallIntrinsic(blend, {a(0), 1.0, 1});
            }),
            "argument 0 of the external function blend is int32; it must be float32");
}

TEST(ExternTest, InterpretFillsAllOutputs) {
  for (const std::int64_t size : {1, 17, 1025}) {
    const Var n("n");
    const Tensor a = Placeholder({n}, Float32, "a");
    const std::vector<Tensor> out = Extern(
        {{n}, {1}}, {a}, {Float32, Int64},
        [&](const auto& in, const auto& to) {
          return ExternCall(PrefixFunction(), {in[0], to[0], to[1], n});
        },
        "prefix");
    const Tensor twice = Compute(
        {n}, [&](const Var& i) { return out[0](i) * 2.0F; }, "twice");
    NDArray value = NDArray::Empty({size}, Float32);
    std::iota(value.data<float>(), value.data<float>() + size, 0.0F);
    const std::vector<NDArray> results = Interpret({twice, out[1]}, {{a, value}});
    EXPECT_EQ(*results[1].data<std::int64_t>(), size);
    for (std::int64_t i = 0; i < size; ++i)
      ASSERT_EQ(results[0].data<float>()[i], static_cast<float>(i * (i + 1)));
  }
}

TEST(ExternTest, PrintsItsCall) {
  const Tensor a = Placeholder({4}, Float32, "a");
  const Tensor out = Extern(
      {{4}, {1}}, {a}, {Float32, Int64},
      [&](const auto& in, const auto& to) {
        return ExternCall(PrefixFunction(), {in[0], to[0], to[1], 4});
      },
      "sums")[0];
  EXPECT_EQ(Print({out}),
            "a = placeholder float32[4]\n"
            "sums = @prefix(&a[0], &sums.v0[0], &sums.v1[0], 4)  : float32[4]\n");
}

TEST(ExternTest, RefusesAMalformedDeclaration) {
  const Tensor a = Placeholder({4}, Float32, "a"), b = Placeholder({4}, Int64, "b");
  const auto call = [&](const auto& in, const auto& to) {
    return ExternCall(PrefixFunction(), {in[0], to[0], to[1], 4});
  };
  EXPECT_EQ(Refusal([&] { Extern({}, {a}, {}, call, "e"); }), "extern e: there is no output");
  EXPECT_THAT(Refusal([&] {
                Extern({{4}, {1}}, {a}, {Float32}, call, "e");
              }),
              HasSubstr("2 shapes and 1 types are given"));
  EXPECT_THAT(Refusal([&] {
                Extern({{4}, {1}}, {b}, {Float32, Int64}, call, "e");
              }),
              HasSubstr("argument 0 of the external function prefix points to int64 (b); it must "
                        "point to float32"));
  EXPECT_THAT(Refusal([&] {
                Extern(
                    {{4}}, {a}, {Float32}, [](const auto&, const auto&) { return Expr(1); }, "e");
              }),
              HasSubstr("the body must be an ExternCall; it is 1"));
  EXPECT_EQ(Refusal([&] { Extern({{-3}}, {a}, {Float32}, call, "e"); }),
            "tensor e: the extent of dimension 0 is -3; it must be at least 0");
  EXPECT_EQ(Refusal([&] { Extern({{4}}, {a}, {Float32}, nullptr, "e"); }),
            "extern e: there is no body");
  EXPECT_EQ(Refusal([&] {
              Extern(
                  {{4}}, {a}, {Float32}, [](const auto&, const auto&) { return Expr(); }, "e");
            }),
            "extern e: its call is null; give it a value first");
  const ExternFunction sum = ExternFunction::Named<int(const float*, float*)>("sum");
  EXPECT_THAT(Refusal([&] {
                Extern(
                    {{4}}, {a}, {Float32},
                    [&](const auto& in, const auto& to) {
                      return ExternCall(sum, {in[0], to[0]});
                    },
                    "e");
              }),
              HasSubstr("the function sum returns int32; it must return nothing"));
  const ExternFunction fill = ExternFunction::Named<void(float*, float)>("fill");
  EXPECT_THAT(Refusal([&] {
                Extern(
                    {{4}}, {a}, {Float32},
                    [&](const auto&, const auto& to) {
                      return ExternCall(fill, {to[0], a(0)});
                    },
                    "e");
              }),
              HasSubstr("an argument reads an element"));
}

TEST(ExternTest, InterpretRefusesASymbolThatIsNotThere) {
  const ExternFunction missing = ExternFunction::Named<void(float*)>("tenon_no_such_function");
  const Tensor out = Extern(
      {{4}}, {}, {Float32},
      [&](const auto&, const auto& to) { return ExternCall(missing, {to[0]}); }, "e")[0];
  EXPECT_THAT(Refusal([&] { Interpret({out}, {}); }, absl::StatusCode::kNotFound),
              HasSubstr("the external function tenon_no_such_function is not a symbol"));
}

}  // namespace
}  // namespace tenon::te
