// Control flow of ONNX models: branches chosen, run or selected, loops and scans unrolled or run,
// beyond what the standard's node tests cover.
#include <algorithm>
#include <cmath>

#include "onnx/onnx_pb.h"
#include "tenon/onnx/import.h"
#include "tenon/tests/testing/graph_testing.h"

namespace tenon::onnx_import {
namespace {

using onnx::GraphProto;
using onnx::NodeProto;
using onnx::TensorProto;
using ::testing::AllOf;
using ::testing::HasSubstr;
using testing_graphs::ExpectClose;

NodeProto* AddNode(GraphProto* graph, const char* type, const std::vector<std::string>& inputs,
                   const std::vector<std::string>& outputs) {
  NodeProto* node = graph->add_node();
  node->set_op_type(type);
  node->set_name(outputs[0] + "_node");
  for (const std::string& input : inputs) node->add_input(input);
  for (const std::string& output : outputs) node->add_output(output);
  return node;
}
void Declare(onnx::ValueInfoProto* info, const std::string& name, int type, const Shape& shape) {
  info->set_name(name);
  auto* tensor = info->mutable_type()->mutable_tensor_type();
  tensor->set_elem_type(type);
  tensor->mutable_shape();
  for (const std::int64_t extent : shape) tensor->mutable_shape()->add_dim()->set_dim_value(extent);
}
void AddConstant(GraphProto* graph, const std::string& name, const Shape& shape,
                 const std::vector<float>& values) {
  TensorProto* tensor = graph->add_initializer();
  tensor->set_name(name);
  tensor->set_data_type(TensorProto::FLOAT);
  for (const std::int64_t extent : shape) tensor->add_dims(extent);
  for (const float value : values) tensor->add_float_data(value);
}
void AddBool(GraphProto* graph, const std::string& name, bool value) {
  TensorProto* tensor = graph->add_initializer();
  tensor->set_name(name);
  tensor->set_data_type(TensorProto::BOOL);
  tensor->add_int32_data(value ? 1 : 0);
}
void AddInteger(GraphProto* graph, const std::string& name, std::int64_t value) {
  TensorProto* tensor = graph->add_initializer();
  tensor->set_name(name);
  tensor->set_data_type(TensorProto::INT64);
  tensor->add_int64_data(value);
}
GraphProto* AddGraph(NodeProto* node, const char* attribute) {
  auto* a = node->add_attribute();
  a->set_name(attribute);
  a->set_type(onnx::AttributeProto::GRAPH);
  a->mutable_g()->set_name(attribute);
  return a->mutable_g();
}
void SetInt(NodeProto* node, const char* name, std::int64_t value) {
  auto* a = node->add_attribute();
  a->set_name(name);
  a->set_type(onnx::AttributeProto::INT);
  a->set_i(value);
}

// A model that a test fills, with the input x of shape (3).
class Model {
 public:
  Model() {
    proto_.set_ir_version(8);
    proto_.add_opset_import()->set_version(17);
    graph()->set_name("graph");
    Declare(graph()->add_input(), "x", TensorProto::FLOAT, {3});
  }
  GraphProto* graph() { return proto_.mutable_graph(); }
  Model& Output(const char* name) {
    graph()->add_output()->set_name(name);
    return *this;
  }
  absl::StatusOr<ir::Module> Imported(bool control_flow = true) {
    strategies::RegisterStrategies(ops::OpRegistry::Global());
    return ImportOnnx(proto_.SerializeAsString(),
                      {.control_flow = control_flow, .evaluate = strategies::EvaluateCall});
  }
  // With control flow and, where the import takes it so, without: both must agree.
  std::vector<NDArray> Results(const runtime::Inputs& inputs) {
    const auto results = testing_graphs::Outcome(ValueOrThrow(Imported()), inputs);
    if (const auto unrolled = Imported(false); unrolled.ok())
      ExpectClose(testing_graphs::Outcome(*unrolled, inputs), results);
    return results;
  }
  std::string Refusal() { return std::string(Imported().status().message()); }

 private:
  onnx::ModelProto proto_;
};

NDArray Floats(const Shape& shape, const std::vector<float>& values) {
  return NDArray::FromVector(shape, values);
}
const NDArray kOneTwoThree = Floats({3}, {1, 2, 3});

// Both branches read x, which is made around them.
void FillBranches(NodeProto* node, const Shape& of_else = {3}) {
  GraphProto* yes = AddGraph(node, "then_branch");
  AddNode(yes, "Add", {"x", "x"}, {"twice"});
  yes->add_output()->set_name("twice");
  GraphProto* no = AddGraph(node, "else_branch");
  AddConstant(no, "ten", of_else,
              std::vector<float>(static_cast<std::size_t>(NumElements(of_else)), 10));
  AddNode(no, "Identity", {"ten"}, {"tens"});
  no->add_output()->set_name("tens");
}

TEST(IfTest, TheBranchOfAKnownConditionIsTheOnlyOne) {
  for (const bool condition : {true, false}) {
    Model model;
    AddBool(model.graph(), "c", condition);
    FillBranches(AddNode(model.graph(), "If", {"c"}, {"y"}), {2, 2});
    model.Output("y");
    const NDArray expected = condition ? Floats({3}, {2, 4, 6}) : Floats({2, 2}, {10, 10, 10, 10});
    ExpectClose(model.Results({{"x", kOneTwoThree}})[0], expected);
  }
}

TEST(IfTest, AComputedConditionRunsOneBranch) {
  Model model;
  Declare(model.graph()->add_input(), "c", TensorProto::BOOL, {1});
  FillBranches(AddNode(model.graph(), "If", {"c"}, {"y"}));
  model.Output("y");
  const NDArray yes = NDArray::FromVector<bool>({1}, {true});
  const NDArray no = NDArray::FromVector<bool>({1}, {false});
  ExpectClose(model.Results({{"x", kOneTwoThree}, {"c", yes}})[0], Floats({3}, {2, 4, 6}));
  ExpectClose(model.Results({{"x", kOneTwoThree}, {"c", no}})[0], Floats({3}, {10, 10, 10}));
}

TEST(IfTest, BranchesThatComputeNothingAreSelected) {
  for (const bool computes : {false, true}) {
    Model model;
    Declare(model.graph()->add_input(), "c", TensorProto::BOOL, {});
    AddNode(model.graph(), "Exp", {"x"}, {"around"});
    NodeProto* node = AddNode(model.graph(), "If", {"c"}, {"y"});
    GraphProto* yes = AddGraph(node, "then_branch");
    AddNode(yes, computes ? "Neg" : "Identity", {"around"}, {"a"});
    yes->add_output()->set_name("a");
    AddGraph(node, "else_branch")->add_output()->set_name("x");
    model.Output("y");
    const Executable exe = ValueOrThrow(Compile(ValueOrThrow(model.Imported())));
    EXPECT_EQ(exe.program() != nullptr, computes);
    ExpectClose(model.Results({{"x", kOneTwoThree}, {"c", NDArray::Scalar(false)}})[0],
                kOneTwoThree);
  }
}

TEST(IfTest, AComputedConditionNeedsBranchesOfOneType) {
  Model model;
  Declare(model.graph()->add_input(), "c", TensorProto::BOOL, {});
  FillBranches(AddNode(model.graph(), "If", {"c"}, {"y"}), {2, 2});
  EXPECT_THAT(model.Output("y").Refusal(),
              AllOf(HasSubstr("in the node y_node (If)"),
                    HasSubstr("Tensor[(3), float32] in one branch and Tensor[(2, 2), float32]"),
                    HasSubstr("both must be of one type, except for extents")));
}

TEST(IfTest, WhatABranchCannotImportIsNamedWithTheRest) {
  Model model;
  AddBool(model.graph(), "c", true);
  NodeProto* node = AddNode(model.graph(), "If", {"c"}, {"y"});
  FillBranches(node);
  AddNode(node->mutable_attribute(1)->mutable_g(), "Juggle", {"x"}, {"z"});
  EXPECT_THAT(model.Output("y").Refusal(), HasSubstr("Juggle (z_node)"));
}

// y = x + the sum of the turns' numbers; all partial sums come out too. It goes on while
// `condition` says, which is `goes_on` after the first turn.
NodeProto* AddSumLoop(Model* model, const char* condition = "", bool goes_on = true) {
  NodeProto* node = AddNode(model->graph(), "Loop", {"count", condition, "x"}, {"y", "all"});
  GraphProto* body = AddGraph(node, "body");
  Declare(body->add_input(), "turn", TensorProto::INT64, {});
  Declare(body->add_input(), "was", TensorProto::BOOL, {});
  Declare(body->add_input(), "sum", TensorProto::FLOAT, {3});
  NodeProto* cast = AddNode(body, "Cast", {"turn"}, {"number"});
  SetInt(cast, "to", TensorProto::FLOAT);
  AddNode(body, "Add", {"sum", "number"}, {"next"});
  AddNode(body, "Identity", {"next"}, {"also"});
  AddBool(body, "goes_on", goes_on);
  for (const char* name : {"goes_on", "next"}) body->add_output()->set_name(name);
  Declare(body->add_output(), "also", TensorProto::FLOAT, {3});
  model->Output("y").Output("all");
  return node;
}

TEST(LoopTest, RunsAsOftenAsItsCountSays) {
  Model model;
  AddInteger(model.graph(), "count", 3);
  AddSumLoop(&model);
  const auto results = model.Results({{"x", kOneTwoThree}});
  ExpectClose(results[0], Floats({3}, {4, 5, 6}));
  ExpectClose(results[1], Floats({3, 3}, {1, 2, 3, 2, 3, 4, 4, 5, 6}));
}

TEST(LoopTest, RunsNoTurnOfACountOfZero) {
  Model model;
  AddInteger(model.graph(), "count", 0);
  AddSumLoop(&model);
  const auto results = model.Results({{"x", kOneTwoThree}});
  ExpectClose(results[0], kOneTwoThree);
  EXPECT_EQ(results[1].shape(), (Shape{0, 3}));
}

TEST(LoopTest, EndsWhenItsConditionSays) {
  Model model;
  AddInteger(model.graph(), "count", 99);
  AddBool(model.graph(), "at_first", true);
  AddSumLoop(&model, "at_first", false);
  EXPECT_EQ(model.Results({{"x", kOneTwoThree}})[1].shape(), (Shape{1, 3}));
}

TEST(LoopTest, IgnoresTheConditionOfItsBodyWithoutOneToBeginWith) {
  Model model;
  AddInteger(model.graph(), "count", 2);
  AddSumLoop(&model, "", false);
  EXPECT_EQ(model.Results({{"x", kOneTwoThree}})[1].shape(), (Shape{2, 3}));
}

TEST(LoopTest, WithoutControlFlowTheCountOfOutputsMustBeKnown) {
  Model open;
  Declare(open.graph()->add_input(), "count", TensorProto::INT64, {});
  AddSumLoop(&open);
  EXPECT_THAT(std::string(open.Imported(false).status().message()),
              AllOf(HasSubstr("in the node y_node (Loop)"), HasSubstr("input 0")));
}

TEST(LoopTest, ACountOfARunIsThatOfOutputs) {
  Model open;
  Declare(open.graph()->add_input(), "count", TensorProto::INT64, {});
  AddSumLoop(&open);
  for (const std::int64_t count : {0, 1, 2, 40, -3}) {
    const auto results = open.Results({{"x", kOneTwoThree}, {"count", NDArray::Scalar(count)}});
    std::vector<float> sum = {1, 2, 3}, all;
    for (std::int64_t turn = 0; turn < count; ++turn) {
      for (float& value : sum) value += static_cast<float>(turn);
      all.insert(all.end(), sum.begin(), sum.end());
    }
    ExpectClose(results[0], Floats({3}, sum));
    ExpectClose(results[1], Floats({std::max<std::int64_t>(count, 0), 3}, all));
  }
}

TEST(LoopTest, ALoopWithoutEndIsRefused) {
  Model model;
  AddSumLoop(&model);
  NodeProto* node = model.graph()->mutable_node(0);
  node->set_input(0, "");
  GraphProto* body = node->mutable_attribute(0)->mutable_g();
  body->mutable_output()->RemoveLast();
  node->mutable_output()->RemoveLast();
  model.graph()->mutable_output()->RemoveLast();
  EXPECT_THAT(model.Refusal(), AllOf(HasSubstr("in the node y_node (Loop)"),
                                     HasSubstr("runs more than 4096 turns")));
}

// The sums of `count` turns, as AddSumLoop makes them.
void ExpectSums(const std::vector<NDArray>& results, std::int64_t count) {
  std::vector<float> sum = {1, 2, 3}, all;
  for (std::int64_t turn = 0; turn < count; ++turn) {
    for (float& value : sum) value += static_cast<float>(turn);
    all.insert(all.end(), sum.begin(), sum.end());
  }
  ExpectClose(results[0], Floats({3}, sum));
  if (results.size() > 1) ExpectClose(results[1], Floats({count, 3}, all));
}

TEST(LoopTest, ManyTurnsAreOneLoop) {
  for (const std::int64_t count : {15, 16, 17, 31, 5000}) {
    SCOPED_TRACE(count);
    Model model;
    AddInteger(model.graph(), "count", count);
    AddSumLoop(&model);
    const ir::Module module = ValueOrThrow(model.Imported());
    EXPECT_EQ(module.functions().size(), count > 16 ? 2 : 1);
    ExpectSums(testing_graphs::Outcome(module, {{"x", kOneTwoThree}}), count);
  }
}

// Exporters write the condition of a counted loop in these ways. Nothing else ends it, so its
// outputs have an element for each turn, which other nodes may read.
TEST(LoopTest, AConditionThatStaysTrueDecidesNothing) {
  for (const char* type : {"Identity", "Cast", "And"}) {
    SCOPED_TRACE(type);
    Model model;
    AddInteger(model.graph(), "count", 20);
    AddBool(model.graph(), "at_first", true);
    NodeProto* node = AddSumLoop(&model, "at_first");
    GraphProto* body = node->mutable_attribute(0)->mutable_g();
    NodeProto* condition = AddNode(body, type, {"was"}, {"goes_on_now"});
    if (std::string(type) == "And") condition->add_input("was");
    if (std::string(type) == "Cast") SetInt(condition, "to", TensorProto::BOOL);
    body->mutable_output(0)->set_name("goes_on_now");
    AddNode(model.graph(), "Neg", {"all"}, {"negative"});
    model.Output("negative");
    const ir::Module module = ValueOrThrow(model.Imported());
    EXPECT_EQ(module.functions().size(), 2U);
    const auto results = testing_graphs::Outcome(module, {{"x", kOneTwoThree}});
    ExpectSums(results, 20);
    EXPECT_EQ(results[2].shape(), (Shape{20, 3}));
    EXPECT_EQ(results[2].data<float>()[0], -results[1].data<float>()[0]);
  }
}

TEST(LoopTest, ALoopThatNothingEndsIsRefusedAlsoWhereItHandsItsConditionOn) {
  Model model;
  AddBool(model.graph(), "at_first", true);
  NodeProto* node = AddSumLoop(&model, "at_first");
  node->set_input(0, "");
  GraphProto* body = node->mutable_attribute(0)->mutable_g();
  AddNode(body, "Identity", {"was"}, {"goes_on_now"});
  body->mutable_output(0)->set_name("goes_on_now");
  body->mutable_output()->RemoveLast();
  node->mutable_output()->RemoveLast();
  model.graph()->mutable_output()->RemoveLast();
  EXPECT_THAT(model.Refusal(), HasSubstr("in the node y_node (Loop)"));
}

TEST(LoopTest, ACountOfARunIsTaken) {
  Model model;
  Declare(model.graph()->add_input(), "count", TensorProto::INT64, {});
  NodeProto* node = AddSumLoop(&model);
  node->mutable_attribute(0)->mutable_g()->mutable_output()->RemoveLast();
  node->mutable_output()->RemoveLast();
  model.graph()->mutable_output()->RemoveLast();
  for (const std::int64_t count : {-1, 0, 1, 3, 10000})
    ExpectSums(model.Results({{"x", kOneTwoThree}, {"count", NDArray::Scalar(count)}}),
               std::max<std::int64_t>(count, 0));
}

// What it reads of values around it is an argument, and what it computes of them stays inside.
TEST(LoopTest, ReadsValuesAroundIt) {
  Model model;
  AddInteger(model.graph(), "count", 40);
  AddNode(model.graph(), "Exp", {"x"}, {"around"});
  NodeProto* node = AddSumLoop(&model);
  GraphProto* body = node->mutable_attribute(0)->mutable_g();
  body->mutable_node(1)->set_input(1, "scaled");
  NodeProto* scaled = AddNode(body, "Mul", {"around", "number"}, {"scaled"});
  body->mutable_node()->SwapElements(1, 3);
  body->mutable_node()->SwapElements(2, 3);
  ASSERT_EQ(scaled->op_type(), "Mul");
  const auto results = model.Results({{"x", kOneTwoThree}});
  std::vector<float> expected = {1, 2, 3};
  for (int turn = 0; turn < 40; ++turn) {
    for (int i = 0; i < 3; ++i)
      expected[static_cast<std::size_t>(i)] += std::exp(static_cast<float>(i + 1)) * turn;
  }
  ExpectClose(results[0], Floats({3}, expected));
}

// x doubles while it is below the limit, of `count` turns at most.
NodeProto* AddDoublingLoop(Model* model, const char* count) {
  Declare(model->graph()->add_input(), "at_first", TensorProto::BOOL, {});
  Declare(model->graph()->add_input(), "limit", TensorProto::FLOAT, {});
  NodeProto* node = AddNode(model->graph(), "Loop", {count, "at_first", "x"}, {"y", "all"});
  GraphProto* body = AddGraph(node, "body");
  Declare(body->add_input(), "turn", TensorProto::INT64, {});
  Declare(body->add_input(), "was", TensorProto::BOOL, {});
  Declare(body->add_input(), "value", TensorProto::FLOAT, {3});
  AddNode(body, "Add", {"value", "value"}, {"next"});
  SetInt(AddNode(body, "ReduceMax", {"next"}, {"most"}), "keepdims", 0);
  AddNode(body, "Less", {"most", "limit"}, {"goes_on"});
  AddNode(body, "Identity", {"next"}, {"also"});
  for (const char* name : {"goes_on", "next", "also"}) body->add_output()->set_name(name);
  model->Output("y").Output("all");
  return node;
}

TEST(LoopTest, EndsWhenAConditionThatIsComputedSays) {
  Model model;
  AddInteger(model.graph(), "count", 5);
  AddDoublingLoop(&model, "count");
  for (const bool begins : {false, true}) {
    for (const float limit : {1.0F, 7.0F, 13.0F, 1000.0F}) {
      SCOPED_TRACE(limit);
      const auto results = model.Results({{"x", kOneTwoThree},
                                          {"at_first", NDArray::Scalar(begins)},
                                          {"limit", NDArray::Scalar(limit)}});
      std::vector<float> value = {1, 2, 3}, all;
      bool goes_on = begins;
      std::int64_t turns = 0;
      for (; turns < 5 && goes_on; ++turns) {
        for (float& v : value) v *= 2;
        all.insert(all.end(), value.begin(), value.end());
        goes_on = value[2] < limit;
      }
      ExpectClose(results[0], Floats({3}, value));
      ExpectClose(results[1], Floats({turns, 3}, all));
    }
  }
}

TEST(LoopTest, WhatOnlyARunEndsNeedsNoCount) {
  Model model;
  AddDoublingLoop(&model, "");
  for (const bool begins : {false, true}) {
    for (const float limit : {1.0F, 7.0F, 1e30F}) {
      SCOPED_TRACE(limit);
      const auto results = model.Results({{"x", kOneTwoThree},
                                          {"at_first", NDArray::Scalar(begins)},
                                          {"limit", NDArray::Scalar(limit)}});
      std::vector<float> value = {1, 2, 3}, all;
      bool goes_on = begins;
      std::int64_t turns = 0;
      for (; goes_on; ++turns) {
        for (float& v : value) v *= 2;
        all.insert(all.end(), value.begin(), value.end());
        goes_on = value[2] < limit;
      }
      ExpectClose(results[0], Floats({3}, value));
      ExpectClose(results[1], Floats({turns, 3}, all));
    }
  }
}

TEST(LoopTest, WithoutControlFlowWhatOnlyARunEndsMustHaveACountThatIsBounded) {
  constexpr char kMessage[] =
      "whether turn 0 of the loop is run depends on an input of the model; then the loop must have "
      "a count, of 4096 turns at most";
  Model endless;
  AddDoublingLoop(&endless, "");
  EXPECT_THAT(std::string(endless.Imported(false).status().message()), HasSubstr(kMessage));
  Model many;
  AddInteger(many.graph(), "count", 4097);
  AddDoublingLoop(&many, "count");
  EXPECT_THAT(std::string(many.Imported(false).status().message()), HasSubstr(kMessage));
}

TEST(LoopTest, ValuesThatGrowNeedAKnownEnd) {
  Model model;
  AddInteger(model.graph(), "count", 2);
  NodeProto* node = AddDoublingLoop(&model, "count");
  GraphProto* body = node->mutable_attribute(0)->mutable_g();
  NodeProto* grown = body->mutable_node(0);
  grown->set_op_type("Concat");
  SetInt(grown, "axis", 0);
  EXPECT_THAT(model.Refusal(),
              HasSubstr("a value is Tensor[(3), float32] before a turn and Tensor[(6), float32] "
                        "after it; with a condition that is computed when the model runs"));
}

TEST(LoopTest, RefusesABodyThatDoesNotFit) {
  Model model;
  AddInteger(model.graph(), "count", 2);
  NodeProto* node = AddSumLoop(&model);
  node->mutable_attribute(0)->mutable_g()->mutable_input()->RemoveLast();
  EXPECT_THAT(model.Refusal(), HasSubstr("the graph inside takes 2 inputs; it is given 3"));
  node->mutable_attribute(0)->mutable_g()->mutable_output()->RemoveLast();
  EXPECT_THAT(model.Refusal(), HasSubstr("the body has 2 outputs"));
}

// A value that is left out comes out as none.
TEST(LoopTest, RefusesToPassOnAValueThatIsMissing) {
  Model model;
  AddInteger(model.graph(), "count", 2);
  NodeProto* node = AddSumLoop(&model);
  node->set_input(2, "");
  GraphProto* body = node->mutable_attribute(0)->mutable_g();
  body->clear_node();
  body->mutable_output(1)->set_name("sum");
  body->mutable_output(2)->set_name("turn");
  EXPECT_THAT(model.Refusal(), HasSubstr("the output sum is made by no node"));
}

// The sum of x and what is scanned of w, and the running sums. `lists` are attributes of one
// number. Returns the body's last output, whose type is not declared.
onnx::ValueInfoProto* AddRunningSums(
    Model* model, const std::vector<std::pair<const char*, std::int64_t>>& lists) {
  NodeProto* node = AddNode(model->graph(), "Scan", {"x", "w"}, {"y", "all"});
  SetInt(node, "num_scan_inputs", 1);
  for (const auto& [name, value] : lists) {
    auto* a = node->add_attribute();
    a->set_name(name);
    a->set_type(onnx::AttributeProto::INTS);
    a->add_ints(value);
  }
  GraphProto* body = AddGraph(node, "body");
  for (const char* name : {"sum", "part"})
    Declare(body->add_input(), name, TensorProto::FLOAT, {3});
  AddNode(body, "Add", {"sum", "part"}, {"next"});
  AddNode(body, "Identity", {"next"}, {"also"});
  for (const char* name : {"next", "also"}) body->add_output()->set_name(name);
  model->Output("y").Output("all");
  return body->mutable_output(1);
}

// Columns, from the last to the first.
TEST(ScanTest, RunsAlongAnyAxisInAnyDirection) {
  Model model;
  Declare(model.graph()->add_input(), "w", TensorProto::FLOAT, {3, 2});
  AddRunningSums(&model,
                 {{"scan_input_axes", 1}, {"scan_input_directions", 1}, {"scan_output_axes", 1}});
  const auto results =
      model.Results({{"x", kOneTwoThree}, {"w", Floats({3, 2}, {10, 100, 20, 200, 30, 300})}});
  ExpectClose(results[0], Floats({3}, {111, 222, 333}));
  ExpectClose(results[1], Floats({3, 2}, {101, 111, 202, 222, 303, 333}));
}

TEST(ScanTest, NoStepsGiveNoneOfWhatTheBodyGives) {
  for (const bool declares : {true, false}) {
    Model model;
    AddConstant(model.graph(), "w", {3, 0}, {});
    onnx::ValueInfoProto* also =
        AddRunningSums(&model, {{"scan_input_axes", 1}, {"scan_output_axes", 1}});
    if (declares) Declare(also, "also", TensorProto::FLOAT, {3});
    const auto results = model.Results({{"x", kOneTwoThree}});
    ExpectClose(results[0], kOneTwoThree);
    EXPECT_EQ(results[1].shape(), (Shape{3, 0}));
  }
}

// Rows, in both directions.
TEST(ScanTest, ManyStepsAreOneLoop) {
  for (const std::int64_t direction : {0, 1}) {
    for (const std::int64_t axis : {0, 1}) {
      constexpr std::int64_t kSteps = 37;
      Model model;
      Declare(model.graph()->add_input(), "w", TensorProto::FLOAT, {kSteps, 3});
      AddRunningSums(&model, {{"scan_input_directions", direction},
                              {"scan_output_directions", direction},
                              {"scan_output_axes", axis}});
      EXPECT_EQ(ValueOrThrow(model.Imported()).functions().size(), 2U);
      const NDArray w = testing_graphs::Random({kSteps, 3}, 5);
      const auto results = model.Results({{"x", kOneTwoThree}, {"w", w}});
      std::vector<float> sum = {1, 2, 3};
      NDArray all = NDArray::Zeros(axis == 0 ? Shape{kSteps, 3} : Shape{3, kSteps}, Float32);
      for (std::int64_t step = 0; step < kSteps; ++step) {
        const std::int64_t at = direction == 0 ? step : kSteps - 1 - step;
        for (std::int64_t i = 0; i < 3; ++i) {
          sum[static_cast<std::size_t>(i)] += w.data<float>()[at * 3 + i];
          all.data<float>()[axis == 0 ? at * 3 + i : i * kSteps + at] =
              sum[static_cast<std::size_t>(i)];
        }
      }
      ExpectClose(results[0], Floats({3}, sum));
      ExpectClose(results[1], all);
    }
  }
}

// In each turn x is doubled or, past the limit, halved; all of it only if the model says so.
TEST(NestedTest, AnIfInALoopInAnIf) {
  Model model;
  Declare(model.graph()->add_input(), "c", TensorProto::BOOL, {});
  Declare(model.graph()->add_input(), "count", TensorProto::INT64, {});
  AddConstant(model.graph(), "limit", {}, {50});
  NodeProto* outer = AddNode(model.graph(), "If", {"c"}, {"y"});
  GraphProto* yes = AddGraph(outer, "then_branch");
  NodeProto* loop = AddNode(yes, "Loop", {"count", "", "x"}, {"looped"});
  yes->add_output()->set_name("looped");
  GraphProto* body = AddGraph(loop, "body");
  Declare(body->add_input(), "turn", TensorProto::INT64, {});
  Declare(body->add_input(), "was", TensorProto::BOOL, {});
  Declare(body->add_input(), "value", TensorProto::FLOAT, {3});
  AddBool(body, "goes_on", true);
  SetInt(AddNode(body, "ReduceMax", {"value"}, {"most"}), "keepdims", 0);
  AddNode(body, "Less", {"most", "limit"}, {"below"});
  NodeProto* inner = AddNode(body, "If", {"below"}, {"next"});
  AddNode(AddGraph(inner, "then_branch"), "Add", {"value", "value"}, {"doubled"});
  inner->mutable_attribute(0)->mutable_g()->add_output()->set_name("doubled");
  GraphProto* halve = AddGraph(inner, "else_branch");
  AddConstant(halve, "half", {}, {0.5});
  AddNode(halve, "Mul", {"value", "half"}, {"halved"});
  halve->add_output()->set_name("halved");
  for (const char* name : {"goes_on", "next"}) body->add_output()->set_name(name);
  GraphProto* no = AddGraph(outer, "else_branch");
  AddNode(no, "Neg", {"x"}, {"negative"});
  no->add_output()->set_name("negative");
  model.Output("y");
  for (const bool c : {false, true}) {
    for (const std::int64_t count : {0, 1, 4, 5, 6, 7, 1000}) {
      std::vector<float> expected = {1, 2, 3};
      for (std::int64_t turn = 0; c && turn < count; ++turn) {
        const bool below = expected[2] < 50;
        for (float& value : expected) value *= below ? 2 : 0.5F;
      }
      if (!c) expected = {-1, -2, -3};
      ExpectClose(model.Results({{"x", kOneTwoThree},
                                 {"c", NDArray::Scalar(c)},
                                 {"count", NDArray::Scalar(count)}})[0],
                  Floats({3}, expected));
    }
  }
}

}  // namespace
}  // namespace tenon::onnx_import
