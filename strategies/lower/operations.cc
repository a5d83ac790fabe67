#include "tenon/strategies/lower/operations.h"

#include <unordered_map>
#include <unordered_set>

#include "tenon/loop/expr_nodes.h"
#include "tenon/loop/visit.h"
#include "tenon/strategies/lower_function.h"
#include "tenon/support/error.h"

namespace tenon::strategies {
namespace {

using loop::Expr;

// Operations for one element: nodes of the graph of its expression that compute with elements, not
// with indices.
class ElementCount {
 public:
  // `vars_are_elements`: variables are elements, as in a combiner; else they are indices.
  explicit ElementCount(bool vars_are_elements) : vars_are_elements_(vars_are_elements) {}

  double Of(const std::vector<Expr>& bodies) {
    for (const Expr& body : bodies) Visit(body);
    return count_;
  }

 private:
  // Whether the value depends on elements.
  bool Visit(const Expr& e) {
    if (const auto known = seen_.find(e); known != seen_.end()) return known->second;
    const bool depends = Count(e);
    seen_.emplace(e, depends);
    return depends;
  }

  bool Count(const Expr& e) {
    if (e.As<loop::LoadNode>() != nullptr) return true;
    if (e.As<loop::VarNode>() != nullptr) return vars_are_elements_;
    const std::vector<Expr> children = loop::Children(e);
    bool depends = false, first_depends = false;
    for (std::size_t i = 0; i < children.size(); ++i) {
      const bool child = Visit(children[i]);
      depends = depends || child;
      if (i == 0) first_depends = child;
    }
    const bool is_arithmetic =
        e.As<loop::BinaryNode>() != nullptr || e.As<loop::CallNode>() != nullptr;
    // Padding selects by index, which is not an operation on elements.
    const bool is_choice = e.As<loop::SelectNode>() != nullptr && first_depends;
    if ((is_arithmetic && depends) || is_choice) ++count_;
    return depends;
  }

  const bool vars_are_elements_;
  std::unordered_map<Expr, bool, loop::ExprHash, loop::ExprSame> seen_;
  double count_ = 0;
};

double ExtentOf(const Expr& extent) {
  const auto* number = extent.As<loop::IntImmNode>();
  if (number == nullptr) throw Unimplemented("operations are counted where extents are numbers");
  return static_cast<double>(number->value);
}

double OperationsOf(const te::OperationNode& op) {
  if (!op.is_compute()) return 0;
  double elements = 1, terms = 1;
  for (const te::IterVar& axis : op.axes) elements *= ExtentOf(axis.extent);
  for (const te::IterVar& axis : op.reduce_axes) terms *= ExtentOf(axis.extent);
  const double joins = op.combiner ? ElementCount(true).Of(op.combiner->result) : 0;
  return elements * terms * (ElementCount(false).Of(op.body) + joins);
}

}  // namespace

double OperationsOf(const ir::FunctionNode& function) {
  LowerFunctionOptions options;
  options.plain_forms = true;
  const TeFunction lowered = LowerFunction(function, options);
  std::unordered_set<const te::OperationNode*> seen;
  std::vector<te::Tensor> todo = lowered.outputs;
  double total = 0;
  while (!todo.empty()) {
    const te::Operation op = todo.back().op();
    todo.pop_back();
    if (!seen.insert(&*op).second) continue;
    total += OperationsOf(*op);
    const std::vector<te::Tensor> inputs = te::InputsOf(*op);
    todo.insert(todo.end(), inputs.begin(), inputs.end());
  }
  return total;
}

}  // namespace tenon::strategies
