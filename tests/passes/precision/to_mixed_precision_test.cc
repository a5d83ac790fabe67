#include "tenon/passes/precision/to_mixed_precision.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/passes/infer_type.h"
#include "tenon/passes/pipeline.h"
#include "tenon/support/strings.h"
#include "tenon/tests/testing/relay_text.h"

namespace tenon::passes {
namespace {

using ir::Module;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kVersion[] = "#[version = \"0.0.5\"]\n";

Module Typed(const std::string& text) { return InferType(Parse(text)); }
// Over a dense layer %d of (2, 5).
std::string OverDense(const std::string& body) {
  return StrCat(
      "def @main(%x: Tensor[(2, 3), float32], %w: Tensor[(5, 3), float32], %y: Tensor[(2, 5), "
      "float32]) {\n  %0 = nn.dense(%x, %w, units=5);\n  ",
      body, "\n}");
}
// The lines that the pass makes after those of the dense layer itself.
std::string Mixed(const std::string& body) {
  return Print(ToMixedPrecision(Typed(OverDense(body))));
}

TEST(ToMixedPrecisionTest, ProductsTakeLowOperandsAndSumInFloat32) {
  EXPECT_EQ(
      Mixed("%0"),
      std::string(kVersion) +
          R"(def @main(%x: Tensor[(2, 3), float32], %w: Tensor[(5, 3), float32], %y: Tensor[(2, 5), float32]) -> Tensor[(2, 5), float32] {
  %0 = cast(%x, dtype="bfloat16") /* ty=Tensor[(2, 3), bfloat16] */;
  %1 = cast(%w, dtype="bfloat16") /* ty=Tensor[(5, 3), bfloat16] */;
  nn.dense(%0, %1, units=5, out_dtype="float32") /* ty=Tensor[(2, 5), float32] */
}
)");
}

TEST(ToMixedPrecisionTest, FollowersAreLowAndTheResultIsCastBack) {
  EXPECT_EQ(
      Mixed("nn.relu(add(%0, %y))"),
      std::string(kVersion) +
          R"(def @main(%x: Tensor[(2, 3), float32], %w: Tensor[(5, 3), float32], %y: Tensor[(2, 5), float32]) -> Tensor[(2, 5), float32] {
  %0 = cast(%x, dtype="bfloat16") /* ty=Tensor[(2, 3), bfloat16] */;
  %1 = cast(%w, dtype="bfloat16") /* ty=Tensor[(5, 3), bfloat16] */;
  %2 = nn.dense(%0, %1, units=5, out_dtype="float32") /* ty=Tensor[(2, 5), float32] */;
  %3 = cast(%2, dtype="bfloat16") /* ty=Tensor[(2, 5), bfloat16] */;
  %4 = cast(%y, dtype="bfloat16") /* ty=Tensor[(2, 5), bfloat16] */;
  %5 = add(%3, %4) /* ty=Tensor[(2, 5), bfloat16] */;
  %6 = nn.relu(%5) /* ty=Tensor[(2, 5), bfloat16] */;
  cast(%6, dtype="float32") /* ty=Tensor[(2, 5), float32] */
}
)");
}

// What the sum loses by rounding is not lost to an operator that takes it in float32.
TEST(ToMixedPrecisionTest, OperatorsOfTheNeverListReadTheSumItself) {
  EXPECT_THAT(Mixed("nn.softmax(%0)"), HasSubstr("nn.softmax(%2)"));
  EXPECT_THAT(Mixed("nn.softmax(nn.relu(%0))"), HasSubstr("cast(%4, dtype=\"float32\")"));
}

TEST(ToMixedPrecisionTest, AnOperandInFloat32KeepsAFollowerInFloat32) {
  const std::string text = Mixed("add(%0, exp(%y))");
  EXPECT_THAT(text, HasSubstr("%3 = exp(%y)"));
  EXPECT_THAT(text, HasSubstr("add(%2, %3) /* ty=Tensor[(2, 5), float32] */"));
}

TEST(ToMixedPrecisionTest, EveryValueIsCastOnce) {
  const std::string text = Mixed("add(add(%0, %y), multiply(%0, %y))");
  std::size_t casts = 0;
  for (std::size_t at = text.find("bfloat16\")"); at != std::string::npos;
       at = text.find("bfloat16\")", at + 1))
    ++casts;
  EXPECT_EQ(casts, 4U);  // x, w, the sum and y
}

TEST(ToMixedPrecisionTest, TuplesAreLowFieldByField) {
  const std::string text = Mixed(
      "%1 = split(%0, indices_or_sections=[2], axis=1);\n  %2 = concatenate((%1.1, %1.0), "
      "axis=1);\n  (%2, %1)");
  EXPECT_THAT(text, HasSubstr("concatenate(%7, axis=1) /* ty=Tensor[(2, 5), bfloat16] */"));
  const Module mixed =
      ToMixedPrecision(Typed(OverDense("split(%0, indices_or_sections=5, axis=1)")));
  EXPECT_THAT(ir::ToString(mixed.Main().body.checked_type()), Not(HasSubstr("bfloat16")));
}

TEST(ToMixedPrecisionTest, ClipBeyondTheRangeOfTheTypeStaysInFloat32) {
  const Module typed = Typed(OverDense("clip(%0, a_min=-70000f, a_max=70000f)"));
  EXPECT_THAT(Print(ToMixedPrecision(typed, {.type = Float16})),
              HasSubstr("a_max=70000f) /* ty=Tensor[(2, 5), float32] */"));
  EXPECT_THAT(Print(ToMixedPrecision(typed, {.type = BFloat16})),
              HasSubstr("a_max=70000f) /* ty=Tensor[(2, 5), bfloat16] */"));
}

// A number that masks values would become an infinity, and one that keeps a divisor from 0 would
// become 0.
TEST(ToMixedPrecisionTest, ConstantsBeyondTheRangeOfTheTypeKeepTheirReadersInFloat32) {
  const auto is_low = [](const std::string& reader, DataType type) {
    const Module typed = Typed(OverDense(StrCat("%1 = ", reader, ";\n  nn.relu(%1)")));
    const std::string text = Print(ToMixedPrecision(typed, {.type = type}));
    const std::string relu = text.substr(text.find("nn.relu("));
    return relu.substr(0, relu.find('\n')).find(type.ToString()) != std::string::npos;
  };
  EXPECT_TRUE(is_low("maximum(%0, -1e9f)", BFloat16));
  EXPECT_FALSE(is_low("maximum(%0, -1e9f)", Float16));
  EXPECT_FALSE(is_low("maximum(%0, -3.4028235e38f)", BFloat16));
  EXPECT_TRUE(is_low("add(%0, 1e-5f)", Float16));
  EXPECT_FALSE(is_low("add(%0, 1e-12f)", Float16));
  EXPECT_TRUE(is_low("add(%0, 1e-12f)", BFloat16));
  EXPECT_FALSE(is_low("clip(%0, a_min=1e-12f, a_max=6f)", Float16));
}

TEST(ToMixedPrecisionTest, TheResultMayStayLow) {
  const Module mixed = ToMixedPrecision(Typed(OverDense("nn.relu(%0)")),
                                        {.type = Float16, .keep_output_type = false});
  EXPECT_EQ(ir::ToString(mixed.Main().body.checked_type()), "Tensor[(2, 5), float16]");
}

TEST(ToMixedPrecisionTest, UnlistedOperatorsAreReportedAndStayInFloat32) {
  std::vector<std::string> unlisted;
  const Module typed = Typed(OverDense("sinh(nn.relu(cosh(%0)))"));
  EXPECT_THAT(Print(ToMixedPrecision(typed, {.unlisted = &unlisted})),
              HasSubstr("sinh(%4) /* ty=Tensor[(2, 5), float32] */"));
  EXPECT_THAT(unlisted, ElementsAre("cosh", "sinh"));
}

TEST(ToMixedPrecisionTest, OtherTypesAreRefused) {
  const Error error = ErrorOf([] { ToMixedPrecision(Module(), {.type = Float64}); });
  EXPECT_EQ(error.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(error.message(),
            "ToMixedPrecision: the type is float64; it may be bfloat16 or float16");
}

TEST(ToMixedPrecisionTest, TypesAreChecked) {
  const Module mixed = ToMixedPrecision(Typed(OverDense("nn.relu(%0)")));
  EXPECT_EQ(InferType(mixed), mixed);
}

TEST(ToMixedPrecisionTest, IsNoPassThatKeepsValues) {
  EXPECT_THAT(PassNames(), Contains("ToMixedPrecision"));
  EXPECT_THAT(ExactPassNames(), Not(Contains("ToMixedPrecision")));
}

class ToMixedPrecisionLeavesTest : public ::testing::TestWithParam<NamedText> {};

TEST_P(ToMixedPrecisionLeavesTest, TheSameNodes) {
  const Module typed = Typed(GetParam().text);
  EXPECT_EQ(ToMixedPrecision(typed), typed);
}

INSTANTIATE_TEST_SUITE_P(
    NoChange, ToMixedPrecisionLeavesTest,
    ::testing::Values(
        NamedText{"ElementwiseAlone",
                  "def @main(%x: Tensor[(2), float32]) { nn.relu(add(%x, %x)) }"},
        NamedText{"Float64",
                  "def @main(%x: Tensor[(2, 3), float64], %w: Tensor[(5, 3), float64]) "
                  "{ nn.relu(nn.dense(%x, %w)) }"},
        NamedText{"Integers",
                  "def @main(%x: Tensor[(2, 3), int8], %w: Tensor[(5, 3), int8]) { "
                  "nn.dense(%x, %w, out_dtype=\"int32\") }"},
        NamedText{"Softmax", "def @main(%x: Tensor[(2, 3), float32]) { nn.softmax(%x) }"},
        NamedText{"Primitive",
                  "def @main(%x: Tensor[(2, 3), float32], %w: Tensor[(5, 3), float32]) { %0 = fn "
                  "(%p: Tensor[(2, 3), float32], %q: Tensor[(5, 3), float32], Primitive=1) -> "
                  "Tensor[(2, 5), float32] { nn.dense(%p, %q) }; %0(%x, %w) }"}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace tenon::passes
