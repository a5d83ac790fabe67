// What the converters declare that they refuse: docs/onnx.md says it, and imports refuse the inputs
// that must be known, and no others.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>

#include "tenon/onnx/convert/converters.h"
#include "tenon/support/strings.h"
#include "tenon/tests/onnx/written_model.h"
#include "tenon_test_paths.h"

namespace tenon::onnx_import {
namespace {

namespace fs = std::filesystem;

// Tests of single nodes that come with ONNX.
const fs::path kFolder = "/usr/share/libonnx-testdata/data/node";

// An operator and one of its inputs.
using InputOf = std::pair<std::string, std::size_t>;

std::string Bytes(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
}

std::string RefusalOf(const NodeProto& node, int input) {
  return StrCat("input ", input, " (", node.input(input),
                ") must be known when the model is imported");
}

// Adds the inputs of the model's node that an import refuses for not being known. Each is left open
// alone; the others are constants.
void AddRefused(const onnx::ModelProto& model, const std::map<std::string, NDArray>& values,
                std::set<InputOf>* refused) {
  const NodeProto& node = model.graph().node(0);
  for (const auto& [open, example] : values) {
    ImportOptions options{.evaluate = strategies::EvaluateCall};
    options.constants = values;
    options.constants.erase(open);
    options.shapes.emplace(open, example.shape());
    const auto module = ImportOnnx(model.SerializeAsString(), options);
    for (int i = 0; !module.ok() && i < node.input_size(); ++i) {
      if (module.status().message().find(RefusalOf(node, i)) != std::string::npos)
        refused->emplace(node.op_type(), static_cast<std::size_t>(i));
    }
  }
}

// Those of the standard's tests that are one node over tensors.
void AddRefusedOfStandard(std::set<InputOf>* refused) {
  for (const auto& entry : fs::directory_iterator(kFolder)) {
    onnx::ModelProto model;
    if (!model.ParseFromString(Bytes(entry.path() / "model.onnx")) ||
        model.graph().node_size() != 1 || !Converters().contains(model.graph().node(0).op_type()))
      continue;
    for (auto& opset : *model.mutable_opset_import())
      opset.set_version(std::max<std::int64_t>(opset.version(), kFirstOpset));
    std::map<std::string, NDArray> values;
    for (int i = 0; i < model.graph().input_size(); ++i) {
      const auto& input = model.graph().input(i);
      TensorProto tensor;
      const bool is_read = input.type().has_tensor_type() &&
                           input.type().tensor_type().elem_type() != TensorProto::STRING &&
                           tensor.ParseFromString(Bytes(entry.path() / "test_data_set_0" /
                                                        StrCat("input_", i, ".pb")));
      if (is_read) values.emplace(input.name(), ToNDArray(tensor, input.name()));
    }
    if (static_cast<int>(values.size()) == model.graph().input_size())
      AddRefused(model, values, refused);
  }
}

constexpr int kFloat8 = 17;  // FLOAT8E4M3FN, which Debian 12's headers do not have

// A node of which one input is open: in what is not among the tests that come with Debian.
struct OpenInput {
  std::string op;
  int input;
  int opset;
  std::function<void(Model& model)> build;
};

std::vector<OpenInput> OpenInputs() {
  return {
      {"Col2Im", 2, 18,
       [](Model& m) {
         m.Input("x", {1, 4, 4}).Integers("image", {4, 4}).Input("block", {2}, TensorProto::INT64);
         SetInts(m.Output("y").Node("Col2Im", {"x", "image", "block"}, {"y"}), "strides", {2, 2});
       }},
      {"DFT", 2, 20,
       [](Model& m) {
         m.Input("x", {1, 4, 1}).Input("axis", {}, TensorProto::INT64).Output("y");
         m.Node("DFT", {"x", "", "axis"}, {"y"});
       }},
      {"Dropout", 1, 13,
       [](Model& m) {
         m.Input("x", {4}).Input("ratio", {}).Output("y");
         m.Initializer("training", NDArray::Scalar(true));
         m.Node("Dropout", {"x", "ratio", "training"}, {"y"});
       }},
      {"Dropout", 2, 13,
       [](Model& m) {
         m.Input("x", {4}).Input("training", {}, TensorProto::BOOL).Output("y");
         m.Node("Dropout", {"x", "", "training"}, {"y"});
       }},
      {"QuantizeLinear", 2, 19,
       [](Model& m) {
         m.Input("x", {4}).Input("scale", {}).Input("zero", {}, kFloat8);
         m.Output("y").Node("QuantizeLinear", {"x", "scale", "zero"}, {"y"});
       }},
      {"Resize", 2, 18,
       [](Model& m) {
         m.Input("x", {1, 1, 4, 4}).Input("scales", {4}).Output("y");
         m.Constant("roi", NDArray::FromVector<float>({8}, {0, 0, 0, 0, 1, 1, 1, 1}));
         NodeProto& node = m.Node("Resize", {"x", "roi", "scales"}, {"y"});
         SetString(node, "coordinate_transformation_mode", "tf_crop_and_resize");
       }},
      {"SplitToSequence", 1, 13, [](Model& m) {
         m.Input("x", {4}).Input("each", {}, TensorProto::INT64).Output("y");
         m.Node("SplitToSequence", {"x", "each"}, {"parts"});
         SetInt(m.Node("ConcatFromSequence", {"parts"}, {"y"}), "axis", 0);
       }}};
}

void AddRefusedOfOurs(std::set<InputOf>* refused) {
  for (const OpenInput& open : OpenInputs()) {
    Model model(open.opset);
    open.build(model);
    const std::string message(Imported(model).status().message());
    const auto& nodes = model.proto.graph().node();
    const auto node = std::ranges::find(nodes, open.op, &NodeProto::op_type);
    EXPECT_NE(message.find(RefusalOf(*node, open.input)), std::string::npos)
        << open.op << ": " << message;
    refused->emplace(open.op, static_cast<std::size_t>(open.input));
  }
}

TEST(OnnxLimitsTest, InputsThatMustBeKnownAreThoseThatAreDeclared) {
  if (!fs::exists(kFolder)) GTEST_SKIP() << kFolder << " is not there";
  strategies::RegisterStrategies(ops::OpRegistry::Global());
  std::set<InputOf> refused, declared;
  AddRefusedOfStandard(&refused);
  AddRefusedOfOurs(&refused);
  for (const auto& [name, converter] : Converters()) {
    for (const KnownInput& known : converter.limits().known) declared.emplace(name, known.input);
  }
  EXPECT_EQ(refused, declared);
}

TEST(OnnxLimitsTest, ThePageSaysWhatTheConvertersDeclare) {
  std::ifstream file(std::string(TENON_SOURCE_DIR) + "/docs/onnx.md");
  const std::string page((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  constexpr std::string_view kBegin = "<!-- written by scripts/onnx-page -->\n",
                             kEnd = "<!-- end -->";
  const std::size_t begin = page.find(kBegin), end = page.find(kEnd, begin);
  ASSERT_NE(begin, std::string::npos);
  ASSERT_NE(end, std::string::npos);
  EXPECT_TRUE(page.substr(begin + kBegin.size(), end - begin - kBegin.size()) == OnnxOpsMarkdown())
      << "the converters have changed: run scripts/onnx-page";
}

TEST(OnnxLimitsTest, LimitsAreWordsInTheOrderOfTheInputs) {
  EXPECT_EQ(ToText(Limits{}), "");
  EXPECT_EQ(ToText({.known = {{1, "a"}}}), "a known at import");
  EXPECT_EQ(ToText({.known = {{1, "a"}, {2, "b"}, {3, "c", "with d"}}, .other = "no e"}),
            "a and b known at import; c known at import with d; no e");
  EXPECT_EQ(ToText({.known = {{0, "a"}, {1, "b"}, {2, "c"}}}), "a, b and c known at import");
}

TEST(OnnxLimitsTest, EveryOperatorIsWholeOrHasLimits) {
  const std::string text = OnnxOpsMarkdown();
  std::string whole = text.substr(0, text.find("\n\n"));
  std::ranges::replace(whole, '\n', ' ');
  whole.back() = ',';
  for (const std::string& name : SupportedOnnxOps()) {
    const bool has_limits = text.find(StrCat("\n| ", name, " | ")) != std::string::npos;
    const bool is_whole = whole.find(StrCat(" ", name, ",")) != std::string::npos;
    EXPECT_NE(has_limits, is_whole) << name;
  }
}

}  // namespace
}  // namespace tenon::onnx_import
