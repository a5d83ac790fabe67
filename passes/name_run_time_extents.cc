#include "tenon/passes/name_run_time_extents.h"

#include <algorithm>
#include <map>
#include <utility>

#include "tenon/ir/flatten.h"
#include "tenon/ir/structural.h"
#include "tenon/ir/visit.h"
#include "tenon/ops/extents/run_time_cut.h"
#include "tenon/support/strings.h"

namespace tenon::passes {
namespace {

using ir::Expr;

std::string FreshName(const std::string& name, std::set<std::string>* taken) {
  std::string fresh = name;
  for (int i = 1; !taken->insert(fresh).second; ++i) fresh = StrCat(name, "_", i);
  return fresh;
}

}  // namespace

std::string RunTimeExtentNames::NameFor(const Expr& count, const Dim& whole,
                                        std::string_view hint) {
  const auto same = [&](const Named& named) {
    return named.whole == whole && ir::StructuralEqual(named.count, count);
  };
  const auto found = std::ranges::find_if(named_, same);
  if (found != named_.end()) return found->name;
  named_.push_back({count, whole, Fresh(hint)});
  return named_.back().name;
}

std::string RunTimeExtentNames::Fresh(std::string_view hint) {
  return FreshName(StrCat("#", hint), &taken_);
}

ir::Module NameRunTimeExtents(const ir::Module& module) {
  std::set<std::string> taken;
  std::vector<std::string> with_cuts;  // functions
  for (const auto& [name, function] : module.functions()) {
    for (const Expr& param : function.As<ir::FunctionNode>()->params)
      taken.merge(ir::SymbolsOf(ir::Var(param).type_annotation()));
    bool has_cut = false;
    ir::VisitPostOrder(function, [&](const Expr& e) {
      const ir::CallNode* cut = ops::AsRunTimeExtent(e);
      if (cut == nullptr) return;
      has_cut = true;
      taken.insert(ops::VariableOf(*cut));
    });
    if (has_cut) with_cuts.push_back(name);
  }
  // For each variable, the function and the count of the first cut that has it.
  std::map<std::string, std::pair<std::string, Expr>> counts;
  ir::Module named = module;
  for (const std::string& name : with_cuts) {
    const Expr function = module.Get(name);
    const Expr rewritten =
        ir::RewritePostOrder(function, [&](const Expr& original, const Expr& rebuilt) -> Expr {
          const ir::CallNode* cut = ops::AsRunTimeExtent(rebuilt);
          if (cut == nullptr) return rebuilt;
          if (ops::KeepsName(*cut)) return rebuilt;
          const std::string& variable = ops::VariableOf(*cut);
          const Expr& count = ops::AsRunTimeExtent(original)->args.back();
          if (!variable.empty()) {
            const auto [first, is_new] = counts.try_emplace(variable, name, count);
            const auto& [owner, known] = first->second;
            if (is_new || (owner == name && ir::StructuralEqual(known, count))) return rebuilt;
          }
          const std::string fresh = FreshName(variable.empty() ? "#k" : variable, &taken);
          counts.try_emplace(fresh, name, count);
          return Expr(ir::Call::Make(cut->callee, cut->args, ops::WithVariable(*cut, fresh),
                                     original.span()));
        });
    if (!(rewritten == function)) named = named.With(name, rewritten);
  }
  return named;
}

}  // namespace tenon::passes
