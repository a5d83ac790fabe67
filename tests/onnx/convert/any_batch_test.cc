// Recurrent layers of any batch and any number of steps, imported and compiled once; batches that
// two inputs name differently.
#include <functional>

#include "tenon/tests/onnx/any_shapes.h"

namespace tenon::onnx_import {
namespace {

using ::testing::HasSubstr;
using testing_graphs::Random;

constexpr auto kInt32 = TensorProto::INT32;
constexpr std::int64_t kInputs = 3, kHidden = 5;

struct Layer {
  std::string type;
  std::int64_t gates;
  std::string direction = "forward";
  bool has_states = false, has_lengths = false, batch_first = false;
  std::string steps = "t";      // or a number
  std::string activation = {};  // one that no operator of all steps has

  std::int64_t directions() const { return direction == "bidirectional" ? 2 : 1; }
  bool has_cell() const { return type == "LSTM"; }
};

Model ModelOf(const Layer& layer) {
  const std::string directions = StrCat(layer.directions()), hidden = StrCat(kHidden);
  const std::int64_t rows = layer.gates * kHidden;
  Model model(14);
  const Names x = layer.batch_first ? Names{"n", layer.steps, "3"} : Names{layer.steps, "n", "3"};
  const Names state =
      layer.batch_first ? Names{"n", directions, hidden} : Names{directions, "n", hidden};
  NamedInput(model, "x", x).Output("y").Output("h");
  if (layer.has_cell()) model.Output("c");
  if (layer.has_lengths) NamedInput(model, "lengths", {"n"}, kInt32);
  if (layer.has_states) NamedInput(model, "h0", state);
  if (layer.has_states && layer.has_cell()) NamedInput(model, "c0", state);
  model.Constant("w", Random({layer.directions(), rows, kInputs}, 1))
      .Constant("r", Random({layer.directions(), rows, kHidden}, 2))
      .Constant("b", Random({layer.directions(), 2 * rows}, 3));
  Names inputs = {"x", "w", "r", "b", layer.has_lengths ? "lengths" : ""};
  if (layer.has_states) inputs.emplace_back("h0");
  if (layer.has_states && layer.has_cell()) inputs.emplace_back("c0");
  NodeProto& node = model.Node(layer.type, inputs,
                               layer.has_cell() ? Names{"y", "h", "c"} : Names{"y", "h"}, "layer");
  SetInt(node, "hidden_size", kHidden);
  SetString(node, "direction", layer.direction);
  if (layer.batch_first) SetInt(node, "layout", 1);
  if (!layer.activation.empty()) {
    const std::int64_t each = layer.type == "RNN" ? 1 : layer.type == "GRU" ? 2 : 3;
    SetStrings(node, "activations",
               Names(static_cast<std::size_t>(each * layer.directions()), layer.activation));
  }
  return model;
}

runtime::Inputs InputsOf(const Layer& layer, std::int64_t steps, std::int64_t batch) {
  runtime::Inputs inputs;
  const auto ordered = [&](std::int64_t first, std::int64_t last) {
    return layer.batch_first ? Shape{batch, first, last} : Shape{first, batch, last};
  };
  inputs["x"] = Random(ordered(steps, kInputs), 4);
  if (layer.has_states) inputs["h0"] = Random(ordered(layer.directions(), kHidden), 5);
  if (layer.has_states && layer.has_cell())
    inputs["c0"] = Random(ordered(layer.directions(), kHidden), 6);
  if (layer.has_lengths) {
    std::vector<std::int32_t> lengths;
    for (std::int64_t i = 0; i < batch; ++i)
      lengths.push_back(static_cast<std::int32_t>((steps + 2 * i) % (steps + 1)));
    inputs["lengths"] = NDArray::FromVector<std::int32_t>({batch}, lengths);
  }
  return inputs;
}

std::vector<runtime::Inputs> RunsOf(const Layer& layer) {
  std::vector<runtime::Inputs> runs;
  for (const auto& [steps, batch] : {std::pair<std::int64_t, std::int64_t>{1, 1},
                                     {7, 1},
                                     {1, 3},
                                     {5, 4},
                                     {17, 2},
                                     {3, 15},
                                     {2, 17}}) {
    if (layer.steps == "t" || layer.steps == StrCat(steps))
      runs.push_back(InputsOf(layer, steps, batch));
  }
  return runs;
}

class AnyBatchTest : public ::testing::TestWithParam<Layer> {};

TEST_P(AnyBatchTest, OneCompileTakesAllBatchesAndSteps) {
  ExpectRightForAll(ModelOf(GetParam()), RunsOf(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(
    , AnyBatchTest,
    ::testing::Values(Layer{"LSTM", 4}, Layer{"LSTM", 4, "reverse", true},
                      Layer{"LSTM", 4, "bidirectional", true, true},
                      Layer{"LSTM", 4, "bidirectional"}, Layer{"LSTM", 4, "forward", false, true},
                      Layer{"LSTM", 4, "forward", true, true, true},
                      Layer{"LSTM", 4, "forward", true, true, false, "5"}, Layer{"GRU", 3},
                      Layer{"GRU", 3, "bidirectional", true, true},
                      Layer{"GRU", 3, "reverse", true}, Layer{"RNN", 1},
                      Layer{"RNN", 1, "bidirectional", true, true},
                      Layer{"LSTM", 4, "bidirectional", true, true, false, "t", "Softsign"},
                      Layer{"GRU", 3, "forward", false, true, false, "t", "Softsign"},
                      Layer{"RNN", 1, "reverse", false, false, true, "t", "Softsign"},
                      Layer{"LSTM", 4, "bidirectional", false, true, false, "5", "Softsign"}));

// As PyTorch exports nn.LSTM(batch_first=True, bidirectional=True) of two layers: states of zeros
// as large as the batch, and reshapes between the layers.
TEST(AnyBatchOfModelsTest, ALayerOnALayerAsPyTorchWritesThem) {
  Model model(14);
  NamedInput(model, "x", {"batch", "time", "3"}).Output("y").Output("last");
  model.Integers("at0", {0}).Integers("four", {4}).Integers("five", {5});
  model.Integers("i0", {0}).Integers("i2", {2}).Integers("i4", {4}).Integers("merged", {0, 0, -1});
  model.Node("Shape", {"x"}, {"shape"});
  SetInt(model.Node("Gather", {"shape", "at0"}, {"n"}), "axis", 0);
  SetInt(model.Node("Concat", {"four", "n", "five"}, {"state_shape"}), "axis", 0);
  model.Node("ConstantOfShape", {"state_shape"}, {"zeros"});
  SetInts(model.Node("Transpose", {"x"}, {"steps0"}), "perm", {1, 0, 2});
  for (int layer = 0; layer < 2; ++layer) {
    const std::string k = StrCat(layer);
    model.Constant("w" + k, Random({2, 20, layer == 0 ? 3 : 10}, 3 * layer))
        .Constant("r" + k, Random({2, 20, 5}, 3 * layer + 1))
        .Constant("b" + k, Random({2, 40}, 3 * layer + 2));
    model.Node("Slice", {"zeros", layer == 0 ? "i0" : "i2", layer == 0 ? "i2" : "i4", "at0"},
               {"s" + k});
    NodeProto& node =
        model.Node("LSTM", {"steps" + k, "w" + k, "r" + k, "b" + k, "", "s" + k, "s" + k},
                   {"all" + k, "h" + k, "c" + k});
    SetInt(node, "hidden_size", 5);
    SetString(node, "direction", "bidirectional");
    SetInts(model.Node("Transpose", {"all" + k}, {"moved" + k}), "perm", {0, 2, 1, 3});
    model.Node("Reshape", {"moved" + k, "merged"}, {StrCat("steps", layer + 1)});
  }
  SetInts(model.Node("Transpose", {"steps2"}, {"y"}), "perm", {1, 0, 2});
  SetInt(model.Node("Concat", {"h0", "h1"}, {"last"}), "axis", 0);
  std::vector<runtime::Inputs> runs;
  for (const Shape& shape : {Shape{1, 1, 3}, Shape{3, 17, 3}, Shape{16, 2, 3}, Shape{5, 31, 3}})
    runs.push_back({{"x", Random(shape, 9)}});
  ExpectRightForAll(model, runs);
}

// A model whose inputs a and b name one extent n and m.
struct TwoNames {
  const char* name;
  Names a, b;
  std::function<void(Model& model)> write;  // a, b -> y
  std::vector<std::pair<Shape, Shape>> runs;
  std::pair<Shape, Shape> refused;
  const char* words;
};
void PrintTo(const TwoNames& c, std::ostream* out) { *out << c.name; }

void Layer(Model& model, const std::string& type, std::int64_t gates, const Names& states) {
  model.Constant("w", Random({1, gates * 5, 3}, 1)).Constant("r", Random({1, gates * 5, 5}, 2));
  Names inputs = {"a", "w", "r", "", ""};
  inputs.insert(inputs.end(), states.begin(), states.end());
  SetInt(model.Node(type, inputs, {"y", ""}), "hidden_size", 5);
}
void Binary(Model& model, const char* type, int axis = -1) {
  NodeProto& node = model.Node(type, {"a", "b"}, {"y"});
  if (axis >= 0) SetInt(node, "axis", axis);
}

class TwoNamesTest : public ::testing::TestWithParam<TwoNames> {};

TEST_P(TwoNamesTest, AreOneExtentAtEachRun) {
  const TwoNames& c = GetParam();
  Model model(14);
  NamedInput(model, "a", c.a);
  NamedInput(model, "b", c.b).Output("y");
  c.write(model);
  std::vector<runtime::Inputs> runs;
  for (const auto& [a, b] : c.runs) runs.push_back({{"a", Random(a, 1)}, {"b", Random(b, 2)}});
  ExpectRightForAll(model, runs);
  const Executable exe =
      ValueOrThrow(Compile(ValueOrThrow(ImportOnnx(model.Bytes(), AnyShapes()))));
  const auto refused =
      exe.Run({{"a", Random(c.refused.first, 1)}, {"b", Random(c.refused.second, 2)}});
  EXPECT_THAT(std::string(refused.status().message()), HasSubstr(c.words));
}

INSTANTIATE_TEST_SUITE_P(, TwoNamesTest,
                         ::testing::
                             Values(
                                 TwoNames{"Add",
                                          {"n", "4"},
                                          {"m", "4"},
                                          [](Model& model) { Binary(model, "Add"); },
                                          {{{3, 4}, {3, 4}}, {{1, 4}, {5, 4}}, {{1, 4}, {1, 4}}},
                                          {{3, 4}, {5, 4}},
                                          "extent 3 against 5 in dimension 0"},
                                 TwoNames{"Concat",
                                          {"n", "4"},
                                          {"m", "4"},
                                          [](Model& model) { Binary(model, "Concat", 1); },
                                          {{{3, 4}, {3, 4}}, {{1, 4}, {1, 4}}},
                                          {{1, 4}, {5, 4}},
                                          "field 1 has the extent 5 on axis 0, field 0 has 1"},
                                 TwoNames{"InnerExtents",
                                          {"2", "n"},
                                          {"m", "3"},
                                          [](Model& model) { Binary(model, "MatMul"); },
                                          {{{2, 4}, {4, 3}}, {{2, 1}, {1, 3}}},
                                          {{2, 4}, {5, 3}},
                                          "the operands have inner extents 4 and 5"},
                                 TwoNames{"MatMul",
                                          {"n", "2", "4"},
                                          {"m", "4", "3"},
                                          [](Model& model) { Binary(model, "MatMul"); },
                                          {{{3, 2, 4}, {3, 4, 3}},
                                           {{1, 2, 4}, {5, 4, 3}},
                                           {{5, 2, 4}, {1, 4, 3}}},
                                          {{3, 2, 4}, {5, 4, 3}},
                                          "the batches 3 and 5 must be equal or one of them 1"},
                                 TwoNames{"MatMulOfHeads",
                                          {"n", "3", "2", "4"},
                                          {"m", "3", "4", "3"},
                                          [](Model& model) { Binary(model, "MatMul"); },
                                          {{{2, 3, 2, 4}, {2, 3, 4, 3}},
                                           {{1, 3, 2, 4}, {5, 3, 4, 3}},
                                           {{5, 3, 2, 4}, {1, 3, 4, 3}}},
                                          {{3, 3, 2, 4}, {5, 3, 4, 3}},
                                          "extent 3 against 5 in dimension 0"},
                                 TwoNames{"Rnn",
                                          {"t", "n", "3"},
                                          {"1", "m", "5"},
                                          [](Model& model) { Layer(model, "RNN", 1, {"b"}); },
                                          {{{2, 3, 3}, {1, 3, 5}}, {{7, 1, 3}, {1, 1, 5}}},
                                          {{2, 3, 3}, {1, 4, 5}},
                                          "nn.rnn: an initial state must have the shape (3, 5)"},
                                 TwoNames{"Gru",
                                          {"t", "n", "3"},
                                          {"1", "m", "5"},
                                          [](Model& model) { Layer(model, "GRU", 3, {"b"}); },
                                          {{{2, 3, 3}, {1, 3, 5}}, {{7, 1, 3}, {1, 1, 5}}},
                                          {{2, 3, 3}, {1, 1, 5}},
                                          "nn.gru: an initial state must have the shape (3, 5)"},
                                 TwoNames{"Lstm",
                                          {"t", "n", "3"},
                                          {"1", "m", "5"},
                                          [](Model& model) {
                                            Layer(model, "LSTM", 4, {"b", "b"});
                                          },
                                          {{{2, 3, 3}, {1, 3, 5}}, {{7, 1, 3}, {1, 1, 5}}},
                                          {{2, 3, 3}, {1, 4, 5}},
                                          "nn.lstm: an initial state must have the shape (3, 5)"}),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(AnyBatchOfModelsTest, StepsThatAreWrittenOutWantOneName) {
  Model model(14);
  NamedInput(model, "x", {"t", "n", "3"});
  NamedInput(model, "h0", {"1", "m", "5"}).Output("y");
  model.Constant("w", Random({1, 5, 3}, 1)).Constant("r", Random({1, 5, 5}, 2));
  NodeProto& node = model.Node("RNN", {"x", "w", "r", "", "", "h0"}, {"y", ""}, "layer");
  SetInt(node, "hidden_size", 5);
  SetStrings(node, "activations", {"Softsign"});
  EXPECT_THAT(std::string(ImportOnnx(model.Bytes(), AnyShapes()).status().message()),
              HasSubstr("layer (RNN): input 5, initial_h, is for m sequences and X for n; in a "
                        "layer that is written out step by step both must have one name"));
}

TEST(AnyBatchOfModelsTest, TheFeaturesAreANumber) {
  Model model(14);
  NamedInput(model, "x", {"t", "n", "f"}).Output("y");
  model.Constant("w", Random({1, 5, 3}, 1)).Constant("r", Random({1, 5, 5}, 2));
  SetInt(model.Node("RNN", {"x", "w", "r"}, {"y", ""}, "layer"), "hidden_size", 5);
  EXPECT_THAT(std::string(ImportOnnx(model.Bytes(), AnyShapes()).status().message()),
              HasSubstr("layer (RNN): X has f features; their number must be known"));
}

// The sequences of which the batch consists are chosen by values.
TEST(AnyBatchOfModelsTest, ValuesDecideTheBatch) {
  Model model(14);
  NamedInput(model, "x", {"t", "6", "3"}).Input("keep", {6}, TensorProto::BOOL).Output("y");
  model.Output("h");
  model.Constant("w", Random({1, 20, 3}, 1)).Constant("r", Random({1, 20, 5}, 2));
  SetInt(model.Node("Compress", {"x", "keep"}, {"kept"}), "axis", 1);
  SetInt(model.Node("LSTM", {"kept", "w", "r"}, {"y", "h"}), "hidden_size", 5);
  std::vector<runtime::Inputs> runs;
  for (const std::int64_t count : {3, 1, 6, 0}) {
    NDArray keep = NDArray::Zeros({6}, Bool);
    for (std::int64_t i = 0; i < count; ++i) keep.data<bool>()[(5 * i) % 6] = true;
    for (const std::int64_t steps : {1, 9})
      runs.push_back({{"x", Random({steps, 6, 3}, 4)}, {"keep", keep}});
  }
  ExpectRightForAll(model, runs);
}

}  // namespace
}  // namespace tenon::onnx_import
