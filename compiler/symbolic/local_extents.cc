#include "tenon/compiler/symbolic/local_extents.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "tenon/ir/flatten.h"
#include "tenon/ir/visit.h"
#include "tenon/passes/infer_type.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::compiler {
namespace {

using ir::Expr;

class Locals {
 public:
  ir::Type Of(const ir::Type& type) {
    if (const auto* tuple = type.As<ir::TupleTypeNode>()) {
      std::vector<ir::Type> fields;
      for (const ir::Type& field : tuple->fields) fields.push_back(Of(field));
      return ir::TupleType(std::move(fields));
    }
    const auto& tensor = *type.As<ir::TensorTypeNode>();
    std::vector<Dim> shape;
    for (const Dim& dim : tensor.shape) shape.push_back(dim.is_static() ? dim : LocalOf(dim));
    return ir::TensorType(std::move(shape), tensor.dtype);
  }
  const std::map<std::string, Dim>& extents() const { return extents_; }

 private:
  Dim LocalOf(const Dim& dim) {
    for (const auto& [name, extent] : extents_) {
      if (extent == dim) return Dim::Symbol(name);
    }
    const std::string name = StrCat("d", extents_.size());
    extents_.emplace(name, dim);
    return Dim::Symbol(name);
  }

  std::map<std::string, Dim> extents_;
};

ir::Type Substituted(const ir::Type& type, const std::map<std::string, Dim>& values) {
  if (const auto* tuple = type.As<ir::TupleTypeNode>()) {
    std::vector<ir::Type> fields;
    for (const ir::Type& field : tuple->fields) fields.push_back(Substituted(field, values));
    return ir::TupleType(std::move(fields));
  }
  const auto& tensor = *type.As<ir::TensorTypeNode>();
  std::vector<Dim> shape;
  for (const Dim& dim : tensor.shape) shape.push_back(dim.Substitute(values));
  return ir::TensorType(std::move(shape), tensor.dtype);
}

// The function with parameters whose types `type_of` gives for those that they have.
template <typename TypeOf>
Expr WithParameterTypes(const Expr& function, TypeOf type_of) {
  const auto& node = *function.As<ir::FunctionNode>();
  ir::ExprMap params;
  std::vector<Expr> made;
  for (const Expr& param : node.params) {
    made.push_back(
        ir::Var::MakeChecked(ir::Var(param).name(), type_of(param.checked_type()), param.span()));
    params.emplace(param, made.back());
  }
  return passes::InferType(ir::Function::Make(std::move(made), ir::Substitute(node.body, params),
                                              ir::Type(), node.attrs));
}

// A variable that is assumed to be another expression, and that expression.
std::optional<std::pair<std::string, Dim>> FirstAssumed(const Expr& function) {
  for (const auto& [a, b] : passes::AssumedEqual(function.As<ir::FunctionNode>()->body)) {
    for (const auto& [variable, other] : {std::pair(a, b), std::pair(b, a)}) {
      std::set<std::string> names;
      other.AddSymbols(&names);
      if (variable.symbol() && !names.contains(*variable.symbol()))
        return std::pair(*variable.symbol(), other);
    }
  }
  return std::nullopt;
}

// Replaces variables that are assumed to be equal to others by those, so that the kernel has fewer
// variables.
LocalFunction Unified(LocalFunction local) {
  while (const auto assumed = FirstAssumed(local.function)) {
    const std::map<std::string, Dim> values = {{assumed->first, assumed->second}};
    local.function = WithParameterTypes(
        local.function, [&](const ir::Type& type) { return Substituted(type, values); });
    local.extents.erase(assumed->first);
  }
  return local;
}

// Whether the types are equal once variables are replaced by what they stand for.
bool SameTypes(const ir::Type& local, const ir::Type& type, const std::map<std::string, Dim>& of) {
  const std::vector<ir::Type> a = ir::Flatten(local), b = ir::Flatten(type);
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](const auto& x, const auto& y) {
    const auto &p = x.template As<ir::TensorTypeNode>()->shape,
               &q = y.template As<ir::TensorTypeNode>()->shape;
    return std::equal(p.begin(), p.end(), q.begin(), q.end(), [&](const Dim& s, const Dim& t) {
      return !s.is_any() && s.Substitute(of) == t;
    });
  });
}

LocalFunction AsItIs(const Expr& function, std::vector<std::pair<Dim, Dim>> assumed) {
  std::set<std::string> names;
  for (const Expr& param : function.As<ir::FunctionNode>()->params)
    names.merge(ir::SymbolsOf(param.checked_type()));
  LocalFunction local{function, {}, std::move(assumed)};
  std::map<std::string, Dim> positive;
  for (const std::string& name : names) {
    const bool may_be_zero = Dim::Symbol(name).LowerBound() == 0;
    const std::string own = may_be_zero ? StrCat("d", positive.size(), "_", name) : name;
    if (may_be_zero) positive.emplace(name, Dim::Symbol(own));
    local.extents.emplace(own, Dim::Symbol(name));
  }
  if (!positive.empty()) {
    local.function = WithParameterTypes(
        function, [&](const ir::Type& type) { return Substituted(type, positive); });
  }
  return local;
}

}  // namespace

LocalFunction WithLocalExtents(const Expr& function) {
  const auto& node = *function.As<ir::FunctionNode>();
  const auto assumed = passes::AssumedEqual(node.body);
  Locals locals;
  try {
    const Expr local =
        WithParameterTypes(function, [&](const ir::Type& type) { return locals.Of(type); });
    const auto& body = local.As<ir::FunctionNode>()->body;
    if (SameTypes(body.checked_type(), node.body.checked_type(), locals.extents()))
      return Unified({local, locals.extents(), assumed});
  } catch (const Error& error) {
    // The types need what is known of the model's variables among each other.
    if (error.code() == absl::StatusCode::kInternal) throw;
  }
  return AsItIs(function, assumed);
}

std::string NameWithZero(const std::string& variable) { return "#" + variable; }

std::optional<LocalFunction> WithZeros(const Expr& function, const LocalFunction& local,
                                       const std::set<std::string>& variables) {
  LocalFunction made{local.function, {}, local.assumed_equal};
  std::map<std::string, Dim> zeros;
  for (const auto& [name, extent] : local.extents) {
    const bool may_be_zero = variables.contains(name);
    const std::string own = may_be_zero ? NameWithZero(name) : name;
    if (may_be_zero) zeros.emplace(name, Dim::Symbol(own));
    made.extents.emplace(own, extent);
  }
  try {
    made.function = WithParameterTypes(
        local.function, [&](const ir::Type& type) { return Substituted(type, zeros); });
  } catch (const Error& error) {
    if (error.code() == absl::StatusCode::kInternal) throw;
    return std::nullopt;
  }
  const auto result = [](const Expr& of) { return of.As<ir::FunctionNode>()->body.checked_type(); };
  const ir::Type type = result(made.function);
  const bool follows = ir::Equal(type, Substituted(result(local.function), zeros)) ||
                       SameTypes(type, result(function), made.extents);
  return follows ? std::optional(std::move(made)) : std::nullopt;
}

}  // namespace tenon::compiler
