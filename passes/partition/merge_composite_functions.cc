#include "tenon/passes/partition/merge_composite_functions.h"

#include <string>
#include <vector>

#include "tenon/passes/fusion/groups.h"
#include "tenon/passes/fusion/outline_groups.h"
#include "tenon/passes/infer_type.h"
#include "tenon/passes/partition/join_regions.h"

namespace tenon::passes {
namespace {

using ir::Expr;
using ir::FunctionNode;

// The composite function that `e` calls, or null.
Expr CalledComposite(const ir::Module& module, const Expr& e) {
  const auto* call = e.As<ir::CallNode>();
  const bool is_global = call != nullptr && call->callee.kind() == ir::ExprKind::kGlobalVar;
  return is_global ? CompositeOf(module, call->callee) : Expr();
}

}  // namespace

ir::Module MergeCompositeFunctions(const ir::Module& input,
                                   std::optional<ops::OperatorNames> names) {
  const ir::Module module = InferType(input);
  FunctionAdder adder(module);
  for (const auto& [name, function] : module.functions()) {
    if (IsGroup(*function.As<FunctionNode>())) continue;
    OutlineRequest request;
    request.groups = JoinRegions(function, [&](const Expr& e) {
      const Expr composite = CalledComposite(module, e);
      return composite ? CodegenOf(composite) : std::string();
    });
    if (request.groups.empty()) continue;
    request.rewrite_member = [&](const Expr& member) { return CallAsLiteral(module, member); };
    request.callee = [&](std::size_t group, const Expr& body) {
      const std::string codegen = CodegenOf(CalledComposite(module, request.groups[group].front()));
      std::vector<std::string> operators;
      for (const Expr& member : request.groups[group]) {
        const auto of = OperatorsOf(CalledComposite(module, member).As<FunctionNode>()->body);
        operators.insert(operators.end(), of.begin(), of.end());
      }
      const std::string stem =
          adder.Unique(NameOfOperators(operators, names.value_or(module.operator_names())));
      const std::string symbol = adder.Unique(stem, "_" + codegen);
      adder.module().Set(symbol, WithAttrs(body, {{"Codegen", attrs::Value(codegen)},
                                                  {"global_symbol", attrs::Value(symbol)}}));
      return ir::GlobalVar::Make(symbol, body.span(), body.checked_type());
    };
    adder.module().Set(name, OutlineGroups(function, request));
  }
  return WithoutUnnamedComposites(adder.module().Build());
}

}  // namespace tenon::passes
