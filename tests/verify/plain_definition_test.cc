// The plain definitions agree with results that are known by hand, and tell wrong ones from them.
#include "tenon/verify/plain_definition.h"

#include <cstdint>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/ops/registry.h"
#include "tenon/passes/infer_type.h"
#include "tenon/support/error.h"
#include "tenon/tests/relay_text.h"
#include "tenon/verify/check_refusals.h"
#include "tenon/verify/interpret.h"

namespace tenon::verify {
namespace {

using ::testing::Eq;
using ::testing::HasSubstr;
using ::testing::Optional;

// What is said of `result` for a module that is one call over its parameters.
std::optional<std::string> SaidOf(const std::string& text, const std::vector<NDArray>& args,
                                  const NDArray& result) {
  const ir::Module module = passes::InferType(Parse(text));
  return DifferenceFromDefinition(*module.Main().body.As<ir::CallNode>(), args, result);
}

TEST(PlainDefinitionTest, AMeanCountsBeyondItsType) {
  const char* text = "def @main(%x: Tensor[(256), uint8]) { mean(%x) }";
  const NDArray ones = NDArray::FromVector<std::uint8_t>({256}, std::vector<std::uint8_t>(256, 1));
  EXPECT_EQ(SaidOf(text, {ones}, NDArray::Scalar<std::uint8_t>(1)), std::nullopt);
  EXPECT_THAT(SaidOf(text, {ones}, NDArray::Scalar<std::uint8_t>(0)),
              Optional(HasSubstr("is 0; by the definition of mean it is 1")));
}

TEST(PlainDefinitionTest, AClipTakesTheUpperOfCrossedBounds) {
  const char* text = "def @main(%x: float32) { clip(%x, a_min=2f64, a_max=-1f64) }";
  const NDArray x = NDArray::Scalar<float>(0);
  EXPECT_EQ(SaidOf(text, {x}, NDArray::Scalar<float>(-1)), std::nullopt);
  EXPECT_THAT(SaidOf(text, {x}, NDArray::Scalar<float>(2)), Optional(HasSubstr("it is -1")));
}

TEST(PlainDefinitionTest, AClipOfUInt64EndsWhereItsTypeDoes) {
  const char* text =
      "def @main(%x: uint64) { clip(%x, a_min=0f64, a_max=1.8446744073709552e19f64) }";
  constexpr std::uint64_t kLarge = (std::uint64_t{1} << 63) + 5;
  const NDArray x = NDArray::Scalar(kLarge);
  EXPECT_EQ(SaidOf(text, {x}, x), std::nullopt);
  EXPECT_NE(SaidOf(text, {x}, NDArray::Scalar<std::uint64_t>(kLarge / 2)), std::nullopt);
}

// 1 + 2^-8 + 2^-30 lies above the middle of two neighbours; in float32 it is the middle.
TEST(PlainDefinitionTest, AConversionRoundsOnce) {
  const char* text = "def @main(%x: float64) { cast(%x, dtype=\"bfloat16\") }";
  const NDArray x = NDArray::Scalar(1 + 0x1p-8 + 0x1p-30);
  const NDArray right = NDArray::Empty({}, BFloat16), wrong = right.Clone();
  *static_cast<std::uint16_t*>(right.raw()) = 0x3F81;
  *static_cast<std::uint16_t*>(wrong.raw()) = 0x3F80;
  EXPECT_EQ(SaidOf(text, {x}, right), std::nullopt);
  EXPECT_THAT(SaidOf(text, {x}, wrong), Optional(HasSubstr("it is 1.00781")));
}

TEST(PlainDefinitionTest, IntegersWrapAroundAndDivideDown) {
  const char* product = "def @main(%x: int64) { multiply(%x, %x) }";
  const NDArray x = NDArray::Scalar<std::int64_t>((std::int64_t{1} << 62) + 3);
  EXPECT_EQ(SaidOf(product, {x, x},
                   NDArray::Scalar(static_cast<std::int64_t>((std::uint64_t{6} << 62) + 9))),
            std::nullopt);
  const char* quotient = "def @main(%x: int32, %y: int32) { floor_divide(%x, %y) }";
  const NDArray seven = NDArray::Scalar<std::int32_t>(-7), two = NDArray::Scalar<std::int32_t>(2);
  EXPECT_EQ(SaidOf(quotient, {seven, two}, NDArray::Scalar<std::int32_t>(-4)), std::nullopt);
  EXPECT_NE(SaidOf(quotient, {seven, two}, NDArray::Scalar<std::int32_t>(-3)), std::nullopt);
}

TEST(PlainDefinitionTest, ReducesWhereTheAttributesSay) {
  const char* text = "def @main(%x: Tensor[(2, 3), int32]) { sum(%x, axis=[0], exclude=True) }";
  const NDArray x = NDArray::FromVector<std::int32_t>({2, 3}, {1, 2, 3, 10, 20, 30});
  EXPECT_EQ(SaidOf(text, {x}, NDArray::FromVector<std::int32_t>({2}, {6, 60})), std::nullopt);
  EXPECT_THAT(SaidOf(text, {x}, NDArray::FromVector<std::int32_t>({2}, {6, 61})),
              Optional(HasSubstr("element (1,)")));
}

TEST(CheckRefusalsTest, WhatTypesRefuseTheCompilerRefuses) {
  Random random(1790000000);
  int compiled = 0;
  EXPECT_THAT(CheckRefusals(400, random, [&](const std::string&) { ++compiled; }),
              Eq(std::nullopt));
  EXPECT_GT(compiled, 100);
}

}  // namespace
}  // namespace tenon::verify
