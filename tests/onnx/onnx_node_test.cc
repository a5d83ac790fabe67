// The node tests that come with ONNX: models, their inputs and the outputs that they must have. All
// that are inference on tensors of numbers pass, or are listed here with the reason.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "onnx/onnx-data_pb.h"
#include "onnx/onnx_pb.h"
#include "tenon/onnx/import.h"
#include "tenon/onnx/tensor.h"
#include "tenon/support/strings.h"
#include "tenon/tests/testing/graph_testing.h"

namespace tenon::onnx_import {
namespace {

namespace fs = std::filesystem;
using testing_graphs::ExpectClose;
using testing_graphs::Outcome;

const fs::path kFolder = "/usr/share/libonnx-testdata/data/node";

using Names = std::vector<std::string>;
using ByReason = std::map<std::string, Names>;

// What is no inference on numbers with results that the standard fixes. Values of other types are
// found by looking at the models.
const ByReason& OperatorsOutOfScope() {
  static const ByReason operators = {
      {"results are random numbers", {"Bernoulli", "RandomUniformLike"}},
      {"training", {"Adagrad", "Adam", "Momentum"}},
      {"pictures as files", {"ImageDecoder"}},
  };
  return operators;
}
const ByReason& TestsOutOfScope() {
  static const ByReason tests = {
      {"training",
       {"test_batchnorm_epsilon_training_mode", "test_batchnorm_example_training_mode",
        "test_training_dropout", "test_training_dropout_default",
        "test_training_dropout_default_mask", "test_training_dropout_mask",
        "test_training_dropout_zero_ratio", "test_training_dropout_zero_ratio_mask"}},
      {"its files hold bfloat16 as uint16, or in another shape than the model declares",
       {"test_cast_BFLOAT16_to_FLOAT", "test_cast_FLOAT_to_BFLOAT16",
        "test_castlike_BFLOAT16_to_FLOAT", "test_castlike_BFLOAT16_to_FLOAT_expanded",
        "test_castlike_FLOAT_to_BFLOAT16", "test_castlike_FLOAT_to_BFLOAT16_expanded"}},
  };
  return tests;
}

// Only some versions of the data have these.
const ByReason& TestsOfWrongData() {
  static const ByReason tests = {
      {"windows past the padding counted in full until ONNX 1.18",
       {"test_averagepool_3d_dilations_large_count_include_pad_is_1_ceil_mode_is_True"}},
      {"results beyond int8 wrapped around until onnx/onnx#7868",
       {"test_qlinearmatmul_2D_int8_float16", "test_qlinearmatmul_2D_int8_float32",
        "test_qlinearmatmul_3D_int8_float16", "test_qlinearmatmul_3D_int8_float32"}},
  };
  return tests;
}

// What is missing.
const ByReason& MissingTests() {
  static const ByReason tests = {
      {"its data divides by a resized length that is no whole number, which opset 18 gave up",
       {"test_resize_downsample_scales_cubic_align_corners",
        "test_resize_downsample_scales_linear_align_corners"}},
  };
  return tests;
}

// Tests whose data is good for three digits only; the rest must agree to four.
const ByReason& CoarseTests() {
  static const ByReason tests = {
      {"its data was made with 3.1415 as pi",
       {"test_blackmanwindow", "test_blackmanwindow_expanded", "test_blackmanwindow_symmetric",
        "test_blackmanwindow_symmetric_expanded", "test_hammingwindow",
        "test_hammingwindow_expanded", "test_hammingwindow_symmetric",
        "test_hammingwindow_symmetric_expanded", "test_hannwindow", "test_hannwindow_expanded",
        "test_hannwindow_symmetric", "test_hannwindow_symmetric_expanded"}},
      {"its data is rounded to four digits",
       {"test_gridsample_bicubic", "test_roialign_aligned_false", "test_roialign_aligned_true"}},
  };
  return tests;
}

bool Contains(const ByReason& lists, const std::string& name) {
  return std::any_of(lists.begin(), lists.end(), [&](const auto& entry) {
    return std::find(entry.second.begin(), entry.second.end(), name) != entry.second.end();
  });
}

std::string Bytes(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
}

onnx::ModelProto ModelOf(const std::string& test) {
  onnx::ModelProto model;
  const std::string bytes = Bytes(kFolder / test / "model.onnx");
  if (!model.ParseFromString(bytes)) throw DataLoss(test + " holds no model");
  // A test imports the opset in which its operator last changed; the oldest supported one has the
  // operator unchanged.
  constexpr std::int64_t kOldest = 7;
  for (auto& opset : *model.mutable_opset_import())
    opset.set_version(std::max(opset.version(), kOldest));
  return model;
}

// The type of the elements of a tensor, a sequence of tensors or an optional one of both.
const onnx::TypeProto& ElementOf(const onnx::TypeProto& type) {
  if (type.has_sequence_type()) return ElementOf(type.sequence_type().elem_type());
  if (type.has_optional_type()) return ElementOf(type.optional_type().elem_type());
  return type;
}

bool IsOfNumbers(const onnx::ValueInfoProto& value) {
  const onnx::TypeProto& element = ElementOf(value.type());
  return element.has_tensor_type() &&
         element.tensor_type().elem_type() != onnx::TensorProto::STRING;
}

bool IsInScope(const std::string& name, const onnx::ModelProto& model) {
  const auto& graph = model.graph();
  const auto is_fine = [](const auto& values) {
    return std::all_of(values.begin(), values.end(), IsOfNumbers);
  };
  if (Contains(TestsOutOfScope(), name) || Contains(TestsOfWrongData(), name) ||
      !is_fine(graph.input()) || !is_fine(graph.output()))
    return false;
  // Classic machine learning has a domain of its own.
  return std::none_of(graph.node().begin(), graph.node().end(), [](const auto& node) {
    return node.domain() == "ai.onnx.ml" || Contains(OperatorsOutOfScope(), node.op_type());
  });
}

struct TestList {
  Names passing, missing;
};

// The tests in scope; of those that are missing, one of the lists above says why.
const TestList& AllTests() {
  static const TestList all = [] {
    const Names list = SupportedOnnxOps();
    const std::set<std::string> supported(list.begin(), list.end());
    TestList made;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(kFolder, error)) {
      const std::string name = entry.path().filename().string();
      if (!fs::exists(entry.path() / "model.onnx")) continue;
      const onnx::ModelProto model = ModelOf(name);
      if (!IsInScope(name, model)) continue;
      bool known = !Contains(MissingTests(), name);
      for (const onnx::NodeProto& node : model.graph().node())
        known = known && supported.contains(node.op_type());
      (known ? made.passing : made.missing).push_back(name);
    }
    std::sort(made.passing.begin(), made.passing.end());
    std::sort(made.missing.begin(), made.missing.end());
    return made;
  }();
  return all;
}

NDArray Tensor(const fs::path& path) {
  onnx::TensorProto tensor;
  if (!tensor.ParseFromString(Bytes(path))) throw DataLoss(path.string() + " holds no tensor");
  return ToNDArray(tensor, path.string());
}

bool IsTensor(const onnx::ValueInfoProto& value) { return value.type().has_tensor_type(); }

// The tensors of a file that holds a value of this type; nothing for an optional one without an
// element.
std::optional<std::vector<onnx::TensorProto>> TensorsOf(const onnx::TypeProto& type,
                                                        const fs::path& path) {
  onnx::SequenceProto sequence;
  onnx::TensorProto tensor;
  onnx::OptionalProto optional;
  const std::string bytes = Bytes(path);
  const onnx::TypeProto* of = &type;
  if (type.has_optional_type()) {
    of = &type.optional_type().elem_type();
    if (!optional.ParseFromString(bytes)) throw DataLoss(path.string());
    if (optional.elem_type() == onnx::OptionalProto::UNDEFINED) return std::nullopt;
    sequence = optional.sequence_value();
    tensor = optional.tensor_value();
  } else if (!(type.has_sequence_type() ? sequence.ParseFromString(bytes)
                                        : tensor.ParseFromString(bytes))) {
    throw DataLoss(path.string());
  }
  if (!of->has_sequence_type()) return std::vector<onnx::TensorProto>{tensor};
  return std::vector<onnx::TensorProto>(sequence.tensor_values().begin(),
                                        sequence.tensor_values().end());
}

onnx::NodeProto MadeNode(const std::string& type, const Names& inputs, const std::string& output) {
  onnx::NodeProto node;
  node.set_op_type(type);
  for (const std::string& input : inputs) node.add_input(input);
  node.add_output(output);
  return node;
}

// Modules have tensors only. So an input that is none is put together from constants by nodes at
// the begin of the graph, and a result that is a sequence is taken apart by nodes at its end.
void MakeTensors(const fs::path& data, onnx::ModelProto* model) {
  onnx::GraphProto& graph = *model->mutable_graph();
  std::vector<onnx::NodeProto> nodes;
  for (int i = 0; i < graph.input_size(); ++i) {
    const onnx::ValueInfoProto& input = graph.input(i);
    if (IsTensor(input)) continue;
    const auto tensors = TensorsOf(input.type(), data / StrCat("input_", i, ".pb"));
    Names names;
    for (std::size_t k = 0; tensors && k < tensors->size(); ++k) {
      names.push_back(StrCat(input.name(), "_", k));
      onnx::TensorProto* tensor = graph.add_initializer();
      *tensor = (*tensors)[k];
      tensor->set_name(names.back());
    }
    const onnx::TypeProto& type = input.type();
    const bool is_sequence =
        type.has_sequence_type() || type.optional_type().elem_type().has_sequence_type();
    const std::string made = type.has_optional_type() ? input.name() + "_element" : input.name();
    if (tensors && is_sequence)
      nodes.push_back(MadeNode(names.empty() ? "SequenceEmpty" : "SequenceConstruct", names, made));
    if (type.has_optional_type())
      nodes.push_back(MadeNode("Optional",
                               !tensors      ? Names{}
                               : is_sequence ? Names{made}
                                             : names,
                               input.name()));
  }
  nodes.insert(nodes.end(), graph.node().begin(), graph.node().end());
  const auto outputs = graph.output();
  graph.clear_output();
  for (int i = 0; i < outputs.size(); ++i) {
    if (IsTensor(outputs[i])) {
      *graph.add_output() = outputs[i];
      continue;
    }
    const auto tensors = TensorsOf(outputs[i].type(), data / StrCat("output_", i, ".pb"));
    const onnx::TypeProto& type = outputs[i].type();
    const bool is_sequence =
        type.has_sequence_type() || type.optional_type().elem_type().has_sequence_type();
    if (!is_sequence) graph.add_output()->set_name(outputs[i].name());
    for (std::size_t k = 0; is_sequence && tensors && k < tensors->size(); ++k) {
      const std::string name = StrCat(outputs[i].name(), "_", k);
      onnx::TensorProto* place = graph.add_initializer();
      place->set_name(name + "_place");
      place->set_data_type(onnx::TensorProto::INT64);
      place->add_int64_data(static_cast<std::int64_t>(k));
      nodes.push_back(MadeNode("SequenceAt", {outputs[i].name(), name + "_place"}, name));
      graph.add_output()->set_name(name);
    }
  }
  graph.clear_node();
  for (onnx::NodeProto& node : nodes) graph.add_node()->Swap(&node);
  google::protobuf::RepeatedPtrField<onnx::ValueInfoProto> inputs;
  for (const onnx::ValueInfoProto& input : graph.input())
    if (IsTensor(input)) *inputs.Add() = input;
  graph.mutable_input()->Swap(&inputs);
}

// float16 as float64, which has all its values; everything else as it is.
NDArray Widened(const NDArray& half) {
  if (half.dtype() != Float16) return half;
  NDArray wide = NDArray::Empty(half.shape(), Float64);
  for (std::int64_t i = 0; i < half.size(); ++i) {
    const unsigned bits = static_cast<const std::uint16_t*>(half.raw())[i];
    const int exponent = static_cast<int>(bits >> 10 & 31);
    const double fraction = bits & 1023;
    double value =
        exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
    if (exponent == 31)
      value = fraction == 0 ? std::numeric_limits<double>::infinity()
                            : std::numeric_limits<double>::quiet_NaN();
    wide.data<double>()[i] = bits >> 15 != 0 ? -value : value;
  }
  return wide;
}

std::vector<fs::path> Files(const fs::path& folder, const std::string& prefix) {
  std::vector<fs::path> files;
  for (int i = 0; fs::exists(folder / StrCat(prefix, i, ".pb")); ++i)
    files.push_back(folder / StrCat(prefix, i, ".pb"));
  return files;
}

class OnnxNodeTest : public ::testing::TestWithParam<std::string> {};

TEST_P(OnnxNodeTest, GivesTheOutputsOfTheStandard) {
  strategies::RegisterStrategies(ops::OpRegistry::Global());
  const fs::path data = kFolder / GetParam() / "test_data_set_0";
  const onnx::ModelProto given = ModelOf(GetParam());
  const std::vector<fs::path> files = Files(data, "input_");
  ASSERT_EQ(static_cast<std::size_t>(given.graph().input_size()), files.size());
  std::vector<fs::path> inputs;
  for (std::size_t i = 0; i < files.size(); ++i)
    if (IsTensor(given.graph().input(static_cast<int>(i)))) inputs.push_back(files[i]);
  onnx::ModelProto original = given;
  MakeTensors(data, &original);
  // Inputs that must be known at import are made initializers: none, all but the first, all.
  absl::StatusOr<ir::Module> module = absl::UnknownError("not imported");
  runtime::Inputs values;
  for (const std::size_t kept : {inputs.size(), std::size_t{1}, std::size_t{0}}) {
    onnx::ModelProto model = original;
    values.clear();
    ImportOptions options{.evaluate = strategies::EvaluateCall};
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const std::string& name = original.graph().input(static_cast<int>(i)).name();
      if (i < kept) {
        values[name] = Tensor(inputs[i]);
        options.shapes[name] = values[name].shape();
      } else {
        onnx::TensorProto* tensor = model.mutable_graph()->add_initializer();
        ASSERT_TRUE(tensor->ParseFromString(Bytes(inputs[i])));
        tensor->set_name(name);
      }
    }
    module = ImportOnnx(model.SerializeAsString(), options, GetParam());
    const std::string message(module.status().message());
    const bool may_fix = message.find("must be known") != std::string::npos ||
                         message.find("can be fixed at import") != std::string::npos;
    if (module.ok() || !may_fix) break;
  }
  ASSERT_TRUE(module.ok()) << module.status();
  std::vector<NDArray> expected;
  const std::vector<fs::path> results_given = Files(data, "output_");
  for (std::size_t i = 0; i < results_given.size(); ++i) {
    const auto tensors =
        TensorsOf(given.graph().output(static_cast<int>(i)).type(), results_given[i]);
    for (const onnx::TensorProto& tensor : *tensors)
      expected.push_back(ToNDArray(tensor, results_given[i].string()));
  }
  for (const LibraryChoice library : {LibraryChoice::kTe, LibraryChoice::kAuto}) {
    SCOPED_TRACE(library == LibraryChoice::kTe ? "te" : "auto");
    const std::vector<NDArray> results = Outcome(*module, values, {.library = library});
    ASSERT_EQ(results.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      EXPECT_EQ(results[i].dtype().ToString(), expected[i].dtype().ToString());
      // Half precision has eleven bits.
      const bool coarse = expected[i].dtype() == Float16 || Contains(CoarseTests(), GetParam());
      ExpectClose(Widened(results[i]), Widened(expected[i]), coarse ? 1e-3 : 1e-4);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Standard, OnnxNodeTest, ::testing::ValuesIn(AllTests().passing),
                         [](const auto& info) { return info.param; });

TEST(OnnxNodeTableTest, MostOfTheListPasses) {
  const auto passing = static_cast<double>(AllTests().passing.size());
  const auto missing = static_cast<double>(AllTests().missing.size());
  std::printf("%.0f of %.0f tests in scope\n", passing, passing + missing);
  EXPECT_GE(passing, 0.95 * (passing + missing));
}

TEST(OnnxNodeTableTest, EveryMissingTestHasAReason) {
  for (const std::string& test : AllTests().missing)
    EXPECT_TRUE(Contains(MissingTests(), test)) << test;
}

TEST(OnnxNodeTableTest, ExcludesOnlyTestsThatExist) {
  for (const ByReason* lists : {&TestsOutOfScope(), &MissingTests(), &CoarseTests()}) {
    for (const auto& [reason, tests] : *lists) {
      for (const std::string& test : tests) EXPECT_TRUE(fs::exists(kFolder / test)) << test;
    }
  }
}

}  // namespace
}  // namespace tenon::onnx_import
