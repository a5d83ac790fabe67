#include "tenon/ir/module_builder.h"

#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::ir {

ModuleBuilder ModuleBuilder::WithoutFunctions(const Module& module) {
  ModuleBuilder builder;
  builder.functions_.names = module.operator_names();
  builder.functions_.attrs = module.attrs();
  return builder;
}

void ModuleBuilder::Set(const std::string& name, const Expr& function) {
  if (!function || function.kind() != ExprKind::kFunction)
    throw InvalidArgument(StrCat("@", name, " is not a function"));
  auto& in_order = functions_.in_order;
  const auto [found, is_new] = functions_.place.emplace(name, in_order.size());
  if (is_new) {
    in_order.emplace_back(name, function);
  } else {
    in_order[found->second].second = function;
  }
}

}  // namespace tenon::ir
