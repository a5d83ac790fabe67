// A depth-first walk from each node, in the order of the file, to those that make what it reads. A
// node is placed after all of them. The walk keeps its own stack, because graphs may be deep.
#include "tenon/onnx/sort_nodes.h"

#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tenon::onnx_import {
namespace {

using Makers = std::unordered_map<std::string_view, int>;

// The nodes among `makers` from which the node, or a graph inside it, reads.
void CollectNeeded(const onnx::NodeProto& node, const Makers& makers, std::vector<int>* needed) {
  const auto add = [&](const std::string& name) {
    if (const auto found = makers.find(name); !name.empty() && found != makers.end())
      needed->push_back(found->second);
  };
  for (const std::string& name : node.input()) add(name);
  for (const onnx::AttributeProto& attribute : node.attribute()) {
    if (!attribute.has_g()) continue;
    for (const onnx::NodeProto& inner : attribute.g().node()) CollectNeeded(inner, makers, needed);
    for (const onnx::ValueInfoProto& output : attribute.g().output()) add(output.name());
  }
}

std::vector<int> OrderOf(const onnx::GraphProto& graph) {
  Makers makers;
  for (int i = 0; i < graph.node_size(); ++i)
    for (const std::string& name : graph.node(i).output()) makers.emplace(name, i);
  struct Visit {
    int node;
    std::vector<int> needed;  // still to be placed
  };
  std::vector<int> order;
  std::vector<bool> is_visited(static_cast<std::size_t>(graph.node_size()));
  std::vector<Visit> stack;
  const auto enter = [&](int node) {
    if (is_visited[static_cast<std::size_t>(node)]) return;
    is_visited[static_cast<std::size_t>(node)] = true;
    stack.push_back({node, {}});
    CollectNeeded(graph.node(node), makers, &stack.back().needed);
  };
  for (int i = 0; i < graph.node_size(); ++i) {
    enter(i);
    while (!stack.empty()) {
      if (std::vector<int>& needed = stack.back().needed; !needed.empty()) {
        const int next = needed.back();
        needed.pop_back();
        enter(next);
      } else {
        order.push_back(stack.back().node);
        stack.pop_back();
      }
    }
  }
  return order;
}

}  // namespace

void SortNodes(onnx::GraphProto* graph) {
  google::protobuf::RepeatedPtrField<onnx::NodeProto> sorted;
  for (const int i : OrderOf(*graph)) sorted.Add()->Swap(graph->mutable_node(i));
  graph->mutable_node()->Swap(&sorted);
  for (onnx::NodeProto& node : *graph->mutable_node())
    for (onnx::AttributeProto& attribute : *node.mutable_attribute())
      if (attribute.has_g()) SortNodes(attribute.mutable_g());
}

}  // namespace tenon::onnx_import
