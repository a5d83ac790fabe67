// Models that tests of the import write node by node, and what they compute.
//
//   Model model;
//   model.Input("x", {3}).Output("y").Node("Exp", {"x"}, {"y"});
//   NDArray y = Computed(model, {{"x", x}})[0];
#ifndef TENON_TESTS_ONNX_WRITTEN_MODEL_H_
#define TENON_TESTS_ONNX_WRITTEN_MODEL_H_

#include <map>
#include <string>
#include <vector>

#include "onnx/onnx_pb.h"
#include "tenon/onnx/import.h"
#include "tenon/onnx/tensor.h"
#include "tenon/ops/ints.h"
#include "tenon/tests/testing/graph_testing.h"

namespace tenon::onnx_import {

using onnx::AttributeProto;
using onnx::NodeProto;
using onnx::TensorProto;
using ops::Ints;
using Names = std::vector<std::string>;

// A model being written; extents below 0 are unknown.
class Model {
 public:
  explicit Model(int opset = 13) {
    proto.set_ir_version(7);
    if (opset > 0) proto.add_opset_import()->set_version(opset);
    proto.mutable_graph()->set_name("graph");
  }
  Model& Input(const std::string& name, const Shape& shape, int type = TensorProto::FLOAT) {
    auto* info = proto.mutable_graph()->add_input();
    info->set_name(name);
    auto* tensor = info->mutable_type()->mutable_tensor_type();
    tensor->set_elem_type(type);
    tensor->mutable_shape();
    for (const std::int64_t extent : shape) {
      auto* dim = tensor->mutable_shape()->add_dim();
      if (extent >= 0) dim->set_dim_value(extent);
    }
    return *this;
  }
  Model& Output(const std::string& name) {
    proto.mutable_graph()->add_output()->set_name(name);
    return *this;
  }
  NodeProto& Node(const std::string& type, const Names& inputs, const Names& outputs,
                  const std::string& name = "", const std::string& domain = "") {
    NodeProto* node = proto.mutable_graph()->add_node();
    node->set_op_type(type);
    node->set_name(name);
    node->set_domain(domain);
    for (const std::string& input : inputs) node->add_input(input);
    for (const std::string& output : outputs) node->add_output(output);
    return *node;
  }
  Model& Integers(const std::string& name, const Ints& values) {
    TensorProto* tensor = proto.mutable_graph()->add_initializer();
    tensor->set_name(name);
    tensor->set_data_type(TensorProto::INT64);
    tensor->add_dims(static_cast<std::int64_t>(values.size()));
    for (const std::int64_t value : values) tensor->add_int64_data(value);
    return *this;
  }
  // Of float32, uint8 or int8.
  Model& Constant(const std::string& name, const NDArray& values) {
    TensorProto* tensor = proto.mutable_graph()->add_initializer();
    tensor->set_name(name);
    tensor->set_data_type(values.dtype() == Float32 ? TensorProto::FLOAT
                          : values.dtype() == UInt8 ? TensorProto::UINT8
                                                    : TensorProto::INT8);
    for (const std::int64_t extent : values.shape()) tensor->add_dims(extent);
    tensor->set_raw_data(std::string(static_cast<const char*>(values.raw()), values.bytes()));
    return *this;
  }
  // Of any type.
  Model& Initializer(const std::string& name, const NDArray& values) {
    ToTensorProto(values, name, proto.mutable_graph()->add_initializer());
    return *this;
  }
  Model& InputLike(const std::string& name, const NDArray& values) {
    return Input(name, values.shape(), ToOnnxType(values.dtype()));
  }
  std::string Bytes() const { return proto.SerializeAsString(); }

  onnx::ModelProto proto;
};

inline void SetInt(NodeProto& node, const std::string& name, std::int64_t value) {
  AttributeProto* attribute = node.add_attribute();
  attribute->set_name(name);
  attribute->set_type(AttributeProto::INT);
  attribute->set_i(value);
}
inline void SetInts(NodeProto& node, const std::string& name, const Ints& values) {
  AttributeProto* attribute = node.add_attribute();
  attribute->set_name(name);
  attribute->set_type(AttributeProto::INTS);
  for (const std::int64_t value : values) attribute->add_ints(value);
}
inline void SetFloat(NodeProto& node, const std::string& name, float value) {
  AttributeProto* attribute = node.add_attribute();
  attribute->set_name(name);
  attribute->set_type(AttributeProto::FLOAT);
  attribute->set_f(value);
}
inline void SetFloats(NodeProto& node, const std::string& name, const std::vector<float>& values) {
  AttributeProto* attribute = node.add_attribute();
  attribute->set_name(name);
  attribute->set_type(AttributeProto::FLOATS);
  for (const float value : values) attribute->add_floats(value);
}
inline void SetString(NodeProto& node, const std::string& name, const std::string& value) {
  AttributeProto* attribute = node.add_attribute();
  attribute->set_name(name);
  attribute->set_type(AttributeProto::STRING);
  attribute->set_s(value);
}

inline absl::StatusOr<ir::Module> Imported(const std::string& bytes,
                                           const std::map<std::string, Shape>& shapes = {}) {
  strategies::RegisterStrategies(ops::OpRegistry::Global());
  return ImportOnnx(bytes, {.shapes = shapes, .evaluate = strategies::EvaluateCall});
}
inline absl::StatusOr<ir::Module> Imported(const Model& model,
                                           const std::map<std::string, Shape>& shapes = {}) {
  return Imported(model.Bytes(), shapes);
}

// Without control flow: loops and long sequences are unrolled.
inline absl::StatusOr<ir::Module> Unrolled(const Model& model) {
  strategies::RegisterStrategies(ops::OpRegistry::Global());
  return ImportOnnx(model.Bytes(), {.control_flow = false, .evaluate = strategies::EvaluateCall});
}

inline std::string MessageOf(const absl::StatusOr<ir::Module>& module, absl::StatusCode code) {
  EXPECT_EQ(module.status().code(), code) << module.status();
  return std::string(module.status().message());
}

inline std::vector<NDArray> Computed(const Model& model, const runtime::Inputs& inputs) {
  return testing_graphs::Outcome(ValueOrThrow(Imported(model)), inputs);
}

}  // namespace tenon::onnx_import

#endif  // TENON_TESTS_ONNX_WRITTEN_MODEL_H_
