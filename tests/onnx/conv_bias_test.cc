// A convolution whose exporter wrote the bias as nodes of its own: Conv without bias, a Reshape of
// the bias to (1, C, 1, 1), Add and Relu. It arrives as these four operators, which are one call of
// oneDNN. A Conv with bias arrives as nn.bias_add, or as the same four operators when Relax's form
// is asked for.
#include "tenon/ir/visit.h"
#include "tenon/passes/partition/merge_composite_functions.h"
#include "tenon/passes/pattern/fuse_ops_by_pattern.h"
#include "tenon/relax/relax_form.h"
#include "tenon/tests/onnx/written_model.h"

namespace tenon::onnx_import {
namespace {

using passes::IsOp;
using passes::Pattern;
using passes::Wildcard;
using ::testing::ElementsAre;
using testing_graphs::ExpectClose;
using testing_graphs::Outcome;
using testing_graphs::Random;

std::vector<std::string> OperatorsOf(const ir::Module& module) {
  std::vector<std::string> names;
  ir::VisitPostOrder(module.Main().body, [&](const ir::Expr& e) {
    const auto* call = e.As<ir::CallNode>();
    if (call != nullptr && call->op() != nullptr) names.push_back(call->op()->name);
  });
  return names;
}

// The composite of the pull request, which is one call of oneDNN.
void ExpectOneKernelOfOneDnn(const ir::Module& module) {
  const Pattern conv = IsOp("relax.nn.conv2d")(Wildcard(), Wildcard());
  const Pattern reshape = IsOp("relax.reshape")(Wildcard(), Wildcard()).HasShape({1, 17, 1, 1});
  const Pattern relu = IsOp("relax.nn.relu")(IsOp("relax.add")(conv, reshape));
  const ir::Module composite = passes::MergeCompositeFunctions(
      passes::FuseOpsByPattern(module, {{"dnnl.conv2d_reshape_add_relu", relu}}));
  const Executable exe = ValueOrThrow(Compile(composite));
  ASSERT_EQ(exe.num_kernel_calls(), 1);
  EXPECT_EQ(exe.kernels()[0]->implementation().find("onednn "), 0U);
  const runtime::Inputs inputs = {{"data", Random({1, 5, 7, 9}, 1)},
                                  {"weight", Random({17, 5, 3, 3}, 2)},
                                  {"bias", Random({17}, 3)}};
  ExpectClose(ValueOrThrow(exe.Run(inputs)), Outcome(module, inputs, {.opt_level = 0}), 1e-5);
}

TEST(ConvBiasTest, S002_09_AnExportedConvReshapeAddIsOneCompositeOfOneDnn) {
  Model model;
  model.Input("data", {1, 5, 7, 9})
      .Input("weight", {17, 5, 3, 3})
      .Input("bias", {17})
      .Output("out")
      .Integers("shape", {1, 17, 1, 1});
  SetInts(model.Node("Conv", {"data", "weight"}, {"conv"}), "pads", {1, 1, 1, 1});
  model.Node("Reshape", {"bias", "shape"}, {"reshaped"});
  model.Node("Add", {"conv", "reshaped"}, {"sum"});
  model.Node("Relu", {"sum"}, {"out"});
  const ir::Module module = ValueOrThrow(Imported(model));
  EXPECT_THAT(OperatorsOf(module), ElementsAre("nn.conv2d", "reshape", "add", "nn.relu"));

  ExpectOneKernelOfOneDnn(module);
}

TEST(ConvBiasTest, AConvWithABiasIsABiasAdd) {
  Model model;
  model.Input("data", {1, 5, 7, 9})
      .Input("weight", {17, 5, 3, 3})
      .Input("bias", {17})
      .Output("out");
  model.Node("Conv", {"data", "weight", "bias"}, {"out"});
  EXPECT_THAT(OperatorsOf(ValueOrThrow(Imported(model))), ElementsAre("nn.conv2d", "nn.bias_add"));
}

TEST(ConvBiasTest, S002_09_RelaxsFormOfAConvWithABiasReshapesAndAddsIt) {
  Model model;
  model.Input("data", {1, 5, 7, 9})
      .Input("weight", {17, 5, 3, 3})
      .Input("bias", {17})
      .Output("out");
  SetInts(model.Node("Conv", {"data", "weight", "bias"}, {"conv"}), "pads", {1, 1, 1, 1});
  model.Node("Relu", {"conv"}, {"out"});
  const ir::Module module = relax::InRelaxForm(ValueOrThrow(Imported(model)));
  EXPECT_EQ(module.operator_names(), ir::OperatorNames::kRelax);
  EXPECT_THAT(OperatorsOf(module), ElementsAre("nn.conv2d", "reshape", "add", "nn.relu"));
  EXPECT_THAT(ir::PrintModule(module, {.metadata = false}),
              ::testing::HasSubstr("reshape(%bias, newshape=[1, 17, 1, 1])"));
  ExpectOneKernelOfOneDnn(module);
}

TEST(ConvBiasTest, RelaxsFormHoldsForAnyNumberOfAxes) {
  for (const Shape& spatial : {Shape{7}, Shape{4, 3, 5}}) {
    Shape image = {2, 3}, kernel = {4, 3};
    image.insert(image.end(), spatial.begin(), spatial.end());
    kernel.insert(kernel.end(), spatial.size(), 2);
    for (const char* type : {"Conv", "ConvTranspose"}) {
      Model model;
      if (std::string(type) != "Conv") std::swap(kernel[0], kernel[1]);
      const std::int64_t channels = std::string(type) == "Conv" ? kernel[0] : kernel[1];
      model.Input("x", image).Input("w", kernel).Input("b", {channels}).Output("y");
      model.Node(type, {"x", "w", "b"}, {"y"});
      const runtime::Inputs inputs = {
          {"x", Random(image, 1)}, {"w", Random(kernel, 2)}, {"b", Random({channels}, 3)}};
      const ir::Module module = ValueOrThrow(Imported(model));
      const ir::Module added = relax::InRelaxForm(module);
      EXPECT_THAT(OperatorsOf(added), ::testing::Not(::testing::Contains("nn.bias_add")));
      ExpectClose(Outcome(added, inputs), Outcome(module, inputs), 1e-5);
    }
  }
}

}  // namespace
}  // namespace tenon::onnx_import
