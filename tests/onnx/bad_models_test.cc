// Damaged models: every one is refused in words that say where, or imports soundly; none crashes,
// hangs or takes memory without bound. The originals are node tests that come with ONNX.
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <random>

#include "onnx/onnx_pb.h"
#include "tenon/ir/verify.h"
#include "tenon/onnx/import.h"
#include "tenon/support/strings.h"
#include "tenon/tests/testing/graph_testing.h"

namespace tenon::onnx_import {
namespace {

namespace fs = std::filesystem;
using onnx::AttributeProto;
using onnx::GraphProto;
using onnx::ModelProto;
using onnx::TensorProto;
using ::testing::HasSubstr;

const fs::path kFolder = "/usr/share/libonnx-testdata/data/node";
constexpr int kSeeds = 10;

const std::vector<std::string>& Originals() {
  static const std::vector<std::string> names = {"test_conv_with_strides_padding",
                                                 "test_gemm_all_attributes",
                                                 "test_softmax_axis_1",
                                                 "test_concat_3d_axis_1",
                                                 "test_einsum_transpose",
                                                 "test_maxpool_2d_default",
                                                 "test_constant",
                                                 "test_averagepool_2d_pads",
                                                 "test_transpose_all_permutations_3",
                                                 "test_argmax_default_axis_example",
                                                 "test_lstm_defaults",
                                                 "test_split_equal_parts_1d",
                                                 "test_if",
                                                 "test_scan9_sum"};
  return names;
}

std::string BytesOf(const std::string& name) {
  // ONNX renames a test when a later opset brings another form.
  const bool renamed = !fs::exists(kFolder / name);
  std::ifstream file(kFolder / (renamed ? name + "_opset13" : name) / "model.onnx",
                     std::ios::binary);
  return std::string((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
}

using Random = std::mt19937;
std::size_t Below(Random& random, std::size_t n) { return random() % n; }

TensorProto* AddInitializer(GraphProto* graph, const std::string& name) {
  TensorProto* tensor = graph->add_initializer();
  tensor->set_name(name);
  tensor->set_data_type(TensorProto::FLOAT);
  return tensor;
}
onnx::TypeProto::Tensor* TypeOfInput(GraphProto* graph, Random& random) {
  if (graph->input_size() == 0) graph->add_input()->set_name("x");
  const auto i = static_cast<int>(Below(random, static_cast<std::size_t>(graph->input_size())));
  return graph->mutable_input(i)->mutable_type()->mutable_tensor_type();
}

struct Damage {
  const char* name;
  std::function<void(ModelProto*, Random&)> apply;
  bool must_fail = false;
};

const std::vector<Damage>& Damages() {
  static const std::vector<Damage> damages = {
      {"an input of a wrong type",
       [](ModelProto* m, Random& r) {
         TypeOfInput(m->mutable_graph(), r)->set_elem_type(static_cast<int>(Below(r, 30)));
       }},
      {"a cycle",
       [](ModelProto* m, Random&) {
         auto* node = m->mutable_graph()->mutable_node(0);
         node->add_input(node->output(node->output_size() - 1));
       },
       true},
      {"huge extents",
       [](ModelProto* m, Random& r) {
         for (auto& dim : *TypeOfInput(m->mutable_graph(), r)->mutable_shape()->mutable_dim())
           dim.set_dim_value(std::int64_t{1} << (20 + Below(r, 43)));
       }},
      {"a negative extent of an input",
       [](ModelProto* m, Random& r) {
         for (auto& dim : *TypeOfInput(m->mutable_graph(), r)->mutable_shape()->mutable_dim())
           dim.set_dim_value(-static_cast<std::int64_t>(1 + Below(r, 9)));
       }},
      {"a negative extent of an initializer",
       [](ModelProto* m, Random&) { AddInitializer(m->mutable_graph(), "w")->add_dims(-3); }, true},
      {"a huge initializer without data",
       [](ModelProto* m, Random& r) {
         TensorProto* tensor = AddInitializer(m->mutable_graph(), "w");
         for (int i = 0; i < 3; ++i) tensor->add_dims(std::int64_t{1} << (15 + Below(r, 6)));
       },
       true},
      {"an initializer whose extents overflow",
       [](ModelProto* m, Random&) {
         TensorProto* tensor = AddInitializer(m->mutable_graph(), "w");
         for (int i = 0; i < 4; ++i) tensor->add_dims(std::int64_t{1} << 40);
       },
       true},
      {"raw data of a wrong length",
       [](ModelProto* m, Random& r) {
         TensorProto* tensor = AddInitializer(m->mutable_graph(), "w");
         tensor->add_dims(4);
         tensor->set_raw_data(std::string(Below(r, 16), 'a'));
       },
       true},
      {"an initializer without elements",
       [](ModelProto* m, Random&) { AddInitializer(m->mutable_graph(), "w")->add_dims(0); }},
      {"an initializer of no type",
       [](ModelProto* m, Random& r) {
         AddInitializer(m->mutable_graph(), "w")->set_data_type(static_cast<int>(Below(r, 2)) * 77);
       },
       true},
      {"an initializer given twice",
       [](ModelProto* m, Random&) {
         for (int i = 0; i < 2; ++i) AddInitializer(m->mutable_graph(), "w")->add_dims(0);
       },
       true},
      {"a missing value",
       [](ModelProto* m, Random&) { m->mutable_graph()->mutable_node(0)->add_input("nowhere"); },
       true},
      {"an opset out of range",
       [](ModelProto* m, Random& r) {
         constexpr std::int64_t kVersions[] = {0, -1, 6, 28, std::int64_t{1} << 32 | 13};
         m->mutable_opset_import(0)->set_version(kVersions[Below(r, 5)]);
       },
       true},
      {"an attribute of another kind",
       [](ModelProto* m, Random& r) {
         auto* node = m->mutable_graph()->mutable_node(0);
         auto* attribute =
             node->attribute_size() > 0 ? node->mutable_attribute(0) : node->add_attribute();
         if (attribute->name().empty()) attribute->set_name("axis");
         attribute->set_type(static_cast<AttributeProto::AttributeType>(1 + Below(r, 10)));
       }},
      {"an attribute of a wild value",
       [](ModelProto* m, Random& r) {
         for (auto& attribute : *m->mutable_graph()->mutable_node(0)->mutable_attribute()) {
           const auto wild = static_cast<std::int64_t>(r()) << Below(r, 32);
           attribute.set_i(wild);
           if (attribute.ints_size() > 0) attribute.set_ints(0, Below(r, 2) == 0 ? wild : -wild);
         }
       }},
      {"an output made twice",
       [](ModelProto* m, Random&) {
         const onnx::NodeProto node = m->graph().node(0);
         *m->mutable_graph()->add_node() = node;
       },
       true},
      {"an output that nothing makes",
       [](ModelProto* m, Random&) { m->mutable_graph()->add_output()->set_name("nowhere"); }, true},
      {"a damaged graph inside a node",
       [](ModelProto* m, Random& r) {
         for (auto& attribute : *m->mutable_graph()->mutable_node(0)->mutable_attribute()) {
           if (!attribute.has_g()) continue;
           GraphProto* inside = attribute.mutable_g();
           switch (Below(r, 5)) {
             case 0:
               inside->add_input()->set_name("more");
               break;
             case 1:
               inside->clear_output();
               break;
             case 2:
               inside->clear_node();
               break;
             case 3:
               inside->mutable_node(0)->add_input("nowhere");
               break;
             default:
               attribute.clear_g();
           }
         }
       }},
      {"an unknown operator",
       [](ModelProto* m, Random&) { m->mutable_graph()->mutable_node(0)->set_op_type("Juggle"); },
       true},
      {"no inputs of the node",
       [](ModelProto* m, Random&) { m->mutable_graph()->mutable_node(0)->clear_input(); }},
      {"a huge shape computed at import",
       [](ModelProto* m, Random& r) {
         GraphProto* graph = m->mutable_graph();
         TensorProto* shape = AddInitializer(graph, "huge");
         shape->set_data_type(TensorProto::INT64);
         shape->add_dims(3);
         for (int i = 0; i < 3; ++i) shape->add_int64_data(std::int64_t{1} << (11 + Below(r, 4)));
         auto* node = graph->add_node();
         node->set_op_type("ConstantOfShape");
         node->add_input("huge");
         node->add_output("filled");
         graph->add_output()->set_name("filled");
       }},
  };
  return damages;
}

// Refused in words, or a module that holds together.
void ExpectSound(const std::string& bytes, bool must_fail) {
  const auto module = ImportOnnx(bytes, {.evaluate = strategies::EvaluateCall});
  if (module.ok()) {
    EXPECT_FALSE(must_fail) << "was accepted";
    EXPECT_NO_THROW(ir::VerifyModule(*module));
    return;
  }
  const std::string message(module.status().message());
  EXPECT_NE(module.status().code(), absl::StatusCode::kInternal) << message;
  EXPECT_NE(module.status().code(), absl::StatusCode::kUnknown) << message;
  EXPECT_NE(module.status().code(), absl::StatusCode::kResourceExhausted) << message;
  EXPECT_THAT(message, ::testing::AnyOf(HasSubstr("in the node "), HasSubstr("the initializer "),
                                        HasSubstr("the input "), HasSubstr("the output "),
                                        HasSubstr("Juggle"), HasSubstr("is of opset"),
                                        HasSubstr("is not a complete ONNX model"),
                                        HasSubstr("holds no graph"), HasSubstr("no outputs")));
}

TEST(BadModelsTest, WithoutDamageTheOriginalsImport) {
  strategies::RegisterStrategies(ops::OpRegistry::Global());
  for (const std::string& name : Originals()) {
    const auto module = ImportOnnx(BytesOf(name), {.evaluate = strategies::EvaluateCall});
    EXPECT_TRUE(module.ok()) << name << ": " << module.status();
  }
}

TEST(BadModelsTest, EachDamageIsRefusedInWordsOrImportsSoundly) {
  strategies::RegisterStrategies(ops::OpRegistry::Global());
  ASSERT_GE(Damages().size() * kSeeds, 200U);
  for (const Damage& damage : Damages()) {
    for (int seed = 0; seed < kSeeds; ++seed) {
      Random random(static_cast<unsigned>(seed));
      const std::string& name = Originals()[Below(random, Originals().size())];
      SCOPED_TRACE(StrCat(damage.name, ", ", name, ", seed ", seed));
      ModelProto model;
      ASSERT_TRUE(model.ParseFromString(BytesOf(name)));
      ASSERT_GT(model.graph().node_size(), 0);
      damage.apply(&model, random);
      ExpectSound(model.SerializeAsString(), damage.must_fail);
    }
  }
}

TEST(BadModelsTest, AnyPartOfAFileIsRefusedInWordsOrImportsSoundly) {
  strategies::RegisterStrategies(ops::OpRegistry::Global());
  for (const std::string& name : Originals()) {
    const std::string bytes = BytesOf(name);
    ASSERT_FALSE(bytes.empty()) << name;
    for (std::size_t i = 0; i < 10; ++i) {
      SCOPED_TRACE(StrCat(name, ", ", bytes.size() * i / 10, " of ", bytes.size(), " bytes"));
      ExpectSound(bytes.substr(0, bytes.size() * i / 10), false);
    }
  }
}

TEST(BadModelsTest, ChangedBytesAreRefusedInWordsOrImportSoundly) {
  strategies::RegisterStrategies(ops::OpRegistry::Global());
  for (unsigned seed = 0; seed < 400; ++seed) {
    Random random(seed);
    const std::string& name = Originals()[Below(random, Originals().size())];
    std::string bytes = BytesOf(name);
    for (std::size_t n = 1 + Below(random, 4); n > 0; --n)
      bytes[Below(random, bytes.size())] = static_cast<char>(random());
    SCOPED_TRACE(StrCat(name, ", seed ", seed));
    const auto module = ImportOnnx(bytes, {.evaluate = strategies::EvaluateCall});
    if (module.ok()) {
      EXPECT_NO_THROW(ir::VerifyModule(*module));
    } else {
      EXPECT_NE(module.status().code(), absl::StatusCode::kInternal) << module.status();
      EXPECT_NE(module.status().code(), absl::StatusCode::kUnknown) << module.status();
    }
  }
}

}  // namespace
}  // namespace tenon::onnx_import
