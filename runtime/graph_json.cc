
#include <nlohmann/json.hpp>

#include "tenon/runtime/plan.h"
#include "tenon/support/strings.h"

namespace tenon::runtime {
namespace {

using Json = nlohmann::ordered_json;

// The names by which executors know views and copies.
std::string FunctionName(const Node& node) {
  if (node.kind == NodeKind::kView || node.kind == NodeKind::kJoin) return "__nop";
  if (node.kind == NodeKind::kCopy) return "__copy";
  return node.function_name;
}

Json NodeJson(const Node& node) {
  Json json;
  const bool is_input = IsGiven(node.kind);
  json["op"] = is_input ? "null" : "tvm_op";
  json["name"] = node.name;
  if (!is_input) {
    json["attrs"] = {{"num_outputs", StrCat(node.outputs.size())},
                     {"num_inputs", StrCat(node.inputs.size())},
                     {"flatten_data", "0"},
                     {"func_name", FunctionName(node)},
                     {"hash", HashText(node.hash)}};
  }
  json["inputs"] = Json::array();
  // The third number is a version, which is always 0.
  for (const EntryRef input : node.inputs) json["inputs"].push_back({input.node, input.output, 0});
  return json;
}

// Expressions of variables are texts.
Json ShapeJson(const Entry& entry) {
  Json json = Json::array();
  for (const Dim& extent : entry.dims())
    json.push_back(extent.is_static() ? Json(extent.value()) : Json(extent.ToString()));
  return json;
}

}  // namespace

std::string ToGraphJson(const Plan& plan) {
  Json json;
  json["nodes"] = Json::array();
  json["arg_nodes"] = Json::array();
  json["heads"] = Json::array();
  Json dltype = Json::array(), device = Json::array(), storage = Json::array(),
       shape = Json::array(), offset = Json::array();
  bool has_offsets = false;
  Json row_ptr = Json::array({0});
  int entries = 0;
  for (std::size_t n = 0; n < plan.nodes.size(); ++n) {
    const Node& node = plan.nodes[n];
    json["nodes"].push_back(NodeJson(node));
    if (IsGiven(node.kind)) json["arg_nodes"].push_back(n);
    for (const Entry& entry : node.outputs) {
      dltype.push_back(entry.dtype.ToString());
      device.push_back(static_cast<int>(entry.device.type));
      storage.push_back(entry.storage_id);
      offset.push_back(entry.offset);
      has_offsets = has_offsets || entry.offset != 0;
      shape.push_back(ShapeJson(entry));
      ++entries;
    }
    row_ptr.push_back(entries);
  }
  for (const EntryRef head : plan.heads) json["heads"].push_back({head.node, head.output, 0});
  json["attrs"] = {{"dltype", {"list_str", dltype}},
                   {"device_index", {"list_int", device}},
                   {"storage_id", {"list_int", storage}},
                   {"shape", {"list_shape", shape}}};
  if (has_offsets) json["attrs"]["storage_offset"] = {"list_int", offset};
  json["node_row_ptr"] = row_ptr;
  // Names may come from a file and may contain any bytes.
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace tenon::runtime
