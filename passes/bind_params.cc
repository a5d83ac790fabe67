#include "tenon/passes/bind_params.h"

#include <algorithm>

#include "tenon/ir/visit.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::passes {
namespace {

using ir::Expr;

Expr FindParam(const ir::FunctionNode& function, const std::string& where, const ParamKey& key) {
  std::vector<std::string> names;
  std::vector<Expr> found;
  for (const Expr& param : function.params) {
    names.push_back(ir::Var(param).name());
    const auto* name = std::get_if<std::string>(&key);
    if (name != nullptr ? names.back() == *name : param == std::get<ir::Var>(key))
      found.push_back(param);
  }
  if (found.size() == 1) return found[0];
  const std::string wanted = std::holds_alternative<std::string>(key)
                                 ? std::get<std::string>(key)
                                 : ir::Var(std::get<ir::Var>(key)).name();
  if (found.empty())
    throw NotFound(StrCat("@", where, " has no parameter %", wanted, "; it has ",
                          names.empty() ? std::string("none") : "%" + StrJoin(names, ", %"),
                          DidYouMean("; ", wanted, names)));
  throw InvalidArgument(StrCat(found.size(), " parameters of @", where, " are named %", wanted,
                               "; bind them by variable"));
}

void RequireFits(const Expr& param, const NDArray& value) {
  const auto& variable = *param.As<ir::VarNode>();
  const ir::Type& type = param.checked_type() ? param.checked_type() : variable.type_annotation;
  if (!value.defined()) throw InvalidArgument(StrCat("the value of %", variable.name, " is null"));
  if (!type) return;
  const auto* tensor = type.As<ir::TensorTypeNode>();
  bool fits = tensor != nullptr && tensor->dtype == value.dtype() &&
              tensor->shape.size() == value.shape().size();
  for (std::size_t i = 0; fits && i < value.shape().size(); ++i)
    fits = !tensor->shape[i].is_static() || tensor->shape[i].value() == value.shape()[i];
  if (!fits)
    throw InvalidArgument(StrCat("the parameter %", variable.name, " is ", ir::ToString(type),
                                 ", but the value is ",
                                 ir::ToString(ir::TensorTypeOf(value.shape(), value.dtype()))))
        .At(param.span());
}

}  // namespace

ir::Module BindParams(const ir::Module& module, const std::string& name,
                      const ParamValues& values) {
  const Expr function = module.Get(name);
  const auto& node = *function.As<ir::FunctionNode>();
  ir::ExprMap constants;
  for (const auto& [key, value] : values) {
    const Expr param = FindParam(node, name, key);
    RequireFits(param, value);
    if (!constants.emplace(param, ir::Constant::Make(value, param.span())).second)
      throw InvalidArgument(StrCat("%", ir::Var(param).name(), " is given two values"));
  }
  if (constants.empty()) return module;
  std::vector<Expr> params;
  for (const Expr& param : node.params) {
    if (!constants.contains(param)) params.push_back(param);
  }
  return module.With(name,
                     ir::Function::Make(std::move(params), ir::Substitute(node.body, constants),
                                        node.ret_type, node.attrs, function.span()));
}

}  // namespace tenon::passes
