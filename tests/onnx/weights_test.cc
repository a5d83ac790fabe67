// Where weights come from: the model's own bytes, copied once, and files beside it, used in place.
#include <atomic>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>

#include <unistd.h>

#include "onnx/onnx_pb.h"
#include "tenon/ir/visit.h"
#include "tenon/onnx/export.h"
#include "tenon/onnx/model.h"
#include "tenon/onnx/strip_raw_data.h"
#include "tenon/onnx/tensor.h"
#include "tenon/ops/builders.h"
#include "tenon/support/strings.h"
#include "tenon/tests/testing/graph_testing.h"

namespace tenon::onnx_import {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using testing_graphs::ExpectClose;
using testing_graphs::Outcome;
using testing_graphs::Random;

// y = (x + a) * b.
constexpr std::int64_t kElements = 48;
const NDArray& A() {
  static const NDArray a = Random({kElements}, 1);
  return a;
}
const NDArray& B() {
  static const NDArray b = Random({kElements}, 2);
  return b;
}

onnx::ModelProto Model() {
  const ir::Expr x = ir::Var::Make("x", ir::TensorType({kElements}, Float32));
  const ir::Expr y = ops::Multiply(ops::Add(x, ir::Constant::Make(A())), ir::Constant::Make(B()));
  const ir::Module module = ir::Module().With("main", ir::Function::Make({x}, y));
  onnx::ModelProto model;
  EXPECT_TRUE(model.ParseFromString(ValueOrThrow(onnx_export::ExportOnnx(module))));
  EXPECT_EQ(model.graph().initializer_size(), 2);
  return model;
}

std::string BytesOf(const NDArray& array) {
  return std::string(static_cast<const char*>(array.raw()), array.bytes());
}

class WeightsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) / StrCat("tenon_weights_", getpid());
    fs::create_directories(folder_ / "data");
  }
  void TearDown() override { fs::remove_all(folder_); }

  void Write(const std::string& name, const std::string& bytes) const {
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
  }
  // Moves initializer `i` of the model into another file, by the entries given.
  static void Move(onnx::ModelProto* model, int i,
                   const std::vector<std::pair<std::string, std::string>>& entries) {
    onnx::TensorProto* tensor = model->mutable_graph()->mutable_initializer(i);
    tensor->clear_raw_data();
    tensor->set_data_location(onnx::TensorProto::EXTERNAL);
    for (const auto& [key, value] : entries) {
      auto* entry = tensor->add_external_data();
      entry->set_key(key);
      entry->set_value(value);
    }
  }
  absl::StatusOr<ir::Module> Load(const onnx::ModelProto& model) const {
    Write("model.onnx", model.SerializeAsString());
    return LoadOnnx((folder_ / "model.onnx").string(), {.evaluate = strategies::EvaluateCall});
  }
  static void ExpectRight(const ir::Module& module) {
    const NDArray x = Random({kElements}, 3);
    NDArray expected = NDArray::Empty({kElements}, Float32);
    for (std::int64_t i = 0; i < kElements; ++i)
      expected.data<float>()[i] =
          (x.data<float>()[i] + A().data<float>()[i]) * B().data<float>()[i];
    ExpectClose(Outcome(module, {{"x", x}}), {expected}, 1e-6);
  }

  fs::path folder_;
};

// Whether the lines of /proc/self/maps that name `file` hold the address.
bool IsMapped(const void* address, const std::string& file) {
  std::ifstream maps("/proc/self/maps");
  const auto wanted = reinterpret_cast<std::uintptr_t>(address);
  for (std::string line; std::getline(maps, line);) {
    std::istringstream fields(line);
    std::uintptr_t first = 0, last = 0;
    char dash = 0;
    fields >> std::hex >> first >> dash >> last;
    if (wanted >= first && wanted < last) return line.find(file) != std::string::npos;
  }
  return false;
}

std::vector<const void*> ConstantsOf(const ir::Module& module) {
  std::vector<const void*> data;
  ir::VisitPostOrder(module.Main().body, [&](const ir::Expr& e) {
    if (const auto* constant = e.As<ir::ConstantNode>()) data.push_back(constant->data.raw());
  });
  return data;
}

TEST_F(WeightsTest, ThoseInTheModelAreCopiedFromIt) {
  const ir::Module module = ValueOrThrow(Load(Model()));
  ExpectRight(module);
  for (const void* data : ConstantsOf(module)) {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(data) % 64, 0U);
    EXPECT_FALSE(IsMapped(data, "model.onnx"));
  }
}

TEST_F(WeightsTest, AlignedOnesInAnotherFileAreUsedWhereTheyAre) {
  onnx::ModelProto model = Model();
  Write("data/a.bin", BytesOf(A()) + BytesOf(B()));
  const std::string size = StrCat(A().bytes());
  Move(&model, 0, {{"location", "data/a.bin"}, {"length", size}});
  Move(&model, 1,
       {{"location", "data/a.bin"}, {"offset", size}, {"length", size}, {"checksum", "ignored"}});
  const ir::Module module = ValueOrThrow(Load(model));
  ASSERT_EQ(ConstantsOf(module).size(), 2U);
  for (const void* data : ConstantsOf(module)) EXPECT_TRUE(IsMapped(data, "data/a.bin"));
  // The module keeps what it needs of the files, also when their names are gone.
  fs::remove_all(folder_);
  ExpectRight(module);
}

TEST_F(WeightsTest, OthersInAnotherFileAreCopied) {
  onnx::ModelProto model = Model();
  Write("b.bin", "123" + BytesOf(B()));
  Move(&model, 1, {{"location", "b.bin"}, {"offset", "3"}});
  const ir::Module module = ValueOrThrow(Load(model));
  for (const void* data : ConstantsOf(module)) EXPECT_FALSE(IsMapped(data, "b.bin"));
  ExpectRight(module);
}

TEST_F(WeightsTest, BadPlacesAreRefusedByName) {
  Write("a.bin", BytesOf(A()));
  fs::create_directories(folder_ / "inner");
  const auto refused = [&](const std::vector<std::pair<std::string, std::string>>& entries,
                           absl::StatusCode code = absl::StatusCode::kInvalidArgument) {
    onnx::ModelProto model = Model();
    Move(&model, 0, entries);
    const auto module = Load(model);
    EXPECT_EQ(module.status().code(), code) << module.status();
    EXPECT_THAT(std::string(module.status().message()), HasSubstr("the initializer c0"));
    return std::string(module.status().message());
  };
  EXPECT_THAT(refused({}), HasSubstr("without a location"));
  EXPECT_THAT(refused({{"location", "none.bin"}}, absl::StatusCode::kNotFound),
              HasSubstr("none.bin cannot be opened: No such file"));
  EXPECT_THAT(refused({{"location", "inner"}}, absl::StatusCode::kNotFound), HasSubstr("inner"));
  for (const char* outside : {"../a.bin", "inner/../../a.bin", ".."})
    EXPECT_THAT(refused({{"location", outside}}),
                AllOf(HasSubstr(outside), HasSubstr("only files in the model's folder")));
  EXPECT_THAT(refused({{"location", (folder_ / "a.bin").string()}}),
              HasSubstr("only files in the model's folder"));
  EXPECT_THAT(refused({{"location", "a.bin"}, {"offset", "8"}, {"length", "192"}}),
              HasSubstr("192 bytes of a.bin from 8 on; the file has 192"));
  EXPECT_THAT(refused({{"location", "a.bin"}, {"offset", "193"}}), HasSubstr("from 193 on"));
  EXPECT_THAT(
      refused({{"location", "a.bin"}, {"offset", "18446744073709551615"}, {"length", "192"}}),
      HasSubstr("the file has 192"));
  EXPECT_THAT(refused({{"location", "a.bin"}, {"offset", "-1"}}),
              HasSubstr("the offset -1 of its data is not a number"));
  EXPECT_THAT(refused({{"location", "a.bin"}, {"length", "many"}}), HasSubstr("the length many"));
  EXPECT_THAT(refused({{"location", "a.bin"}, {"length", "188"}}),
              HasSubstr("has 188 bytes of data; float32 (48,) needs 192"));
}

TEST_F(WeightsTest, BytesWithoutAFileHaveNoOtherFiles) {
  onnx::ModelProto model = Model();
  Move(&model, 0, {{"location", "a.bin"}});
  const auto module = ImportOnnx(model.SerializeAsString(), {});
  EXPECT_EQ(module.status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(module.status().message()), HasSubstr("keeps its data in another file"));
}

TEST_F(WeightsTest, WithoutALengthAsManyBytesAreReadAsTheShapeTakes) {
  onnx::ModelProto model = Model();
  Write("both.bin", BytesOf(A()) + BytesOf(B()));
  Move(&model, 0, {{"location", "both.bin"}});
  Move(&model, 1, {{"location", "both.bin"}, {"offset", StrCat(A().bytes())}});
  ExpectRight(ValueOrThrow(Load(model)));
}

TEST_F(WeightsTest, ThoseOfAnAttributeMayBeInAnotherFile) {
  onnx::ModelProto model = Model();
  Write("a.bin", BytesOf(A()));
  Move(&model, 0, {{"location", "a.bin"}});
  onnx::GraphProto* graph = model.mutable_graph();
  onnx::NodeProto constant;
  constant.set_op_type("Constant");
  constant.add_output(graph->initializer(0).name());
  onnx::AttributeProto* value = constant.add_attribute();
  value->set_name("value");
  value->set_type(onnx::AttributeProto::TENSOR);
  *value->mutable_t() = graph->initializer(0);
  graph->mutable_initializer()->DeleteSubrange(0, 1);
  *graph->add_node() = constant;
  ExpectRight(ValueOrThrow(Load(model)));
}

TEST_F(WeightsTest, ThoseOfAGraphInsideMayBeInAnotherFile) {
  onnx::ModelProto model = Model();
  Write("a.bin", BytesOf(A()));
  Move(&model, 0, {{"location", "a.bin"}});
  // If (true) then a, else x.
  onnx::GraphProto* graph = model.mutable_graph();
  const onnx::TensorProto a = graph->initializer(0);
  graph->mutable_initializer()->DeleteSubrange(0, 1);
  onnx::TensorProto* flag = graph->add_initializer();
  flag->set_name("flag");
  flag->set_data_type(onnx::TensorProto::BOOL);
  flag->add_int32_data(1);
  onnx::NodeProto branch;
  branch.set_op_type("If");
  branch.add_input("flag");
  branch.add_output(a.name());
  for (const char* name : {"then_branch", "else_branch"}) {
    onnx::AttributeProto* attribute = branch.add_attribute();
    attribute->set_name(name);
    attribute->set_type(onnx::AttributeProto::GRAPH);
    onnx::GraphProto* inner = attribute->mutable_g();
    *inner->add_initializer() = a;
    inner->mutable_initializer(0)->set_name("inner");
    onnx::NodeProto* copy = inner->add_node();
    copy->set_op_type("Identity");
    copy->add_input("inner");
    copy->add_output("copied");
    inner->add_output()->set_name("copied");
  }
  *graph->add_node() = branch;
  ExpectRight(ValueOrThrow(Load(model)));
}

// The elements other than 0, by flat indices or by an index for each axis.
onnx::SparseTensorProto SparseOf(const NDArray& array, bool by_axis) {
  onnx::SparseTensorProto sparse;
  std::vector<float> values;
  std::vector<std::int64_t> indices;
  for (std::int64_t i = 0; i < array.size(); ++i) {
    if (array.data<float>()[i] == 0) continue;
    values.push_back(array.data<float>()[i]);
    indices.push_back(i);
  }
  const auto count = static_cast<std::int64_t>(values.size());
  ToTensorProto(NDArray::FromVector<float>({count}, values), "", sparse.mutable_values());
  const Shape shape = by_axis ? Shape{count, 1} : Shape{count};
  ToTensorProto(NDArray::FromVector<std::int64_t>(shape, indices), "", sparse.mutable_indices());
  for (const std::int64_t extent : array.shape()) sparse.add_dims(extent);
  return sparse;
}

// The model with a sparse tensor in the place of its first initializer.
onnx::ModelProto SparseModel(const onnx::SparseTensorProto& sparse) {
  onnx::ModelProto model = Model();
  onnx::GraphProto* graph = model.mutable_graph();
  *graph->add_sparse_initializer() = sparse;
  graph->mutable_sparse_initializer(0)->mutable_values()->set_name(graph->initializer(0).name());
  graph->mutable_initializer()->DeleteSubrange(0, 1);
  return model;
}

TEST_F(WeightsTest, SparseOnesAreTheDenseOnesThatTheyStandFor) {
  for (const bool by_axis : {false, true})
    ExpectRight(ValueOrThrow(Load(SparseModel(SparseOf(A(), by_axis)))));
}

TEST_F(WeightsTest, SparseOnesThatAreNoneAreRefusedByName) {
  const auto refused = [&](const std::function<void(onnx::SparseTensorProto*)>& change) {
    onnx::SparseTensorProto sparse = SparseOf(A(), false);
    change(&sparse);
    const auto module = Load(SparseModel(sparse));
    EXPECT_EQ(module.status().code(), absl::StatusCode::kInvalidArgument) << module.status();
    EXPECT_THAT(std::string(module.status().message()), HasSubstr("c0"));
    return std::string(module.status().message());
  };
  const auto with_indices = [](const std::vector<std::int64_t>& indices) {
    return [indices](onnx::SparseTensorProto* sparse) {
      const auto count = static_cast<std::int64_t>(indices.size());
      sparse->mutable_indices()->Clear();
      sparse->mutable_values()->Clear();
      ToTensorProto(NDArray::FromVector({count}, indices), "", sparse->mutable_indices());
      ToTensorProto(NDArray::Zeros({count}, Float32), "", sparse->mutable_values());
    };
  };
  EXPECT_THAT(refused(with_indices({3, 48})), HasSubstr("the index 48 along an axis of 48"));
  EXPECT_THAT(refused(with_indices({-1})), HasSubstr("the index -1"));
  EXPECT_THAT(refused(with_indices({3, 3})), HasSubstr("do not ascend"));
  EXPECT_THAT(refused([](auto* sparse) { sparse->add_dims(std::int64_t{1} << 40); }),
              HasSubstr("a constant of"));
  EXPECT_THAT(refused([](auto* sparse) { sparse->set_dims(0, -3); }), HasSubstr("extent -3"));
}

// What is forgotten is overwritten here: a file would be read again, and its bytes are the same.
TEST(RawDataTest, EachPartThatIsCopiedIsForgottenOnce) {
  constexpr std::size_t kBytes = (std::size_t{5} << 20) + 12;
  std::string bytes(kBytes, 'a');
  for (std::size_t i = 0; i < kBytes; ++i) bytes[i] = static_cast<char>(i * 31 % 127);
  const std::string original = bytes;
  std::atomic<std::size_t> forgotten{0}, calls{0};
  onnx::TensorProto tensor;
  tensor.set_data_type(onnx::TensorProto::FLOAT);
  tensor.add_dims(static_cast<std::int64_t>(kBytes / 4));
  const NDArray array = ToNDArray(
      tensor, "w", RawData{.bytes = bytes, .owner = nullptr, .forget = [&](std::string_view part) {
                             std::fill_n(const_cast<char*>(part.data()), part.size(), '\0');
                             forgotten += part.size();
                             ++calls;
                           }});
  EXPECT_EQ(std::memcmp(array.raw(), original.data(), kBytes), 0);
  EXPECT_EQ(forgotten, kBytes);
  EXPECT_GT(calls, 4U) << "a large weight is forgotten while it is copied";
}

TEST(StripRawDataTest, TakesTheDataAndLeavesTheRest) {
  onnx::ModelProto model = Model();
  model.mutable_graph()->add_initializer()->set_name("typed");
  model.mutable_graph()->mutable_initializer(2)->add_float_data(1);
  const std::string bytes = model.SerializeAsString();
  const auto stripped = StripRawData(bytes);
  ASSERT_TRUE(stripped.has_value());
  ASSERT_EQ(stripped->raw.size(), 3U);
  EXPECT_EQ(stripped->raw[0], BytesOf(A()));
  EXPECT_EQ(stripped->raw[1], BytesOf(B()));
  EXPECT_FALSE(stripped->raw[2].has_value());
  EXPECT_GE(stripped->raw[0]->data(), bytes.data());
  EXPECT_LT(stripped->raw[0]->data(), bytes.data() + bytes.size());
  for (int i = 0; i < 2; ++i) model.mutable_graph()->mutable_initializer(i)->set_raw_data("");
  EXPECT_EQ(stripped->bytes, model.SerializeAsString());
}

TEST(StripRawDataTest, RefusesWhatProtobufRefuses) {
  const std::string bytes = Model().SerializeAsString();
  int whole = 0;
  for (std::size_t size = 0; size <= bytes.size(); ++size) {
    const std::string prefix = bytes.substr(0, size);
    onnx::ModelProto model;
    const auto stripped = StripRawData(prefix);
    const bool accepted = stripped && model.ParseFromString(stripped->bytes);
    EXPECT_EQ(accepted, model.ParseFromString(prefix)) << size;
    whole += accepted ? 1 : 0;
  }
  EXPECT_GT(whole, 1);
  EXPECT_LT(whole, 20);
}

}  // namespace
}  // namespace tenon::onnx_import
