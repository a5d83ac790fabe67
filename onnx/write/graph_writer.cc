#include "tenon/onnx/write/graph_writer.h"

#include <algorithm>

#include "tenon/onnx/tensor.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::onnx_export {
namespace {

void SetType(const ir::Type& type, const std::string& name, onnx::ValueInfoProto* value) {
  const Shape shape = ir::StaticShape(type, StrCat("the value ", name));
  value->set_name(name);
  auto* tensor = value->mutable_type()->mutable_tensor_type();
  tensor->set_elem_type(onnx_import::ToOnnxType(type.As<ir::TensorTypeNode>()->dtype));
  auto* extents = tensor->mutable_shape();
  for (const std::int64_t extent : shape) extents->add_dim()->set_dim_value(extent);
}

void SetValue(const NodeAttribute& from, onnx::AttributeProto* attribute) {
  attribute->set_name(from.name);
  if (const auto* number = std::get_if<std::int64_t>(&from.value)) {
    attribute->set_type(onnx::AttributeProto::INT);
    attribute->set_i(*number);
  } else if (const auto* real = std::get_if<double>(&from.value)) {
    attribute->set_type(onnx::AttributeProto::FLOAT);
    attribute->set_f(static_cast<float>(*real));
  } else if (const auto* text = std::get_if<std::string>(&from.value)) {
    attribute->set_type(onnx::AttributeProto::STRING);
    attribute->set_s(*text);
  } else if (const auto* texts = std::get_if<std::vector<std::string>>(&from.value)) {
    attribute->set_type(onnx::AttributeProto::STRINGS);
    for (const std::string& t : *texts) attribute->add_strings(t);
  } else {
    attribute->set_type(onnx::AttributeProto::INTS);
    for (const std::int64_t i : std::get<Ints>(from.value)) attribute->add_ints(i);
  }
}

bool AddNumbers(const attrs::List& list, onnx::AttributeProto* attribute) {
  const bool are_integers = std::ranges::all_of(
      list, [](const attrs::Value& value) { return value.As<std::int64_t>() != nullptr; });
  attribute->set_type(are_integers ? onnx::AttributeProto::INTS : onnx::AttributeProto::FLOATS);
  for (const attrs::Value& value : list) {
    if (are_integers) {
      attribute->add_ints(*value.As<std::int64_t>());
    } else if (const auto* real = value.As<double>()) {
      attribute->add_floats(static_cast<float>(*real));
    } else {
      return false;
    }
  }
  return true;
}

void SetValue(const std::string& name, const attrs::Value& value, onnx::AttributeProto* attribute) {
  if (const auto* flag = value.As<bool>()) {
    SetValue({name.c_str(), std::int64_t{*flag}}, attribute);
  } else if (const auto* number = value.As<std::int64_t>()) {
    SetValue({name.c_str(), *number}, attribute);
  } else if (const auto* real = value.As<double>()) {
    SetValue({name.c_str(), *real}, attribute);
  } else if (const auto* text = value.As<std::string>()) {
    SetValue({name.c_str(), *text}, attribute);
  } else {
    attribute->set_name(name);
    const auto* list = value.As<attrs::List>();
    if (list == nullptr || !AddNumbers(*list, attribute))
      throw Unimplemented(StrCat("the attribute ", name, "=", attrs::ToText(value),
                                 " has no ONNX counterpart; allowed are integers, numbers, texts "
                                 "and lists of integers or of numbers"));
  }
}

}  // namespace

std::string GraphWriter::Unique(const std::string& wanted) {
  std::string name = wanted;
  for (int i = 1; !names_.insert(name).second; ++i) name = StrCat(wanted, "_", i);
  return name;
}

std::string GraphWriter::AddInput(const std::string& name, const ir::Type& type) {
  const std::string unique = Unique(name);
  SetType(type, unique, graph_.add_input());
  return unique;
}

void GraphWriter::AddOutput(const std::string& value, const ir::Type& type) {
  SetType(type, value, graph_.add_output());
}

void GraphWriter::Reserve(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (!name.empty() && names_.insert(name).second) reserved_.insert(name);
  }
}

void GraphWriter::NameOutputs(const std::vector<std::string>& names) {
  std::unordered_map<std::string, std::string> named;
  for (std::size_t i = 0; i < names.size() && static_cast<int>(i) < graph_.output_size(); ++i) {
    if (reserved_.erase(names[i]) > 0)
      named.emplace(graph_.output(static_cast<int>(i)).name(), names[i]);
  }
  const auto rename = [&](std::string* value) {
    if (const auto found = named.find(*value); found != named.end()) *value = found->second;
  };
  for (onnx::NodeProto& node : *graph_.mutable_node()) {
    for (std::string& input : *node.mutable_input()) rename(&input);
    for (std::string& output : *node.mutable_output()) rename(&output);
  }
  for (onnx::ValueInfoProto& output : *graph_.mutable_output()) rename(output.mutable_name());
}

std::vector<std::string> GraphWriter::AddNode(const std::string& type, std::size_t outputs,
                                              const std::vector<std::string>& inputs,
                                              const NodeAttributes& attributes) {
  onnx::NodeProto* node = graph_.add_node();
  const int index = graph_.node_size() - 1;
  node->set_op_type(type);
  node->set_name(StrCat(type, "_", index));
  for (const std::string& input : inputs) node->add_input(input);
  for (const NodeAttribute& attribute : attributes) SetValue(attribute, node->add_attribute());
  std::vector<std::string> names;
  for (std::size_t i = 0; i < outputs; ++i) {
    names.push_back(Unique(StrCat("v", next_value_++)));
    node->add_output(names.back());
    maker_[names.back()] = index;
  }
  return names;
}

std::string GraphWriter::AddNode(const std::string& type, const std::vector<std::string>& inputs,
                                 const NodeAttributes& attributes) {
  return AddNode(type, 1, inputs, attributes)[0];
}

std::vector<std::string> GraphWriter::AddNode(const OnnxNodeToWrite& node,
                                              const std::vector<std::string>& inputs,
                                              std::size_t outputs) {
  std::vector<std::string> names = AddNode(node.type, outputs, inputs, NodeAttributes());
  onnx::NodeProto* written = graph_.mutable_node(graph_.node_size() - 1);
  written->set_domain(node.domain);
  if (!node.domain.empty()) domains_.insert(node.domain);
  for (const auto& [name, value] : node.attributes) {
    if (!value.is_none()) SetValue(name, value, written->add_attribute());
  }
  return names;
}

std::string GraphWriter::AddConstant(const NDArray& data) {
  const std::string name = Unique(StrCat("c", graph_.initializer_size()));
  onnx_import::ToTensorProto(data, name, graph_.add_initializer());
  return name;
}

std::string GraphWriter::AddInts(const Ints& values) {
  return AddConstant(NDArray::FromVector({static_cast<std::int64_t>(values.size())}, values));
}

bool GraphWriter::AddBias(const std::string& value, const std::string& input) {
  const auto found = maker_.find(value);
  if (found == maker_.end()) return false;
  onnx::NodeProto* node = graph_.mutable_node(found->second);
  const std::string& type = node->op_type();
  if (!node->domain().empty()) return false;
  if ((type != "Conv" && type != "ConvTranspose" && type != "Gemm") || node->input_size() != 2)
    return false;
  node->add_input(input);
  return true;
}

}  // namespace tenon::onnx_export
