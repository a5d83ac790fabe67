// Overloads and default values of attributes are fields that came after version 1.12 of ONNX. They
// are read from the wire format, so that any installed version finds them.
#include "tenon/onnx/local_functions.h"

#include <algorithm>

#include "tenon/onnx/opset.h"
#include "tenon/onnx/sort_nodes.h"
#include "tenon/onnx/wire_format.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::onnx_import {
namespace {

constexpr int kOverloadOfNode = 8, kOverloadOfFunction = 13, kAttributeProto = 11;

std::string TextAt(int number, const std::string& message) {
  const std::vector<std::string_view> payloads = wire::PayloadsOf(number, message);
  return payloads.empty() ? std::string() : std::string(payloads.back());
}

bool HasReferences(const onnx::GraphProto& graph) {
  return std::any_of(graph.node().begin(), graph.node().end(), [](const auto& node) {
    return std::any_of(node.attribute().begin(), node.attribute().end(), [](const auto& attribute) {
      return !attribute.ref_attr_name().empty() ||
             (attribute.has_g() && HasReferences(attribute.g()));
    });
  });
}

using Attributes = std::map<std::string, const onnx::AttributeProto*>;

// Replaces references to attributes of the function by their values, also in inner graphs. Those
// without a value are left out.
void Substitute(const Attributes& values, onnx::GraphProto* graph) {
  for (onnx::NodeProto& node : *graph->mutable_node()) {
    google::protobuf::RepeatedPtrField<onnx::AttributeProto> kept;
    for (onnx::AttributeProto& attribute : *node.mutable_attribute()) {
      if (attribute.has_g()) Substitute(values, attribute.mutable_g());
      if (attribute.ref_attr_name().empty()) {
        kept.Add()->Swap(&attribute);
        continue;
      }
      const auto value = values.find(attribute.ref_attr_name());
      if (value == values.end()) continue;
      onnx::AttributeProto* replaced = kept.Add();
      *replaced = *value->second;
      replaced->set_name(attribute.name());
    }
    node.mutable_attribute()->Swap(&kept);
  }
}

}  // namespace

void LocalFunction::RequireAttributesOf(const onnx::NodeProto& call) const {
  for (const onnx::AttributeProto& value : call.attribute()) {
    if (std::find(attributes.begin(), attributes.end(), value.name()) == attributes.end())
      throw InvalidArgument(StrCat("the function ", name, " has no attribute ", value.name(),
                                   "; it has: ", StrJoin(attributes, ", ")));
  }
}

onnx::GraphProto LocalFunction::BodyFor(const onnx::NodeProto& call) const {
  Attributes values;
  for (const onnx::AttributeProto& value : defaults) values[value.name()] = &value;
  for (const onnx::AttributeProto& value : call.attribute()) values[value.name()] = &value;
  onnx::GraphProto made = body;
  Substitute(values, &made);
  return made;
}

LocalFunctions::LocalFunctions(const onnx::ModelProto& model, int opset) {
  for (const onnx::FunctionProto& function : model.functions()) {
    const std::string message = function.SerializeAsString();
    const std::string overload = TextAt(kOverloadOfFunction, message);
    LocalFunction made;
    made.name = StrCat(function.domain(), function.domain().empty() ? "" : ".", function.name(),
                       overload.empty() ? "" : ":", overload);
    made.opset = OpsetOf(function.opset_import(), opset, StrCat("the function ", made.name));
    made.attributes.assign(function.attribute().begin(), function.attribute().end());
    for (const std::string_view payload : wire::PayloadsOf(kAttributeProto, message)) {
      onnx::AttributeProto value;
      if (!value.ParseFromArray(payload.data(), static_cast<int>(payload.size())))
        throw InvalidArgument(StrCat("an attribute of the function ", made.name, " is damaged"));
      made.attributes.push_back(value.name());
      made.defaults.push_back(std::move(value));
    }
    for (const std::string& input : function.input()) made.body.add_input()->set_name(input);
    for (const std::string& output : function.output()) made.body.add_output()->set_name(output);
    *made.body.mutable_node() = function.node();
    SortNodes(&made.body);
    made.has_references = HasReferences(made.body);
    Key key(function.domain(), function.name(), overload);
    const std::string name = made.name;
    if (!functions_.emplace(std::move(key), std::move(made)).second)
      throw InvalidArgument(StrCat("the function ", name, " is defined twice"));
  }
}

const LocalFunction* LocalFunctions::Find(const onnx::NodeProto& node) const {
  const auto first = functions_.lower_bound({node.domain(), node.op_type(), ""});
  const bool is_named = first != functions_.end() && std::get<0>(first->first) == node.domain() &&
                        std::get<1>(first->first) == node.op_type();
  if (!is_named) return nullptr;
  const std::string overload = TextAt(kOverloadOfNode, node.SerializeAsString());
  const auto found = functions_.find({node.domain(), node.op_type(), overload});
  return found == functions_.end() ? nullptr : &found->second;
}

}  // namespace tenon::onnx_import
