// Quantised operators over constants.
#include "tenon/passes/quantize/fold_quantized.h"

#include "tenon/passes/pass_registry.h"
#include "tenon/tests/passes/algebra_testing.h"

namespace tenon::passes {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// -3 + 0.5, in quarters from 1 on, is -9.
constexpr char kText[] =
    "def @main(%x: Tensor[(3), int8]) {\n"
    "  %0 = cast(full(-4, shape=[3], dtype=\"int32\"), dtype=\"int8\");\n"
    "  %1 = qnn.dequantize(%0, 0.5f, 2);\n"
    "  %2 = qnn.quantize(add(%1, 0.5f), 0.25f, 1, out_dtype=\"int8\");\n"
    "  qnn.add(%x, %2, 0.5f, 0, 0.25f, 1, 0.5f, 0)\n}";

ir::Module Folding(const std::string& passes) {
  const PassArguments arguments{.evaluate = strategies::EvaluateCall};
  return RunPasses(ParsePipeline(passes, arguments), Parse(kText), {.verify = true});
}

TEST(FoldQuantizedTest, TheyAreFoldedIfAsked) {
  EXPECT_THAT(Print(Folding("InferType, FoldConstant")), HasSubstr("qnn.dequantize("));
  const ir::Module folded = Folding("InferType, FoldConstant{fold_qnn=true}");
  EXPECT_THAT(Print(folded), Not(HasSubstr("quantize")));
  const auto* sum = folded.Main().body.As<ir::CallNode>();
  ASSERT_EQ(sum->op()->name, "qnn.add");
  const auto* constant = sum->args[1].As<ir::ConstantNode>();
  ASSERT_NE(constant, nullptr);
  EXPECT_THAT(constant->data.ToVector<std::int8_t>(), ElementsAre(-9, -9, -9));
}

TEST(FoldQuantizedTest, WhatDependsOnInputsStays) {
  const ir::Module module = InferType(Parse(
      "def @main(%x: Tensor[(3), float32]) { qnn.quantize(%x, 0.25f, 1, out_dtype=\"int8\") }"));
  EXPECT_EQ(FoldQuantized(module, strategies::EvaluateCall), module);
}

}  // namespace
}  // namespace tenon::passes
