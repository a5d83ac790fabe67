#include "tenon/verify/draw/name_extents.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tenon/support/strings.h"

namespace tenon::verify {
namespace {

// What exporters write, and what nobody should.
const std::vector<std::string>& OddNames() {
  static const std::vector<std::string>& names = *new std::vector<std::string>{
      "unk__12", "batch size", "?", "N", "\xc3\xbc", "1x", "-1", "#", "None", "max", "a.b", "a-1"};
  return names;
}

// What a node reads, also from inside its subgraphs.
void AddReads(const onnx::NodeProto& node, std::set<std::string>* read) {
  read->insert(node.input().begin(), node.input().end());
  for (const onnx::AttributeProto& attribute : node.attribute()) {
    for (const onnx::NodeProto& inner : attribute.g().node()) AddReads(inner, read);
    for (const onnx::ValueInfoProto& output : attribute.g().output()) read->insert(output.name());
  }
}

}  // namespace

bool NameExtents(onnx::ModelProto* model, int percent, Random& random) {
  std::set<std::string> initialized;
  for (const onnx::TensorProto& tensor : model->graph().initializer())
    initialized.insert(tensor.name());
  std::map<std::int64_t, std::string> names;  // empty: stays a number
  bool any = false;
  for (onnx::ValueInfoProto& input : *model->mutable_graph()->mutable_input()) {
    if (initialized.contains(input.name()) || !input.type().has_tensor_type()) continue;
    for (auto& dim : *input.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim()) {
      if (!dim.has_dim_value()) continue;
      const std::int64_t extent = dim.dim_value();
      const auto [name, is_new] = names.try_emplace(extent);
      if (is_new && random.Chance(extent > 1 ? percent : percent / 4))
        name->second = random.Chance(5) ? random.Of(OddNames())
                                        : StrCat(random.Chance(20) ? "#n" : "n", extent);
      if (name->second.empty()) continue;
      any = true;
      if (random.Chance(85)) {
        dim.set_dim_param(name->second);
      } else if (random.Chance(30)) {
        dim.clear_dim_value();
      } else {
        dim.set_dim_param(StrCat("m", random.Below(100)));
      }
    }
  }
  return any;
}

onnx::ModelProto WithoutDeadNodes(onnx::ModelProto model) {
  onnx::GraphProto& graph = *model.mutable_graph();
  std::set<std::string> read;
  for (const onnx::ValueInfoProto& output : graph.output()) read.insert(output.name());
  // A node that was moved before one it reads of is live, too: again until nothing changes.
  std::vector<bool> is_live(static_cast<std::size_t>(graph.node_size()));
  for (bool changes = true; changes;) {
    changes = false;
    for (int i = graph.node_size() - 1; i >= 0; --i) {
      const onnx::NodeProto& node = graph.node(i);
      const auto is_read = [&](const std::string& output) { return read.contains(output); };
      if (is_live[static_cast<std::size_t>(i)] || !std::ranges::any_of(node.output(), is_read))
        continue;
      is_live[static_cast<std::size_t>(i)] = changes = true;
      AddReads(node, &read);
    }
  }
  for (int i = graph.node_size() - 1; i >= 0; --i) {
    if (!is_live[static_cast<std::size_t>(i)]) graph.mutable_node()->DeleteSubrange(i, 1);
  }
  return model;
}

bool HasUnreadOutput(const onnx::ModelProto& model, const onnx::NodeProto& node) {
  std::set<std::string> read;
  for (const onnx::ValueInfoProto& output : model.graph().output()) read.insert(output.name());
  for (const onnx::NodeProto& other : model.graph().node()) AddReads(other, &read);
  return !std::ranges::all_of(node.output(),
                              [&](const std::string& output) { return read.contains(output); });
}

onnx::ModelProto WithShapes(onnx::ModelProto model, const std::map<std::string, Shape>& shapes) {
  for (onnx::ValueInfoProto& input : *model.mutable_graph()->mutable_input()) {
    const auto found = shapes.find(input.name());
    if (found == shapes.end()) continue;
    auto* shape = input.mutable_type()->mutable_tensor_type()->mutable_shape();
    shape->clear_dim();
    for (const std::int64_t extent : found->second) shape->add_dim()->set_dim_value(extent);
  }
  return model;
}

}  // namespace tenon::verify
