// Conversions that users register between ONNX nodes and operators.
#include "tenon/onnx/register_onnx.h"

#include <stdexcept>

#include "tenon/ir/text_format.h"
#include "tenon/onnx/export.h"
#include "tenon/ops/builders.h"
#include "tenon/strategies/lower_function.h"
#include "tenon/tests/onnx/written_model.h"

namespace tenon::onnx_import {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using testing_graphs::Parsed;

std::string StartupErrors() {
  const absl::Status status = CatchErrors([] { ops::OpRegistry::Global().ThrowStartupErrors(); });
  return std::string(status.message());
}

absl::StatusOr<ir::Module> Import(const std::string& bytes) {
  return ImportOnnx(bytes, {.evaluate = strategies::EvaluateCall});
}

TEST(RegisterOnnxTest, ANodeBecomesWhatItsConverterMakes) {
  ASSERT_TRUE(RegisterOnnxConverter("org.test", "Twice", [](const OnnxNode& node) {
    EXPECT_EQ(node.opset, 13);
    EXPECT_EQ(node.num_outputs, 1);
    const auto by = node.attributes.at("by");
    return std::vector<ir::Expr>{ops::Multiply(node.inputs.at(0), ops::Scalar(*by.As<double>()))};
  })) << StartupErrors();
  Model model;
  model.Input("x", {3}).Output("y");
  SetFloat(model.Node("Twice", {"x"}, {"y"}, "", "org.test"), "by", 2);
  const ir::Module module = ValueOrThrow(Import(model.Bytes()));
  EXPECT_THAT(ir::PrintModule(module), HasSubstr("multiply(%x, 2f"));
}

TEST(RegisterOnnxTest, WhatAConverterThrowsNamesTheNodeAndTheRegistration) {
  ASSERT_TRUE(RegisterOnnxConverter(
      "org.test", "Throws",
      [](const OnnxNode&) -> std::vector<ir::Expr> { throw std::runtime_error("no table"); }));
  ASSERT_TRUE(RegisterOnnxConverter(
      "org.test", "Null", [](const OnnxNode&) { return std::vector<ir::Expr>{ir::Expr()}; }));
  ASSERT_TRUE(RegisterOnnxConverter("org.test", "Few",
                                    [](const OnnxNode&) { return std::vector<ir::Expr>{}; }));
  const std::pair<const char*, const char*> cases[] = {
      {"Throws", "no table"},
      {"Null", "an output of the converter is null"},
      {"Few", "output 0 is not supported"}};
  for (const auto& [type, reason] : cases) {
    Model model;
    model.Input("x", {3}).Output("y").Node(type, {"x"}, {"y"}, "", "org.test");
    const absl::Status status = Import(model.Bytes()).status();
    EXPECT_THAT(std::string(status.message()),
                AllOf(HasSubstr("making y"), HasSubstr(reason), Not(HasSubstr("internal"))));
  }
}

TEST(RegisterOnnxTest, ACallIsWrittenAsItsExporterSays) {
  ASSERT_TRUE(RegisterOnnxExporter("nn.correlation", [](const ir::CallNode& call) {
    return OnnxNodeToWrite{"org.test",
                           "Correlation",
                           {{"size", call.attrs.Get("kernel_size")},
                            {"words", attrs::Value(std::string("a"))},
                            {"list", attrs::List{attrs::Value(1.5)}}}};
  })) << StartupErrors();
  const std::string bytes = ValueOrThrow(onnx_export::ExportOnnx(
      Parsed("def @main(%x: Tensor[(1, 3, 9, 9), float32], %y: Tensor[(1, 3, 9, 9), float32]) { "
             "nn.correlation(%x, %y) }")));
  onnx::ModelProto model;
  ASSERT_TRUE(model.ParseFromString(bytes));
  ASSERT_EQ(model.graph().node_size(), 1);
  const auto& node = model.graph().node(0);
  EXPECT_EQ(node.domain(), "org.test");
  EXPECT_EQ(node.op_type(), "Correlation");
  EXPECT_EQ(node.attribute_size(), 3);
  EXPECT_EQ(node.input_size(), 2);
  ASSERT_EQ(model.opset_import_size(), 2);
  EXPECT_EQ(model.opset_import(1).domain(), "org.test");
}

TEST(RegisterOnnxTest, WhatCannotBeRegisteredIsAnErrorOfTheNextCompile) {
  const OnnxConverter converter = [](const OnnxNode& node) { return node.inputs; };
  const OnnxExporter exporter = [](const ir::CallNode&) { return OnnxNodeToWrite{}; };
  EXPECT_FALSE(RegisterOnnxConverter("", "Conv", converter));
  EXPECT_THAT(StartupErrors(),
              AllOf(HasSubstr("the ONNX converter of Conv"), HasSubstr("have a converter already"),
                    HasSubstr("register_onnx_test.cc")));
  EXPECT_FALSE(RegisterOnnxConverter("org.test", "", converter));
  EXPECT_THAT(StartupErrors(), HasSubstr("it needs the type of a node"));
  EXPECT_FALSE(RegisterOnnxConverter("org.test", "Nothing", nullptr));
  EXPECT_THAT(StartupErrors(), HasSubstr("it needs a function that converts"));
  EXPECT_FALSE(RegisterOnnxExporter("nn.conv2d", exporter));
  EXPECT_THAT(StartupErrors(), HasSubstr("can be written as ONNX already"));
  EXPECT_FALSE(RegisterOnnxExporter("nn.conv2", exporter));
  EXPECT_THAT(StartupErrors(), HasSubstr("did you mean nn.conv2d?"));
  EXPECT_FALSE(RegisterOnnxExporter("nn.correlation", nullptr));
  EXPECT_THAT(StartupErrors(), HasSubstr("it needs a function that gives the node"));
}

}  // namespace
}  // namespace tenon::onnx_import
