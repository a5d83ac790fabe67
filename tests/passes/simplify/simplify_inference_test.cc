// What only training needs is replaced: goldens of the reference.
#include "tenon/passes/simplify/simplify_inference.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/ops/builders.h"
#include "tenon/passes/infer_type.h"
#include "tenon/support/strings.h"
#include "tenon/tests/testing/relay_text.h"

namespace tenon::passes {
namespace {

using ir::Module;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kVersion[] = "#[version = \"0.0.5\"]\n";

Module Simplified(std::string_view text) {
  return InferType(SimplifyInference(InferType(Parse(text))));
}

std::string TypeOf(const Module& m) { return ir::ToString(m.Main().body.checked_type()); }

// A function over NCHW data with parameters for 3 channels, around `body`.
std::string OverImages(const std::string& body) {
  return "def @main(%x: Tensor[(1, 3, 4, 4), float32], %g: Tensor[(3), float32], "
         "%b: Tensor[(3), float32], %m: Tensor[(3), float32], %v: Tensor[(3), float32]) {\n  " +
         body + "\n}";
}

// The variance of halves around 400 is more than a half can be, and 1e-8 is less.
TEST(SimplifyInferenceTest, NormalisationsOfHalvesAreComputedInFloat32) {
  for (const char* call : {"nn.instance_norm(%x, %g, %b, epsilon=1e-08f)",
                           "nn.group_norm(%x, %g, %b, num_groups=3, epsilon=1e-08f)",
                           "nn.batch_norm(%x, %g, %b, %m, %v, epsilon=1e-08f).0"}) {
    for (const std::string type : {"float16", "bfloat16"}) {
      SCOPED_TRACE(call + type);
      std::string text = OverImages(call);
      for (std::size_t at; (at = text.find("float32")) != std::string::npos;)
        text.replace(at, 7, type);
      const std::string printed = Print(Simplified(text));
      EXPECT_THAT(printed, HasSubstr("cast(%x, dtype=\"float32\")"));
      EXPECT_THAT(printed, ::testing::ContainsRegex("sqrt\\(%[0-9]+\\)[^;]*float32\\]"));
      EXPECT_THAT(printed, HasSubstr("dtype=\"" + type + "\") /* ty=Tensor[(1, 3, 4, 4), " + type));
    }
  }
}

// Products and sums would broadcast a vector of one element, and data of one channel.
TEST(SimplifyInferenceTest, VectorsUnderAnotherVariableKeepThatExtentsAreEqual) {
  const std::string counted =
      "%r: Tensor[(5), float32], %c: Tensor[(1), int64]) {\n"
      "  %0 = take_first(%r, %c, extent=\"#c\");\n  ";
  for (const std::string& text :
       {std::string("def @main(%x: Tensor[(1, n, 4), float32], %g: Tensor[(3), float32]) {\n"
                    "  nn.batch_norm(%x, %g, %g, %g, %g).0\n}"),
        "def @main(%x: Tensor[(2, 3), float32], " + counted +
            "nn.batch_norm(%x, %0, %0, %0, %0).0\n}",
        "def @main(%x: Tensor[(1, 4, 3), float32], " + counted +
            "nn.group_norm(%x, %0, %0, num_groups=3, axis=2)\n}"}) {
    const Module simplified = Simplified(text);
    EXPECT_THAT(Print(simplified), Not(HasSubstr("norm("))) << text;
    const std::vector<ExtentCondition> conditions = ConditionsOf(simplified);
    ASSERT_FALSE(conditions.empty()) << text;
    for (const ExtentCondition& condition : conditions)
      EXPECT_EQ(condition.kind, ExtentCondition::Kind::kEqual) << text;
    const Module typed = InferType(Parse(text));
    EXPECT_EQ(TypeOf(simplified), TypeOf(typed));
  }
}

// The printer tells variables of one name apart.
TEST(SimplifyInferenceTest, S001_05_InputOfTheExamplePrintsWithSuffixes) {
  const auto vector = ir::TensorType({10}, Float32);
  const ir::Var x = ir::Var::Make("x", ir::TensorType({1, 10}, Float32));
  const ir::Var gamma = ir::Var::Make("x", vector);
  const ir::Var beta = ir::Var::Make("y", vector);
  const ir::Var mean = ir::Var::Make("a", vector);
  const ir::Var var = ir::Var::Make("b", vector);
  const ir::Expr norm = ir::TupleGetItem::Make(ops::BatchNorm(x, gamma, beta, mean, var), 0);
  const Module module = Module::FromExpr(ir::TupleGetItem::Make(ops::Dropout(norm), 0));
  EXPECT_EQ(Print(module),
            std::string(kVersion) +
                "def @main(%x: Tensor[(1, 10), float32], %x1: Tensor[(10), float32], "
                "%y: Tensor[(10), float32], %a: Tensor[(10), float32], "
                "%b: Tensor[(10), float32]) {\n"
                "  %0 = nn.batch_norm(%x, %x1, %y, %a, %b);\n"
                "  %1 = %0.0;\n"
                "  %2 = nn.dropout(%1);\n"
                "  %2.0\n"
                "}\n");
}

// The operators, their order and their numbers.
TEST(SimplifyInferenceTest,
     S001_06_S001_11_BatchNormOverTheLastAxisBecomesEightLinesAndAnAddition) {
  EXPECT_EQ(
      Print(Simplified("def @main(%x: Tensor[(1, 10), float32], %x1: Tensor[(10), float32], "
                       "%y: Tensor[(10), float32], %a: Tensor[(10), float32], "
                       "%b: Tensor[(10), float32]) {\n"
                       "  %0 = nn.batch_norm(%x, %x1, %y, %a, %b);\n"
                       "  %1 = nn.dropout(%0.0);\n"
                       "  %1.0\n"
                       "}")),
      std::string(kVersion) +
          R"(def @main(%x: Tensor[(1, 10), float32], %x1: Tensor[(10), float32], %y: Tensor[(10), float32], %a: Tensor[(10), float32], %b: Tensor[(10), float32]) -> Tensor[(1, 10), float32] {
  %0 = add(%b, 1e-05f /* ty=float32 */) /* ty=Tensor[(10), float32] */;
  %1 = sqrt(%0) /* ty=Tensor[(10), float32] */;
  %2 = divide(1f /* ty=float32 */, %1) /* ty=Tensor[(10), float32] */;
  %3 = multiply(%2, %x1) /* ty=Tensor[(10), float32] */;
  %4 = negative(%a) /* ty=Tensor[(10), float32] */;
  %5 = multiply(%4, %3) /* ty=Tensor[(10), float32] */;
  %6 = multiply(%x, %3) /* ty=Tensor[(1, 10), float32] */;
  %7 = add(%5, %y) /* ty=Tensor[(10), float32] */;
  add(%6, %7) /* ty=Tensor[(1, 10), float32] */
}
)");
}

// Scale and shift get axes of extent 1 after the channel axis.
TEST(SimplifyInferenceTest, S001_10_ChannelAxisThatIsNotLastExpandsScaleAndShift) {
  EXPECT_EQ(
      Print(Simplified(OverImages("nn.batch_norm(%x, %g, %b, %m, %v).0"))),
      std::string(kVersion) +
          R"(def @main(%x: Tensor[(1, 3, 4, 4), float32], %g: Tensor[(3), float32], %b: Tensor[(3), float32], %m: Tensor[(3), float32], %v: Tensor[(3), float32]) -> Tensor[(1, 3, 4, 4), float32] {
  %0 = add(%v, 1e-05f /* ty=float32 */) /* ty=Tensor[(3), float32] */;
  %1 = sqrt(%0) /* ty=Tensor[(3), float32] */;
  %2 = divide(1f /* ty=float32 */, %1) /* ty=Tensor[(3), float32] */;
  %3 = multiply(%2, %g) /* ty=Tensor[(3), float32] */;
  %4 = expand_dims(%3, axis=1, num_newaxis=2) /* ty=Tensor[(3, 1, 1), float32] */;
  %5 = negative(%m) /* ty=Tensor[(3), float32] */;
  %6 = multiply(%5, %3) /* ty=Tensor[(3), float32] */;
  %7 = add(%6, %b) /* ty=Tensor[(3), float32] */;
  %8 = multiply(%x, %4) /* ty=Tensor[(1, 3, 4, 4), float32] */;
  %9 = expand_dims(%7, axis=1, num_newaxis=2) /* ty=Tensor[(3, 1, 1), float32] */;
  add(%8, %9) /* ty=Tensor[(1, 3, 4, 4), float32] */
}
)");
}

// The lines of @main for NCHW data, without comments of types.
std::string LinesFor(const std::string& attrs) {
  std::string text =
      Print(Simplified(OverImages("nn.batch_norm(%x, %g, %b, %m, %v" + attrs + ").0")));
  for (std::size_t at = text.find(" /*"); at != std::string::npos; at = text.find(" /*", at))
    text.erase(at, text.find("*/", at) + 2 - at);
  return text.substr(text.find(" {\n") + 3);
}

// Without center the shift is still that of the mean.
TEST(SimplifyInferenceTest, S001_09_WithoutScaleAndCenterGammaAndBetaAreNotUsed) {
  EXPECT_EQ(LinesFor(", scale=False, center=False"),
            "  %0 = add(%v, 1e-05f);\n  %1 = sqrt(%0);\n  %2 = divide(1f, %1);\n"
            "  %3 = expand_dims(%2, axis=1, num_newaxis=2);\n  %4 = negative(%m);\n"
            "  %5 = multiply(%4, %2);\n  %6 = multiply(%x, %3);\n"
            "  %7 = expand_dims(%5, axis=1, num_newaxis=2);\n  add(%6, %7)\n}\n");
  EXPECT_EQ(LinesFor(", scale=False"),
            "  %0 = add(%v, 1e-05f);\n  %1 = sqrt(%0);\n  %2 = divide(1f, %1);\n"
            "  %3 = expand_dims(%2, axis=1, num_newaxis=2);\n  %4 = negative(%m);\n"
            "  %5 = multiply(%4, %2);\n  %6 = add(%5, %b);\n  %7 = multiply(%x, %3);\n"
            "  %8 = expand_dims(%6, axis=1, num_newaxis=2);\n  add(%7, %8)\n}\n");
  EXPECT_EQ(LinesFor(", center=False"),
            "  %0 = add(%v, 1e-05f);\n  %1 = sqrt(%0);\n  %2 = divide(1f, %1);\n"
            "  %3 = multiply(%2, %g);\n  %4 = expand_dims(%3, axis=1, num_newaxis=2);\n"
            "  %5 = negative(%m);\n  %6 = multiply(%5, %3);\n  %7 = multiply(%x, %4);\n"
            "  %8 = expand_dims(%6, axis=1, num_newaxis=2);\n  add(%7, %8)\n}\n");
}

TEST(SimplifyInferenceTest, NegativeAxisCountsFromTheEnd) {
  EXPECT_THAT(Print(Simplified("def @main(%x: Tensor[(1, 4, 4, 3), float32], %g, %b, %m, %v) {\n"
                               "  nn.batch_norm(%x, %g, %b, %m, %v, axis=-1).0\n"
                               "}")),
              Not(HasSubstr("expand_dims")));
  EXPECT_THAT(Print(Simplified(OverImages("nn.batch_norm(%x, %g, %b, %m, %v, axis=-3).0"))),
              HasSubstr("expand_dims(%3, axis=1, num_newaxis=2)"));
}

TEST(SimplifyInferenceTest, EpsilonHasTheTypeOfTheSum) {
  EXPECT_THAT(Print(Simplified("def @main(%x: Tensor[(1, 3), float64], %g, %b, %m, %v) {\n"
                               "  nn.batch_norm(%x, %g, %b, %m, %v, epsilon=0.25f).0\n"
                               "}")),
              HasSubstr("add(%v, 0.25f64 /* ty=float64 */)"));
  EXPECT_THAT(Print(Simplified("def @main(%x: Tensor[(1, 3), float16], %g, %b, %m, %v) {\n"
                               "  nn.batch_norm(%x, %g, %b, %m, %v).0\n"
                               "}")),
              HasSubstr("add(%0, 1e-05f /* ty=float32 */) /* ty=Tensor[(3), float32] */"));
}

TEST(SimplifyInferenceTest, S001_07_FieldZeroOfDropoutIsItsInput) {
  EXPECT_EQ(Print(Simplified("def @main(%x: Tensor[(2), float32]) { exp(nn.dropout(%x).0) }")),
            std::string(kVersion) +
                "def @main(%x: Tensor[(2), float32]) -> Tensor[(2), float32] {\n"
                "  exp(%x) /* ty=Tensor[(2), float32] */\n"
                "}\n");
}

class SimplifyInferenceLeavesTest : public ::testing::TestWithParam<NamedText> {};

TEST_P(SimplifyInferenceLeavesTest, TheSameNodes) {
  const Module typed = InferType(Parse(OverImages(GetParam().text)));
  EXPECT_EQ(SimplifyInference(typed), typed);
}

// Only field 0 is replaced.
INSTANTIATE_TEST_SUITE_P(
    NoChange, SimplifyInferenceLeavesTest,
    ::testing::Values(NamedText{"S001_07_MaskOfDropout", "nn.dropout(%x).1"},
                      NamedText{"S001_08_MeanOfBatchNorm", "nn.batch_norm(%x, %g, %b, %m, %v).1"},
                      NamedText{"S001_08_VarianceOfBatchNorm",
                                "nn.batch_norm(%x, %g, %b, %m, %v).2"},
                      NamedText{"BatchNormAsATuple", "nn.batch_norm(%x, %g, %b, %m, %v)"},
                      NamedText{"AnotherOperator", "split(%x, indices_or_sections=3, axis=1).0"},
                      NamedText{"ALiteralTuple", "(%x, %g).0"},
                      NamedText{"NoProjection", "nn.relu(%x)"}),
    [](const auto& info) { return info.param.name; });

TEST(SimplifyInferenceTest, S001_08_OtherFieldsOfTheSameCallStay) {
  const std::string text =
      Print(Simplified(OverImages("%0 = nn.batch_norm(%x, %g, %b, %m, %v);\n  (%0.0, %0.1)")));
  EXPECT_THAT(text, HasSubstr("nn.batch_norm("));
  EXPECT_THAT(text, HasSubstr("sqrt("));
}

// The channels stay taken apart up to the end, so that one view follows the sums.
TEST(SimplifyInferenceTest, GroupNormIsWrittenOutOverGroupsOfChannels) {
  EXPECT_EQ(
      Print(Simplified("def @main(%x: Tensor[(2, 6, 5), float32], %g: Tensor[(6), float32], "
                       "%b: Tensor[(6), float32]) {\n"
                       "  nn.group_norm(%x, %g, %b, num_groups=3, epsilon=0.5f)\n}")),
      std::string(kVersion) +
          R"(def @main(%x: Tensor[(2, 6, 5), float32], %g: Tensor[(6), float32], %b: Tensor[(6), float32]) -> Tensor[(2, 6, 5), float32] {
  %0 = reshape(%x, newshape=[2, 3, 2, 5]) /* ty=Tensor[(2, 3, 2, 5), float32] */;
  %1 = mean(%0, axis=[2, 3], keepdims=True) /* ty=Tensor[(2, 3, 1, 1), float32] */;
  %2 = subtract(%0, %1) /* ty=Tensor[(2, 3, 2, 5), float32] */;
  %3 = multiply(%2, %2) /* ty=Tensor[(2, 3, 2, 5), float32] */;
  %4 = mean(%3, axis=[2, 3], keepdims=True) /* ty=Tensor[(2, 3, 1, 1), float32] */;
  %5 = add(%4, 0.5f /* ty=float32 */) /* ty=Tensor[(2, 3, 1, 1), float32] */;
  %6 = sqrt(%5) /* ty=Tensor[(2, 3, 1, 1), float32] */;
  %7 = divide(%2, %6) /* ty=Tensor[(2, 3, 2, 5), float32] */;
  %8 = reshape(%g, newshape=[3, 2, 1]) /* ty=Tensor[(3, 2, 1), float32] */;
  %9 = multiply(%7, %8) /* ty=Tensor[(2, 3, 2, 5), float32] */;
  %10 = reshape(%b, newshape=[3, 2, 1]) /* ty=Tensor[(3, 2, 1), float32] */;
  %11 = add(%9, %10) /* ty=Tensor[(2, 3, 2, 5), float32] */;
  reshape(%11, newshape=[2, 6, 5]) /* ty=Tensor[(2, 6, 5), float32] */
}
)");
}

TEST(SimplifyInferenceTest, InstanceNormIsWrittenOutOverTheOtherAxes) {
  EXPECT_EQ(
      Print(Simplified("def @main(%x: Tensor[(2, 5, 6), float32], %g: Tensor[(6), float32], "
                       "%b: Tensor[(6), float32]) {\n"
                       "  nn.instance_norm(%x, %g, %b, axis=-1, center=False)\n}")),
      std::string(kVersion) +
          R"(def @main(%x: Tensor[(2, 5, 6), float32], %g: Tensor[(6), float32], %b: Tensor[(6), float32]) -> Tensor[(2, 5, 6), float32] {
  %0 = mean(%x, axis=[1], keepdims=True) /* ty=Tensor[(2, 1, 6), float32] */;
  %1 = subtract(%x, %0) /* ty=Tensor[(2, 5, 6), float32] */;
  %2 = multiply(%1, %1) /* ty=Tensor[(2, 5, 6), float32] */;
  %3 = mean(%2, axis=[1], keepdims=True) /* ty=Tensor[(2, 1, 6), float32] */;
  %4 = add(%3, 1e-05f /* ty=float32 */) /* ty=Tensor[(2, 1, 6), float32] */;
  %5 = sqrt(%4) /* ty=Tensor[(2, 1, 6), float32] */;
  %6 = divide(%1, %5) /* ty=Tensor[(2, 5, 6), float32] */;
  multiply(%6, %g) /* ty=Tensor[(2, 5, 6), float32] */
}
)");
}

TEST(SimplifyInferenceTest, NormsOfUnknownOrNoExtentsStay) {
  for (const char* shape : {"?, 6, 5", "2, 6, 0", "0, 6, 5"}) {
    const Module module = InferType(Parse(StrCat("def @main(%x: Tensor[(", shape,
                                                 "), float32], %g: Tensor[(6), float32]) {\n"
                                                 "  nn.group_norm(%x, %g, %g, num_groups=3)\n}")));
    EXPECT_EQ(SimplifyInference(module), module) << shape;
  }
}

}  // namespace
}  // namespace tenon::passes
