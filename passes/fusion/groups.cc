#include "tenon/passes/fusion/groups.h"

#include "tenon/ir/visit.h"
#include "tenon/support/strings.h"

namespace tenon::passes {
namespace {

bool IsOfCodeGenerator(const ir::FunctionNode& function) {
  return function.HasAttr("Composite") || function.HasAttr("Codegen") ||
         function.HasAttr("Compiler");
}

}  // namespace

bool IsGroup(const ir::FunctionNode& function) {
  return function.is_primitive() || IsOfCodeGenerator(function);
}

bool IsNumberInCode(const ir::ConstantNode& constant) {
  const DataType t = constant.data.dtype();
  return constant.data.shape().empty() &&
         (t.is_bool() || t == Int32 || t == Int64 || t == Float32 || t == Float64);
}

ir::Expr WithConstantsAsArguments(const ir::Expr& call) {
  const auto& node = *call.As<ir::CallNode>();
  const auto* kernel = node.callee.As<ir::FunctionNode>();
  if (kernel == nullptr || !kernel->is_primitive() || IsOfCodeGenerator(*kernel)) return call;
  std::vector<ir::Expr> params = kernel->params, args = node.args;
  const ir::Expr body =
      ir::RewritePostOrder(kernel->body, [&](const ir::Expr& original, const ir::Expr& rewritten) {
        const auto* constant = rewritten.As<ir::ConstantNode>();
        if (constant == nullptr || IsNumberInCode(*constant))
          return ir::KeepType(original, rewritten);
        params.push_back(ir::Var::MakeChecked(StrCat("constant_", params.size()),
                                              rewritten.checked_type(), rewritten.span()));
        args.push_back(rewritten);
        return params.back();
      });
  if (params.size() == kernel->params.size()) return call;
  std::vector<ir::Type> types;
  for (const ir::Expr& param : params) types.push_back(param.checked_type());
  const ir::Type& result = call.checked_type();
  const ir::Expr function =
      ir::Function::Make(std::move(params), body, result, kernel->attrs, node.callee.span(),
                         ir::FuncType(std::move(types), result));
  return ir::Call::Make(function, std::move(args), node.attrs, call.span(), result);
}

}  // namespace tenon::passes
