// Functions that a model defines, and sequences and optional values.
#include "tenon/onnx/wire_format.h"
#include "tenon/tests/onnx/written_model.h"

namespace tenon::onnx_import {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing_graphs::ExpectClose;
using testing_graphs::Random;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr auto kUnimplemented = absl::StatusCode::kUnimplemented;

class LocalFunctionTest : public ::testing::Test {
 protected:
  onnx::FunctionProto& Function(const std::string& name, const Names& inputs,
                                const Names& outputs) {
    onnx::FunctionProto* function = model_.proto.add_functions();
    function->set_name(name);
    function->set_domain("made");
    for (const std::string& input : inputs) function->add_input(input);
    for (const std::string& output : outputs) function->add_output(output);
    return *function;
  }
  static NodeProto& Node(onnx::FunctionProto& function, const std::string& type,
                         const Names& inputs, const Names& outputs,
                         const std::string& domain = "") {
    NodeProto* node = function.add_node();
    node->set_op_type(type);
    node->set_domain(domain);
    for (const std::string& input : inputs) node->add_input(input);
    for (const std::string& output : outputs) node->add_output(output);
    return *node;
  }
  static void Refer(NodeProto& node, const std::string& name, const std::string& to,
                    AttributeProto::AttributeType type) {
    AttributeProto* attribute = node.add_attribute();
    attribute->set_name(name);
    attribute->set_type(type);
    attribute->set_ref_attr_name(to);
  }
  // Appends a field that the installed version of ONNX may not know.
  template <typename Message>
  static void Append(Message& message, int field, const std::string& payload) {
    std::string bytes = message.SerializeAsString();
    wire::AddField(field, payload, &bytes);
    ASSERT_TRUE(message.ParseFromString(bytes));
  }

  const NDArray x_ = Random({2, 5}, 1);
  Model model_{18};
};

TEST_F(LocalFunctionTest, ACallIsReplacedByTheBodyWithItsAttributes) {
  onnx::FunctionProto& leaky = Function("Leaky", {"v"}, {"w"});
  leaky.add_attribute("slope");
  // The nodes may be in any order, and names of the body are its own.
  Node(leaky, "Neg", {"x"}, {"w"});
  Refer(Node(leaky, "LeakyRelu", {"v"}, {"x"}), "alpha", "slope", AttributeProto::FLOAT);
  model_.Input("x", {2, 5}).Output("y").Output("z");
  SetFloat(model_.Node("Leaky", {"x"}, {"y"}, "first", "made"), "slope", 0.5F);
  SetFloat(model_.Node("Leaky", {"y"}, {"z"}, "second", "made"), "slope", 0.25F);
  const std::vector<NDArray> results = Computed(model_, {{"x", x_}});
  std::vector<float> y, z;
  for (const float v : x_.ToVector<float>()) {
    y.push_back(-(v > 0 ? v : 0.5F * v));
    z.push_back(-(y.back() > 0 ? y.back() : 0.25F * y.back()));
  }
  ExpectClose(results.at(0), NDArray::FromVector<float>({2, 5}, y));
  ExpectClose(results.at(1), NDArray::FromVector<float>({2, 5}, z));
}

TEST_F(LocalFunctionTest, AFunctionCallsOthersAndBranchesSeeItsAttributes) {
  onnx::FunctionProto& inner = Function("Scaled", {"v"}, {"w"});
  inner.add_attribute("by");
  Refer(Node(inner, "Constant", {}, {"c"}), "value_float", "by", AttributeProto::FLOAT);
  Node(inner, "Mul", {"v", "c"}, {"w"});
  onnx::FunctionProto& outer = Function("Chosen", {"v", "flag"}, {"w"});
  outer.add_attribute("by");
  NodeProto& chosen = Node(outer, "If", {"flag"}, {"w"});
  for (const char* branch : {"then_branch", "else_branch"}) {
    AttributeProto* attribute = chosen.add_attribute();
    attribute->set_name(branch);
    attribute->set_type(AttributeProto::GRAPH);
    onnx::GraphProto* graph = attribute->mutable_g();
    NodeProto* node = graph->add_node();
    const bool is_then = std::string(branch) == "then_branch";
    node->set_op_type(is_then ? "Scaled" : "Neg");
    if (is_then) {
      node->set_domain("made");
      Refer(*node, "by", "by", AttributeProto::FLOAT);
    }
    node->add_input("v");
    node->add_output("r");
    graph->add_output()->set_name("r");
  }
  const NDArray flag = NDArray::Scalar(true);
  model_.Input("x", {2, 5}).InputLike("flag", flag).Output("y");
  SetFloat(model_.Node("Chosen", {"x", "flag"}, {"y"}, "", "made"), "by", 3);
  std::vector<float> expected;
  for (const float v : x_.ToVector<float>()) expected.push_back(3 * v);
  ExpectClose(Computed(model_, {{"x", x_}, {"flag", flag}})[0],
              NDArray::FromVector<float>({2, 5}, expected));
}

TEST_F(LocalFunctionTest, AttributesHaveDefaultsAndInputsMayBeLeftOut) {
  onnx::FunctionProto& clipped = Function("Clipped", {"v", "low", "high"}, {"w"});
  Refer(Node(clipped, "LeakyRelu", {"v"}, {"l"}), "alpha", "slope", AttributeProto::FLOAT);
  Node(clipped, "Clip", {"l", "low", "high"}, {"w"});
  AttributeProto slope;
  slope.set_name("slope");
  slope.set_type(AttributeProto::FLOAT);
  slope.set_f(0.5F);
  Append(clipped, 11, slope.SerializeAsString());
  model_.Input("x", {2, 5}).Output("y");
  model_.Initializer("low", NDArray::Scalar<float>(-0.1F));
  model_.Node("Clipped", {"x", "low"}, {"y"}, "", "made");
  std::vector<float> expected;
  for (const float v : x_.ToVector<float>())
    expected.push_back(std::max(-0.1F, v > 0 ? v : 0.5F * v));
  ExpectClose(Computed(model_, {{"x", x_}})[0], NDArray::FromVector<float>({2, 5}, expected));
}

TEST_F(LocalFunctionTest, OverloadsAreDifferentFunctions) {
  for (const char* overload : {"", "negative"}) {
    onnx::FunctionProto& function = Function("Kind", {"v"}, {"w"});
    Node(function, *overload == 0 ? "Abs" : "Neg", {"v"}, {"w"});
    if (*overload != 0) Append(function, 13, overload);
  }
  model_.Input("x", {2, 5}).Output("y").Output("z");
  model_.Node("Kind", {"x"}, {"y"}, "", "made");
  Append(model_.Node("Kind", {"x"}, {"z"}, "", "made"), 8, "negative");
  const std::vector<NDArray> results = Computed(model_, {{"x", x_}});
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(results[0].data<float>()[i], std::abs(x_.data<float>()[i]));
    EXPECT_EQ(results[1].data<float>()[i], -x_.data<float>()[i]);
  }
}

TEST_F(LocalFunctionTest, ABodyHasTheOpsetThatItImports) {
  // Up to opset 12, axes of Squeeze are an attribute.
  onnx::FunctionProto& old = Function("Old", {"v"}, {"w"});
  old.add_opset_import()->set_version(11);
  SetInts(Node(old, "Squeeze", {"v"}, {"w"}), "axes", {0});
  model_.Input("x", {1, 3}).Output("y");
  model_.Node("Old", {"x"}, {"y"}, "", "made");
  EXPECT_EQ(Computed(model_, {{"x", Random({1, 3}, 1)}})[0].shape(), Shape{3});
  old.mutable_opset_import(0)->set_version(6);
  EXPECT_THAT(MessageOf(Imported(model_), kUnimplemented),
              HasSubstr("the function made.Old is of opset 6"));
}

TEST_F(LocalFunctionTest, AFunctionThatCallsItselfIsRefused) {
  Node(Function("A", {"v"}, {"w"}), "B", {"v"}, {"w"}, "made");
  Node(Function("B", {"v"}, {"w"}), "A", {"v"}, {"w"}, "made");
  model_.Input("x", {3}).Output("y");
  model_.Node("A", {"x"}, {"y"}, "call", "made");
  EXPECT_THAT(MessageOf(Imported(model_), kInvalid),
              AllOf(HasSubstr("call (A)"), HasSubstr("the function made.A calls itself")));
}

TEST_F(LocalFunctionTest, FunctionsThatDoubleAtEachLevelAreBounded) {
  Node(Function("F0", {"v"}, {"w"}), "Neg", {"v"}, {"w"});
  for (int level = 1; level < 30; ++level) {
    onnx::FunctionProto& function = Function("F" + std::to_string(level), {"v"}, {"w"});
    const std::string below = "F" + std::to_string(level - 1);
    Node(function, below, {"v"}, {"u"}, "made");
    Node(function, below, {"u"}, {"w"}, "made");
  }
  model_.Input("x", {3}).Output("y");
  model_.Node("F29", {"x"}, {"y"}, "call", "made");
  EXPECT_THAT(MessageOf(Imported(model_), kUnimplemented), HasSubstr("more than 200000 nodes"));
}

TEST_F(LocalFunctionTest, LongChainsOfFunctionsAreRefusedInWords) {
  Node(Function("F0", {"v"}, {"w"}), "Neg", {"v"}, {"w"});
  for (int level = 1; level < 20000; ++level)
    Node(Function("F" + std::to_string(level), {"v"}, {"w"}), "F" + std::to_string(level - 1),
         {"v"}, {"w"}, "made");
  model_.Input("x", {3}).Output("y");
  model_.Node("F19999", {"x"}, {"y"}, "call", "made");
  EXPECT_THAT(MessageOf(Imported(model_), kUnimplemented), HasSubstr("more than 200 levels"));
  model_.proto.mutable_graph()->mutable_node(0)->set_op_type("F199");
  EXPECT_TRUE(Imported(model_).ok());
}

TEST_F(LocalFunctionTest, WhatABodyLacksIsListedAndUnknownAttributesAreNamed) {
  Node(Function("A", {"v"}, {"w"}), "NoSuchThing", {"v"}, {"w"});
  model_.Input("x", {3}).Output("y");
  NodeProto& call = model_.Node("A", {"x"}, {"y"}, "call", "made");
  EXPECT_THAT(MessageOf(Imported(model_), kUnimplemented), HasSubstr("NoSuchThing"));
  model_.proto.mutable_functions(0)->mutable_node(0)->set_op_type("Neg");
  SetInt(call, "wibble", 1);
  EXPECT_THAT(MessageOf(Imported(model_), kInvalid),
              HasSubstr("the function made.A has no attribute wibble"));
}

// --- sequences

TEST(SequenceTest, ElementsAreAddedTakenAndJoined) {
  const NDArray a = Random({2, 3}, 1), b = Random({2, 3}, 2), c = Random({2, 3}, 3);
  Model model(18);
  model.InputLike("a", a).InputLike("b", b).InputLike("c", c);
  model.Integers("one", {1}).Integers("last", {-1});
  model.Node("SequenceConstruct", {"a", "b"}, {"two"});
  model.Node("SequenceInsert", {"two", "c", "one"}, {"three"});  // a, c, b
  model.Node("SequenceErase", {"three", "last"}, {"rest"});      // a, c
  model.Node("SequenceAt", {"rest", "last"}, {"at"});
  model.Node("SequenceLength", {"three"}, {"length"});
  SetInt(model.Node("ConcatFromSequence", {"three"}, {"joined"}), "axis", 1);
  NodeProto& stacked = model.Node("ConcatFromSequence", {"rest"}, {"stacked"});
  SetInt(stacked, "axis", -1);
  SetInt(stacked, "new_axis", 1);
  for (const char* name : {"at", "length", "joined", "stacked"}) model.Output(name);
  const std::vector<NDArray> results = Computed(model, {{"a", a}, {"b", b}, {"c", c}});
  EXPECT_EQ(results[0].ToVector<float>(), c.ToVector<float>());
  EXPECT_THAT(results[1].ToVector<std::int64_t>(), ElementsAre(3));
  ASSERT_EQ(results[2].shape(), (Shape{2, 9}));
  ASSERT_EQ(results[3].shape(), (Shape{2, 3, 2}));
  const NDArray order[] = {a, c, b};
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 9; ++j)
      EXPECT_EQ(results[2].data<float>()[i * 9 + j], order[j / 3].data<float>()[i * 3 + j % 3]);
    for (int j = 0; j < 6; ++j)
      EXPECT_EQ(results[3].data<float>()[i * 6 + j], order[j % 2].data<float>()[i * 3 + j / 2]);
  }
}

TEST(SequenceTest, SplittingGivesPartsOfGivenOrEqualLengths) {
  const NDArray x = Random({7, 2}, 1);
  for (const Ints& split : {Ints{3}, Ints{2, 5}, Ints{}}) {
    Model model(18);
    model.InputLike("x", x).Integers("place", {-1}).Output("y").Output("n");
    Names inputs = {"x"};
    if (!split.empty()) {
      model.Initializer("split", split.size() == 1 ? NDArray::Scalar<std::int64_t>(split[0])
                                                   : NDArray::FromVector<std::int64_t>({2}, split));
      inputs.push_back("split");
    }
    NodeProto& node = model.Node("SplitToSequence", inputs, {"parts"});
    if (split.empty()) SetInt(node, "keepdims", 0);
    model.Node("SequenceAt", {"parts", "place"}, {"y"});
    model.Node("SequenceLength", {"parts"}, {"n"});
    const std::vector<NDArray> results = Computed(model, {{"x", x}});
    const std::int64_t rows = split.empty() ? 1 : split.size() == 1 ? 1 : 5;
    const std::int64_t count = split.empty() ? 7 : split.size() == 1 ? 3 : 2;
    EXPECT_EQ(results[0].shape(), split.empty() ? Shape{2} : (Shape{rows, 2}));
    EXPECT_THAT(results[1].ToVector<std::int64_t>(), ElementsAre(count));
    const std::vector<float> all = x.ToVector<float>();
    EXPECT_EQ(results[0].ToVector<float>(), std::vector<float>(all.end() - rows * 2, all.end()));
  }
}

// What torch.jit.script makes of a loop that appends to a list.
TEST(SequenceTest, ALoopMayAppendToASequence) {
  Model model(18);
  const NDArray x = Random({3}, 1);
  model.InputLike("x", x).Integers("count", {4}).Output("y");
  model.Initializer("yes", NDArray::Scalar(true));
  model.Node("SequenceEmpty", {}, {"none"});
  NodeProto& loop = model.Node("Loop", {"count", "yes", "none", "x"}, {"all", "last"});
  AttributeProto* attribute = loop.add_attribute();
  attribute->set_name("body");
  attribute->set_type(AttributeProto::GRAPH);
  onnx::GraphProto* body = attribute->mutable_g();
  for (const char* name : {"i", "go", "list", "v"}) body->add_input()->set_name(name);
  const auto add = [&](const char* type, const Names& inputs, const char* output) {
    NodeProto* node = body->add_node();
    node->set_op_type(type);
    for (const std::string& input : inputs) node->add_input(input);
    node->add_output(output);
    body->add_output()->set_name(output);
  };
  add("Identity", {"go"}, "on");
  add("SequenceInsert", {"list", "v"}, "longer");
  add("Add", {"v", "v"}, "twice");
  SetInt(model.Node("ConcatFromSequence", {"all"}, {"y"}), "axis", 0);
  const NDArray y = Computed(model, {{"x", x}})[0];
  ASSERT_EQ(y.shape(), Shape{12});
  for (int i = 0; i < 12; ++i)
    EXPECT_EQ(y.data<float>()[i], x.data<float>()[i % 3] * static_cast<float>(1 << (i / 3)));
}

TEST(SequenceTest, WhatIsNoTensorIsNamed) {
  Model result(18);
  result.Input("x", {3}).Output("s");
  result.Node("SequenceConstruct", {"x"}, {"s"});
  EXPECT_THAT(MessageOf(Imported(result), kUnimplemented),
              HasSubstr("the output s is a sequence of 1; the results of a model must be tensors"));
  Model operand(18);
  operand.Input("x", {3}).Output("y");
  operand.Node("SequenceConstruct", {"x"}, {"s"});
  operand.Node("Exp", {"s"}, {"y"}, "power");
  EXPECT_FALSE(Imported(operand).ok());
  Model element(18);
  element.Input("x", {3}).Integers("two", {2}).Output("y");
  element.Node("SequenceConstruct", {"x"}, {"s"});
  element.Node("SequenceAt", {"s", "two"}, {"y"}, "third");
  EXPECT_THAT(
      MessageOf(Imported(element), kInvalid),
      AllOf(HasSubstr("third (SequenceAt)"), HasSubstr("the place 2 in a sequence of 1 elements")));
}

TEST(OptionalTest, AnElementIsThereOrNot) {
  Model model(18);
  model.Input("x", {3}).Output("has").Output("lacks").Output("y");
  model.Node("Optional", {"x"}, {"some"});
  model.Node("Optional", {}, {"none"});
  model.Node("OptionalHasElement", {"some"}, {"has"});
  model.Node("OptionalHasElement", {"none"}, {"lacks"});
  model.Node("OptionalGetElement", {"some"}, {"y"});
  const NDArray x = Random({3}, 1);
  const std::vector<NDArray> results = Computed(model, {{"x", x}});
  EXPECT_TRUE(*results[0].data<bool>());
  EXPECT_FALSE(*results[1].data<bool>());
  EXPECT_EQ(results[2].ToVector<float>(), x.ToVector<float>());
  model.Node("OptionalGetElement", {"none"}, {"z"}, "get");
  EXPECT_THAT(MessageOf(Imported(model), kInvalid), HasSubstr("input 0 has no element"));
}

}  // namespace
}  // namespace tenon::onnx_import
