// Models that are whole and ask for what cannot be: each is refused in words, none reads beyond its
// data, divides by zero, or takes time or memory that its file does not pay for.
#include <filesystem>
#include <fstream>

#include <unistd.h>

#include "tenon/onnx/strip_raw_data.h"
#include "tenon/support/strings.h"
#include "tenon/tests/onnx/subgraphs.h"
#include "tenon/tests/onnx/written_model.h"

namespace tenon::onnx_import {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr auto kUnimplemented = absl::StatusCode::kUnimplemented;
constexpr std::int64_t kTera = std::int64_t{1} << 40;

NDArray Floats(const std::vector<float>& values) {
  return NDArray::FromVector({static_cast<std::int64_t>(values.size())}, values);
}

// --- sizes

TEST(HostileModelTest, ExternalDataMustHoldEveryElement) {
  const fs::path folder = fs::path(::testing::TempDir()) / StrCat("tenon_hostile_", getpid());
  fs::create_directories(folder);
  std::ofstream(folder / "w.bin", std::ios::binary) << std::string(64, '\0');
  Model model;
  model.Output("y");
  TensorProto* w = model.proto.mutable_graph()->add_initializer();
  w->set_name("w");
  w->set_data_type(TensorProto::FLOAT);
  w->add_dims((std::int64_t{1} << 62) + 16);  // 64 bytes modulo 2^64
  w->set_data_location(TensorProto::EXTERNAL);
  auto* entry = w->add_external_data();
  entry->set_key("location");
  entry->set_value("w.bin");
  model.Integers("i", {1000}).Node("Gather", {"w", "i"}, {"y"});
  std::ofstream(folder / "m.onnx", std::ios::binary) << model.Bytes();
  const auto module =
      LoadOnnx((folder / "m.onnx").string(), {.evaluate = strategies::EvaluateCall});
  fs::remove_all(folder);
  EXPECT_THAT(MessageOf(module, kInvalid),
              AllOf(HasSubstr("the initializer w"), HasSubstr("too many bytes")));
}

TEST(HostileModelTest, ElementsOfAnInputMustBeCountable) {
  Model model;
  model.Input("x", {kTera, kTera}).Output("y");
  SetInt(model.Node("Flatten", {"x"}, {"y"}), "axis", 2);
  EXPECT_THAT(MessageOf(Imported(model), kInvalid),
              AllOf(HasSubstr("the input x"), HasSubstr("too many elements")));
}

TEST(HostileModelTest, FlatteningKeepsExtentsBesideAnEmptyOne) {
  Model model;
  model.Input("x", {-1, 3, 2}).Output("y").Node("Flatten", {"x"}, {"y"});
  const ir::Module module = ValueOrThrow(Imported(model, {{"x", {0, 3, 2}}}));
  EXPECT_EQ(ir::ToString(module.Main().body.checked_type()), "Tensor[(0, 6), float32]");
}

TEST(HostileModelTest, ConstantsForEveryPlaceOfAnAxisAreBounded) {
  Model hardmax;
  hardmax.Input("x", {kTera}).Output("y").Node("Hardmax", {"x"}, {"y"});
  EXPECT_THAT(MessageOf(Imported(hardmax), kInvalid),
              HasSubstr("are made when a model is imported"));
  Model diagonal;
  diagonal.Input("x", {std::int64_t{1} << 30, std::int64_t{1} << 30}).Output("y");
  SetString(diagonal.Node("Einsum", {"x"}, {"y"}), "equation", "ii->i");
  EXPECT_THAT(MessageOf(Imported(diagonal), kInvalid),
              HasSubstr("are made when a model is imported"));
}

TEST(HostileModelTest, ExtentsOfATransposedConvolutionAreBounded) {
  const auto refusal = [](const std::string& attribute, std::int64_t value) {
    Model model;
    model.Input("x", {1, 1, 4}).Input("w", {1, 1, 3}).Output("y");
    SetInts(model.Node("ConvTranspose", {"x", "w"}, {"y"}, "up"), attribute, {value});
    return MessageOf(Imported(model), kInvalid);
  };
  constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
  EXPECT_THAT(refusal("output_padding", kMin + 5),
              AllOf(HasSubstr("up (ConvTranspose)"), HasSubstr("must be at least 0")));
  EXPECT_THAT(refusal("output_shape", -3), HasSubstr("output_shape has the extent -3"));
  EXPECT_NE(refusal("output_shape", std::numeric_limits<std::int64_t>::max()), "");
}

TEST(HostileModelTest, DistancesWithinNGramsAreBounded) {
  Model model;
  model.Input("x", {std::int64_t{1} << 20}, TensorProto::INT64).Output("y");
  NodeProto& node = model.Node("TfIdfVectorizer", {"x"}, {"y"}, "grams");
  SetString(node, "mode", "TF");
  SetInt(node, "min_gram_length", 2);
  SetInt(node, "max_gram_length", 2);
  SetInt(node, "max_skip_count", std::numeric_limits<std::int64_t>::max());
  SetInts(node, "ngram_counts", {0, 0});
  SetInts(node, "ngram_indexes", {0});
  SetInts(node, "pool_int64s", {3, 4});
  EXPECT_THAT(MessageOf(Imported(model), kUnimplemented),
              AllOf(HasSubstr("grams (TfIdfVectorizer)"), HasSubstr("at most 2048")));
}

TEST(HostileModelTest, AnglesWithoutAnAxisAreRefused) {
  Model model(23);
  model.Input("x", {1, 2, 3, 4}).Input("c", {}).Input("s", {}).Output("y");
  model.Node("RotaryEmbedding", {"x", "c", "s"}, {"y"}, "turn");
  EXPECT_THAT(MessageOf(Imported(model), kInvalid),
              AllOf(HasSubstr("turn (RotaryEmbedding)"), HasSubstr("(batch, length, angles)")));
}

// --- numbers of inputs and outputs

// The state that a recurrent layer begins with, say, has an element for each sequence.
TEST(HostileModelTest, ZerosThatAConverterMakesAreBounded) {
  Model model;
  model.Input("x", {2, kTera, 3}).Input("w", {1, 15, 3}).Input("r", {1, 15, 5}).Output("y");
  SetInt(model.Node("GRU", {"x", "w", "r"}, {"y"}), "hidden_size", 5);
  EXPECT_THAT(MessageOf(Imported(model), kInvalid),
              AllOf(HasSubstr("GRU"), HasSubstr("are made when a model is imported")));
}

TEST(HostileModelTest, ASplitWithoutOutputsIsRefused) {
  Model model;
  model.Input("x", {4}).Output("y");
  model.Node("Split", {"x"}, {}, "cut");
  model.Node("Relu", {"x"}, {"y"});
  EXPECT_THAT(MessageOf(Imported(model), kInvalid),
              AllOf(HasSubstr("cut (Split)"), HasSubstr("no outputs")));
}

TEST(HostileModelTest, AnOperatorOfOneResultHasNoSecondOutput) {
  Model model;
  model.Input("x", {4}).Output("b");
  model.Node("exp", {"x"}, {"a", "b"}, "two", "other");
  EXPECT_THAT(MessageOf(Imported(model), kInvalid),
              AllOf(HasSubstr("two (exp)"), HasSubstr("of an operator with 1 result")));
}

TEST(HostileModelTest, ArgumentsThatAreMissingAreRefused) {
  const auto refused = [](const char* type, const Names& inputs, const char* domain = "") {
    Model model(18);
    model.Input("x", {4}, TensorProto::INT32).Output("y");
    model.Node(type, inputs, {"y"}, "node", domain);
    return MessageOf(Imported(model), kInvalid);
  };
  EXPECT_THAT(refused("BitwiseAnd", {}), HasSubstr("takes 2 arguments, not 0"));
  EXPECT_THAT(refused("BitwiseAnd", {"x"}), HasSubstr("takes 2 arguments, not 1"));
  EXPECT_THAT(refused("BitwiseAnd", {"x", ""}), HasSubstr("input 1 is missing"));
  EXPECT_THAT(refused("add", {"x"}, "other"), HasSubstr("takes 2 arguments, not 1"));
  EXPECT_THAT(refused("add", {"", "x"}, "other"), HasSubstr("input 0 is missing"));
}

TEST(HostileModelTest, AShapeThatAConverterReadsMustBeThere) {
  Model top;
  top.Input("x", {4}).Output("y").Integers("k", {}).Node("TopK", {"x", "k"}, {"y", "i"}, "best");
  EXPECT_THAT(MessageOf(Imported(top), kInvalid), HasSubstr("best (TopK)"));
  Model stft(17);
  stft.Input("x", {1, 8, 1}).Input("w", {}).Output("y").Integers("step", {1});
  stft.Node("STFT", {"x", "step", "w"}, {"y"}, "frames");
  EXPECT_THAT(MessageOf(Imported(stft), kInvalid), HasSubstr("the window must have rank 1"));
}

// --- loops

onnx::GraphProto* AddBody(NodeProto& node) {
  AttributeProto* attribute = node.add_attribute();
  attribute->set_name("body");
  attribute->set_type(AttributeProto::GRAPH);
  onnx::GraphProto* body = attribute->mutable_g();
  body->set_name("body");
  for (const char* input : {"i", "ci", "vi"}) body->add_input()->set_name(input);
  for (const char* output : {"ci", "vo"}) body->add_output()->set_name(output);
  return body;
}
NodeProto* AddNode(onnx::GraphProto* graph, const char* type, const Names& inputs,
                   const char* output) {
  NodeProto* node = graph->add_node();
  node->set_op_type(type);
  for (const std::string& input : inputs) node->add_input(input);
  node->add_output(output);
  return node;
}

TEST(HostileModelTest, ALoopNeedsWhatItCarriesWhenOnlyARunKnowsItsTurns) {
  Model model;
  model.Input("c", {}, TensorProto::BOOL).Input("x", {2}).Output("v").Integers("m", {2});
  AddNode(AddBody(model.Node("Loop", {"m", "c", ""}, {"v"}, "loop")), "Relu", {"x"}, "vo");
  EXPECT_THAT(MessageOf(Imported(model), kInvalid), HasSubstr("loop (Loop): input 2 is missing"));
}

TEST(HostileModelTest, ExpressionsOfUnrolledLoopsAreBounded) {
  Model model;
  model.Input("x", {512, 1, 1}).Output("v").Integers("m", {4096});
  for (const auto& [name, shape] :
       {std::pair<std::string, Shape>{"w", {1, 4, 1}}, {"r", {1, 4, 1}}})
    model.Constant(name, NDArray::Zeros(shape, Float32));
  onnx::GraphProto* body = AddBody(model.Node("Loop", {"m", "", "x"}, {"v"}, "loop"));
  NodeProto* lstm = AddNode(body, "LSTM", {"vi", "w", "r"}, "h");
  SetInt(*lstm, "hidden_size", 1);
  // Its steps are written out.
  SetFloat(*lstm, "clip", 1);
  AddNode(body, "Relu", {"x"}, "vo");
  EXPECT_THAT(MessageOf(Unrolled(model), kUnimplemented), HasSubstr("expressions"));
  EXPECT_TRUE(Imported(model).ok());
}

// --- budgets of folding

TEST(HostileModelTest, ProductsOfWeightsBeyondTheBudgetAreLeftToKernels) {
  constexpr std::int64_t kExtent = 1024;
  Model model;
  model.Input("x", {1, kExtent}).Output("y");
  model.Constant("a", NDArray::Zeros({kExtent, kExtent}, Float32))
      .Constant("b", NDArray::Zeros({kExtent, kExtent}, Float32));
  model.Node("MatMul", {"a", "b"}, {"w"});
  model.Node("MatMul", {"x", "w"}, {"y"});
  const ir::Module module = ValueOrThrow(Imported(model));
  EXPECT_THAT(ir::PrintModule(module, {.metadata = false}), HasSubstr("nn.matmul(%x, %0"));
}

TEST(HostileModelTest, WhatIsTooLargeToBeKnownAtImportIsSaidToBe) {
  Model model;
  model.Input("x", {4}).Output("y").Integers("shape", {std::int64_t{1} << 40});
  model.Node("ConstantOfShape", {"shape"}, {"large"});
  model.Node("Reshape", {"x", "large"}, {"y"}, "shaped");
  EXPECT_THAT(MessageOf(Imported(model), kUnimplemented),
              AllOf(HasSubstr("shaped (Reshape)"), HasSubstr("docs/limits.md")));
}

// --- bytes

TEST(HostileModelTest, AnyByteOfABoolThatIsNotZeroIsTrue) {
  const auto known = [](const std::function<void(TensorProto*)>& fill) {
    Model model;
    model.Output("y");
    for (const bool is_second : {false, true}) {
      TensorProto* tensor = model.proto.mutable_graph()->add_initializer();
      tensor->set_name(is_second ? "b" : "a");
      tensor->set_data_type(TensorProto::BOOL);
      tensor->add_dims(2);
      if (!is_second) fill(tensor);
      if (is_second) tensor->set_raw_data(std::string(2, '\1'));
    }
    model.Node("And", {"a", "b"}, {"y"});
    const NDArray y = ValueOrThrow(Imported(model)).Main().body.As<ir::ConstantNode>()->data;
    return y.ToVector<bool>();
  };
  EXPECT_THAT(known([](TensorProto* t) { t->set_raw_data(std::string("\2\0", 2)); }),
              ElementsAre(true, false));
  EXPECT_THAT(known([](TensorProto* t) {
                t->add_int32_data(254);
                t->add_int32_data(0);
              }),
              ElementsAre(true, false));
}

// The body of a loop over a sequence, without an input for it.
TEST(HostileModelTest, ALoopWhoseBodyTakesTooLittleIsRefused) {
  Model model;
  model.Input("n", {}, TensorProto::INT64).Input("c", {}, TensorProto::BOOL).Output("y");
  model.Node("SequenceEmpty", {}, {"none"});
  onnx::GraphProto* body = GraphOf(model.Node("Loop", {"n", "c", "none"}, {"all"}, "loop"), "body");
  Takes(body, {"turn", "holds"});
  Add(body, "SequenceInsert", {"none_yet", "turn"}, {"more"});
  Gives(body, {"holds", "more"});
  SetInt(model.Node("ConcatFromSequence", {"all"}, {"y"}), "axis", 0);
  EXPECT_THAT(
      MessageOf(Imported(model), kInvalid),
      AllOf(HasSubstr("loop (Loop)"), HasSubstr("the graph inside takes 2 inputs; it is given 3")));
}

TEST(HostileModelTest, TagsThatProtobufDoesNotHaveAreRefused) {
  Model model;
  model.Input("x", {2}).Output("y").Constant("w", Floats({1, 2})).Node("Add", {"x", "w"}, {"y"});
  const std::string bytes = model.Bytes();
  EXPECT_TRUE(StripRawData(bytes));
  // The field graph, with bit 32 of its tag set; the field 0.
  for (const std::string& more : {std::string("\xBA\x80\x80\x80\x10\x00", 6), std::string(2, '\0')})
    EXPECT_FALSE(StripRawData(bytes + more));
  EXPECT_EQ(Imported(bytes + std::string("\xBA\x80\x80\x80\x10\x00", 6)).status().code(),
            absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace tenon::onnx_import
