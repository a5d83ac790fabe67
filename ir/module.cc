#include "tenon/ir/module.h"

#include "tenon/ir/module_builder.h"
#include "tenon/ir/visit.h"
#include "tenon/support/strings.h"

namespace tenon::ir {
Module Module::FromExpr(const Expr& expr) {
  if (!expr) throw InvalidArgument("a module cannot be made from a null expression");
  if (expr.kind() == ExprKind::kFunction) return Module().With("main", expr);
  std::vector<Expr> params;
  for (const Var& var : FreeVars(expr)) params.push_back(var);
  return Module().With("main", Function::Make(std::move(params), expr));
}

Module Module::With(const std::string& name, const Expr& function) const {
  ModuleBuilder builder(*this);
  builder.Set(name, function);
  return builder.Build();
}

Module Module::Without(const std::string& name) const {
  return Keep([&](const std::string& other, const Expr&) { return other != name; });
}

Module Module::Keep(
    const std::function<bool(const std::string& name, const Expr& function)>& keep) const {
  ModuleBuilder builder = ModuleBuilder::WithoutFunctions(*this);
  for (const auto& [name, function] : functions()) {
    if (keep(name, function)) builder.Set(name, function);
  }
  return builder.Build();
}

Module Module::Map(const std::function<Expr(const Expr& function)>& rewrite) const {
  ModuleBuilder builder(*this);
  for (const auto& [name, function] : functions()) builder.Set(name, rewrite(function));
  return builder.Build();
}

Module Module::WithOperatorNames(OperatorNames names) const {
  Functions functions = held();
  functions.names = names;
  return Module(std::move(functions));
}

Module Module::WithAttrs(FunctionAttrs attrs) const {
  Functions functions = held();
  functions.attrs = std::move(attrs);
  return Module(std::move(functions));
}

Expr Module::Functions::Find(const std::string& name) const {
  const auto found = place.find(name);
  return found == place.end() ? Expr() : in_order[found->second].second;
}

Expr Module::Get(const std::string& name) const {
  const Expr found = Find(name);
  if (!found) {
    throw NotFound(StrCat("the module has no function @", name, "; it has: ",
                          StrJoin(functions(), ", ", [](std::string* text, const auto& entry) {
                            StrAppend(text, "@", entry.first);
                          })));
  }
  return found;
}

}  // namespace tenon::ir
