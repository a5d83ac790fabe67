// Passes rewrite operators before the module is cut into parts: what a batch_norm needs, the sum
// and the product that it becomes do not say.
#include "tenon/compiler/control/program_needs.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "tenon/compiler/plan/model_inputs.h"
#include "tenon/compiler/symbolic/solved_conditions.h"
#include "tenon/passes/control/outline_branches.h"
#include "tenon/passes/declared_limits.h"
#include "tenon/passes/infer_type.h"

namespace tenon::compiler {

std::vector<ExtentCondition> NeedsOfProgram(const ir::Module& module, const ir::Module& fused) {
  std::set<std::string> known;
  for (const runtime::InputInfo& input : InputsOf(fused.Main())) {
    for (const Dim& dim : input.extents) dim.AddSymbols(&known);
  }
  if (known.empty()) return {};
  // The branches of ifs become functions, so that @main is what runs always.
  const ir::Module outlined = passes::InferType(passes::OutlineBranches(passes::InferType(module)));
  std::vector<ExtentCondition> all = passes::DeclaredLimits(module.Main());
  for (ExtentCondition& condition : passes::ConditionsOf(outlined.Main().body))
    all.push_back(std::move(condition));
  std::vector<ExtentCondition> needs = SolvedFor(std::move(all), known);
  std::erase_if(needs, [&](const ExtentCondition& need) {
    std::set<std::string> names;
    need.a.AddSymbols(&names);
    need.b.AddSymbols(&names);
    return !std::ranges::includes(known, names);
  });
  return needs;
}

}  // namespace tenon::compiler
