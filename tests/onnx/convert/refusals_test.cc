// Models with several problems: one error names all nodes that are refused, and no node that would
// be right without the others.
#include "tenon/tests/onnx/any_shapes.h"
#include "tenon/tests/onnx/subgraphs.h"

namespace tenon::onnx_import {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr auto kUnimplemented = absl::StatusCode::kUnimplemented;

// An attribute that nobody knows is refused.
void AddRefused(Model& model, const std::string& x, const std::string& y) {
  SetInt(model.Node("Relu", {x}, {y}, "node_" + y), "no_such", 2);
}

void Declare(Model& model, const std::string& name, const Names& extents,
             int type = TensorProto::FLOAT) {
  onnx::ValueInfoProto* info = model.proto.mutable_graph()->add_value_info();
  info->set_name(name);
  auto* tensor = info->mutable_type()->mutable_tensor_type();
  tensor->set_elem_type(type);
  for (const std::string& extent : extents) {
    auto* dim = tensor->mutable_shape()->add_dim();
    if (extent.find_first_not_of("0123456789") == std::string::npos) {
      dim->set_dim_value(std::stoll(extent));
    } else {
      dim->set_dim_param(extent);
    }
  }
}

std::size_t LinesOf(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) + 1;
}

TEST(RefusalsTest, OneProblemIsSaidAlone) {
  Model model;
  model.Input("x", {1, 4, 5, 5}).Output("z");
  AddRefused(model, "x", "y");
  model.Node("Relu", {"y"}, {"z"});
  const std::string message = MessageOf(Imported(model), kUnimplemented);
  EXPECT_TRUE(message.starts_with("in the node node_y (Relu): ")) << message;
  EXPECT_EQ(LinesOf(message), 1U) << message;
}

TEST(RefusalsTest, BranchesThatDoNotMeetAreBothNamed) {
  Model model;
  model.Input("x", {1, 4, 5, 5}).Output("a").Output("b").Output("sum");
  AddRefused(model, "x", "a");
  AddRefused(model, "x", "b");
  model.Node("Add", {"a", "b"}, {"sum"}, "joins");
  const std::string message = MessageOf(Imported(model), kUnimplemented);
  EXPECT_THAT(message,
              AllOf(HasSubstr("the model has 2 problems:\n  in the node node_a (Relu): "),
                    HasSubstr("\n  in the node node_b (Relu): "), Not(HasSubstr("joins"))));
  EXPECT_EQ(LinesOf(message), 3U) << message;
}

// Without the type of a refused node's result, nothing is known of those that read it.
TEST(RefusalsTest, TheModelsOwnTypesGoOnAfterARefusal) {
  for (const bool is_declared : {false, true}) {
    Model model;
    NamedInput(model, "x", {"n", "4", "h", "h"}).Output("d");
    AddRefused(model, "x", "a");
    model.Node("Relu", {"a"}, {"b"});
    AddRefused(model, "b", "c");
    model.Node("Add", {"c", "x"}, {"d"}, "adds");
    if (is_declared) {
      Declare(model, "a", {"n", "4", "h", "h"});
      Declare(model, "c", {"n", "4", "h", "h"});
    }
    for (const bool symbolic : {false, true}) {
      ImportOptions options = AnyShapes();
      options.symbolic = symbolic;
      if (!symbolic) options.shapes = {{"x", {3, 4, 7, 7}}};
      const std::string message = MessageOf(ImportOnnx(model.Bytes(), options), kUnimplemented);
      EXPECT_THAT(message, HasSubstr("in the node node_a (Relu): "));
      EXPECT_EQ(LinesOf(message), is_declared ? 3U : 1U) << message;
    }
  }
}

// What an import must know may be what the refused node would compute.
TEST(RefusalsTest, ValuesThatAnImportNeedsAreNotMissedTwice) {
  Model model;
  model.Input("x", {2, 3}).Input("shape", {2, 2}, TensorProto::INT64).Output("y");
  SetString(model.Node("Det", {"shape"}, {"lengths"}, "refused"), "no_such", "");
  Declare(model, "lengths", {"2"}, TensorProto::INT64);
  model.Node("Reshape", {"x", "lengths"}, {"y"}, "reshapes");
  EXPECT_THAT(MessageOf(Imported(model), kUnimplemented),
              AllOf(HasSubstr("refused (Det)"), Not(HasSubstr("reshapes"))));
}

TEST(RefusalsTest, ABranchMayReadARefusedValue) {
  Model model;
  model.Input("x", {1, 4, 5, 5}).Input("is", {}, TensorProto::BOOL).Output("y");
  AddRefused(model, "x", "a");
  NodeProto& choice = model.Node("If", {"is"}, {"y"}, "choice");
  for (const char* name : {"then_branch", "else_branch"}) {
    AttributeProto* branch = choice.add_attribute();
    branch->set_name(name);
    branch->set_type(AttributeProto::GRAPH);
    onnx::NodeProto* node = branch->mutable_g()->add_node();
    node->set_op_type("Relu");
    node->add_input("a");
    node->add_output("r");
    branch->mutable_g()->add_output()->set_name("r");
  }
  EXPECT_THAT(MessageOf(Imported(model), kUnimplemented),
              AllOf(HasSubstr("node_a (Relu)"), Not(HasSubstr("choice"))));
}

// A graph inside a node that has two refused nodes, and one that reads a result of them.
void AddTwoRefused(onnx::GraphProto* graph, const std::string& x, const std::string& prefix) {
  for (const char* name : {"p", "q"}) {
    NodeProto& node = Add(graph, "Relu", {x}, {prefix + name});
    node.set_name(StrCat("node_", prefix, name));
    SetInt(node, "no_such", 2);
  }
  Add(graph, "Add", {prefix + "p", prefix + "q"}, {prefix + "r"}).set_name("reads");
}

TEST(RefusalsTest, BothBranchesOfAnIfNameAllTheirProblems) {
  Model model;
  model.Input("x", {2, 3}).Input("is", {}, TensorProto::BOOL).Output("y").Output("b");
  NodeProto& choice = model.Node("If", {"is"}, {"y"}, "choice");
  for (const char* name : {"then_branch", "else_branch"}) {
    onnx::GraphProto* branch = GraphOf(choice, name);
    const std::string prefix(name, 4);
    AddTwoRefused(branch, "x", prefix);
    Gives(branch, {prefix + "r"});
  }
  AddRefused(model, "x", "b");
  const std::string message = MessageOf(Imported(model), kUnimplemented);
  EXPECT_THAT(message, AllOf(HasSubstr("the model has 5 problems:"), Not(HasSubstr("reads"))));
  for (const char* node : {"thenp", "thenq", "elsep", "elseq"})
    EXPECT_THAT(message, HasSubstr(StrCat("\n  in the node choice (If): in the node node_", node,
                                          " (Relu): ")));
  EXPECT_THAT(message, HasSubstr("\n  in the node node_b (Relu): "));
}

TEST(RefusalsTest, ALoopNamesAllProblemsOfItsBodyOnce) {
  for (const std::int64_t turns : {3, 300}) {
    Model model;
    model.Input("x", {2, 3}).Integers("n", {turns}).Output("y");
    NodeProto& loop = model.Node("Loop", {"n", "", "x"}, {"y"}, "loop");
    onnx::GraphProto* body = GraphOf(loop, "body");
    Takes(body, {"turn", "holds", "v"});
    AddTwoRefused(body, "v", "");
    Gives(body, {"holds", "r"});
    const std::string message = MessageOf(Imported(model), kUnimplemented);
    EXPECT_THAT(message, AllOf(HasSubstr("the model has 2 problems:"),
                               HasSubstr("\n  in the node loop (Loop): in the node node_p (Relu)"),
                               HasSubstr("\n  in the node loop (Loop): in the node node_q (Relu)"),
                               Not(HasSubstr("reads"))));
  }
}

TEST(RefusalsTest, AFunctionNamesAllProblemsOfItsBody) {
  Model model(18);
  model.Input("x", {2, 3}).Output("y");
  model.proto.add_opset_import()->set_domain("made");
  model.proto.mutable_opset_import(1)->set_version(1);
  onnx::FunctionProto* function = model.proto.add_functions();
  function->set_name("Twice");
  function->set_domain("made");
  function->add_input("v");
  function->add_output("r");
  onnx::GraphProto body;
  AddTwoRefused(&body, "v", "");
  *function->mutable_node() = body.node();
  model.Node("Twice", {"x"}, {"y"}, "calls", "made");
  EXPECT_THAT(MessageOf(Imported(model), kUnimplemented),
              AllOf(HasSubstr("the model has 2 problems:"),
                    HasSubstr("\n  in the node calls (Twice): in the node node_p (Relu): "),
                    HasSubstr("\n  in the node calls (Twice): in the node node_q (Relu): "),
                    Not(HasSubstr("reads"))));
}

TEST(RefusalsTest, OperatorsThatAreNotKnownHideNoOtherProblem) {
  Model model;
  model.Input("x", {2, 3}).Input("is", {}, TensorProto::BOOL);
  model.Output("a").Output("b").Output("c");
  model.Node("Nope", {"x"}, {"n"}, "first");
  model.Node("Relu", {"n"}, {"a"}, "reads");
  AddRefused(model, "x", "b");
  NodeProto& choice = model.Node("If", {"is"}, {"c"}, "choice");
  for (const char* name : {"then_branch", "else_branch"}) {
    onnx::GraphProto* branch = GraphOf(choice, name);
    Add(branch, "Nada", {"x"}, {StrCat(name, "_m")}).set_name(StrCat("in_", name));
    Gives(branch, {StrCat(name, "_m")});
  }
  const std::string message = MessageOf(Imported(model), kUnimplemented);
  EXPECT_THAT(message,
              AllOf(HasSubstr("the model has 2 problems:\n  "),
                    HasSubstr("uses 2 operators that cannot be imported:\n      "
                              "Nada (in_then_branch, in_else_branch)\n      Nope (first)\n  "
                              "in the node node_b (Relu): "),
                    Not(HasSubstr("reads")), Not(HasSubstr("choice"))));
}

// Nothing but these: no list of one.
TEST(RefusalsTest, OperatorsThatAreNotKnownAreSaidAlone) {
  Model model;
  model.Input("x", {2, -1}).Output("x2").Node("Nope", {"x"}, {"n"}, "first");
  model.Node("Relu", {"x"}, {"x2"});
  // Neither the extents that are not given nor that nothing reads the result matter.
  for (const auto& shapes : {std::map<std::string, Shape>{}, {{"x", {2, 3}}}})
    EXPECT_THAT(MessageOf(Imported(model, shapes), kUnimplemented),
                AllOf(HasSubstr("uses 1 operator that cannot be imported:\n  Nope (first)"),
                      Not(HasSubstr("problems"))));
}

TEST(RefusalsTest, ManyProblemsAreCounted) {
  Model model;
  model.Input("x", {1, 4, 5, 5});
  for (int i = 0; i < 23; ++i) {
    const std::string name = StrCat("y", i);
    AddRefused(model.Output(name), "x", name);
  }
  const std::string message = MessageOf(Imported(model), kUnimplemented);
  EXPECT_THAT(message, AllOf(HasSubstr("the model has 23 problems:"), HasSubstr("node_y19 (Relu)"),
                             Not(HasSubstr("node_y20")), HasSubstr("\n  and 3 more")));
}

}  // namespace
}  // namespace tenon::onnx_import
