// Models with several problems: one error names all nodes that are refused, and no node that would
// be right without the others.
#include "tenon/tests/onnx/any_shapes.h"

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
