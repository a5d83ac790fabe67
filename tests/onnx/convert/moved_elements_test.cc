// Values of narrow types that are moved, chosen or collected keep their type. A cast to the type of
// such a value shows it: 100 becomes 7 in int4, and stays 100 in the int8 that carries it.
#include "tenon/onnx/convert/moved_elements.h"

#include <functional>

#include "tenon/support/strings.h"
#include "tenon/tests/onnx/written_model.h"

namespace tenon::onnx_import {
namespace {

using onnx::GraphProto;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int kFloat8 = 17, kInt4 = 22, kInt2 = 26;
using Bytes = std::vector<std::int8_t>;
const Bytes kSaturated = {7, -3}, kWide = {100, -3};
const NDArray kX = NDArray::FromVector<float>({2}, {100, -3});

void AddStored(Model& model, const std::string& name, int type, const Shape& shape,
               const std::string& bytes) {
  TensorProto* tensor = model.proto.mutable_graph()->add_initializer();
  tensor->set_name(name);
  tensor->set_data_type(type);
  for (const std::int64_t extent : shape) tensor->add_dims(extent);
  tensor->set_raw_data(bytes);
}
GraphProto* AddGraph(NodeProto& node, const std::string& attribute) {
  AttributeProto* added = node.add_attribute();
  added->set_name(attribute);
  added->set_type(AttributeProto::GRAPH);
  added->mutable_g()->set_name(attribute);
  return added->mutable_g();
}
NodeProto& AddNode(GraphProto* graph, const std::string& type, const Names& inputs,
                   const Names& outputs) {
  NodeProto* node = graph->add_node();
  node->set_op_type(type);
  for (const std::string& input : inputs) node->add_input(input);
  for (const std::string& output : outputs) node->add_output(output);
  return *node;
}
void Declare(GraphProto* graph, const Names& inputs, const Names& outputs) {
  for (const std::string& input : inputs) graph->add_input()->set_name(input);
  for (const std::string& output : outputs) graph->add_output()->set_name(output);
}

// What x becomes in the type of `moved`, which `fill` makes of w: values of int4, known at import
// or not.
class MovedTest : public ::testing::TestWithParam<bool> {
 protected:
  Model Filled(const std::function<void(Model&)>& fill) const {
    Model model(24);
    model.Input("x", {2}).Input("b", {1}, TensorProto::BOOL).Output("y");
    if (GetParam()) {
      AddStored(model, "w", kInt4, {1, 1, 2, 2}, "\x21\x0f");
    } else {
      model.Input("w", {1, 1, 2, 2}, kInt4);
    }
    AddStored(model, "s", kInt4, {}, "\x05");
    AddStored(model, "pair", kInt4, {2}, "\x05");
    AddStored(model, "part", kInt4, {1, 2, 2}, std::string(2, '\0'));
    AddStored(model, "wide", TensorProto::INT8, {1, 1, 2, 2}, std::string(4, '\1'));
    model.Integers("zero", {0}).Integers("one", {1}).Integers("two", {2});
    model.Integers("shape", {1, 1, 2, 2}).Integers("pads", {0, 0, 0, 0, 0, 0, 1, 1});
    model.Initializer("places", NDArray::Zeros({1, 1, 2, 2}, Int64));
    model.Initializer("flag", NDArray::FromVector<bool>({1}, {true}));
    fill(model);
    model.Node("CastLike", {"x", "moved"}, {"y"});
    return model;
  }
  Bytes Like(const std::function<void(Model&)>& fill) const {
    runtime::Inputs inputs = {{"x", kX}, {"b", NDArray::FromVector<bool>({1}, {true})}};
    if (!GetParam()) inputs["w"] = NDArray::FromVector<std::int8_t>({1, 1, 2, 2}, {1, 2, -1, 0});
    return Computed(Filled(fill), inputs)[0].ToVector<std::int8_t>();
  }
  Bytes Of(
      const std::string& type, const Names& inputs,
      const std::function<void(NodeProto&)>& set = [](NodeProto&) {},
      const Names& outputs = {"moved"}) const {
    return Like([&](Model& model) { set(model.Node(type, inputs, outputs)); });
  }
  std::string Refusal(const std::function<void(Model&)>& fill) const {
    return MessageOf(Imported(Filled(fill)), absl::StatusCode::kInvalidArgument);
  }
};
INSTANTIATE_TEST_SUITE_P(KnownAtImport, MovedTest, ::testing::Bool());

std::function<void(NodeProto&)> With(const std::string& attribute, std::int64_t value) {
  return [=](NodeProto& node) { SetInt(node, attribute, value); };
}

TEST_P(MovedTest, ElementsThatAreMovedOrChosenKeepTheirType) {
  EXPECT_EQ(Of("CenterCropPad", {"w", "shape"}), kSaturated);
  EXPECT_EQ(Of("Clip", {"w", "s", "s"}), kSaturated);
  EXPECT_EQ(Of("Compress", {"w", "flag"}), kSaturated);
  EXPECT_EQ(Of("Concat", {"w", "w"}, With("axis", 0)), kSaturated);
  EXPECT_EQ(Of("DepthToSpace", {"w"}, With("blocksize", 1)), kSaturated);
  EXPECT_EQ(Of("Dropout", {"w"}), kSaturated);
  EXPECT_EQ(Of("Expand", {"w", "shape"}), kSaturated);
  EXPECT_EQ(Of("Flatten", {"w"}), kSaturated);
  EXPECT_EQ(Of("Gather", {"w", "zero"}), kSaturated);
  EXPECT_EQ(Of("GatherElements", {"w", "places"}), kSaturated);
  EXPECT_EQ(Of("GatherND", {"w", "zero"}), kSaturated);
  EXPECT_EQ(Of("Identity", {"w"}), kSaturated);
  EXPECT_EQ(Of("Max", {"w", "w"}), kSaturated);
  EXPECT_EQ(Of("MaxUnpool", {"w", "places"},
               [](NodeProto& node) {
                 SetInts(node, "kernel_shape", {1, 1});
               }),
            kSaturated);
  EXPECT_EQ(Of("Min", {"w", "s"}), kSaturated);
  EXPECT_EQ(Of("OneHot", {"zero", "two", "pair"}), kSaturated);
  EXPECT_EQ(Of("Pad", {"w", "pads"}), kSaturated);
  EXPECT_EQ(Of("Pad", {"w", "pads", "s"}), kSaturated);
  EXPECT_EQ(Of("Reshape", {"w", "shape"}), kSaturated);
  EXPECT_EQ(Of("ReverseSequence", {"w", "one"}), kSaturated);
  EXPECT_EQ(Of("ScatterElements", {"w", "places", "w"}), kSaturated);
  EXPECT_EQ(Of("ScatterND", {"w", "zero", "part"}), kSaturated);
  EXPECT_EQ(Of("Slice", {"w", "zero", "one"}), kSaturated);
  EXPECT_EQ(Of("SpaceToDepth", {"w"}, With("blocksize", 1)), kSaturated);
  EXPECT_EQ(Of("Split", {"w"}, With("axis", 2), {"other", "moved"}), kSaturated);
  EXPECT_EQ(Of("Squeeze", {"w"}), kSaturated);
  EXPECT_EQ(Of("TensorScatter", {"w", "w"}), kSaturated);
  EXPECT_EQ(Of("Tile", {"w", "shape"}), kSaturated);
  EXPECT_EQ(Of("TopK", {"w", "one"}, With("axis", 3), {"moved", "index"}), kSaturated);
  EXPECT_EQ(Of("Transpose", {"w"}), kSaturated);
  EXPECT_EQ(Of("Trilu", {"w"}), kSaturated);
  EXPECT_EQ(Of("Unique", {"w"}), kSaturated);
  EXPECT_EQ(Of("Unsqueeze", {"w", "zero"}), kSaturated);
  EXPECT_EQ(Of("Where", {"b", "w", "s"}), kSaturated);
}

TEST_P(MovedTest, SequencesAndOptionalValuesHoldTheirElementsTypes) {
  EXPECT_EQ(Like([](Model& model) {
              SetInt(model.Node("SplitToSequence", {"w"}, {"parts"}), "axis", 2);
              model.Node("SequenceInsert", {"parts", "w", "zero"}, {"more"});
              model.Node("SequenceAt", {"more", "two"}, {"moved"});
            }),
            kSaturated);
  EXPECT_EQ(Like([](Model& model) {
              NodeProto& split = model.Node("SplitToSequence", {"w"}, {"parts"});
              SetInt(split, "axis", 0);
              SetInt(split, "keepdims", 0);
              model.Node("SequenceAt", {"parts", "zero"}, {"moved"});
            }),
            kSaturated);
  EXPECT_EQ(Like([](Model& model) {
              model.Node("SequenceConstruct", {"w", "w"}, {"both"});
              SetInt(model.Node("ConcatFromSequence", {"both"}, {"moved"}), "axis", 1);
            }),
            kSaturated);
  EXPECT_EQ(Like([](Model& model) {
              model.Node("Optional", {"w"}, {"maybe"});
              model.Node("OptionalGetElement", {"maybe"}, {"moved"});
            }),
            kSaturated);
}

TEST_P(MovedTest, AFunctionOfTheModelPassesTypesOn) {
  EXPECT_EQ(Like([](Model& model) {
              onnx::FunctionProto* function = model.proto.add_functions();
              function->set_name("Moved");
              function->set_domain("made");
              function->add_input("v");
              function->add_output("r");
              NodeProto* node = function->add_node();
              node->set_op_type("Concat");
              node->add_input("v");
              node->add_input("v");
              node->add_output("r");
              SetInt(*node, "axis", 1);
              model.Node("Moved", {"w"}, {"moved"}, "", "made");
            }),
            kSaturated);
}

// --- branches

void AddIf(Model& model, const std::string& type, const std::string& yes, const std::string& no) {
  NodeProto& node = model.Node("If", {"b"}, {"moved"}, "decided");
  for (const auto& [branch, value] : {std::pair("then_branch", yes), {"else_branch", no}}) {
    GraphProto* graph = AddGraph(node, branch);
    AddNode(graph, type, {value}, {StrCat("of_", branch)});
    Declare(graph, {}, {StrCat("of_", branch)});
  }
}

TEST_P(MovedTest, AnIfThatARunDecidesHasTheTypeOfItsBranches) {
  // One computes, so that a branch runs; the other chooses a value that is there.
  for (const char* type : {"Transpose", "Identity"})
    EXPECT_EQ(Like([&](Model& model) { AddIf(model, type, "w", "w"); }), kSaturated);
}

TEST_P(MovedTest, TypesThatDifferDoNotMeetInOneResult) {
  const auto names = [](const char* node, const char* other) {
    return AllOf(HasSubstr(node), HasSubstr("int4"), HasSubstr(other), HasSubstr("one type"));
  };
  for (const char* type : {"Transpose", "Identity"})
    EXPECT_THAT(Refusal([&](Model& model) { AddIf(model, type, "w", "wide"); }),
                names("decided", "int8"));
  EXPECT_THAT(Refusal([](Model& model) {
                SetInt(model.Node("Concat", {"wide", "w"}, {"moved"}, "joined"), "axis", 0);
              }),
              names("joined", "int8"));
  EXPECT_THAT(Refusal([](Model& model) {
                SetInt(model.Node("Cast", {"wide"}, {"narrow"}), "to", kInt2);
                model.Node("Where", {"b", "w", "narrow"}, {"moved"}, "chosen");
              }),
              names("chosen", "int2"));
}

TEST_P(MovedTest, SumsOfElementsAreNoElements) {
  EXPECT_EQ(Of("ScatterElements", {"w", "places", "w"},
               [](NodeProto& node) { SetString(node, "reduction", "add"); }),
            kWide);
}

// --- loops

// v, moved but of the same shape.
void Turn(GraphProto* body, const std::string& turned) {
  SetInts(AddNode(body, "Transpose", {"v"}, {turned}), "perm", {1, 0, 3, 2});
}
void TurnRound(GraphProto* body) { Turn(body, "next"); }

// Carries w and collects it, for `count` turns. `turn` makes "next" of "v".
void AddLoop(Model& model, std::int64_t count, const std::string& condition,
             const std::function<void(GraphProto*)>& turn) {
  model.Integers("count", {count});
  NodeProto& node =
      model.Node("Loop", {"count", condition, "w"}, {"carried", "collected"}, "turns");
  GraphProto* body = AddGraph(node, "body");
  Declare(body, {"i", "c", "v"}, {condition.empty() ? "c" : "b", "next", "each"});
  turn(body);
  Turn(body, "each");
}

TEST_P(MovedTest, LoopsCarryAndCollectNarrowTypes) {
  // Unrolled, and run turn by turn.
  for (const std::int64_t count : {2, 40}) {
    for (const char* condition : {"", "b"}) {
      for (const char* result : {"carried", "collected"}) {
        EXPECT_EQ(Like([&](Model& model) {
                    AddLoop(model, count, condition, TurnRound);
                    model.Node("Identity", {result}, {"moved"});
                  }),
                  kSaturated)
            << count << condition << result;
      }
    }
  }
}

TEST_P(MovedTest, ALoopThatMakesAnotherTypeIsRefused) {
  EXPECT_THAT(Refusal([](Model& model) {
                AddLoop(model, 40, "b", [](GraphProto* body) {
                  SetInt(AddNode(body, "Cast", {"v"}, {"next"}), "to", TensorProto::INT8);
                });
                model.Node("Identity", {"carried"}, {"moved"});
              }),
              AllOf(HasSubstr("turns"), HasSubstr("int4"), HasSubstr("int8")));
}

TEST_P(MovedTest, ALoopOfNoTurnsHasTheDeclaredType) {
  EXPECT_EQ(Like([](Model& model) {
              AddLoop(model, 0, "", TurnRound);
              NodeProto& loop = *model.proto.mutable_graph()->mutable_node(0);
              auto* type = loop.mutable_attribute(0)
                               ->mutable_g()
                               ->mutable_output(2)
                               ->mutable_type()
                               ->mutable_tensor_type();
              type->set_elem_type(kInt4);
              for (const std::int64_t extent : {1, 1, 2, 2})
                type->mutable_shape()->add_dim()->set_dim_value(extent);
              model.Node("Identity", {"collected"}, {"moved"});
            }),
            kSaturated);
}

TEST_P(MovedTest, ScansGiveElementsAndResultsOfNarrowTypes) {
  // Few steps are unrolled, and many are run one by one.
  for (const std::int64_t repeats : {1, 20}) {
    for (const char* result : {"state", "collected", "each"}) {
      EXPECT_EQ(
          Like([&](Model& model) {
            model.Integers("repeats", {1, 1, repeats, 1});
            model.Node("Tile", {"w", "repeats"}, {"long"});
            NodeProto& node = model.Node("Scan", {"w", "long"}, {"state", "collected", "like"});
            SetInt(node, "num_scan_inputs", 1);
            SetInts(node, "scan_input_axes", {2});
            SetInts(node, "scan_output_axes", {1, 0});
            SetInts(node, "scan_output_directions", {1, 0});
            GraphProto* body = AddGraph(node, "body");
            Declare(body, {"v", "step"}, {"next", "out", "cast"});
            TurnRound(body);
            AddNode(body, "Identity", {"step"}, {"out"});
            // In the turn, an element has the type of what is scanned.
            AddNode(body, "CastLike", {"x", "step"}, {"cast"});
            model.Node("Identity", {std::string(result) == "each" ? "like" : result}, {"moved"});
          }),
          kSaturated)
          << repeats << result;
    }
  }
}

// --- what reads them

TEST(MovedValuesTest, QuantisingTakesTheTypeOfZeroPointsThatWereJoined) {
  Model model(21);
  const NDArray x = NDArray::FromVector<float>({2, 3}, {-9, 0.5F, 30, -9, 0.5F, 30});
  model.InputLike("x", x).Initializer("scale", NDArray::FromVector<float>({2}, {1, 2})).Output("y");
  AddStored(model, "first", kInt4, {1}, "\x0f");   // -1
  AddStored(model, "second", kInt4, {1}, "\x03");  // 3
  SetInt(model.Node("Concat", {"first", "second"}, {"zero"}), "axis", 0);
  SetInt(model.Node("QuantizeLinear", {"x", "scale", "zero"}, {"y"}), "axis", 0);
  // Rounded to even: -9 - 1, 0 - 1, 30 - 1; -4 + 3, 0 + 3, 15 + 3. The ends are -8 and 7.
  EXPECT_THAT(Computed(model, {{"x", x}})[0].ToVector<std::int8_t>(),
              ElementsAre(-8, -1, 7, -1, 3, 7));
}

TEST(MovedValuesTest, FloatsOfEightBitsThatWereChosenAreScaled) {
  Model model(21);
  model.Input("c", {3}, TensorProto::BOOL).Output("y");
  AddStored(model, "a", kFloat8, {3}, "\x38\x40\x48");  // 1, 2, 4
  AddStored(model, "b", kFloat8, {3}, "\xb8\xc0\xc8");  // -1, -2, -4
  model.Initializer("scale", NDArray::Scalar<float>(0.5F));
  model.Node("Where", {"c", "a", "b"}, {"w"});
  model.Node("DequantizeLinear", {"w", "scale"}, {"y"});
  const NDArray c = NDArray::FromVector<bool>({3}, {true, false, true});
  EXPECT_THAT(Computed(model, {{"c", c}})[0].ToVector<float>(), ElementsAre(0.5F, -1, 2));
}

}  // namespace
}  // namespace tenon::onnx_import
