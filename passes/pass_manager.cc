#include "tenon/passes/pass_manager.h"

#include <algorithm>
#include <chrono>

#include "tenon/ir/verify.h"
#include "tenon/passes/control/outline_branches.h"
#include "tenon/passes/infer_type.h"
#include "tenon/passes/inline.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::passes {
namespace {

bool Contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

void RequireKnown(const Pipeline& pipeline, const std::vector<std::string>& names) {
  std::vector<std::string> known;
  for (const Pass& pass : pipeline) {
    if (!Contains(known, pass.name)) known.push_back(pass.name);
  }
  for (const std::string& name : names) {
    if (!Contains(known, name))
      throw NotFound(StrCat("there is no pass named ", name, "; passes are ", StrJoin(known, ", "),
                            DidYouMean("; ", name, known)));
  }
}

ir::Module Applied(const Pass& pass, const ir::Module& module, bool has_branches) {
  if (pass.flow == Flow::kWhole || !has_branches) return pass.function(module);
  const ir::Module straight = OutlineBranches(InferType(module));
  const ir::Module made = pass.function(straight);
  return made == straight ? module : RestoreBranches(made);
}

// Gives `module` to the pass. Returns whether it changed.
bool Apply(const Pass& pass, ir::Module* module, bool has_branches) {
  const bool is_seen_as_it_is = pass.flow == Flow::kWhole || !has_branches;
  if (pass.in_place != nullptr && is_seen_as_it_is) return pass.in_place(module);
  ir::Module made = Applied(pass, *module, has_branches);
  const bool changed = !(made == *module);
  *module = std::move(made);
  return changed;
}

void CheckFacts(Facts facts, const ir::Module& module) {
  for (const Fact fact : kAllFacts) {
    CheckInvariant(!facts.Has(fact) || Holds(fact, module), StrCat("the module is ", NameOf(fact)));
  }
}

}  // namespace

ir::Module RestoreBranches(const ir::Module& module) {
  return InferType(Inline(module, InlineRule::kOutlined));
}

ir::Module RunPasses(const Pipeline& pipeline, ir::Module module, const PassContext& context) {
  RequireKnown(pipeline, context.required);
  RequireKnown(pipeline, context.disabled);
  ir::Module current = std::move(module);
  Facts facts;
  bool has_branches = HasBranches(current);
  for (const Pass& pass : pipeline) {
    if (Contains(context.disabled, pass.name)) continue;
    if (pass.min_opt_level > context.opt_level && !Contains(context.required, pass.name)) continue;
    const auto& instruments = context.instruments;
    const bool runs = Contains(context.required, pass.name) ||
                      std::all_of(instruments.begin(), instruments.end(), [&](const auto& i) {
                        return !i.should_run || i.should_run(pass, current);
                      });
    if (!runs) continue;
    PassRecord record{pass.name};
    try {
      for (const PassInstrument& instrument : instruments) {
        if (instrument.before) instrument.before(pass, current);
      }
      const auto start = std::chrono::steady_clock::now();
      if (pass.needs.Has(Fact::kTyped) && !facts.Has(Fact::kTyped)) {
        current = InferType(current);
        facts = facts | Facts{Fact::kTyped};
      }
      record.changed = Apply(pass, &current, has_branches);
      facts = (record.changed ? facts & pass.keeps : facts) | pass.makes;
      if (context.verify) {
        ir::VerifyModule(current);
        CheckFacts(facts, current);
      }
      const auto time = std::chrono::steady_clock::now() - start;
      record.nanoseconds = std::chrono::duration_cast<std::chrono::nanoseconds>(time).count();
      for (const PassInstrument& instrument : instruments) {
        if (instrument.after) instrument.after(pass, current, record);
      }
    } catch (const Error& error) {
      throw Error(error).AddNote(StrCat("in the pass ", pass.name));
    }
    if (context.report != nullptr) context.report->push_back(record);
    if (record.changed) has_branches = HasBranches(current);
    if (record.changed && context.dump) context.dump(pass.name, current);
  }
  return current;
}

ir::Expr RunPass(const ir::Expr& expr, const std::function<ir::Module(const ir::Module&)>& pass) {
  const ir::Expr main = pass(ir::Module::FromExpr(expr)).Get("main");
  return expr.kind() == ir::ExprKind::kFunction ? main : main.As<ir::FunctionNode>()->body;
}

}  // namespace tenon::passes
