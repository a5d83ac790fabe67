#include "tenon/verify/verify_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/ops/registry.h"
#include "tenon/support/strings.h"
#include "tenon/tests/testing/graph_testing.h"
#include "tenon/tests/testing/relay_text.h"

namespace tenon {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(VerifyModelTest, WaysToRunAModelAgree) {
  const ir::Module module = Parse(
      "def @main(%x: Tensor[(3, 17), float32], %w: Tensor[(5, 17), float32], %i: Tensor[(3), "
      "int32]) {\n"
      "  (nn.softmax(nn.relu(nn.dense(%x, %w))), add(%i, %i)) }");
  const auto verification =
      VerifyModel(module, {{"x", NDArray::FromVector<float>({3, 17}, std::vector<float>(51, 0.3F))},
                           {"w", NDArray::FromVector<float>({5, 17}, std::vector<float>(85, -2))},
                           {"i", NDArray::FromVector<int>({3}, {1, 2, 3})}});
  ASSERT_TRUE(verification.ok()) << verification.status();
  EXPECT_LT(verification->unfused, 1e-5);
  EXPECT_LT(verification->interpreted, 1e-5);
  EXPECT_THAT(verification->ToString(), HasSubstr("verified: the largest difference"));
}

// The interpreter adds one element after the other, kernels add in vectors: no difference at all is
// more than can be asked for.
TEST(VerifyModelTest, ADifferenceIsNamedWithItsElement) {
  const ir::Module module =
      Parse("def @main(%x: Tensor[(1009), float32]) { sum(tanh(%x), axis=[0]) }");
  std::vector<float> values(1009);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = 0.0037F * static_cast<float>(i);
  const auto verification =
      VerifyModel(module, {{"x", NDArray::FromVector<float>({1009}, values)}}, {}, 0);
  ASSERT_FALSE(verification.ok());
  EXPECT_EQ(verification.status().code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(verification.status().message()),
              AllOf(HasSubstr("verify: result 0 at () is "), HasSubstr(", but "),
                    HasSubstr("results may differ by 0 of their largest element")));
}

// Fused values of 16 bits are rounded once, others after each operator.
TEST(VerifyModelTest, SixteenBitsMayDifferByUnitsInTheirLastPlace) {
  for (const char* type : {"float16", "bfloat16"}) {
    const std::string t = type;
    const ir::Module module =
        Parse("def @main(%x: Tensor[(33, 33), float32]) {\n  let %y = cast(%x, dtype=\"" + t +
              "\");\n  nn.relu(subtract(nn.softmax(%y), mean(%y, axis=[1], keepdims=True)))\n}");
    std::vector<float> values(33 * 33);
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = 0.01F * static_cast<float>(i * 37 % 201) - 1;
    const auto verification =
        VerifyModel(module, {{"x", NDArray::FromVector<float>({33, 33}, values)}});
    EXPECT_TRUE(verification.ok()) << type << ": " << verification.status();
  }
}

// In 16 bits, a sum of ones would stop at 256 or 2048.
TEST(VerifyModelTest, LongSumsOfHalvesAreTakenInFloat32) {
  for (const char* type : {"float16", "bfloat16"}) {
    const ir::Module module =
        Parse(StrCat("def @main(%x: Tensor[(6000), float32]) { "
                     "sum(cast(%x, dtype=\"",
                     type, "\")) }"));
    const auto verified = VerifyModel(
        module, {{"x", NDArray::FromVector<float>({6000}, std::vector<float>(6000, 1.0F))}});
    EXPECT_TRUE(verified.ok()) << verified.status();
  }
}

TEST(VerifyModelTest, AMissingInputIsAnErrorOfTheRun) {
  const auto verification =
      VerifyModel(Parse("def @main(%x: Tensor[(2), float32]) { exp(%x) }"), {});
  EXPECT_EQ(verification.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(verification.status().message()), HasSubstr("input 'x' is missing"));
}

TEST(VerifyModelTest, SymbolicModelsAreVerifiedForTheInputs) {
  const ir::Module module =
      testing_graphs::Parsed("def @main(%x: Tensor[(n, ?), float32]) { nn.softmax(%x) }");
  const auto verified = VerifyModel(module, {{"x", testing_graphs::Random({3, 7}, 1)}});
  ASSERT_TRUE(verified.ok()) << verified.status();
  EXPECT_LT(verified->interpreted, 1e-5);
}

TEST(VerifyModelTest, FunctionsThatAreValuesAreVerified) {
  for (const char* text : {"def @main(%x: Tensor[(4), float32]) { let %f = fn (%y: Tensor[(4), "
                           "float32]) { negative(%y) "
                           "}; %f(%f(%x)) }",
                           "def @g(%f: fn (Tensor[(4), float32]) -> Tensor[(4), float32], %x: "
                           "Tensor[(4), float32]) -> "
                           "Tensor[(4), float32] { %f(%f(%x)) }\n"
                           "def @main(%x: Tensor[(4), float32]) { @g(fn (%y: Tensor[(4), float32]) "
                           "{ negative(%y) }, %x) "
                           "}"}) {
    const auto verified = VerifyModel(Parse(text), {{"x", testing_graphs::Random({4}, 1)}});
    EXPECT_TRUE(verified.ok()) << verified.status();
  }
}

}  // namespace
}  // namespace tenon
