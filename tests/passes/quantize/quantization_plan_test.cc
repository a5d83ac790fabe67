// Numbers are proved in tests/quantize/quantize_test.cc.
#include "tenon/passes/quantize/quantization_plan.h"

#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/ir/visit.h"
#include "tenon/passes/infer_type.h"
#include "tenon/passes/quantize/insert_quantization.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/tests/passes/quantize/body_text.h"
#include "tenon/tests/testing/relay_text.h"

namespace tenon::passes {
namespace {

using ir::Expr;
using ir::Module;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kInput[] = "%x: Tensor[(1, 4, 8, 8), float32], ";
constexpr char kWeight[] = "%w: Tensor[(4, 4, 3, 3), float32]";

Module Typed(const std::string& body) {
  return InferType(Parse(StrCat("def @main(", kInput, kWeight, ") {\n", body, "\n}")));
}

std::string NameOf(const Expr& e) {
  if (const auto* var = e.As<ir::VarNode>()) return var->name;
  return e.As<ir::CallNode>()->op()->name;
}

// What becomes bytes, in the order of the module.
std::vector<std::string> ValuesOf(const Module& module) {
  std::vector<std::string> names;
  for (const Expr& value : PlanQuantization(module).values) names.push_back(NameOf(value));
  return names;
}

TEST(PlanQuantizationTest, OperandsOfProductsAreBytes) {
  const Module module = Typed("nn.conv2d(nn.relu(%x), %w, padding=[1, 1])");
  EXPECT_THAT(ValuesOf(module), ElementsAre("nn.relu", "w"));
}

TEST(PlanQuantizationTest, ASumOfTwoReadsBytesWhereAllThatReadItDo) {
  const char* block =
      "%0 = nn.conv2d(%x, %w, padding=[1, 1]);\n"
      "%1 = nn.relu(add(%0, %x));\n"
      "%2 = nn.conv2d(%1, %w, padding=[1, 1]);\n";
  EXPECT_THAT(ValuesOf(Typed(StrCat(block, "%2"))), ElementsAre("x", "w", "nn.conv2d", "nn.relu"));
  // The result of the model reads the sum as it is.
  EXPECT_THAT(ValuesOf(Typed(StrCat(block, "(%1, %2)"))), ElementsAre("x", "w", "nn.relu"));
}

TEST(PlanQuantizationTest, ValuesAreBytesBeforeTheyAreMoved) {
  const Module module = Typed(
      "%0 = nn.max_pool2d(sigmoid(%x), pool_size=[2, 2], strides=[2, 2]);\n"
      "nn.conv2d(%0, %w, padding=[1, 1])");
  EXPECT_THAT(ValuesOf(module), ElementsAre("sigmoid", "w"));
}

TEST(PlanQuantizationTest, FieldsOfAConcatenationAndArgumentsOfMeansAreBytes) {
  const Module module = Typed(
      "%0 = sigmoid(%x);\n"
      "%1 = concatenate((%0, tanh(%x)), axis=2);\n"
      "%2 = nn.avg_pool2d(%1, pool_size=[2, 2], strides=[2, 2]);\n"
      "nn.conv2d(%2, %w, padding=[1, 1])");
  EXPECT_THAT(ValuesOf(module),
              ElementsAre("sigmoid", "tanh", "concatenate", "nn.avg_pool2d", "w"));
}

TEST(PlanQuantizationTest, ProductsThatAreNotWantedStay) {
  const Module module =
      Typed("%0 = nn.conv2d(%x, %w, padding=[1, 1]);\nnn.conv2d(nn.relu(%0), %w, padding=[1, 1])");
  const QuantizationPlan all = PlanQuantization(module);
  ASSERT_EQ(all.products.size(), 2U);
  const QuantizationPlan second =
      PlanQuantization(module, [&](const Expr& e) { return e == all.products[1]; });
  EXPECT_THAT(second.products, ElementsAre(all.products[1]));
  EXPECT_EQ(second.operands.size(), 2U);
  EXPECT_THAT(second.refusals, IsEmpty());
}

TEST(PlanQuantizationTest, BranchesStayInFloatingPoint) {
  const Module module =
      InferType(Parse("def @main(%c: Tensor[(), bool], %x: Tensor[(2, 3), float32], %w: Tensor[(4, "
                      "3), float32]) {\n"
                      "  if (%c) { nn.dense(%x, %w) } else { nn.dense(tanh(%x), %w) }\n}"));
  EXPECT_THAT(PlanQuantization(module).products, IsEmpty());
}

TEST(PlanQuantizationTest, ProductsThatCannotBeBytesSayWhy) {
  const Module halves = InferType(Parse(
      "def @main(%x: Tensor[(2, 3), float16], %w: Tensor[(4, 3), float16]) { nn.dense(%x, %w) }"));
  const QuantizationPlan plan = PlanQuantization(halves);
  EXPECT_THAT(plan.products, IsEmpty());
  ASSERT_EQ(plan.refusals.size(), 0U) << "products of other types are none that could be taken";

  const Module transposed =
      InferType(Parse("def @main(%x: Tensor[(3, 2), float32], %w: Tensor[(4, 3), float32]) {\n"
                      "  nn.matmul(%x, %w, transpose_a=True, transpose_b=True)\n}"));
  ASSERT_EQ(PlanQuantization(transposed).refusals.size(), 1U);
  EXPECT_EQ(PlanQuantization(transposed).refusals[0].reason, "its first operand is transposed");
}

TEST(InsertQuantizationTest, RoundsEachValueOnceForAllItsReaders) {
  const Module module =
      InferType(Parse("def @main(%x: Tensor[(2, 3), float32], %w: Tensor[(4, 3), float32]) {\n"
                      "  (nn.dense(%x, %w), nn.dense(%x, tanh(%w)))\n}"));
  const QuantizationPlan plan = PlanQuantization(module);
  ASSERT_EQ(plan.values.size(), 3U);
  const std::vector<ByteRange> ranges = {{-1.0F, 1.55F}, {0.5F, 2.55F}, {-0.0F, 0.0F}};
  const Module bytes = InsertQuantization(module, plan, ranges);
  EXPECT_EQ(BodyOf(bytes),
            "  %0 = qnn.quantize(%x, 0.01f, meta[relay.Constant][0], out_dtype=\"uint8\");\n"
            "  %1 = qnn.quantize(%w, 0.01f, meta[relay.Constant][1], out_dtype=\"uint8\");\n"
            "  %2 = qnn.dequantize(%0, 0.01f, meta[relay.Constant][0]);\n"
            "  %3 = qnn.dequantize(%1, 0.01f, meta[relay.Constant][1]);\n"
            "  %4 = tanh(%w);\n"
            "  %5 = qnn.quantize(%4, 4.7019774e-38f, meta[relay.Constant][2], "
            "out_dtype=\"uint8\");\n"
            "  %6 = qnn.dequantize(%5, 4.7019774e-38f, meta[relay.Constant][2]);\n"
            "  %7 = nn.dense(%2, %3, units=None);\n"
            "  %8 = nn.dense(%2, %6, units=None);\n"
            "  (%7, %8)\n}\n");
}

TEST(InsertQuantizationTest, RefusesRangesThatAreNone) {
  const Module module = Typed("nn.conv2d(%x, %w)");
  const QuantizationPlan plan = PlanQuantization(module);
  const auto message = [&](std::vector<ByteRange> ranges) -> std::string {
    try {
      InsertQuantization(module, plan, ranges);
    } catch (const Error& e) {
      return e.message();
    }
    return "nothing";
  };
  EXPECT_EQ(message({{0, 1}}), "there are 1 ranges for 2 values");
  EXPECT_THAT(message({{0, 1}, {1, 0}}), HasSubstr("the range of value 1 is from 1 to 0"));
  EXPECT_THAT(message({{0, std::numeric_limits<float>::infinity()}, {0, 1}}),
              HasSubstr("its ends must be finite and in order"));
  EXPECT_THAT(message({{std::nanf(""), 1}, {0, 1}}), HasSubstr("must be finite"));
}

}  // namespace
}  // namespace tenon::passes
