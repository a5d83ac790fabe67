#include "tenon/passes/bind_params.h"

#include <algorithm>
#include <map>

#include "tenon/ir/visit.h"
#include "tenon/passes/declared_limits.h"
#include "tenon/support/error.h"
#include "tenon/support/linear_extent.h"
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

const ir::Type& TypeOf(const Expr& param) {
  return param.checked_type() ? param.checked_type() : param.As<ir::VarNode>()->type_annotation;
}

void RequireFits(const Expr& param, const NDArray& value) {
  const std::string& name = param.As<ir::VarNode>()->name;
  if (!value.defined()) throw InvalidArgument(StrCat("the value of %", name, " is null"));
  const ir::Type& type = TypeOf(param);
  if (!type) return;
  const auto* tensor = type.As<ir::TensorTypeNode>();
  bool fits = tensor != nullptr && tensor->dtype == value.dtype() &&
              tensor->shape.size() == value.shape().size();
  for (std::size_t i = 0; fits && i < value.shape().size(); ++i)
    fits = !tensor->shape[i].is_static() || tensor->shape[i].value() == value.shape()[i];
  if (!fits)
    throw InvalidArgument(StrCat("the parameter %", name, " is ", ir::ToString(type),
                                 ", but the value is ",
                                 ir::ToString(ir::TensorTypeOf(value.shape(), value.dtype()))))
        .At(param.span());
}

// The numbers that values give the variables of extents.
using Extents = std::map<std::string, Dim>;

// Calls `visit` with each extent of a parameter and that of its value.
template <typename Visit>
void ForEachExtent(const Expr& param, const NDArray& value, const Visit& visit) {
  if (!TypeOf(param)) return;
  const std::vector<Dim>& shape = TypeOf(param).As<ir::TensorTypeNode>()->shape;
  for (std::size_t i = 0; i < shape.size(); ++i) visit(shape[i], value.shape()[i]);
}

// An extent "n" gives n its value; without one, an extent like "2*n + 1" does. Throws where values
// give different numbers, or where a variable would be negative or not whole.
Extents ExtentsOf(const ir::ExprMap& constants) {
  const auto value = [](const Expr& constant) -> const NDArray& {
    return constant.As<ir::ConstantNode>()->data;
  };
  Extents extents;
  for (const auto& [param, constant] : constants)
    ForEachExtent(param, value(constant), [&](const Dim& dim, std::int64_t extent) {
      if (const auto symbol = dim.symbol()) extents.emplace(*symbol, extent);
    });
  for (const auto& [param, constant] : constants)
    ForEachExtent(param, value(constant), [&, &at = param](const Dim& dim, std::int64_t extent) {
      const auto linear = AsLinear(dim);
      if (!linear || extents.contains(linear->symbol)) return;
      const auto solved = linear->ValueAt(extent);
      if (!solved || *solved < 0)
        throw InvalidArgument(StrCat("the value of %", ir::Var(at).name(), " has ", extent,
                                     " elements where its type has ", dim.ToString()))
            .At(at.span());
      extents.emplace(linear->symbol, *solved);
    });
  for (const auto& [param, constant] : constants) {
    ForEachExtent(param, value(constant), [&, &at = param](const Dim& dim, std::int64_t extent) {
      const Dim wanted = dim.Substitute(extents);
      if (wanted.is_static() && wanted.value() != extent)
        throw InvalidArgument(StrCat("the value of %", ir::Var(at).name(), " has ", extent,
                                     " elements where its type has ", dim.ToString(), ", which is ",
                                     wanted.value(), " by another value"))
            .At(at.span());
    });
  }
  return extents;
}

ir::Type WithExtents(const ir::Type& type, const Extents& extents) {
  const auto all = [&](const std::vector<ir::Type>& types) {
    std::vector<ir::Type> made;
    for (const ir::Type& part : types) made.push_back(WithExtents(part, extents));
    return made;
  };
  if (!type) return type;
  if (const auto* tensor = type.As<ir::TensorTypeNode>()) {
    std::vector<Dim> shape;
    for (const Dim& dim : tensor->shape) shape.push_back(dim.Substitute(extents));
    return ir::TensorType(std::move(shape), tensor->dtype);
  }
  if (const auto* tuple = type.As<ir::TupleTypeNode>()) return ir::TupleType(all(tuple->fields));
  if (const auto* reference = type.As<ir::RefTypeNode>())
    return ir::RefType(WithExtents(reference->value, extents));
  const auto& function = *type.As<ir::FuncTypeNode>();
  return ir::FuncType(all(function.params), WithExtents(function.result, extents));
}

// The variables of the function whose types change.
ir::ExprMap VariablesWith(const Extents& extents, const Expr& function) {
  ir::ExprMap made;
  ir::VisitPostOrder(function, [&](const Expr& e) {
    const auto* var = e.As<ir::VarNode>();
    if (var == nullptr) return;
    const ir::Type declared = WithExtents(var->type_annotation, extents);
    if (!ir::Equal(declared, var->type_annotation) ||
        !ir::Equal(WithExtents(e.checked_type(), extents), e.checked_type()))
      made.emplace(e, ir::Var::Make(var->name, declared, e.span()));
  });
  return made;
}

// The limits of @main without those that hold. Throws where one does not.
ir::FunctionAttrs WithoutLimitsOf(const Extents& extents, const ir::FunctionNode& main) {
  ir::FunctionAttrs attrs = main.attrs;
  if (!main.HasAttr(kLimits)) return attrs;
  std::string text;
  for (const ExtentCondition& limit : DeclaredLimits(main)) {
    const Dim a = limit.a.Substitute(extents), b = limit.b.Substitute(extents);
    const bool is_equal = limit.kind == ExtentCondition::Kind::kEqual;
    if (!a.is_static() || !b.is_static()) {
      StrAppend(&text, text.empty() ? "" : ", ", a.ToString(),
                is_equal ? " == " : " <= ", b.ToString());
    } else if (is_equal ? a.value() != b.value() : a.value() > b.value()) {
      throw InvalidArgument(
          StrCat("the values are beyond the limits of @main: ", limit.a.ToString(),
                 is_equal ? " == " : " <= ", limit.b.ToString()));
    }
  }
  attrs.erase(kLimits);
  if (!text.empty()) attrs.emplace(kLimits, attrs::Value(text));
  return attrs;
}

// The body over the values, and the types inside with the extents.
Expr Rewritten(const Expr& body, const ir::ExprMap& values, const Extents& extents) {
  return ir::RewritePostOrder(body, [&](const Expr& original, const Expr& rebuilt) -> Expr {
    if (const auto found = values.find(original); found != values.end()) return found->second;
    const auto* literal = rebuilt.As<ir::FunctionNode>();
    if (literal == nullptr) return rebuilt;
    const ir::Type result = WithExtents(literal->ret_type, extents);
    if (ir::Equal(result, literal->ret_type)) return rebuilt;
    return ir::Function::Make(literal->params, literal->body, result, literal->attrs,
                              rebuilt.span());
  });
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
  const Extents extents = ExtentsOf(constants);
  ir::ExprMap changed = extents.empty() ? ir::ExprMap() : VariablesWith(extents, function);
  std::vector<Expr> params;
  for (const Expr& param : node.params) {
    if (constants.contains(param)) continue;
    const auto found = changed.find(param);
    params.push_back(found == changed.end() ? param : found->second);
  }
  for (const auto& [param, constant] : constants) changed.insert_or_assign(param, constant);
  ir::FunctionAttrs attrs =
      extents.empty() || name != "main" ? node.attrs : WithoutLimitsOf(extents, node);
  return module.With(
      name,
      ir::Function::Make(std::move(params), Rewritten(node.body, changed, extents),
                         WithExtents(node.ret_type, extents), std::move(attrs), function.span()));
}

}  // namespace tenon::passes
