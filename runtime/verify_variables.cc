// The variables that have values at a step are those that its function is entered with, those of
// its parameters, and those of cuts and calls before it. A function is entered with what all of its
// calls have: names are removed from that until nothing changes.
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tenon/runtime/verify_program.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::runtime {
namespace {

using Names = std::set<std::string>;

void Add(const std::vector<std::string>& more, Names* names) {
  names->insert(more.begin(), more.end());
}

// What each function is entered with; nothing for those that are never called.
std::vector<std::optional<Names>> EnteredWith(const std::vector<ProgramFunction>& functions,
                                              const std::vector<std::string>& inputs) {
  std::vector<std::optional<Names>> entered(functions.size());
  std::vector<std::size_t> changed;
  const auto enter = [&](std::size_t f, const Names& names) {
    Names left;
    Names own;
    Add(OwnVariables(functions[f]), &own);
    for (const std::string& name : names) {
      if (!own.contains(name) && (!entered[f] || entered[f]->contains(name))) left.insert(name);
    }
    if (entered[f] == left) return;
    entered[f] = std::move(left);
    changed.push_back(f);
  };
  enter(0, Names(inputs.begin(), inputs.end()));
  while (!changed.empty()) {
    const std::size_t f = changed.back();
    changed.pop_back();
    Names names = *entered[f];
    Add(VariablesOf(functions[f].extents), &names);
    for (const Step& step : functions[f].steps) {
      if (step.kind == StepKind::kCall || step.kind == StepKind::kBranch) enter(step.target, names);
      if (step.kind == StepKind::kBranch) enter(step.otherwise, names);
      Add(VariablesGivenBy(step), &names);
    }
  }
  return entered;
}

void RequireVariables(const PlannedProgram& program, std::size_t f, Names names) {
  const ProgramFunction& function = program.functions[f];
  Add(VariablesOf(function.extents), &names);
  for (std::size_t s = 0; s < function.steps.size(); ++s) {
    const Step& step = function.steps[s];
    Add(VariablesGivenBy(step), &names);
    if (step.kind != StepKind::kPart) continue;
    for (const std::string& symbol : program.parts[step.target].symbols) {
      if (!names.contains(symbol))
        throw DataLoss(StrCat("the program's function ", f, " (", function.name, "), step ", s,
                              ": runs a part that needs ", symbol,
                              ", to which nothing before gives a value"));
    }
  }
}

}  // namespace

void VerifyVariables(const PlannedProgram& program, const Plan& inputs) {
  const std::vector<std::optional<Names>> entered = EnteredWith(program.functions, inputs.symbols);
  for (std::size_t f = 0; f < entered.size(); ++f) {
    if (entered[f]) RequireVariables(program, f, *entered[f]);
  }
}

}  // namespace tenon::runtime
