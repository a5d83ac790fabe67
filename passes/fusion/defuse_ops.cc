#include "tenon/passes/fusion/defuse_ops.h"

#include "tenon/ir/visit.h"
#include "tenon/passes/infer_type.h"

namespace tenon::passes {
namespace {

using ir::CallNode;
using ir::Expr;

// FuseOps marks functions without calls, too, with 0.
const ir::FunctionNode* FusedFunction(const Expr& e) {
  const auto* function = e.As<ir::FunctionNode>();
  return function != nullptr && function->HasAttr("Primitive") ? function : nullptr;
}

Expr Defuse(const Expr&, const Expr& rebuilt) {
  const auto* call = rebuilt.As<CallNode>();
  const auto* function = call == nullptr ? nullptr : FusedFunction(call->callee);
  if (function == nullptr) return rebuilt;
  ir::ExprMap values;
  for (std::size_t i = 0; i < function->params.size(); ++i)
    values.emplace(function->params[i], call->args[i]);
  // Each call binds variables of its own.
  ir::VisitPostOrder(function->body, [&](const Expr& e) {
    const auto* let = e.As<ir::LetNode>();
    if (let == nullptr) return;
    const auto& var = *let->var.As<ir::VarNode>();
    values.emplace(let->var, ir::Var::Make(var.name, var.type_annotation, let->var.span()));
  });
  return ir::Substitute(function->body, values);
}

}  // namespace

ir::Module DefuseOps(const ir::Module& module) {
  const ir::Module result = module.Map([&](const Expr& function) {
    if (FusedFunction(function) != nullptr) return function;
    return ir::RewritePostOrder(function, Defuse,
                                [](const Expr& e) { return FusedFunction(e) == nullptr; });
  });
  return result == module ? result : InferType(result);
}

}  // namespace tenon::passes
