// Ifs that compare extents and whose branches have other ranks, as exporters write them for a
// tensor that may be squeezed. The rest of the graph is imported twice: as if the condition held,
// and as if it did not. Where both can be imported, a run takes one of them. Where one is refused,
// so are runs with its extents.
#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "tenon/ir/flatten.h"
#include "tenon/ir/visit.h"
#include "tenon/onnx/convert/branches.h"
#include "tenon/onnx/convert/graph_importer.h"
#include "tenon/onnx/opset.h"
#include "tenon/passes/infer_type.h"
#include "tenon/support/error.h"

namespace tenon::onnx_import {
namespace {

// Each doubles the import of what comes after it.
constexpr std::size_t kMaxFacts = 4;

// Whether the outputs have as many axes as the graph declares. A branch that a model never takes
// often gives others.
bool AreOfDeclaredRanks(const onnx::GraphProto& graph, const std::vector<Expr>& outputs) {
  for (int i = 0; i < graph.output_size(); ++i) {
    const auto& declared = graph.output(i).type();
    if (!declared.has_tensor_type() || !declared.tensor_type().has_shape()) continue;
    const auto* type = outputs[static_cast<std::size_t>(i)].checked_type().As<ir::TensorTypeNode>();
    const int rank = declared.tensor_type().shape().dim_size();
    if (type != nullptr && static_cast<int>(type->shape.size()) != rank) return false;
  }
  return true;
}

// What the operators need that run whatever the ifs within the outputs take.
std::vector<ExtentCondition> ConditionsOfAllRuns(const std::vector<Expr>& outputs) {
  const Expr without_ifs =
      ir::RewritePostOrder(ir::Tuple::Make(outputs), [](const Expr& e, const Expr& rewritten) {
        return e.kind() == ir::ExprKind::kIf
                   ? Expr(ir::Var::MakeChecked("chosen", e.checked_type(), e.span()))
                   : rewritten;
      });
  return passes::ConditionsOf(without_ifs);
}

}  // namespace

std::optional<ExtentTest> GraphImporter::OpenTest(const onnx::NodeProto& proto) const {
  if (proto.op_type() != "If" || !IsDefaultDomain(proto.domain()) || proto.input_size() != 1 ||
      facts_.size() >= kMaxFacts)
    return std::nullopt;
  const auto is_whole = [](const Scope& scope) { return scope.refusals.empty(); };
  if (!std::ranges::all_of(scopes_, is_whole)) return std::nullopt;
  const Expr* condition = Find(proto.input(0));
  // A constant answers itself, or is no condition, which the node says.
  if (condition == nullptr || !*condition || condition->kind() == ir::ExprKind::kConstant)
    return std::nullopt;
  const auto* type = condition->checked_type().As<ir::TensorTypeNode>();
  if (type == nullptr || !type->dtype.is_bool() || KnownCondition(*condition)) return std::nullopt;
  std::optional<ExtentTest> test = TestOf(*condition);
  return test && !AnswerOf(*test, facts_) ? test : std::nullopt;
}

void GraphImporter::Decide(const onnx::NodeProto& proto, std::vector<Expr>* inputs) const {
  if (facts_.empty() || proto.op_type() != "If" || !IsDefaultDomain(proto.domain()) ||
      inputs->empty() || !inputs->front())
    return;
  const std::optional<ExtentTest> test = TestOf(inputs->front());
  const std::optional<bool> known = test ? AnswerOf(*test, facts_) : std::nullopt;
  if (known) inputs->front() = ir::Constant::Make(NDArray::Scalar(*known));
}

bool GraphImporter::Converts(const onnx::NodeProto& proto, Refusals* refusals) {
  const ops::ExtentPlaces places = extents_;
  const bool is_converted = refusals->Try([&] { Convert(proto); });
  if (!is_converted) static_cast<ops::ExtentPlaces&>(extents_) = places;
  return is_converted;
}

std::optional<GraphImporter::Outcome> GraphImporter::OutcomeOf(const onnx::GraphProto& graph,
                                                               int first, const ExtentFact& fact) {
  const Scope scope = scopes_.back();
  const ops::ExtentPlaces places = extents_;
  const auto known = static_cast<std::ptrdiff_t>(limits_.size());
  std::optional<Outcome> outcome;
  facts_.push_back(fact);
  Refusals refusals;
  refusals.Try([&] {
    std::vector<Expr> outputs = ImportFrom(graph, first);
    if (AreOfDeclaredRanks(graph, outputs)) outcome.emplace(Outcome{std::move(outputs), {}});
  });
  facts_.pop_back();
  // What was computed and demanded for one outcome is there for it alone.
  if (outcome) outcome->limits.assign(limits_.begin() + known, limits_.end());
  limits_.resize(static_cast<std::size_t>(known));
  scopes_.back() = scope;
  static_cast<ops::ExtentPlaces&>(extents_) = places;
  // That the import may take no more says nothing of the extents.
  if (!outcome && IsSpent()) refusals.ThrowIfAny("the graph");
  return outcome;
}

bool GraphImporter::Demand(const ExtentFact& fact, const std::vector<Expr>& outputs) {
  const std::optional<ExtentCondition> demanded = ConditionOf(fact);
  if (!demanded) return false;
  const auto is_implied = [&](const ExtentCondition& c) { return Implies(c, *demanded); };
  if (std::ranges::any_of(ConditionsOfAllRuns(outputs), is_implied)) return true;
  // Others are conditions of the model, if all runs come by here and inputs decide.
  if (scopes_.size() > 1 || !calls_.empty()) return false;
  std::set<std::string> symbols, known;
  fact.test.difference.AddSymbols(&symbols);
  for (const auto& [name, value] : scopes_.back().values) {
    if (value && value.kind() == ir::ExprKind::kVar)
      known.merge(ir::SymbolsOf(value.checked_type()));
  }
  if (!std::ranges::includes(known, symbols)) return false;
  limits_.push_back(*demanded);
  return true;
}

std::optional<std::vector<Expr>> GraphImporter::WithEachOutcome(const onnx::GraphProto& graph,
                                                                int at, const ExtentTest& test) {
  const onnx::NodeProto& proto = graph.node(at);
  const Expr condition = *Find(proto.input(0));
  const ExtentTest asked{test.kind, test.difference};
  const ExtentFact holds{asked, !test.is_negated}, fails{asked, test.is_negated};
  std::optional<Outcome> yes = OutcomeOf(graph, at, holds), no = OutcomeOf(graph, at, fails);
  if (yes && no) {
    if (!yes->limits.empty() || !no->limits.empty()) return std::nullopt;
    std::optional<std::unordered_set<Expr, ir::ExprHash>> around;
    return Joined(NodeOf(proto, {condition}, &around), condition, std::move(yes->outputs),
                  std::move(no->outputs));
  }
  std::optional<Outcome>& only = yes ? yes : no;
  if (!only || !Demand(yes ? holds : fails, only->outputs)) return std::nullopt;
  limits_.insert(limits_.end(), only->limits.begin(), only->limits.end());
  for (const Expr& output : only->outputs) extents_.Add(output);
  return std::move(only->outputs);
}

}  // namespace tenon::onnx_import
