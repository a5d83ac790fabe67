// Imports graphs of nodes as expressions: the graph of a model, and graphs inside its nodes.
//
// Values have the names of their graph, and nodes of an inner graph see those around it. A graph
// that a loop runs is converted once per turn. A function of the model is replaced by its body,
// which sees its own values only. The total number of converted nodes is bounded.
//
//   GraphImporter importer({opset, &functions}, evaluate, {ops::FoldingBudget(bytes of
//   constants)}); std::vector<Expr> outputs = importer.Import(graph, {{"x", x}});
#ifndef TENON_ONNX_CONVERT_GRAPH_IMPORTER_H_
#define TENON_ONNX_CONVERT_GRAPH_IMPORTER_H_

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "onnx/onnx_pb.h"
#include "tenon/ir/expr.h"
#include "tenon/onnx/convert/known_condition.h"
#include "tenon/onnx/convert/loop_function.h"
#include "tenon/onnx/convert/node.h"
#include "tenon/onnx/convert/refusals.h"
#include "tenon/onnx/local_functions.h"
#include "tenon/passes/simplify/fold_constant.h"

namespace tenon::onnx_import {

using NamedValues = std::unordered_map<std::string, Expr>;

class GraphImporter {
 public:
  // What the operators of the model mean, and which of its initializers are of narrow types.
  struct Meaning {
    int opset = 0;
    const LocalFunctions* functions = nullptr;
    NarrowValues narrow = {};
    // Gets the functions that loops become; null where the module may have no control flow.
    LoopFunctions* loops = nullptr;
    // What to say of operators that are not known, where there are any.
    const Error* missing = nullptr;
  };
  // `functions` and `evaluate` must outlive the importer.
  GraphImporter(Meaning meaning, const passes::ConstantEvaluator& evaluate, ImportBudget budget)
      : meaning_(std::move(meaning)), evaluate_(evaluate), budget_(budget) {}

  // The outputs of the graph; its inputs and initializers are among `values`. Throws
  // InvalidArgument or Unimplemented, naming the node, or all nodes that are refused, as far as the
  // types of what these read are known.
  std::vector<Expr> Import(const onnx::GraphProto& graph, NamedValues values);
  // What the graph that was imported needs of the variables of its inputs, besides what its
  // operators say.
  const std::vector<ExtentCondition>& limits() const { return limits_; }

 private:
  // A graph that is being imported.
  struct Scope {
    NamedValues values;
    Refusals refusals = {};
    std::optional<StandIns> stand_ins = std::nullopt;
  };

  const Expr* Find(const std::string& name) const;
  // The outputs of the innermost graph, whose nodes before `first` are converted.
  std::vector<Expr> ImportFrom(const onnx::GraphProto& graph, int first);
  // The node with its surroundings; `around` keeps what it has asked for.
  Node NodeOf(const onnx::NodeProto& proto, const std::vector<Expr>& inputs,
              std::optional<std::unordered_set<Expr, ir::ExprHash>>* around);

  // --- graph_outcomes.cc
  // What an If asks of extents where only a run knows the answer; nothing for other nodes, and
  // where no more Ifs are decided for the rest of a graph.
  std::optional<ExtentTest> OpenTest(const onnx::NodeProto& proto) const;
  // Makes the condition of an If a constant where it follows from what is taken for granted.
  void Decide(const onnx::NodeProto& proto, std::vector<Expr>* inputs) const;
  // Whether the node is converted; else `refusals` has why not.
  bool Converts(const onnx::NodeProto& proto, Refusals* refusals);
  struct Outcome {
    std::vector<Expr> outputs;
    std::vector<ExtentCondition> limits;
  };
  // Of the innermost graph where the fact holds. Nothing where it is refused.
  std::optional<Outcome> OutcomeOf(const onnx::GraphProto& graph, int first,
                                   const ExtentFact& fact);
  // The outputs of the innermost graph, whose node `at` is an If that is not imported as such.
  // Nothing where that does not help.
  std::optional<std::vector<Expr>> WithEachOutcome(const onnx::GraphProto& graph, int at,
                                                   const ExtentTest& test);
  // Whether runs in which the fact does not hold are refused.
  bool Demand(const ExtentFact& fact, const std::vector<Expr>& outputs);

  void Convert(const onnx::NodeProto& proto);
  // Whether the import has taken as many nodes or expressions as it may.
  bool IsSpent() const;
  // What a node that is refused would have made is missing from now on, or has a stand-in.
  void GoOnAfter(const onnx::NodeProto& proto, const onnx::GraphProto& graph);
  // The same as Convert; a refusal is kept for the end of the graph.
  void ConvertOrGoOn(const onnx::NodeProto& proto, const onnx::GraphProto& graph);
  // The outputs of the node, by a converter, as a function or as a registered operator.
  std::vector<Expr> OutputsOf(const onnx::NodeProto& proto, const std::vector<Expr>& inputs);
  // The body of a function with the attributes of a call, which lives as long as this.
  const onnx::GraphProto* BodyOf(const LocalFunction& function, const onnx::NodeProto& call);
  // The outputs of a function of the model over values for its inputs.
  std::vector<Expr> Expand(const LocalFunction& function, const onnx::NodeProto& call,
                           std::vector<Expr> inputs);
  // The values of all graphs that are being imported.
  std::unordered_set<Expr, ir::ExprHash> NamedExprs() const;
  // Counts towards the bound on converted nodes.
  void CountOne();
  // Records the extents of values, and which node found those of values that it cut.
  void AddExtents(const onnx::NodeProto& proto, const std::vector<Expr>& outputs);
  // What to say of inputs whose extents values decide; empty where there are none.
  std::string OriginsOf(const std::vector<Expr>& values) const;
  // Imports a graph that is an attribute of a node, over values for its inputs.
  std::vector<Expr> Inline(const onnx::GraphProto& graph, const std::vector<Expr>& inputs);

  // The initializers of an inner graph, converted once for all turns of a loop.
  const NamedValues& InitializersOf(const onnx::GraphProto& graph);

  Meaning meaning_;
  const passes::ConstantEvaluator& evaluate_;
  std::deque<Scope> scopes_;  // the innermost last; those around it are not moved
  std::unordered_map<const onnx::GraphProto*, NamedValues> initializers_;
  // The bodies of functions with the attributes of their calls; a deque does not move them.
  std::deque<onnx::GraphProto> bodies_;
  std::size_t copied_bytes_ = 0;
  std::map<std::pair<const LocalFunction*, std::string>, const onnx::GraphProto*> body_of_;
  std::vector<const LocalFunction*> calls_;  // those being expanded, the innermost last
  ImportBudget budget_;
  std::size_t converted_ = 0;
  KnownExtents extents_;
  std::vector<ExtentFact> facts_;  // those taken for granted, the innermost last
  std::vector<ExtentCondition> limits_;
  std::map<std::string, std::string> origins_;  // of extents that values decide, by variable: nodes
};

// What to say where an operator of the graph, of an inner one or of a function that it calls is not
// known. The error lists all of these with their nodes.
std::optional<Error> MissingOperators(const onnx::GraphProto& graph,
                                      const LocalFunctions& functions, const std::string& source);

}  // namespace tenon::onnx_import

#endif  // TENON_ONNX_CONVERT_GRAPH_IMPORTER_H_
