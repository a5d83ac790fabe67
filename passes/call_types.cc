#include "tenon/passes/call_types.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "tenon/ir/flatten.h"
#include "tenon/passes/control/outline_branches.h"

namespace tenon::passes {
namespace {

using ir::TensorTypeNode;
using ir::TupleTypeNode;
using ir::Type;

using Substitution = std::map<std::string, Dim>;

// Whether every extent is a number or an expression.
bool IsDeclared(const Type& type) {
  if (!type) return false;
  if (const auto* tuple = type.As<TupleTypeNode>())
    return std::ranges::all_of(tuple->fields, IsDeclared);
  const auto* tensor = type.As<TensorTypeNode>();
  return tensor != nullptr &&
         std::ranges::none_of(tensor->shape, [](const Dim& dim) { return dim.is_any(); });
}

void AddOwn(const Type& type, std::set<std::string>* own) {
  for (const Type& leaf : ir::Flatten(type)) {
    for (const Dim& dim : leaf.As<TensorTypeNode>()->shape) {
      if (const auto symbol = dim.symbol()) own->insert(*symbol);
    }
  }
}

// What the argument says of the parameter's variables. A number says more than an expression.
void Match(const Type& param, const Type& arg, Substitution* values) {
  if (!arg) return;
  if (const auto* tuple = param.As<TupleTypeNode>()) {
    const auto* given = arg.As<TupleTypeNode>();
    if (given == nullptr || given->fields.size() != tuple->fields.size()) return;
    for (std::size_t i = 0; i < tuple->fields.size(); ++i)
      Match(tuple->fields[i], given->fields[i], values);
    return;
  }
  const auto *wanted = param.As<TensorTypeNode>(), *given = arg.As<TensorTypeNode>();
  if (wanted == nullptr || given == nullptr || wanted->shape.size() != given->shape.size()) return;
  for (std::size_t d = 0; d < wanted->shape.size(); ++d) {
    const auto symbol = wanted->shape[d].symbol();
    if (!symbol || given->shape[d].is_any()) continue;
    const auto [known, is_new] = values->try_emplace(*symbol, given->shape[d]);
    if (!is_new && given->shape[d].is_static() && !known->second.is_static())
      known->second = given->shape[d];
  }
}

// Null where an own variable has no value.
Type Substituted(const Type& type, const std::set<std::string>& own, const Substitution& values) {
  if (!type) return type;
  if (const auto* tuple = type.As<TupleTypeNode>()) {
    std::vector<Type> fields;
    for (const Type& field : tuple->fields) fields.push_back(Substituted(field, own, values));
    return ir::TupleType(std::move(fields));
  }
  const auto* tensor = type.As<TensorTypeNode>();
  if (tensor == nullptr) return type;
  std::vector<Dim> shape;
  for (const Dim& dim : tensor->shape) {
    std::set<std::string> symbols;
    dim.AddSymbols(&symbols);
    for (const std::string& symbol : symbols) {
      if (own.contains(symbol) && !values.contains(symbol)) return {};
    }
    shape.push_back(dim.Substitute(values));
  }
  return ir::TensorType(std::move(shape), tensor->dtype);
}

}  // namespace

std::set<std::string> OwnExtents(const ir::FunctionNode& function) {
  std::set<std::string> own;
  if (function.HasAttr(kOutlined)) return own;
  for (const ir::Expr& param : function.params) {
    const Type declared = ir::Var(param).type_annotation();
    if (!IsDeclared(declared)) return {};
    AddOwn(declared, &own);
  }
  return own;
}

std::optional<CallTypes> TypesOfCall(const ir::FunctionNode& callee, const ir::FuncTypeNode& type,
                                     const std::vector<Type>& args) {
  if (callee.params.size() != args.size() || type.params.size() != args.size()) return std::nullopt;
  const std::set<std::string> own = OwnExtents(callee);
  if (own.empty()) return std::nullopt;
  Substitution values;
  for (std::size_t i = 0; i < args.size(); ++i)
    Match(ir::Var(callee.params[i]).type_annotation(), args[i], &values);
  CallTypes types;
  for (const Type& param : type.params) types.params.push_back(Substituted(param, own, values));
  types.result = Substituted(type.result, own, values);
  return types;
}

}  // namespace tenon::passes
