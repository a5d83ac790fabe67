// An ONNX graph under construction: nodes in order, initializers, and names that are used once.
//
//   const std::string y = graph.AddNode("Transpose", {x}, {{"perm", Ints{1, 0}}});
#ifndef TENON_ONNX_WRITE_GRAPH_WRITER_H_
#define TENON_ONNX_WRITE_GRAPH_WRITER_H_

#include <set>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "onnx/onnx_pb.h"
#include "tenon/ir/type.h"
#include "tenon/onnx/register_onnx.h"
#include "tenon/ops/ints.h"
#include "tenon/support/ndarray.h"

namespace tenon::onnx_export {

using ops::Ints;

struct NodeAttribute {
  const char* name;
  std::variant<std::int64_t, double, std::string, Ints, std::vector<std::string>> value;
};
using NodeAttributes = std::vector<NodeAttribute>;

class GraphWriter {
 public:
  explicit GraphWriter(onnx::GraphProto* graph) : graph_(*graph) {}

  // Inputs and outputs are tensors with static extents. The name of an input is `name`, followed by
  // a number when it is taken.
  std::string AddInput(const std::string& name, const ir::Type& type);
  void AddOutput(const std::string& value, const ir::Type& type);
  // Keeps these names, as far as they are free, for NameOutputs.
  void Reserve(const std::vector<std::string>& names);
  // Gives the outputs these names, in order, as far as they were reserved. Comes last: values that
  // were named before have other names now.
  void NameOutputs(const std::vector<std::string>& names);
  // Returns the name of the result. An input that is left out has an empty name.
  std::string AddNode(const std::string& type, const std::vector<std::string>& inputs,
                      const NodeAttributes& attributes = {});
  std::vector<std::string> AddNode(const std::string& type, std::size_t outputs,
                                   const std::vector<std::string>& inputs,
                                   const NodeAttributes& attributes);
  // A node of a user's domain.
  std::vector<std::string> AddNode(const OnnxNodeToWrite& node,
                                   const std::vector<std::string>& inputs, std::size_t outputs);
  const std::set<std::string>& domains() const { return domains_; }
  int num_nodes() const { return graph_.node_size(); }
  const onnx::NodeProto& node(int i) const { return graph_.node(i); }
  // Whether a node makes the value, so that it is neither an input nor a constant.
  bool IsMade(const std::string& value) const { return maker_.contains(value); }
  std::string AddConstant(const NDArray& data);
  std::string AddInts(const Ints& values);
  // Gives `input`, as the third input, to the node that makes `value`. False when that node cannot
  // take a bias there, or already has one.
  bool AddBias(const std::string& value, const std::string& input);

 private:
  std::string Unique(const std::string& wanted);

  onnx::GraphProto& graph_;
  std::set<std::string> names_, reserved_, domains_;
  std::unordered_map<std::string, int> maker_;  // of a value: the node's index
  int next_value_ = 0;
};

}  // namespace tenon::onnx_export

#endif  // TENON_ONNX_WRITE_GRAPH_WRITER_H_
