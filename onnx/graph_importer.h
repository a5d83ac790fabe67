// Graphs of nodes as expressions: that of a model, and those inside of its nodes.
//
// Values have the names of their graph, and nodes of a graph inside see those around it. A graph
// that a loop runs is converted once for each turn; what is converted in all is bounded.
//
//   GraphImporter importer(opset, evaluate, {ops::FoldingBudget(bytes of the model's constants)});
//   std::vector<Expr> outputs = importer.Import(graph, {{"x", x}});
#ifndef TENON_ONNX_GRAPH_IMPORTER_H_
#define TENON_ONNX_GRAPH_IMPORTER_H_

#include <string>
#include <unordered_map>
#include <vector>

#include "onnx/onnx_pb.h"
#include "tenon/ir/expr.h"
#include "tenon/onnx/node.h"
#include "tenon/passes/fold_constant.h"

namespace tenon::onnx_import {

using NamedValues = std::unordered_map<std::string, Expr>;

class GraphImporter {
 public:
  GraphImporter(int opset, const passes::ConstantEvaluator& evaluate, ImportBudget budget)
      : opset_(opset), evaluate_(evaluate), budget_(budget) {}

  // The outputs of the graph, whose inputs and initializers are among `values`. Throws
  // InvalidArgument or Unimplemented, naming the node.
  std::vector<Expr> Import(const onnx::GraphProto& graph, NamedValues values);

 private:
  const Expr* Find(const std::string& name) const;
  void Convert(const onnx::NodeProto& proto);
  // Counts towards the bound on what is converted.
  void CountOne();
  // Remembers which node made values whose extents are known at run time only, and refuses what
  // reads such a value and makes more of it than a result of the model.
  void CheckRunTimeExtents(const onnx::NodeProto& proto, const std::vector<Expr>& inputs,
                           const std::vector<Expr>& outputs);
  // The node that made the first of the values whose extents are known at run time only; or empty.
  std::string OriginOf(const std::vector<Expr>& values) const;
  // A graph that is an attribute of a node, over values for its inputs.
  std::vector<Expr> Inline(const onnx::GraphProto& graph, const std::vector<Expr>& inputs);

  // Of a graph inside, once for all turns of a loop.
  const NamedValues& InitializersOf(const onnx::GraphProto& graph);

  const int opset_;
  const passes::ConstantEvaluator& evaluate_;
  std::vector<NamedValues> scopes_;  // the innermost last
  std::unordered_map<const onnx::GraphProto*, NamedValues> initializers_;
  ImportBudget budget_;
  std::size_t converted_ = 0;
  // By value: the node that finds its extents.
  std::unordered_map<Expr, std::string, ir::ExprHash> run_time_;
};

// Whether operators of the domain are those of the standard.
bool IsDefaultDomain(const std::string& domain);

// Throws Unimplemented when an operator of the graph, or of one inside, cannot be imported: a list
// of all with their nodes.
void ReportMissing(const onnx::GraphProto& graph, const std::string& source);

}  // namespace tenon::onnx_import

#endif  // TENON_ONNX_GRAPH_IMPORTER_H_
