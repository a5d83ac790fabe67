// Numbers are proved in tests/compiler/fake_quantization_test.cc.
#include "tenon/passes/quantize/fake_quantization_to_integer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/passes/infer_type.h"
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
        Rewrite{"Split",
                "def @main(%x: Tensor[(4), uint8]) { %0 = split(qnn.dequantize(%x, 0.5f, 3), "
                "indices_or_sections=2); qnn.quantize(%0.1, 0.5f, 3, out_dtype=\"uint8\") }",
                "  %0 = split(%x, indices_or_sections=2);\n  %0.1\n}\n"}),
    [](const auto& info) { return info.param.name; });

TEST(FakeQuantizationTest, AConvolutionTakesItsBiasAndClipAlong) {
  const std::string text = BodyOf(FakeQuantizationToInteger(Typed(
      "def @main(%x: Tensor[(1, 2, 4, 4), uint8], %w: Tensor[(3, 2, 3, 3), int8], %b: Tensor[(3), "
      "int32]) { %0 = nn.conv2d(qnn.dequantize(%x, 0.5f, 3), qnn.dequantize(%w, 0.25f, 0), "
      "padding=[1, 1, 1, 1]); %1 = nn.bias_add(%0, qnn.dequantize(%b, 0.125f, 0)); "
      "qnn.quantize(clip(%1, a_min=0f, a_max=6f), 0.05f, 0, out_dtype=\"uint8\") }")));
  EXPECT_THAT(text, HasSubstr("qnn.conv2d(%x, %w, 3, 0, 0.5f, 0.25f, padding=[1, 1, 1, 1]"));
  EXPECT_THAT(text, HasSubstr("minimum"));
  EXPECT_THAT(text, Not(HasSubstr("dequantize")));
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
