// Denormals count as zero in kernels, in folded constants and in the interpreter; what is only
// moved keeps its bits.
#include <bit>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/compiler/compile.h"
#include "tenon/passes/infer_type.h"
#include "tenon/support/strings.h"
#include "tenon/tests/testing/relay_text.h"
#include "tenon/verify/check/nudge.h"
#include "tenon/verify/interpret.h"
#include "tenon/verify/verify_model.h"

namespace tenon::verify {
namespace {

constexpr float kDenormal = 1e-40F;

// The results of a body that reads %x, as an input and as a constant, at each level.
void ExpectResult(const std::string& body, const NDArray& expected) {
  const NDArray x = NDArray::Scalar(kDenormal);
  const ir::Module of_input = Parse(StrCat("def @main(%x: float32) { ", body, " }"));
  const ir::Module of_constant = Parse(StrCat("def @main() { let %x = 1e-40f;\n", body, " }"));
  for (const int level : {0, 3}) {
    const CompileOptions options{.opt_level = level};
    const auto given = ValueOrThrow(Compile(of_input, options)).Run({{"x", x}});
    const auto folded = ValueOrThrow(Compile(of_constant, options)).Run({});
    EXPECT_TRUE(ValueOrThrow(given)[0].SameBytes(expected)) << body << ", level " << level;
    EXPECT_TRUE(ValueOrThrow(folded)[0].SameBytes(expected)) << body << ", level " << level;
  }
  EXPECT_TRUE(VerifyModel(of_input, {{"x", x}}).ok()) << body;
}

TEST(DenormalsTest, ArithmeticTakesThemForZero) {
  ExpectResult("greater(%x, 0f)", NDArray::Scalar(false));
  ExpectResult("cast(%x, dtype=\"bool\")", NDArray::Scalar(false));
  ExpectResult("multiply(%x, 1e30f)", NDArray::Scalar(0.0F));
  ExpectResult("divide(1f, %x)", NDArray::Scalar(std::numeric_limits<float>::infinity()));
}

TEST(DenormalsTest, WhatIsMovedKeepsItsBits) {
  const auto bits = std::bit_cast<std::int32_t>(kDenormal);
  ExpectResult("reinterpret(%x, dtype=\"int32\")", NDArray::Scalar(bits));
  ExpectResult("reinterpret(reshape(%x, newshape=[1]), dtype=\"int32\")",
               NDArray::FromVector<std::int32_t>({1}, {bits}));
  ExpectResult("reinterpret(where(greater(1f, %x), %x, 2f), dtype=\"int32\")",
               NDArray::Scalar(bits));
}

// A conversion would set the bit that says that a NaN does not signal.
TEST(MovedValuesTest, NaNsThatSignalKeepTheirBits) {
  struct Case {
    const char *number, *bits, *type;
    NDArray value;
  };
  const Case cases[] = {
      {"2141192193", "int32", "float32", NDArray::Scalar<std::int32_t>(0x7FA00001)},
      {"-6291455", "int32", "float32", NDArray::Scalar<std::int32_t>(-6291455)},
      {"32001i16", "int16", "float16", NDArray::Scalar<std::int16_t>(0x7D01)},
      {"32641i16", "int16", "bfloat16", NDArray::Scalar<std::int16_t>(0x7F81)}};
  for (const auto& [number, bits, type, value] : cases) {
    const auto moved = [&](const char* x) {
      return Parse(StrCat("def @main(%x: ", bits, ", %zero: ", bits,
                          ") { subtract(reinterpret(reinterpret(", x, ", dtype=\"", type,
                          "\"), dtype=\"", bits, "\"), %zero) }"));
    };
    const NDArray zero = NDArray::Zeros({}, value.dtype());
    for (const ir::Module& module : {moved("%x"), moved(number)}) {
      for (const int level : {0, 3}) {
        const auto results =
            ValueOrThrow(Compile(module, {.opt_level = level})).Run({{"x", value}, {"zero", zero}});
        EXPECT_TRUE(ValueOrThrow(results)[0].SameBytes(value)) << number << ", level " << level;
      }
      EXPECT_TRUE(VerifyModel(module, {{"x", value}, {"zero", zero}}).ok()) << number;
    }
  }
}

// 1 / 0 tells zeros apart, and the sign of a zero that a sum gives is open.
TEST(NudgeTest, ZerosOfSumsHaveEitherSign) {
  const ir::Module module = passes::InferType(
      Parse("def @main(%x: float32) { (divide(1f, add(%x, %x)), divide(1f, negative(%x))) }"));
  const std::vector<NDArray> inputs = {NDArray::Scalar(0.0F)};
  Random random(1);
  const Nudge nudge(1e-6, random);
  int changed = 0;
  for (int i = 0; i < 40; ++i) {
    const auto results = Interpret(
        module, inputs, [&](const NDArray& array, const ir::Expr& of) { return nudge(array, of); });
    changed += results[0].data<float>()[0] < 0;
    EXPECT_LT(results[1].data<float>()[0], 0);
  }
  EXPECT_GT(changed, 5);
  EXPECT_LT(changed, 35);
}

}  // namespace
}  // namespace tenon::verify
