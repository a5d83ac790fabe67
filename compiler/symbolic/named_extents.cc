#include "tenon/compiler/symbolic/named_extents.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tenon/ir/visit.h"
#include "tenon/support/strings.h"

namespace tenon::compiler {
namespace {

bool IsStatic(const ir::TensorTypeNode& type) {
  return std::all_of(type.shape.begin(), type.shape.end(),
                     [](const Dim& dim) { return dim.is_static(); });
}

}  // namespace

bool HasSymbols(const ir::Module& module) {
  const std::vector<ir::Expr>& params = module.Main().params;
  return std::any_of(params.begin(), params.end(), [](const ir::Expr& param) {
    const auto* type = ir::Var(param).type_annotation().As<ir::TensorTypeNode>();
    return type != nullptr && !IsStatic(*type);
  });
}

ir::Module NameExtents(const ir::Module& module) {
  const ir::FunctionNode& main = module.Main();
  std::vector<ir::Expr> params;
  ir::ExprMap renamed;
  std::set<std::string> taken;
  for (const ir::Expr& param : main.params) {
    const auto* type = ir::Var(param).type_annotation().As<ir::TensorTypeNode>();
    if (type == nullptr) continue;
    for (const Dim& dim : type->shape) dim.AddSymbols(&taken);
  }
  const auto fresh = [&](std::string name) {
    while (!taken.insert(name).second) name += '_';
    return Dim::Symbol(name);
  };
  for (const ir::Expr& param : main.params) {
    const ir::Var var(param);
    const auto* type = var.type_annotation().As<ir::TensorTypeNode>();
    params.push_back(param);
    if (type == nullptr || std::none_of(type->shape.begin(), type->shape.end(),
                                        [](const Dim& dim) { return dim.is_any(); }))
      continue;
    std::vector<Dim> shape = type->shape;
    for (std::size_t i = 0; i < shape.size(); ++i) {
      if (shape[i].is_any()) shape[i] = fresh(StrCat(var.name(), "_", i));
    }
    params.back() =
        ir::Var::Make(var.name(), ir::TensorType(std::move(shape), type->dtype), param.span());
    renamed.emplace(param, params.back());
  }
  if (renamed.empty()) return module;
  return module.With(
      "main", ir::Function::Make(std::move(params), ir::Substitute(main.body, renamed), ir::Type(),
                                 main.attrs));
}

}  // namespace tenon::compiler
