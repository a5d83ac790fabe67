// A function is evaluated over expressions in the order in which it would run. A reference is the
// number of a cell, and each cell has the expression of its value. Branches of an if are evaluated
// one after the other from the same cells.
#include "tenon/passes/control/references_to_values.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tenon/ir/module_builder.h"
#include "tenon/ir/visit.h"
#include "tenon/passes/control/branch_homes.h"
#include "tenon/passes/infer_type.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::passes {
namespace {

using ir::Expr;
using ir::ExprKind;
using ir::FunctionNode;
using ir::Type;

bool HoldsReference(const Type& type) {
  if (type.As<ir::RefTypeNode>() != nullptr) return true;
  const auto any = [](const std::vector<Type>& types) {
    return std::any_of(types.begin(), types.end(), HoldsReference);
  };
  if (const auto* tuple = type.As<ir::TupleTypeNode>()) return any(tuple->fields);
  const auto* function = type.As<ir::FuncTypeNode>();
  return function != nullptr && (any(function->params) || HoldsReference(function->result));
}

bool CallsReferenceOperator(const ir::Module& module) {
  bool found = false;
  for (const auto& [name, function] : module.functions()) {
    ir::VisitPostOrder(function, [&](const Expr& e) {
      const auto* op = e.As<ir::OpNode>();
      found = found || (op != nullptr && op->name == "ref");
    });
  }
  return found;
}

bool UsesReferences(const Expr& function) {
  bool found = false;
  ir::VisitPostOrder(function,
                     [&](const Expr& e) { found = found || HoldsReference(e.checked_type()); });
  return found;
}

// The numbers of the parameters that are references.
std::vector<std::size_t> ReferenceParams(const FunctionNode& function) {
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < function.params.size(); ++i) {
    if (function.params[i].checked_type().As<ir::RefTypeNode>() != nullptr) numbers.push_back(i);
  }
  return numbers;
}

class Evaluation {
 public:
  Evaluation(const std::string& name, const Expr& function)
      : name_(name), function_(function), homes_(function) {}

  Expr Run() {
    const auto& function = *function_.As<FunctionNode>();
    RequirePlain(function.body.checked_type(), function.body, "returns");
    std::vector<Expr> params;
    for (const Expr& param : function.params) {
      const auto* reference = param.checked_type().As<ir::RefTypeNode>();
      if (reference == nullptr) {
        RequirePlain(param.checked_type(), param, "takes");
        params.push_back(param);
        values_[param] = {.expr = param};
        continue;
      }
      if (name_ == "main" || HoldsReference(reference->value))
        RequirePlain(param.checked_type(), param, "takes");
      params.push_back(ir::Var::Make(ir::Var(param).name(), reference->value, param.span()));
      values_[param] = {.cell = NewCell(params.back())};
    }
    const std::size_t taken = cells_.size();
    const Expr result = ValueOf(function.body).expr;
    if (taken == 0)
      return ir::Function::Make(std::move(params), result, function.ret_type, function.attrs,
                                function_.span());
    std::vector<Expr> results = {result};
    results.insert(results.end(), cells_.begin(),
                   cells_.begin() + static_cast<std::ptrdiff_t>(taken));
    std::vector<Type> types = {function.ret_type};
    for (const std::size_t i : ReferenceParams(function))
      types.push_back(function.params[i].checked_type().As<ir::RefTypeNode>()->value);
    return ir::Function::Make(std::move(params), ir::Tuple::Make(std::move(results)),
                              ir::TupleType(std::move(types)), function.attrs, function_.span());
  }

 private:
  // An expression, the number of a cell, or fields, some of which are cells.
  struct Value {
    Expr expr = {};
    std::optional<std::size_t> cell = std::nullopt;
    std::vector<Value> fields = {};
  };

  void RequirePlain(const Type& type, const Expr& at, const char* what) const {
    if (HoldsReference(type))
      throw Unimplemented(StrCat("@", name_, " ", what, " a value of type ", ir::ToString(type),
                                 "; a reference can be a parameter of any function but @main, and "
                                 "nothing else that goes in or out"))
          .At(at.span());
  }

  std::size_t NewCell(const Expr& value) {
    cells_.push_back(value);
    return cells_.size() - 1;
  }

  // What has to be evaluated before an expression, in order.
  std::vector<Expr> Before(const Expr& e) const {
    if (const auto* let = e.As<ir::LetNode>()) return {let->value, let->body};
    if (e.kind() == ExprKind::kFunction) return {};
    const auto* branches = e.As<ir::IfNode>();
    if (branches == nullptr) return ir::Children(e);
    std::vector<Expr> before = {branches->condition};
    const auto [yes, no] = homes_.BranchesOf(e);
    for (const auto& [branch, scope] :
         {std::pair(branches->then_branch, yes), std::pair(branches->else_branch, no)}) {
      const std::vector<Expr> around = homes_.ValuesAround(branch, scope);
      before.insert(before.end(), around.begin(), around.end());
    }
    return before;
  }

  const Value& ValueOf(const Expr& root) {
    struct Frame {
      Expr expr;
      std::vector<Expr> before;
      std::size_t next = 0;
    };
    std::vector<Frame> stack;
    const auto push = [&](const Expr& e) {
      if (!values_.contains(e)) stack.push_back({e, Before(e), 0});
    };
    push(root);
    while (!stack.empty()) {
      Frame& top = stack.back();
      const auto* let = top.expr.As<ir::LetNode>();
      if (let != nullptr && top.next == 1) values_[let->var] = values_.at(let->value);
      if (top.next < top.before.size()) {
        push(Expr(top.before[top.next++]));
        continue;
      }
      const Expr e = top.expr;
      stack.pop_back();
      if (!values_.contains(e)) values_.emplace(e, Step(e));
    }
    return values_.at(root);
  }

  const Expr& Plain(const Expr& e) const {
    const Value& value = values_.at(e);
    if (!value.expr)
      throw Unimplemented(
          "a reference can be read, written, bound by a let, be part of a tuple "
          "that is taken apart, and be the argument of a function of the module")
          .At(e.span());
    return value.expr;
  }
  std::size_t CellOf(const Expr& e) const {
    const Value& value = values_.at(e);
    if (!value.cell) Plain(e);
    CheckInvariant(value.cell.has_value(), "an expression of reference type is a cell");
    return *value.cell;
  }

  Value Step(const Expr& e) {
    switch (e.kind()) {
      case ExprKind::kTuple:
        return TupleValue(e);
      case ExprKind::kTupleGetItem: {
        const auto& item = *e.As<ir::TupleGetItemNode>();
        const Value& tuple = values_.at(item.tuple);
        if (!tuple.fields.empty()) return tuple.fields[static_cast<std::size_t>(item.index)];
        return {.expr = Over(e, {tuple.expr})};
      }
      case ExprKind::kLet:
        return values_.at(e.As<ir::LetNode>()->body);
      case ExprKind::kIf:
        return IfValue(e, *e.As<ir::IfNode>());
      case ExprKind::kCall:
        return CallValue(e, *e.As<ir::CallNode>());
      case ExprKind::kFunction:
        if (UsesReferences(e))
          throw Unimplemented("a function that is a value cannot use references").At(e.span());
        return {.expr = OverValues(e)};
      case ExprKind::kVar:
      case ExprKind::kGlobalVar:
      case ExprKind::kOp:
      case ExprKind::kConstant:
        break;
    }
    return {.expr = e};
  }

  static Expr Over(const Expr& e, std::vector<Expr> children) {
    return children == ir::Children(e) ? e : ir::WithChildren(e, std::move(children), Type());
  }

  // A function with the values of variables around it, whose lets go.
  Expr OverValues(const Expr& function) const {
    ir::ExprMap values;
    for (const ir::Var& var : ir::FreeVars(function)) {
      const auto value = values_.find(var);
      if (value != values_.end() && value->second.expr && !(value->second.expr == var))
        values.emplace(var, value->second.expr);
    }
    return values.empty() ? function : ir::Substitute(function, values);
  }

  Value TupleValue(const Expr& e) {
    const std::vector<Expr>& given = e.As<ir::TupleNode>()->fields;
    if (HoldsReference(e.checked_type())) {
      Value value;
      for (const Expr& field : given) value.fields.push_back(values_.at(field));
      return value;
    }
    std::vector<Expr> fields;
    for (const Expr& field : given) fields.push_back(Plain(field));
    return {.expr = Over(e, std::move(fields))};
  }

  Value CallValue(const Expr& e, const ir::CallNode& call) {
    if (const ir::OpNode* op = call.op()) {
      if (op->name == "ref") return {.cell = NewCell(Plain(call.args[0]))};
      if (op->name == "ref_read") return {.expr = cells_[CellOf(call.args[0])]};
      if (op->name == "ref_write") {
        cells_[CellOf(call.args[0])] = Plain(call.args[1]);
        return {.expr = ir::Tuple::Make({}, e.span())};
      }
    }
    std::vector<std::size_t> passed;
    std::vector<Expr> children = {Plain(call.callee)};
    for (const Expr& arg : call.args) {
      const Value& value = values_.at(arg);
      if (!value.cell) {
        children.push_back(Plain(arg));
        continue;
      }
      if (std::find(passed.begin(), passed.end(), *value.cell) != passed.end())
        throw Unimplemented("one reference is passed to a function twice").At(e.span());
      passed.push_back(*value.cell);
      children.push_back(cells_[*value.cell]);
    }
    if (passed.empty()) return {.expr = Over(e, std::move(children))};
    if (call.callee.kind() != ExprKind::kGlobalVar)
      throw Unimplemented("only functions of the module take references").At(e.span());
    // The function has another type now.
    children[0] = ir::GlobalVar::Make(call.callee.As<ir::GlobalVarNode>()->name, e.span());
    const Expr made = Over(e, std::move(children));
    for (std::size_t i = 0; i < passed.size(); ++i)
      cells_[passed[i]] = ir::TupleGetItem::Make(made, static_cast<int>(i) + 1, e.span());
    return {.expr = ir::TupleGetItem::Make(made, 0, e.span())};
  }

  // The branches return the cells that either of them changes.
  Value IfValue(const Expr& e, const ir::IfNode& branches) {
    if (HoldsReference(e.checked_type()))
      throw Unimplemented("a branch of an if gives a reference; let it give what is read from it")
          .At(e.span());
    const std::vector<Expr> before = cells_;
    const auto branch = [&](const Expr& of) {
      cells_ = before;
      std::vector<Expr> results = {Expr(ValueOf(of).expr)};
      results.insert(results.end(), cells_.begin(),
                     cells_.begin() + static_cast<std::ptrdiff_t>(before.size()));
      return results;
    };
    const std::vector<Expr> yes = branch(branches.then_branch);
    const std::vector<Expr> no = branch(branches.else_branch);
    cells_ = before;
    std::vector<Expr> yes_results = {yes[0]}, no_results = {no[0]};
    std::vector<std::size_t> changed;
    for (std::size_t i = 0; i < before.size(); ++i) {
      if (yes[i + 1] == before[i] && no[i + 1] == before[i]) continue;
      changed.push_back(i);
      yes_results.push_back(yes[i + 1]);
      no_results.push_back(no[i + 1]);
    }
    const Expr& condition = Plain(branches.condition);
    if (changed.empty()) return {.expr = Over(e, {condition, yes[0], no[0]})};
    const Expr made = ir::If::Make(condition, ir::Tuple::Make(std::move(yes_results)),
                                   ir::Tuple::Make(std::move(no_results)), e.span());
    for (std::size_t i = 0; i < changed.size(); ++i)
      cells_[changed[i]] = ir::TupleGetItem::Make(made, static_cast<int>(i) + 1, e.span());
    return {.expr = ir::TupleGetItem::Make(made, 0, e.span())};
  }

  const std::string& name_;
  const Expr function_;
  const BranchHomes homes_;
  std::unordered_map<Expr, Value, ir::ExprHash> values_;
  std::vector<Expr> cells_;  // their values now
};

}  // namespace

ir::Module ReferencesToValues(const ir::Module& untyped) {
  if (!CallsReferenceOperator(untyped)) return untyped;
  const ir::Module module = InferType(untyped);
  ir::ModuleBuilder result(module);
  for (const auto& [name, function] : module.functions()) {
    if (UsesReferences(function)) result.Set(name, Evaluation(name, function).Run());
  }
  return InferType(result.Build());
}

}  // namespace tenon::passes
