#include "tenon/passes/partition/embed_composites.h"

#include "tenon/ir/visit.h"
#include "tenon/passes/fusion/outline_groups.h"
#include "tenon/support/strings.h"

namespace tenon::passes {
namespace {

using ir::Expr;
using ir::FunctionNode;

Expr CallKernel(const Expr& composite, const Expr& original, const std::vector<Expr>& args) {
  const Expr fresh = WithFreshVariables(composite);
  const auto& node = *fresh.As<FunctionNode>();
  std::vector<Expr> params = node.params;
  std::vector<Expr> all_args = args;
  ir::ExprMap lifted;
  ir::VisitPostOrder(node.body, [&](const Expr& e) {
    const auto* constant = e.As<ir::ConstantNode>();
    if (constant == nullptr || constant->data.shape().empty()) return;
    const Expr var = ir::Var::MakeChecked(StrCat("c", lifted.size()), e.checked_type(), e.span());
    params.push_back(var);
    all_args.push_back(e);
    lifted.emplace(e, var);
  });
  Expr body = node.body;
  if (!lifted.empty()) {
    body = ir::RewritePostOrder(body, [&](const Expr& e, const Expr& rewritten) {
      const auto found = lifted.find(e);
      return found == lifted.end() ? ir::KeepType(e, rewritten) : found->second;
    });
  }
  std::vector<ir::Type> types;
  for (const Expr& param : params) types.push_back(param.checked_type());
  ir::FunctionAttrs attrs = node.attrs;
  attrs["Primitive"] = attrs::Value(std::int64_t{1});
  const ir::Type& result = original.checked_type();
  const Expr kernel = ir::Function::Make(std::move(params), body, result, std::move(attrs),
                                         composite.span(), ir::FuncType(std::move(types), result));
  return ir::Call::Make(kernel, std::move(all_args), {}, original.span(), result);
}

}  // namespace

ir::Module EmbedComposites(const ir::Module& module) {
  const ir::Module result = module.Map([&](const Expr& function) {
    if (function.As<FunctionNode>()->HasAttr("Composite")) return function;
    return ir::RewritePostOrder(
        function,
        [&](const Expr& original, const Expr& e) -> Expr {
          const auto* call = original.As<ir::CallNode>();
          const Expr composite = call == nullptr ? Expr() : CompositeOf(module, call->callee);
          if (!composite) return ir::KeepType(original, e);
          return CallKernel(composite, original, e.As<ir::CallNode>()->args);
        },
        ir::OutsideLiterals(function));
  });
  return WithoutUnnamedComposites(result);
}

}  // namespace tenon::passes
