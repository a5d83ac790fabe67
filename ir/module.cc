#include "tenon/ir/module.h"

#include <algorithm>

#include "tenon/ir/visit.h"
#include "tenon/support/strings.h"

namespace tenon::ir {
namespace {

void CheckFunction(const std::string& name, const Expr& function) {
  if (!function || function.kind() != ExprKind::kFunction)
    throw InvalidArgument(StrCat("@", name, " is no function"));
}

}  // namespace

Module Module::FromExpr(const Expr& expr) {
  if (!expr) throw InvalidArgument("a module cannot be made from a null expression");
  if (expr.kind() == ExprKind::kFunction) return Module().With("main", expr);
  std::vector<Expr> params;
  for (const Var& var : FreeVars(expr)) params.push_back(var);
  return Module().With("main", Function::Make(std::move(params), expr));
}

Module Module::With(const std::string& name, const Expr& function) const {
  CheckFunction(name, function);
  Module copy = *this;
  for (auto& [existing, value] : copy.functions_) {
    if (existing == name) {
      value = function;
      return copy;
    }
  }
  copy.functions_.emplace_back(name, function);
  return copy;
}

Module Module::Without(const std::string& name) const {
  Module copy = *this;
  std::erase_if(copy.functions_, [&](const auto& entry) { return entry.first == name; });
  return copy;
}

Module Module::Map(const std::function<Expr(const Expr& function)>& rewrite) const {
  Module copy = *this;
  for (auto& [name, function] : copy.functions_) {
    function = rewrite(function);
    CheckFunction(name, function);
  }
  return copy;
}

Expr Module::Find(const std::string& name) const {
  for (const auto& [existing, value] : functions_) {
    if (existing == name) return value;
  }
  return Expr();
}

Expr Module::Get(const std::string& name) const {
  const Expr found = Find(name);
  if (!found) {
    throw NotFound(StrCat("the module has no function @", name, "; it has: ",
                          StrJoin(functions_, ", ", [](std::string* text, const auto& entry) {
                            StrAppend(text, "@", entry.first);
                          })));
  }
  return found;
}

}  // namespace tenon::ir
