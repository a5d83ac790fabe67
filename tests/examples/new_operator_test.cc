// The steps of docs/new-operator.md, one by one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "involution.h"
#include "tenon/ir/structural.h"
#include "tenon/passes/layout/convert_layout.h"
#include "tenon/passes/simplify/fold_constant.h"
#include "tenon/support/strings.h"
#include "tenon/tests/testing/graph_testing.h"

namespace involution {
namespace {

namespace ir = tenon::ir;
using tenon::Float32;
using tenon::StrCat;
using tenon::ValueOrThrow;
using tenon::testing_graphs::ExpectClose;
using tenon::testing_graphs::Interpreted;
using tenon::testing_graphs::Parsed;
using tenon::testing_graphs::RandomInputs;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

struct Case {
  const char* name;
  std::int64_t size, stride, dilation, groups;
  const char* layout;
  const char* row;  // that is chosen
  friend void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }
};

// An image of 2 x 6 x 9 x 11 and what follows the call.
ir::Module ModuleOf(const Case& c, const std::string& around = "nn.relu(%0)") {
  const auto shape = [&](std::int64_t channels, std::int64_t height, std::int64_t width) {
    return std::string(c.layout) == "NCHW"
               ? StrCat("(2, ", channels, ", ", height, ", ", width, ")")
               : StrCat("(2, ", height, ", ", width, ", ", channels, ")");
  };
  return Parsed(
      StrCat("def @main(%x: Tensor[", shape(6, 9, 11), ", float32], %k: Tensor[",
             shape(c.groups * c.size * c.size, (9 - 1) / c.stride + 1, (11 - 1) / c.stride + 1),
             ", float32]) { %0 = example.involution(%x, %k, kernel_size=", c.size,
             ", stride=", c.stride, ", dilation=", c.dilation, ", groups=", c.groups, ", layout=\"",
             c.layout, "\"); ", around, " }"));
}

std::string ErrorOf(const std::string& call, const std::string& types) {
  const absl::Status status = tenon::CatchErrors(
      [&] { tenon::passes::InferType(Parsed(StrCat("def @main(", types, ") { ", call, " }"))); });
  EXPECT_FALSE(status.ok()) << call;
  return std::string(status.message());
}

constexpr char kTypes[] = "%x: Tensor[(1, 8, 7, 9), float32], %k: Tensor[(1, 18, 7, 9), float32]";

TEST(NewOperatorTest, S004_01_Step1_AttributesAreCheckedPrintedAndRead) {
  const auto attrs = tenon::attrs::Attrs::Make(Attrs{.kernel_size = 5, .layout = "NHWC"});
  EXPECT_EQ(attrs.ToText(), "kernel_size=5, layout=\"NHWC\"");
  EXPECT_EQ(tenon::attrs::Attrs::FromJson(*attrs.schema(), attrs.ToJson()), attrs);
  EXPECT_THAT(ErrorOf("example.involution(%x, %k)", kTypes),
              HasSubstr("field kernel_size is missing"));
  EXPECT_THAT(ErrorOf("example.involution(%x, %k, kernel_size=3, layout=\"CHWN\")", kTypes),
              HasSubstr("one of NCHW, NHWC"));
  EXPECT_THAT(ErrorOf("example.involution(%x, %k, kernel_size=65)", kTypes),
              HasSubstr("allowed is 1 to 63"));
}

TEST(NewOperatorTest, S004_01_Step2_TypesAreLearnedForwardsAndBackwards) {
  const ir::Module module = tenon::passes::InferType(
      Parsed("def @main(%x: Tensor[(1, 8, 7, 9), float32], %k) { "
             "example.involution(%x, %k, kernel_size=3, stride=2, groups=2) }"));
  const auto& main = module.Main();
  EXPECT_EQ(ir::ToString(main.params[1].checked_type()), "Tensor[(1, 18, 4, 5), float32]");
  EXPECT_EQ(ir::ToString(main.body.checked_type()), "Tensor[(1, 8, 4, 5), float32]");
  EXPECT_THAT(ErrorOf("example.involution(%x, %k, kernel_size=4)", kTypes),
              HasSubstr("kernel_size must be odd"));
  EXPECT_THAT(ErrorOf("example.involution(%x, %k, kernel_size=3, groups=3)", kTypes),
              HasSubstr("the channels must be a multiple of groups"));
  EXPECT_THAT(ErrorOf("example.involution(%x, %k, kernel_size=3)", kTypes), HasSubstr("18"));
}

TEST(NewOperatorTest, S004_01_Step3_LayoutsPassThroughWithoutTranspositionsAround) {
  const ir::Module module = Parsed(
      "def @main(%x: Tensor[(1, 8, 7, 9), float32], %k: Tensor[(1, 18, 7, 9), float32], "
      "%w: Tensor[(8, 8, 1, 1), float32]) { "
      "nn.conv2d(example.involution(nn.conv2d(%x, %w), %k, kernel_size=3, groups=2), %w) }");
  const ir::Module converted =
      tenon::passes::ConvertLayout(tenon::passes::InferType(module), {{"nn.conv2d", {"NHWC"}}});
  const std::string text = ir::PrintModule(converted);
  EXPECT_THAT(text, HasSubstr("groups=2, layout=\"NHWC\""));
  // The image, the kernels of the involution and the result; not the images between.
  std::size_t count = 0;
  for (std::size_t at = text.find("src_layout=\"NCHW\""); at != std::string::npos;
       at = text.find("src_layout=\"NCHW\"", at + 1))
    ++count;
  EXPECT_EQ(count, 2U) << text;
  const auto inputs = RandomInputs(module, 1);
  ExpectClose(Interpreted(converted, inputs), Interpreted(module, inputs), 1e-5);
}

class InvolutionTest : public ::testing::TestWithParam<Case> {};

TEST_P(InvolutionTest, S004_01_Step4_And5_RowsComputeWhatTheDefinitionSays) {
  for (const char* around : {"%0", "nn.relu(%0)", "(nn.relu(%0), exp(%0))"}) {
    const ir::Module module = ModuleOf(GetParam(), around);
    const tenon::Lowered lowered = ValueOrThrow(tenon::Lower(module));
    std::vector<std::string> rows;
    for (const tenon::LoweredKernel& kernel : lowered.kernels)
      rows.push_back(kernel.choice.implementation);
    EXPECT_THAT(rows, ::testing::Contains(GetParam().row));
    const auto inputs = RandomInputs(module, 2);
    ExpectClose(ValueOrThrow(ValueOrThrow(tenon::Link(lowered)).Run(inputs)),
                Interpreted(module, inputs), 1e-5);
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, InvolutionTest,
    ::testing::Values(Case{"Plain", 3, 1, 1, 1, "NCHW", "te.plain"},
                      Case{"Groups", 5, 1, 1, 3, "NCHW", "te.plain"},
                      Case{"Strided", 3, 2, 2, 2, "NCHW", "te.plain"},
                      Case{"ChannelsLast", 3, 1, 1, 2, "NHWC", "te.involution.channels_last"},
                      Case{"ChannelsLastStrided", 3, 2, 1, 1, "NHWC",
                           "te.involution.channels_last"},
                      Case{"OneTap", 1, 1, 1, 2, "NCHW", "te.involution.one_tap"},
                      Case{"OneTapStrided", 1, 2, 1, 3, "NHWC", "te.involution.one_tap"}),
    [](const auto& info) { return info.param.name; });

TEST(NewOperatorTest, S004_01_Step5_TheScheduleIsTheAuthorsAndRefusalsAreExplained) {
  const ir::Module module = ModuleOf({"", 3, 1, 1, 1, "NCHW", ""});
  const tenon::Lowered lowered = ValueOrThrow(tenon::Lower(module));
  EXPECT_THAT(
      lowered.kernels[0].choice.Explanation(),
      AllOf(HasSubstr("te.involution.one_tap (priority 2): no, windows have 9 elements"),
            HasSubstr("te.involution.channels_last (priority 1): no, channels are not last"),
            HasSubstr("te.plain: chosen")));
  const tenon::Executable exe = ValueOrThrow(tenon::Link(lowered));
  EXPECT_THAT(exe.kernels()[0]->Text(tenon::jit::KernelText::kSchedule),
              AllOf(HasSubstr("involution_nchw"), HasSubstr("Reorder")));
}

TEST(NewOperatorTest, S004_01_Step5_ConstantCallsAreFolded) {
  const ir::Module module = Parsed(
      "def @main() { example.involution(broadcast_to(1f, shape=[1, 2, 3, 3]), "
      "broadcast_to(1f, shape=[1, 9, 3, 3]), kernel_size=3) }");
  const ir::Module folded = tenon::passes::FoldConstant(tenon::passes::InferType(module),
                                                        tenon::strategies::EvaluateCall);
  const auto* constant = folded.Main().body.As<ir::ConstantNode>();
  ASSERT_NE(constant, nullptr);
  EXPECT_EQ(constant->data.data<float>()[0], 4);
  EXPECT_EQ(constant->data.data<float>()[4], 9);
}

TEST(NewOperatorTest, S004_01_Step6_OnnxModelsHoldItBothWays) {
  const ir::Module module = ModuleOf({"", 3, 2, 1, 2, "NCHW", ""});
  const std::string bytes = ValueOrThrow(tenon::onnx_export::ExportOnnx(module));
  EXPECT_THAT(bytes, AllOf(HasSubstr("org.example"), HasSubstr("Involution")));
  const ir::Module again = ValueOrThrow(
      tenon::onnx_import::ImportOnnx(bytes, {.evaluate = tenon::strategies::EvaluateCall}));
  EXPECT_THAT(ir::PrintModule(again), HasSubstr("kernel_size=3, stride=2, groups=2"));
  const auto inputs = RandomInputs(module, 3);
  ExpectClose(Interpreted(again, inputs), Interpreted(module, inputs), 1e-6);
  const absl::Status status =
      tenon::onnx_export::ExportOnnx(ModuleOf({"", 3, 1, 1, 1, "NHWC", ""})).status();
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("ONNX models hold involution in NCHW"),
                    HasSubstr("the ONNX exporter of example.involution")));
}

TEST(NewOperatorTest, S004_01_Step7_TheBuilderAndTheNameMakeTheSameCall) {
  const ir::Var x = ir::Var::Make("x", ir::TensorType({1, 4, 6, 5}, Float32));
  const ir::Var k = ir::Var::Make("k", ir::TensorType({1, 9, 6, 5}, Float32));
  const ir::Expr built = Involution(x, k, {.kernel_size = 3});
  const auto* schema = tenon::ops::OpRegistry::Global().Definition(kName).schema;
  const ir::Expr named = tenon::ops::CallOp(
      kName, {x, k}, tenon::attrs::Attrs::FromJson(*schema, "{\"kernel_size\": 3}"));
  EXPECT_TRUE(ir::StructuralEqual(built, named));
  EXPECT_EQ(tenon::ops::OpRegistry::Global().Definition(kName).relation_name, "Involution");
}

TEST(NewOperatorTest, S004_01_Step7_TheRegistrationHasEveryField) {
  const tenon::ops::OpDef& op = tenon::ops::OpRegistry::Global().Definition(kName);
  EXPECT_EQ(op.description, "sums of windows with a kernel for each place of the image");
  EXPECT_EQ(op.schema, &tenon::attrs::SchemaOf<Attrs>());
  ASSERT_EQ(op.arguments.size(), 2U);
  EXPECT_EQ(op.arguments[0].name, "data");
  EXPECT_EQ(op.arguments[0].type, "Tensor");
  EXPECT_EQ(op.arguments[0].help, "images");
  EXPECT_EQ(op.arguments[1].name, "kernels");
  EXPECT_EQ(op.arguments[1].type, "Tensor");
  EXPECT_EQ(op.arguments[1].help, "a kernel for each place and group of channels");
  EXPECT_EQ(op.support_level, 10);
  EXPECT_EQ(op.relation_name, "Involution");
  EXPECT_EQ(op.pattern, tenon::ops::OpPattern::kOutEWiseFusable);
  EXPECT_NE(op.Column<tenon::ops::LayoutInference>(), nullptr);
  const auto* rows = op.Column<tenon::strategies::TeCompute>();
  ASSERT_NE(rows, nullptr);
  std::vector<std::string> names;
  for (const tenon::strategies::TeForm& row : rows->forms) names.push_back(row.name);
  EXPECT_THAT(names, ::testing::IsSupersetOf({"involution.channels_last", "involution.one_tap"}));
}

}  // namespace
}  // namespace involution
