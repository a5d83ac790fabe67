// Passes rewrite operators before kernels are made: what a batch_norm needs, the sum and the
// product that it becomes do not say. So operators are asked before, where functions stand in the
// place of their calls but nothing else has changed.
#include "tenon/compiler/control/program_needs.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "tenon/compiler/plan/model_inputs.h"
#include "tenon/compiler/symbolic/solved_conditions.h"
#include "tenon/compiler/symbolic/symbolic_kernels.h"
#include "tenon/ir/flatten.h"
#include "tenon/ir/module_builder.h"
#include "tenon/passes/control/outline_branches.h"
#include "tenon/passes/declared_limits.h"
#include "tenon/passes/fusion/groups.h"
#include "tenon/passes/infer_type.h"
#include "tenon/passes/inline.h"
#include "tenon/passes/name_run_time_extents.h"
#include "tenon/passes/simplify/dead_code.h"

namespace tenon::compiler {
namespace {

// As the passes have the module before they rewrite operators.
ir::Module WithoutCalls(const ir::Module& module) {
  return passes::NameRunTimeExtents(
      passes::Inline(passes::RemoveUnusedFunctions(module), passes::InlineRule::kAll));
}

// Those conditions that have no other variables.
std::vector<ExtentCondition> Over(const std::set<std::string>& known,
                                  std::vector<ExtentCondition> conditions) {
  std::erase_if(conditions, [&](const ExtentCondition& condition) {
    std::set<std::string> names;
    condition.a.AddSymbols(&names);
    condition.b.AddSymbols(&names);
    return !std::ranges::includes(known, names);
  });
  return conditions;
}

}  // namespace

std::vector<ExtentCondition> NeedsOfModule(const ir::Module& module) {
  std::vector<ExtentCondition> needs = passes::ConditionsOf(module);
  if (module.functions().size() > 1)
    AddConditions(passes::ConditionsOf(WithoutCalls(module)), &needs);
  return needs;
}

ir::Module WithNeedsInside(const ir::Module& module) {
  if (module.functions().size() <= 1) return module;
  const ir::Module plain = WithoutCalls(module);
  if (plain.functions().size() <= 1) return module;
  // What branches need, their own functions say.
  const ir::Module outlined = passes::InferType(passes::OutlineBranches(passes::InferType(plain)));
  ir::ModuleBuilder made(module);
  for (const auto& [name, function] : plain.functions()) {
    const auto& node = *outlined.Get(name).As<ir::FunctionNode>();
    if (name == "main" || passes::IsGroup(node)) continue;
    std::set<std::string> known;
    for (const ir::Expr& param : node.params) known.merge(ir::SymbolsOf(param.checked_type()));
    made.Set(name,
             passes::WithNeeds(module.Get(name), Over(known, passes::ConditionsOf(node.body))));
  }
  return made.Build();
}

std::vector<ExtentCondition> NeedsOfProgram(const ir::Module& module, const ir::Module& fused) {
  std::set<std::string> known;
  for (const runtime::InputInfo& input : InputsOf(fused.Main())) {
    for (const Dim& dim : input.extents) dim.AddSymbols(&known);
  }
  if (known.empty()) return {};
  // The branches of ifs become functions, so that @main is what runs always.
  const ir::Module outlined =
      passes::InferType(passes::OutlineBranches(passes::InferType(WithoutCalls(module))));
  std::vector<ExtentCondition> all = passes::DeclaredLimits(module.Main());
  // Where functions stand in the place of their calls, less is known of what @main takes.
  AddConditions(passes::ConditionsOfParameters(module), &all);
  for (ExtentCondition& condition : passes::ConditionsOf(outlined.Main().body))
    all.push_back(std::move(condition));
  return Over(known, SolvedFor(std::move(all), known));
}

}  // namespace tenon::compiler
