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
// How many of the graphs that are being walked give a name to a value of their own.
using OwnNames = std::unordered_map<std::string_view, int>;

// Counts the names of the graph's own values, or takes them from the count.
void CountOwn(const onnx::GraphProto& graph, int by, OwnNames* own) {
  for (const onnx::ValueInfoProto& input : graph.input()) (*own)[input.name()] += by;
  for (const onnx::TensorProto& tensor : graph.initializer()) (*own)[tensor.name()] += by;
  for (const onnx::NodeProto& node : graph.node())
    for (const std::string& name : node.output()) (*own)[name] += by;
}

// The nodes among `makers` from which the node, or a graph inside it, reads. What a graph inside
// gives a name itself hides a value of that name around it.
void CollectNeeded(const onnx::NodeProto& node, const Makers& makers, OwnNames* own,
                   std::vector<int>* needed) {
  const auto add = [&](const std::string& name) {
    const auto found = makers.find(name);
    if (name.empty() || found == makers.end()) return;
    const auto hiding = own->find(name);
    if (hiding == own->end() || hiding->second == 0) needed->push_back(found->second);
  };
  for (const std::string& name : node.input()) add(name);
  for (const onnx::AttributeProto& attribute : node.attribute()) {
    if (!attribute.has_g()) continue;
    const onnx::GraphProto& graph = attribute.g();
    CountOwn(graph, 1, own);
    for (const onnx::NodeProto& inner : graph.node()) CollectNeeded(inner, makers, own, needed);
    for (const onnx::ValueInfoProto& output : graph.output()) add(output.name());
    CountOwn(graph, -1, own);
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
  OwnNames own;
  const auto enter = [&](int node) {
    if (is_visited[static_cast<std::size_t>(node)]) return;
    is_visited[static_cast<std::size_t>(node)] = true;
    stack.push_back({node, {}});
    CollectNeeded(graph.node(node), makers, &own, &stack.back().needed);
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
