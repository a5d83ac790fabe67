#include "tenon/passes/name_run_time_extents.h"

#include <algorithm>
#include <map>
#include <utility>

#include "tenon/ir/structural.h"
#include "tenon/ir/visit.h"
#include "tenon/ops/extent_attrs.h"
#include "tenon/ops/run_time_cut.h"
#include "tenon/support/strings.h"

namespace tenon::passes {
namespace {

using ir::Expr;
using ops::RunTimeCutAttrs;

std::string Fresh(const std::string& name, std::set<std::string>* taken) {
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
  named_.push_back({count, whole, Fresh(StrCat("#", hint), &taken_)});
  return named_.back().name;
}

ir::Module NameRunTimeExtents(const ir::Module& module) {
  std::set<std::string> taken;
  std::vector<std::string> with_cuts;  // functions
  for (const auto& [name, function] : module.functions()) {
    bool has_cut = false;
    ir::VisitPostOrder(function, [&](const Expr& e) {
      const ir::CallNode* cut = ops::AsRunTimeCut(e);
      if (cut == nullptr) return;
      has_cut = true;
      taken.insert(cut->attrs.As<RunTimeCutAttrs>().extent);
    });
    if (has_cut) with_cuts.push_back(name);
  }
  // Of the first cut that has a variable: its function and its count.
  std::map<std::string, std::pair<std::string, Expr>> counts;
  ir::Module named = module;
  for (const std::string& name : with_cuts) {
    const Expr function = module.Get(name);
    const Expr rewritten =
        ir::RewritePostOrder(function, [&](const Expr& original, const Expr& rebuilt) {
          const ir::CallNode* cut = ops::AsRunTimeCut(rebuilt);
          if (cut == nullptr) return rebuilt;
          RunTimeCutAttrs attrs = cut->attrs.As<RunTimeCutAttrs>();
          const Expr& count = ops::AsRunTimeCut(original)->args[1];
          if (!attrs.extent.empty()) {
            const auto [first, is_new] = counts.try_emplace(attrs.extent, name, count);
            const auto& [owner, known] = first->second;
            if (is_new || (owner == name && ir::StructuralEqual(known, count))) return rebuilt;
          }
          attrs.extent = Fresh(attrs.extent.empty() ? "#k" : attrs.extent, &taken);
          counts.try_emplace(attrs.extent, name, count);
          return Expr(ir::Call::Make(cut->callee, cut->args, attrs::Attrs::Make(std::move(attrs)),
                                     original.span()));
        });
    if (!(rewritten == function)) named = named.With(name, rewritten);
  }
  return named;
}

}  // namespace tenon::passes
