// A variable has the value of the first extent that it is alone. All extents are then compared with
// what they say.
#include "tenon/compiler/symbolic/input_symbols.h"

#include <algorithm>
#include <utility>

#include "tenon/compiler/plan/model_inputs.h"
#include "tenon/ir/visit.h"
#include "tenon/support/error.h"
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

InputSymbols::InputSymbols(const ir::FunctionNode& main) {
  std::set<std::string> alone;
  for (const runtime::InputInfo& input : InputsOf(main)) {
    inputs_.push_back({input.name, input.dtype, input.extents});
    for (const Dim& dim : input.extents) {
      dim.AddSymbols(&names_);
      if (const auto name = dim.symbol()) alone.insert(*name);
    }
  }
  for (const std::string& name : names_) {
    if (alone.contains(name)) continue;
    throw Unimplemented(StrCat("no input of the model has the extent ", name,
                               " alone, so that its value cannot be read off the inputs"));
  }
}

std::vector<runtime::InputInfo> InputSymbols::Infos() const {
  std::vector<runtime::InputInfo> infos;
  for (const ir::InputSpec& spec : inputs_) infos.push_back({spec.name, spec.dtype, *spec.extents});
  return infos;
}

Dim::Values InputSymbols::Solve(const runtime::Inputs& inputs) const {
  Dim::Values values;
  std::map<std::string, std::string> found_in;
  for (const ir::InputSpec& spec : inputs_) {
    const auto given = inputs.find(spec.name);
    const std::string wanted = StrCat(spec.dtype.ToString(), " ", spec.ExtentsToString());
    if (given == inputs.end())
      throw InvalidArgument(StrCat("input '", spec.name, "' is missing; it must be ", wanted));
    const Shape& shape = given->second.shape();
    if (given->second.dtype() != spec.dtype || shape.size() != spec.extents->size())
      throw InvalidArgument(StrCat("input '", spec.name, "' is ", given->second.dtype().ToString(),
                                   " ", ShapeToString(shape), "; it must be ", wanted));
    for (std::size_t i = 0; i < shape.size(); ++i) {
      const auto name = (*spec.extents)[i].symbol();
      if (!name || !values.emplace(*name, shape[i]).second) continue;
      found_in.emplace(*name, spec.name);
      if (shape[i] < Dim::Symbol(*name).LowerBound())
        throw InvalidArgument(StrCat("input '", spec.name, "' has no elements on axis ", i, "; ",
                                     *name, " must be at least 1 (a model for empty inputs is ",
                                     "compiled for their shapes)"));
    }
  }
  for (const ir::InputSpec& spec : inputs_) {
    const Shape& shape = inputs.find(spec.name)->second.shape();
    for (std::size_t i = 0; i < shape.size(); ++i) {
      const Dim& dim = (*spec.extents)[i];
      const std::optional<std::int64_t> wanted = dim.Evaluate(values);
      if (wanted == shape[i]) continue;
      const auto name = dim.symbol();
      throw InvalidArgument(StrCat("input '", spec.name, "' has ", shape[i], " elements on axis ",
                                   i, "; it must have ", wanted ? StrCat(*wanted) : "a number",
                                   name ? StrCat(", as '", found_in.at(*name), "' has for ", *name)
                                   : dim.is_symbolic() ? StrCat(", which is ", dim.ToString())
                                                       : std::string()));
    }
  }
  for (const auto& [name, value] : inputs) {
    const auto same = [&, &key = name](const ir::InputSpec& spec) { return spec.name == key; };
    if (std::none_of(inputs_.begin(), inputs_.end(), same))
      throw InvalidArgument(StrCat(
          "there is no input '", name, "'; the inputs are: ",
          StrJoin(inputs_, ", ", [](std::string* out, const auto& spec) { *out += spec.name; })));
  }
  return values;
}

}  // namespace tenon::compiler
