#include "tenon/compiler/plan/model_inputs.h"

#include "tenon/compiler/plan/unique_names.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::compiler {

std::vector<runtime::InputInfo> InputsOf(const ir::FunctionNode& main) {
  UniqueNames names;
  std::vector<runtime::InputInfo> inputs;
  for (const ir::Expr& param : main.params) {
    const std::string& name = param.As<ir::VarNode>()->name;
    const auto* type = param.checked_type().As<ir::TensorTypeNode>();
    if (type == nullptr)
      throw Unimplemented(StrCat("the parameter %", name, " of @main is no tensor"))
          .At(param.span());
    inputs.push_back({names.Unique(name, ""), type->dtype, type->shape});
  }
  return inputs;
}

}  // namespace tenon::compiler
