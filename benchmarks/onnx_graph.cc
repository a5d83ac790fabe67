#include "tenon/benchmarks/onnx_graph.h"

#include "tenon/onnx/tensor.h"
#include "tenon/support/strings.h"

namespace tenon::benchmarks {
namespace {

using onnx::AttributeProto;

void Declare(onnx::ValueInfoProto* value, const std::string& name,
             const OnnxGraph::Extents& extents) {
  value->set_name(name);
  auto* type = value->mutable_type()->mutable_tensor_type();
  type->set_elem_type(onnx::TensorProto::FLOAT);
  for (const std::string& extent : extents) {
    auto* dim = type->mutable_shape()->add_dim();
    if (const auto number = ParseNumber<std::int64_t>(extent)) {
      dim->set_dim_value(*number);
    } else {
      dim->set_dim_param(extent);
    }
  }
}

void Set(AttributeProto* attribute, std::int64_t value) {
  attribute->set_type(AttributeProto::INT);
  attribute->set_i(value);
}

void Set(AttributeProto* attribute, const ops::Ints& values) {
  attribute->set_type(AttributeProto::INTS);
  for (const std::int64_t value : values) attribute->add_ints(value);
}

void Set(AttributeProto* attribute, const std::string& value) {
  attribute->set_type(AttributeProto::STRING);
  attribute->set_s(value);
}

NDArray ValueOf(const ir::Expr& constant) { return constant.As<ir::ConstantNode>()->data; }

}  // namespace

OnnxGraph::OnnxGraph() {
  model_.set_ir_version(8);
  model_.add_opset_import()->set_version(17);
  graph().set_name("graph");
}

std::string OnnxGraph::Input(const std::string& name, const Extents& extents) {
  Declare(graph().add_input(), name, extents);
  return name;
}

std::string OnnxGraph::Write(const std::string& output, const Extents& extents) {
  Declare(graph().add_output(), output, extents);
  return model_.SerializeAsString();
}

std::vector<std::string> OnnxGraph::CallAll(const std::string& type,
                                            const std::vector<std::string>& inputs,
                                            const Attributes& attributes, std::size_t num_results) {
  onnx::NodeProto& node = *graph().add_node();
  node.set_op_type(type);
  node.set_name(StrCat(type, "_", graph().node_size()));
  for (const std::string& input : inputs) node.add_input(input);
  for (const auto& [name, value] : attributes) {
    AttributeProto* attribute = node.add_attribute();
    attribute->set_name(name);
    std::visit([&](const auto& held) { Set(attribute, held); }, value);
  }
  std::vector<std::string> results;
  for (std::size_t i = 0; i < num_results; ++i) {
    results.push_back(StrCat(node.name(), i == 0 ? "_result" : StrCat("_result_", i)));
    node.add_output(results.back());
  }
  return results;
}

std::string OnnxGraph::Constant(const NDArray& values) {
  const std::string name = StrCat("constant_", graph().initializer_size());
  onnx_import::ToTensorProto(values, name, graph().add_initializer());
  return name;
}

std::string OnnxGraph::Kernel(Shape shape) {
  return Constant(ValueOf(weights_.Kernel(std::move(shape))));
}

std::string OnnxGraph::Vector(std::int64_t size, double low, double high) {
  return Constant(ValueOf(weights_.Vector(size, low, high)));
}

std::string OnnxGraph::Transpose(const std::string& x, const ops::Ints& order) {
  return Call("Transpose", {x}, {{"perm", order}});
}

std::string OnnxGraph::Reshape(const std::string& x, const ops::Ints& extents) {
  return Call("Reshape", {x, Constant(NDArray::FromVector<std::int64_t>(
                                 {static_cast<std::int64_t>(extents.size())}, extents))});
}

}  // namespace tenon::benchmarks
