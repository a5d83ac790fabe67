// Numbers are proved in tests/compiler/fake_quantization_test.cc.
#include "tenon/passes/quantize/fake_quantization_to_integer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/passes/bind_params.h"
#include "tenon/passes/infer_type.h"
#include "tenon/support/strings.h"
#include "tenon/tests/passes/quantize/body_text.h"
#include "tenon/tests/testing/relay_text.h"

namespace tenon::passes {
namespace {

using ir::Module;
using ::testing::HasSubstr;
using ::testing::Not;

Module Typed(const std::string& text) { return InferType(Parse(text)); }

struct Rewrite {
  const char* name;
  const char* before;
  const char* after;
  friend void PrintTo(const Rewrite& r, std::ostream* out) { *out << r.name; }
};
class FakeQuantizationTest : public ::testing::TestWithParam<Rewrite> {};

TEST_P(FakeQuantizationTest, RunsInIntegers) {
  const Module after = FakeQuantizationToInteger(Typed(GetParam().before));
  EXPECT_EQ(BodyOf(after), GetParam().after);
  EXPECT_EQ(InferType(after), after);
}

INSTANTIATE_TEST_SUITE_P(
    Rewrites, FakeQuantizationTest,
    ::testing::Values(
        Rewrite{"MovesAndRelu",
                "def @main(%x: Tensor[(2, 3), int8]) { %0 = qnn.dequantize(%x, 0.5f, 3); "
                "%1 = nn.relu(reshape(%0, newshape=[6])); qnn.quantize(%1, 0.5f, 3, "
                "out_dtype=\"int8\") }",
                "  %0 = reshape(%x, newshape=[6]);\n  maximum(%0, meta[relay.Constant][0])\n}\n"},
        Rewrite{"OtherParameters",
                "def @main(%x: Tensor[(2), int8]) { qnn.quantize(qnn.dequantize(%x, 0.5f, 3), "
                "0.25f, 1, out_dtype=\"int8\") }",
                "  qnn.requantize(%x, 0.5f, 3, 0.25f, 1, out_dtype=\"int8\")\n}\n"},
        Rewrite{"Dense",
                "def @main(%x: Tensor[(2, 3), uint8], %w: Tensor[(5, 3), int8]) { "
                "%0 = nn.dense(qnn.dequantize(%x, 0.5f, 3), qnn.dequantize(%w, 0.25f, 0)); "
                "qnn.quantize(%0, 1f, 7, out_dtype=\"uint8\") }",
                "  %0 = qnn.dense(%x, %w, 3, 0, 0.5f, 0.25f, units=None, out_dtype=\"int32\");\n"
                "  qnn.requantize(%0, 0.125f, 0, 1f, 7, out_dtype=\"uint8\")\n}\n"},
        // What is read in floating point is summed in integers, too.
        Rewrite{"ProductForFloats",
                "def @main(%x: Tensor[(2, 3), uint8], %w: Tensor[(5, 3), int8]) { "
                "nn.dense(qnn.dequantize(%x, 0.5f, 3), qnn.dequantize(%w, 0.25f, 0)) }",
                "  %0 = qnn.dense(%x, %w, 3, 0, 0.5f, 0.25f, units=None, out_dtype=\"int32\");\n"
                "  qnn.dequantize(%0, 0.125f, 0)\n}\n"},
        Rewrite{"SumUnderRelu",
                "def @main(%x: Tensor[(2), uint8], %y: Tensor[(2), uint8]) { "
                "%0 = add(qnn.dequantize(%x, 0.5f, 3), qnn.dequantize(%y, 0.25f, 1)); "
                "qnn.quantize(nn.relu(%0), 1f, 7, out_dtype=\"uint8\") }",
                "  %0 = qnn.add(%x, %y, 0.5f, 3, 0.25f, 1, 1f, 7);\n  maximum(%0, "
                "meta[relay.Constant][0])\n}\n"},
        Rewrite{"ProductOfElements",
                "def @main(%x: Tensor[(2), uint8], %y: Tensor[(2), uint8]) { "
                "%0 = multiply(qnn.dequantize(%x, 0.5f, 3), qnn.dequantize(%y, 0.25f, 1)); "
                "qnn.quantize(%0, 1f, 7, out_dtype=\"uint8\") }",
                "  qnn.mul(%x, %y, 0.5f, 3, 0.25f, 1, 1f, 7)\n}\n"},
        Rewrite{"Concatenation",
                "def @main(%x: Tensor[(2), uint8], %y: Tensor[(3), uint8]) { "
                "%0 = (qnn.dequantize(%x, 0.5f, 3), qnn.dequantize(%y, 0.25f, 1)); "
                "qnn.quantize(concatenate(%0), 1f, 7, out_dtype=\"uint8\") }",
                "  %0 = (%x, %y);\n  %1 = (0.5f, 0.25f);\n  %2 = (3, 1);\n"
                "  qnn.concatenate(%0, %1, %2, 1f, 7)\n}\n"},
        Rewrite{"PadsWithTheZeroPoint",
                "def @main(%x: Tensor[(2), uint8]) { %0 = nn.pad(qnn.dequantize(%x, 0.5f, 3), 0f, "
                "pad_width=[[1, 1]]); qnn.quantize(%0, 0.5f, 3, out_dtype=\"uint8\") }",
                "  nn.pad(%x, meta[relay.Constant][0], pad_width=[[1, 1]])\n}\n"},
        // Each window meets the data.
        Rewrite{"PaddedPool",
                "def @main(%x: Tensor[(1, 1, 8, 8), int8]) { %0 = nn.max_pool2d(qnn.dequantize(%x, "
                "0.5f, 3), pool_size=[3, 3], strides=[2, 2], padding=[1, 1, 1, 1], "
                "ceil_mode=True); qnn.quantize(%0, 0.5f, 3, out_dtype=\"int8\") }",
                "  nn.max_pool2d(%x, pool_size=[3, 3], strides=[2, 2], padding=[1, 1, 1, 1], "
                "ceil_mode=True)\n}\n"},
        Rewrite{"Split",
                "def @main(%x: Tensor[(4), uint8]) { %0 = split(qnn.dequantize(%x, 0.5f, 3), "
                "indices_or_sections=2); qnn.quantize(%0.1, 0.5f, 3, out_dtype=\"uint8\") }",
                "  %0 = split(%x, indices_or_sections=2);\n  %0.1\n}\n"}),
    [](const auto& info) { return info.param.name; });

TEST(FakeQuantizationTest, AConvolutionTakesItsBiasAndClipAlong) {
  const Module typed = Typed(
      "def @main(%x: Tensor[(1, 2, 4, 4), uint8], %w: Tensor[(3, 2, 3, 3), int8], %b: Tensor[(3), "
      "int32]) { %0 = nn.conv2d(qnn.dequantize(%x, 0.5f, 3), qnn.dequantize(%w, 0.25f, 0), "
      "padding=[1, 1, 1, 1]); %1 = nn.bias_add(%0, qnn.dequantize(%b, 0.125f, 0)); "
      "qnn.quantize(clip(%1, a_min=0f, a_max=6f), 0.05f, 0, out_dtype=\"uint8\") }");
  const Module known =
      BindParams(typed, "main", {{"b", NDArray::FromVector<std::int32_t>({3}, {1, -2, 3})}});
  const std::string text = BodyOf(FakeQuantizationToInteger(InferType(known)));
  EXPECT_THAT(text, HasSubstr("qnn.conv2d(%x, %w, 3, 0, 0.5f, 0.25f, padding=[1, 1, 1, 1]"));
  EXPECT_THAT(text, HasSubstr("minimum"));
  EXPECT_THAT(text, Not(HasSubstr("dequantize")));
  // A bias that is not known may be any number.
  EXPECT_THAT(BodyOf(FakeQuantizationToInteger(typed)), HasSubstr("qnn.dequantize(%b"));
}

// 2^31 is 255 * 255 * 33025.3 and 128 * 128 * 131072.
TEST(FakeQuantizationTest, SumsThatInt32MayNotHoldStayInFloats) {
  const auto changes = [](const char* type, std::int64_t depth, int zero_point) {
    const Module typed =
        Typed(StrCat("def @main(%x: Tensor[(1, ", depth, "), ", type, "], %w: Tensor[(2, ", depth,
                     "), ", type, "]) { nn.dense(qnn.dequantize(%x, 0.5f, ", zero_point,
                     "), qnn.dequantize(%w, 0.5f, ", zero_point, ")) }"));
    return !(FakeQuantizationToInteger(typed) == typed);
  };
  EXPECT_TRUE(changes("int8", 131071, 0));
  EXPECT_FALSE(changes("int8", 131072, 0));
  EXPECT_TRUE(changes("uint8", 33025, 0));
  EXPECT_FALSE(changes("uint8", 33026, 0));
  EXPECT_TRUE(changes("uint8", 131071, 128));
  EXPECT_FALSE(changes("int8", 131071, 1));
  const auto convolves = [](std::int64_t channels, std::int64_t groups) {
    const Module typed = Typed(StrCat(
        "def @main(%x: Tensor[(1, ", channels, ", 3, 3), int8], %w: Tensor[(4, ", channels / groups,
        ", 3, 3), int8]) { nn.conv2d(qnn.dequantize(%x, 0.5f, 0), qnn.dequantize(%w, 0.5f, 0), "
        "groups=",
        groups, ") }"));
    return !(FakeQuantizationToInteger(typed) == typed);
  };
  EXPECT_TRUE(convolves(14563, 1));
  EXPECT_FALSE(convolves(14564, 1));
  EXPECT_TRUE(convolves(14564, 2));
  // What the weights are is known.
  const Module typed = Typed(
      "def @main(%x: Tensor[(1, 140000), int8], %w: Tensor[(1, 140000), int8]) { "
      "nn.dense(qnn.dequantize(%x, 0.5f, 0), qnn.dequantize(%w, 0.5f, 0)) }");
  for (const std::int8_t weight : {100, 127}) {
    const std::vector<std::int8_t> weights(140000, weight);
    const Module known = InferType(
        BindParams(typed, "main", {{"w", NDArray::FromVector<std::int8_t>({1, 140000}, weights)}}));
    EXPECT_EQ(FakeQuantizationToInteger(known) == known, weight == 127) << int{weight};
  }
}

// qnn.requantize gives one scale.
TEST(FakeQuantizationTest, AScalePerChannelIsNotGivenByRequantize) {
  const Module typed = Typed(
      "def @main(%x: Tensor[(1, 3, 2, 2), int8], %s: Tensor[(3), float32], %z: Tensor[(3), int32]) "
      "{ qnn.quantize(nn.relu(qnn.dequantize(%x, 0.5f, 3)), %s, %z, out_dtype=\"int8\", axis=1) }");
  const Module known =
      InferType(BindParams(typed, "main",
                           {{"s", NDArray::FromVector<float>({3}, {0.1F, 0.2F, 0.3F})},
                            {"z", NDArray::FromVector<std::int32_t>({3}, {0, 1, 2})}}));
  EXPECT_EQ(FakeQuantizationToInteger(known), known);
}

// The channels of one scale each are those of the layout.
TEST(FakeQuantizationTest, APoolKeepsScalesAlongItsChannelsAlone) {
  const auto pooled = [](const std::string& pool, const char* layout, int axis) {
    const char* window = pool == "nn.max_pool2d" ? "pool_size=[1, 1], " : "";
    const std::string quantized = StrCat("%s, %z, axis=", axis);
    const Module typed = Typed(StrCat(
        "def @main(%x: Tensor[(4, 4, 4, 4), int8], %s: Tensor[(4), float32], %z: Tensor[(4), "
        "int32]) { qnn.quantize(",
        pool, "(qnn.dequantize(%x, ", quantized, "), ", window, "layout=\"", layout, "\"), ",
        quantized, ", out_dtype=\"int8\") }"));
    const Module known =
        InferType(BindParams(typed, "main",
                             {{"s", NDArray::FromVector<float>({4}, {0.1F, 0.2F, 0.3F, 0.4F})},
                              {"z", NDArray::FromVector<std::int32_t>({4}, {0, 1, 2, 3})}}));
    return !(FakeQuantizationToInteger(known) == known);
  };
  for (const char* pool : {"nn.max_pool2d", "nn.global_max_pool2d"}) {
    EXPECT_TRUE(pooled(pool, "NCHW", 1));
    EXPECT_TRUE(pooled(pool, "NHWC", 3));
  }
  EXPECT_FALSE(pooled("nn.max_pool2d", "NCHW", 2));
  EXPECT_FALSE(pooled("nn.max_pool2d", "NHWC", 1));
}

// An integer mean drops less than one of its own quanta, which may be several of the result.
TEST(FakeQuantizationTest, AMeanForAMuchFinerScaleStaysInFloats) {
  const auto changes = [](const char* scale) {
    const Module typed = Typed(StrCat(
        "def @main(%x: Tensor[(100), int8]) { qnn.quantize(mean(qnn.dequantize(%x, 1f, 0)), ",
        scale, ", 0, out_dtype=\"int8\") }"));
    return !(FakeQuantizationToInteger(typed) == typed);
  };
  EXPECT_TRUE(changes("0.01f"));
  EXPECT_FALSE(changes("0.001f"));
}

// A bound or a bias becomes the nearest quantum of its operand, which may be many of the result.
TEST(FakeQuantizationTest, ABoundForAMuchFinerScaleStaysInFloats) {
  const auto changes = [](const char* bound, const char* scale) {
    const Module typed =
        Typed(StrCat("def @main(%x: Tensor[(4), int8]) { qnn.quantize(clip(qnn.dequantize(%x, 1f, "
                     "0), a_min=0f, a_max=",
                     bound, "), ", scale, ", 0, out_dtype=\"int16\") }"));
    return !(FakeQuantizationToInteger(typed) == typed);
  };
  EXPECT_TRUE(changes("2.4f", "1f"));
  EXPECT_FALSE(changes("2.4f", "0.01f"));
  EXPECT_TRUE(changes("2f", "0.01f"));
  EXPECT_TRUE(changes("200.4f", "0.01f"));  // beyond int8, where it bounds nothing
}
TEST(FakeQuantizationTest, ABiasForAMuchFinerScaleStaysInFloats) {
  const auto with_bias = [](const char* bias) {
    return BodyOf(FakeQuantizationToInteger(
        Typed(StrCat("def @main(%x: Tensor[(1, 4), int8], %w: Tensor[(2, 4), int8]) { "
                     "qnn.quantize(add(nn.dense(qnn.dequantize(%x, 1f, 0), qnn.dequantize(%w, 1f, "
                     "0)), ",
                     bias, "), 0.01f, 0, out_dtype=\"int32\") }"))));
  };
  EXPECT_THAT(with_bias("4f"), HasSubstr("qnn.requantize"));
  EXPECT_THAT(with_bias("0.4f"), Not(HasSubstr("qnn.requantize")));
}

// The integers of a bias are those of its own scale, which may be a little other than the
// product's.
TEST(FakeQuantizationTest, ABiasOfAScaleBesideThatOfItsProductMayBeManyQuantaOff) {
  const auto is_quantized = [](const char* bias, const char* scale) {
    const std::string body = BodyOf(FakeQuantizationToInteger(
        Typed(StrCat("def @main(%x: Tensor[(1, 4), int8], %w: Tensor[(2, 4), int8]) { "
                     "qnn.quantize(add(nn.dense(qnn.dequantize(%x, 1f, 0), qnn.dequantize(%w, 1f, "
                     "0)), qnn.dequantize(",
                     bias, ", 0)), ", scale, ", 0, out_dtype=\"int32\") }"))));
    return body.find("qnn.quantize") != std::string::npos;
  };
  EXPECT_FALSE(is_quantized("1000000000, 1f", "1f"));
  EXPECT_FALSE(is_quantized("1000000000, 1f", "1000f"));
  EXPECT_FALSE(is_quantized("10000000, 1.000009f", "1000f"));
  EXPECT_TRUE(is_quantized("1000000000, 1.000009f", "1000f"));
  EXPECT_TRUE(is_quantized("1000000000, 1.000009f", "1f"));
}
TEST(FakeQuantizationTest, ABiasOfNoElementsStaysInFloats) {
  const Module typed = Typed(
      "def @main(%x: Tensor[(1, 4), int8], %w: Tensor[(0, 4), int8], %b: Tensor[(0), float32]) { "
      "qnn.quantize(add(nn.dense(qnn.dequantize(%x, 1f, 0), qnn.dequantize(%w, 1f, 0)), %b), 1f, "
      "0, out_dtype=\"int8\") }");
  const Module known = BindParams(typed, "main", {{"b", NDArray::Empty({0}, Float32)}});
  EXPECT_THAT(BodyOf(FakeQuantizationToInteger(InferType(known))),
              Not(HasSubstr("qnn.requantize")));
}

// Otherwise a chain that is read at each place would be made as often.
TEST(FakeQuantizationTest, ALongChainAfterASumIsNotRepeated) {
  const auto changes = [](int moves) {
    std::string chain = "add(qnn.dequantize(%x, 0.5f, 3), qnn.dequantize(%y, 0.25f, 1))";
    for (int i = 0; i < moves; ++i) chain = StrCat("nn.relu(", chain, ")");
    const Module typed =
        Typed(StrCat("def @main(%x: Tensor[(2), uint8], %y: Tensor[(2), uint8]) { "
                     "qnn.quantize(",
                     chain, ", 1f, 7, out_dtype=\"uint8\") }"));
    return !(FakeQuantizationToInteger(typed) == typed);
  };
  EXPECT_TRUE(changes(64));
  EXPECT_FALSE(changes(65));
}

class FakeQuantizationLeavesTest : public ::testing::TestWithParam<NamedText> {};

TEST_P(FakeQuantizationLeavesTest, TheSameNodes) {
  const Module typed = Typed(GetParam().text);
  EXPECT_EQ(FakeQuantizationToInteger(typed), typed);
}

INSTANTIATE_TEST_SUITE_P(
    NoChange, FakeQuantizationLeavesTest,
    ::testing::Values(
        NamedText{"Floats", "def @main(%x: Tensor[(2), float32]) { nn.relu(exp(%x)) }"},
        NamedText{"NothingQuantisedBehind",
                  "def @main(%x: Tensor[(2), int8]) { exp(nn.relu(qnn.dequantize(%x, 0.5f, 3))) }"},
        NamedText{"AClipBesideWhatTheTypeHolds",
                  "def @main(%x: Tensor[(2), int8]) { qnn.quantize(clip(qnn.dequantize(%x, 0.01f, "
                  "0), a_min=2f, a_max=6f), 0.05f, 0, out_dtype=\"int8\") }"},
        NamedText{"AReluOfAZeroThatTheTypeDoesNotHold",
                  "def @main(%x: Tensor[(2), int8]) { qnn.quantize(nn.relu(qnn.dequantize(%x, "
                  "0.1f, 200)), 0.1f, 0, out_dtype=\"int8\") }"},
        NamedText{"AProductOfAnotherType",
                  "def @main(%x: Tensor[(2, 3), int8], %w: Tensor[(5, 3), int8]) { "
                  "nn.dense(qnn.dequantize(%x, 0.5f, 3), qnn.dequantize(%w, 0.25f, 0), "
                  "out_dtype=\"float64\") }"},
        // Each of the four means is less than half a quantum off.
        NamedText{"SumsOfMeansForAFinerScale",
                  "def @main(%x: Tensor[(1, 255, 4), int8], %y: Tensor[(255, 4), int8]) { "
                  "%0 = mean(qnn.dequantize(%x, 1f, 0), axis=[1]); "
                  "%1 = mean(qnn.dequantize(%y, 1f, 0), axis=[0]); "
                  "qnn.quantize(add(add(add(%0, %1), %1), %1), 0.0078125f, 0, "
                  "out_dtype=\"int16\") }"},
        NamedText{"AClippedSummandOfACoarserScale",
                  "def @main(%x: Tensor[(2), int8], %y: Tensor[(2), int8]) { "
                  "%0 = clip(qnn.dequantize(%x, 0.1f, 0), a_min=0f, a_max=0.25f); "
                  "qnn.quantize(add(%0, qnn.dequantize(%y, 0.001f, 0)), 0.001f, 0, "
                  "out_dtype=\"int8\") }"},
        NamedText{"AMeanOfClippedNumbersForAFinerScale",
                  "def @main(%x: Tensor[(2), int8]) { "
                  "%0 = clip(qnn.dequantize(%x, 0.1f, 0), a_min=0f, a_max=0.25f); "
                  "qnn.quantize(mean(%0), 0.001f, 0, out_dtype=\"int8\") }"},
        NamedText{"AClippedFactorOfAFinerProduct",
                  "def @main(%x: Tensor[(2), int8], %y: Tensor[(2), int8]) { "
                  "%0 = clip(qnn.dequantize(%x, 0.1f, 0), a_min=0f, a_max=0.25f); "
                  "qnn.quantize(multiply(%0, qnn.dequantize(%y, 0.1f, 0)), 0.001f, 0, "
                  "out_dtype=\"int8\") }"},
        // 127 * 1e-20 squared is a normal number.
        NamedText{"AProductOfScalesThatFloat32DoesNotHold",
                  "def @main(%x: Tensor[(2, 3), int8], %w: Tensor[(5, 3), int8]) { "
                  "qnn.quantize(nn.dense(qnn.dequantize(%x, 1e-20f, 0), qnn.dequantize(%w, "
                  "1e-20f, 0)), 1e-37f, 0, out_dtype=\"int8\") }"},
        NamedText{"AFactorThatFloat32DoesNotHold",
                  "def @main(%x: Tensor[(2), int8]) { qnn.quantize(nn.relu(qnn.dequantize(%x, "
                  "1e30f, 0)), 1e-20f, 5, out_dtype=\"int8\") }"},
        NamedText{"ADenormalScale",
                  "def @main(%x: Tensor[(2), int8]) { qnn.quantize(nn.relu(qnn.dequantize(%x, "
                  "1e-40f, 0)), 1e-40f, 5, out_dtype=\"int8\") }"},
        NamedText{"AMeanFarFromItsZeroPoint",
                  "def @main(%x: Tensor[(4), int8]) { qnn.quantize(mean(qnn.dequantize(%x, 1f, "
                  "20000000)), 1000000f, 0, out_dtype=\"int8\") }"},
        NamedText{"AWindowOfPaddingAlone",
                  "def @main(%x: Tensor[(1, 1, 2, 2), int8]) { "
                  "%0 = nn.max_pool2d(qnn.dequantize(%x, 1f, 0), pool_size=[1, 1], "
                  "padding=[1, 1, 1, 1]); qnn.quantize(%0, 2f, 0, out_dtype=\"int8\") }"},
        NamedText{"AWindowPastTheDataThatIsRoundedUp",
                  "def @main(%x: Tensor[(1, 1, 3, 3), int8]) { "
                  "%0 = nn.max_pool2d(qnn.dequantize(%x, 1f, 0), pool_size=[1, 1], strides=[3, "
                  "3], ceil_mode=True); qnn.quantize(%0, 2f, 0, out_dtype=\"int8\") }"},
        NamedText{"AMaximumOfNoElements",
                  "def @main(%x: Tensor[(2, 0), int8]) { qnn.quantize(max(qnn.dequantize(%x, 1f, "
                  "0), axis=[1]), 2f, 0, out_dtype=\"int8\") }"},
        NamedText{"AFunctionOfNoRule",
                  "def @main(%x: Tensor[(2), int8]) { qnn.quantize(exp(qnn.dequantize(%x, 0.5f, "
                  "3)), 0.5f, 3, out_dtype=\"int8\") }"},
        NamedText{"ScalesThatAreNotConstant",
                  "def @main(%x: Tensor[(2), int8], %s: float32) { qnn.quantize(qnn.dequantize(%x, "
                  "%s, 3), 0.5f, 3, out_dtype=\"int8\") }"},
        NamedText{"OneOperandInFloats",
                  "def @main(%x: Tensor[(2, 3), int8], %w: Tensor[(5, 3), float32]) { "
                  "nn.dense(qnn.dequantize(%x, 0.5f, 3), %w) }"},
        NamedText{"PadsWithAnotherValue",
                  "def @main(%x: Tensor[(2), uint8]) { qnn.quantize(nn.pad(qnn.dequantize(%x, "
                  "0.5f, 3), 1f, pad_width=[[1, 1]]), 0.5f, 3, out_dtype=\"uint8\") }"},
        NamedText{"SumOfOtherTypes",
                  "def @main(%x: Tensor[(2), uint8], %y: Tensor[(2), int8]) { "
                  "qnn.quantize(add(qnn.dequantize(%x, 0.5f, 3), qnn.dequantize(%y, 0.25f, 1)), "
                  "1f, 7, out_dtype=\"uint8\") }"}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace tenon::passes
