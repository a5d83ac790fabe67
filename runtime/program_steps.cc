// A function can end if all that it calls can, and one side of each branch. This is found from
// those that call nothing upwards, so functions that only wait for each other cannot.
#include "tenon/runtime/program_steps.h"

#include <algorithm>

namespace tenon::runtime {
namespace {

void FindLastReads(ProgramFunction* function) {
  std::vector<bool> is_read(function->registers, false);
  // Constants stay for the whole call.
  for (const auto& [r, constant] : function->constants) is_read[r] = true;
  for (const Register r : function->results) is_read[r] = true;
  for (auto step = function->steps.rbegin(); step != function->steps.rend(); ++step) {
    const auto read = [&](Register r) {
      if (!is_read[r]) step->last_reads.push_back(r);
      is_read[r] = true;
    };
    for (const Register r : step->inputs) read(r);
    for (const Register r : step->other_inputs) read(r);
    if (step->kind == StepKind::kBranch) read(step->condition);
  }
}

void FindEndless(std::vector<ProgramFunction>* functions) {
  std::vector<ProgramFunction>& all = *functions;
  std::vector<bool> can_end(all.size(), false);
  const auto ends = [&](const Step& step) {
    if (step.kind == StepKind::kCall) return bool{can_end[step.target]};
    if (step.kind == StepKind::kBranch) return can_end[step.target] || can_end[step.otherwise];
    return true;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t f = 0; f < all.size(); ++f) {
      if (can_end[f] || !std::ranges::all_of(all[f].steps, ends)) continue;
      can_end[f] = changed = true;
    }
  }
  for (std::size_t f = 0; f < all.size(); ++f) {
    if (can_end[f]) continue;
    // From what does not end to what does not end, until a function comes again.
    std::vector<bool> seen(all.size(), false);
    std::size_t at = f;
    while (!seen[at]) {
      seen[at] = true;
      at = std::ranges::find_if_not(all[at].steps, ends)->target;
    }
    all[f].endless = all[at].name;
  }
}

}  // namespace

std::vector<std::string> VariablesOf(const std::vector<ExtentPlace>& places) {
  std::vector<std::string> variables;
  for (const ExtentPlace& place : places) {
    if (!place.extent.empty()) variables.push_back(place.extent);
  }
  return variables;
}

std::vector<std::string> VariablesGivenBy(const Step& step) {
  return step.kind == StepKind::kCut ? std::vector<std::string>{step.extent}
                                     : VariablesOf(step.output_extents);
}

std::vector<std::string> OwnVariables(const ProgramFunction& function) {
  std::vector<std::string> own = VariablesOf(function.extents);
  for (const Step& step : function.steps) {
    const std::vector<std::string> given = VariablesGivenBy(step);
    own.insert(own.end(), given.begin(), given.end());
  }
  return own;
}

void FindFacts(std::vector<ProgramFunction>* functions) {
  for (ProgramFunction& function : *functions) {
    FindLastReads(&function);
    const Step* last = function.steps.empty() ? nullptr : &function.steps.back();
    // Variables that the results give values to, nobody reads afterwards. Numbers are compared.
    function.ends_in_call = last != nullptr && last->outputs == function.results &&
                            (last->kind == StepKind::kCall || last->kind == StepKind::kBranch) &&
                            std::ranges::none_of(last->output_extents, [](const auto& place) {
                              return place.extent.empty();
                            });
    function.own_extents = OwnVariables(function);
  }
  FindEndless(functions);
}

}  // namespace tenon::runtime
