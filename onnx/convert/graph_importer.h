// Imports graphs of nodes as expressions: the graph of a model, and graphs inside its nodes.
//
// Values have the names of their graph, and nodes of an inner graph see those around it. A graph
// that a loop runs is converted once per turn. The total number of converted nodes is bounded.
//
//   GraphImporter importer(opset, evaluate, {ops::FoldingBudget(bytes of the model's constants)});
//   std::vector<Expr> outputs = importer.Import(graph, {{"x", x}});
#ifndef TENON_ONNX_CONVERT_GRAPH_IMPORTER_H_
#define TENON_ONNX_CONVERT_GRAPH_IMPORTER_H_

#include <string>
#include <unordered_map>
#include <vector>

#include "onnx/onnx_pb.h"
#include "tenon/ir/expr.h"
#include "tenon/onnx/convert/node.h"
#include "tenon/passes/simplify/fold_constant.h"

namespace tenon::onnx_import {

using NamedValues = std::unordered_map<std::string, Expr>;

class GraphImporter {
 public:
  GraphImporter(int opset, const passes::ConstantEvaluator& evaluate, ImportBudget budget)
      : opset_(opset), evaluate_(evaluate), budget_(budget) {}

  // The outputs of the graph; its inputs and initializers are among `values`. Throws
  // InvalidArgument or Unimplemented, naming the node.
  std::vector<Expr> Import(const onnx::GraphProto& graph, NamedValues values);

 private:
  const Expr* Find(const std::string& name) const;
  void Convert(const onnx::NodeProto& proto);
  // Counts towards the bound on converted nodes.
  void CountOne();
  // Records which node made values whose extents are known only at run time. Refuses a node that
  // reads such a value, unless its result can only be a result of the model.
  void CheckRunTimeExtents(const onnx::NodeProto& proto, const std::vector<Expr>& inputs,
                           const std::vector<Expr>& outputs);
  // The node that made the first of the values whose extents are known only at run time, or empty.
  std::string OriginOf(const std::vector<Expr>& values) const;
  // Imports a graph that is an attribute of a node, over values for its inputs.
  std::vector<Expr> Inline(const onnx::GraphProto& graph, const std::vector<Expr>& inputs);

  // The initializers of an inner graph, converted once for all turns of a loop.
  const NamedValues& InitializersOf(const onnx::GraphProto& graph);

  const int opset_;
  const passes::ConstantEvaluator& evaluate_;
  std::vector<NamedValues> scopes_;  // the innermost last
  std::unordered_map<const onnx::GraphProto*, NamedValues> initializers_;
  ImportBudget budget_;
  std::size_t converted_ = 0;
  // For each value, the node that finds its extents.
  std::unordered_map<Expr, std::string, ir::ExprHash> run_time_;
};

// Whether operators of the domain are those of the standard.
bool IsDefaultDomain(const std::string& domain);

// Throws Unimplemented when an operator of the graph, or of an inner one, cannot be imported. The
// error lists all of these with their nodes.
void ReportMissing(const onnx::GraphProto& graph, const std::string& source);

}  // namespace tenon::onnx_import

#endif  // TENON_ONNX_CONVERT_GRAPH_IMPORTER_H_
