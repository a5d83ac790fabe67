// Graphs of control flow, written node by node: the bodies of Loop and Scan, the branches of If.
//
//   GraphProto* body = GraphOf(loop, "body");
//   Takes(body, {"turn", "holds", "x"});
//   Add(body, "Add", {"x", "one"}, {"y"});
//   Gives(body, {"holds", "y"});
#ifndef TENON_TESTS_ONNX_SUBGRAPHS_H_
#define TENON_TESTS_ONNX_SUBGRAPHS_H_

#include "tenon/tests/onnx/written_model.h"

namespace tenon::onnx_import {

// A new graph, which is an attribute of the node.
inline onnx::GraphProto* GraphOf(NodeProto& node, const char* attribute) {
  AttributeProto* a = node.add_attribute();
  a->set_name(attribute);
  a->set_type(AttributeProto::GRAPH);
  a->mutable_g()->set_name(attribute);
  return a->mutable_g();
}
inline NodeProto& Add(onnx::GraphProto* graph, const char* type, const Names& inputs,
                      const Names& outputs) {
  NodeProto* node = graph->add_node();
  node->set_op_type(type);
  for (const std::string& input : inputs) node->add_input(input);
  for (const std::string& output : outputs) node->add_output(output);
  return *node;
}
inline void Takes(onnx::GraphProto* graph, const Names& names) {
  for (const std::string& name : names) graph->add_input()->set_name(name);
}
inline void Gives(onnx::GraphProto* graph, const Names& names) {
  for (const std::string& name : names) graph->add_output()->set_name(name);
}

}  // namespace tenon::onnx_import

#endif  // TENON_TESTS_ONNX_SUBGRAPHS_H_
