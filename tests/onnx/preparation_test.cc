// What the import does before nodes are converted: it orders them, and fixes inputs.
#include <tuple>

#include "tenon/support/strings.h"
#include "tenon/tests/onnx/subgraphs.h"
#include "tenon/tests/onnx/written_model.h"

namespace tenon::onnx_import {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing_graphs::ExpectClose;

NDArray Floats(const std::vector<float>& values) {
  return NDArray::FromVector<float>({static_cast<std::int64_t>(values.size())}, values);
}

void Reverse(onnx::GraphProto* graph) {
  for (int i = 0, j = graph->node_size() - 1; i < j; ++i, --j)
    graph->mutable_node()->SwapElements(i, j);
}

// --- nodes in any order

TEST(NodeOrderTest, NodesMayStandInAnyOrder) {
  Model model;
  model.Input("x", {2}).Output("z");
  model.Node("Exp", {"x"}, {"a"});
  model.Node("Add", {"a", "x"}, {"b"});
  model.Node("Mul", {"b", "a"}, {"z"});
  const NDArray x = Floats({0, 1});
  const NDArray expected = Computed(model, {{"x", x}}).at(0);
  Reverse(model.proto.mutable_graph());
  ExpectClose(Computed(model, {{"x", x}}).at(0), expected);
}

TEST(NodeOrderTest, AGraphInsideReadsWhatComesLater) {
  Model model;
  model.Input("x", {2}).Input("c", {}, TensorProto::BOOL).Output("y");
  NodeProto& choice = model.Node("If", {"c"}, {"y"});
  for (const char* name : {"then_branch", "else_branch"}) {
    AttributeProto* attribute = choice.add_attribute();
    attribute->set_name(name);
    attribute->set_type(AttributeProto::GRAPH);
    onnx::GraphProto* graph = attribute->mutable_g();
    for (const auto& [type, input, output] :
         {std::tuple{"Neg", "twice", "minus"}, std::tuple{"Abs", "minus", "result"}}) {
      NodeProto* node = graph->add_node();
      node->set_op_type(type);
      node->add_input(input);
      node->add_output(output);
    }
    graph->add_output()->set_name("result");
    Reverse(graph);
  }
  model.Node("Add", {"x", "x"}, {"twice"});
  const NDArray yes = NDArray::Scalar(true);
  ExpectClose(Computed(model, {{"x", Floats({-1, 3})}, {"c", yes}}).at(0), Floats({2, 6}));
}

// A name of a value inside a branch is not that of the node around it that comes later.
TEST(NodeOrderTest, AGraphInsideMayHaveANameOfWhatReadsItsResult) {
  Model model;
  model.Input("x", {2}).Input("c", {}, TensorProto::BOOL).Output("y");
  NodeProto& choice = model.Node("If", {"c"}, {"chosen"});
  for (const char* name : {"then_branch", "else_branch"}) {
    onnx::GraphProto* graph = GraphOf(choice, name);
    Add(graph, name[0] == 't' ? "Relu" : "Abs", {"x"}, {"t"});
    Add(graph, "Neg", {"t"}, {"result"});
    Gives(graph, {"result"});
  }
  model.Node("Add", {"chosen", "x"}, {"t"});
  model.Node("Neg", {"t"}, {"y"});
  const NDArray x = Floats({-1, 3});
  ExpectClose(Computed(model, {{"x", x}, {"c", NDArray::Scalar(true)}}).at(0), Floats({1, 0}));
  Reverse(model.proto.mutable_graph());
  ExpectClose(Computed(model, {{"x", x}, {"c", NDArray::Scalar(false)}}).at(0), Floats({2, 0}));
}

TEST(NodeOrderTest, ALongChainBackwardsNeedsNoDeepStack) {
  constexpr int kLength = 20000;
  Model model;
  model.Input("v0", {1}).Output(StrCat("v", kLength));
  for (int i = 0; i < kLength; ++i) model.Node("Neg", {StrCat("v", i)}, {StrCat("v", i + 1)});
  Reverse(model.proto.mutable_graph());
  EXPECT_TRUE(Imported(model).ok());
}

// --- initializers of graphs inside nodes

// Up to version 3 of the file format, all initializers are listed as inputs, too.
TEST(InnerInitializersTest, MayBeListedAsInputs) {
  const auto add_two = [](onnx::GraphProto* graph) {
    Takes(graph, {"two"});
    ToTensorProto(Floats({2}), "two", graph->add_initializer());
  };
  Model model(8);
  model.proto.set_ir_version(3);
  model.Input("x", {2}).Input("c", {}, TensorProto::BOOL).Output("y").Output("z");
  model.Initializer("n", NDArray::Scalar<std::int64_t>(3));
  NodeProto& choice = model.Node("If", {"c"}, {"y"});
  for (const char* name : {"then_branch", "else_branch"}) {
    onnx::GraphProto* graph = GraphOf(choice, name);
    add_two(graph);
    Add(graph, name[0] == 't' ? "Mul" : "Add", {"x", "two"}, {"result"});
    Gives(graph, {"result"});
  }
  onnx::GraphProto* body = GraphOf(model.Node("Loop", {"n", "", "x"}, {"z"}), "body");
  Takes(body, {"turn", "was", "before"});
  add_two(body);
  Add(body, "Identity", {"was"}, {"holds"});
  Add(body, "Mul", {"before", "two"}, {"after"});
  Gives(body, {"holds", "after"});
  const auto results = Computed(model, {{"x", Floats({-1, 3})}, {"c", NDArray::Scalar(true)}});
  ExpectClose(results.at(0), Floats({-2, 6}));
  ExpectClose(results.at(1), Floats({-8, 24}));
}

// --- inputs that are constants

absl::StatusOr<ir::Module> With(const Model& model, const std::string& name, const NDArray& value,
                                const std::map<std::string, Shape>& shapes = {}) {
  strategies::RegisterStrategies(ops::OpRegistry::Global());
  return ImportOnnx(
      model.Bytes(),
      {.shapes = shapes, .constants = {{name, value}}, .evaluate = strategies::EvaluateCall});
}

Model Reshaping() {
  Model model;
  model.Input("x", {6}).Input("s", {-1}, TensorProto::INT64).Output("y");
  model.Node("Reshape", {"x", "s"}, {"y"});
  return model;
}

TEST(ConstantInputTest, WhatDependsOnItIsKnownAtImport) {
  const auto module = With(Reshaping(), "s", NDArray::FromVector<std::int64_t>({2}, {2, 3}));
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_EQ(module->Main().params.size(), 1U);
  const NDArray x = Floats({1, 2, 3, 4, 5, 6});
  ExpectClose(testing_graphs::Outcome(*module, {{"x", x}}).at(0), x.Reshape({2, 3}));
}

TEST(ConstantInputTest, WhatDoesNotFitIsRefused) {
  const auto refusal = [](const absl::StatusOr<ir::Module>& module) {
    return MessageOf(module, absl::StatusCode::kInvalidArgument);
  };
  const NDArray three = NDArray::FromVector<std::int64_t>({1}, {3});
  EXPECT_THAT(refusal(With(Reshaping(), "t", three)),
              AllOf(HasSubstr("a constant is given for t"), HasSubstr("inputs are s, x")));
  EXPECT_THAT(refusal(With(Reshaping(), "s", Floats({3}))),
              HasSubstr("the constant float32 (1,) given for s does not fit"));
  EXPECT_THAT(refusal(With(Reshaping(), "s", NDArray::Scalar(std::int64_t{3}))),
              HasSubstr("does not fit the model's int64"));
  EXPECT_THAT(refusal(With(Reshaping(), "s", three, {{"s", {1}}})),
              HasSubstr("the input s is given as a constant, which has its own shape"));
}

// --- bounds of Clip

TEST(ClipTest, BoundsMayBeComputed) {
  Model model;
  model.Input("x", {3}).Input("low", {}).Input("high", {}).Output("y");
  model.Node("Clip", {"x", "low", "high"}, {"y"});
  const auto clipped = [&](float low, float high) {
    return Computed(model, {{"x", Floats({-4, 1, 9})},
                            {"low", NDArray::Scalar(low)},
                            {"high", NDArray::Scalar(high)}})
        .at(0);
  };
  ExpectClose(clipped(-1, 5), Floats({-1, 1, 5}));
  // The upper bound is applied last.
  ExpectClose(clipped(5, 2), Floats({2, 2, 2}));
}

TEST(ClipTest, OneBoundMayBeComputedAndTheOtherMissing) {
  Model model;
  model.Input("x", {3}).Input("high", {}).Output("y");
  model.Node("Clip", {"x", "", "high"}, {"y"});
  ExpectClose(Computed(model, {{"x", Floats({-4, 1, 9})}, {"high", NDArray::Scalar(0.5F)}}).at(0),
              Floats({-4, 0.5F, 0.5F}));
}

}  // namespace
}  // namespace tenon::onnx_import
