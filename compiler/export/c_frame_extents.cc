#include "tenon/compiler/export/c_frame_extents.h"

#include <algorithm>
#include <set>
#include <utility>

#include "tenon/compiler/export/c_extents.h"
#include "tenon/support/strings.h"

namespace tenon::compiler {
namespace {

using runtime::ArrayType;
using runtime::ExtentPlace;
using runtime::Plan;
using runtime::PlannedProgram;
using runtime::ProgramFunction;
using runtime::Step;
using runtime::StepKind;

bool IsOfNumbers(const std::vector<ArrayType>& types) {
  return std::ranges::all_of(types, [](const ArrayType& type) {
    return std::ranges::all_of(type.extents, [](const Dim& extent) { return extent.is_static(); });
  });
}

bool HasVariables(const ProgramFunction& function) {
  return !IsOfNumbers(function.parameters) || !IsOfNumbers(function.result_types) ||
         !function.extents.empty() || std::ranges::any_of(function.steps, [](const Step& step) {
           return step.kind == StepKind::kCut || !step.output_extents.empty();
         });
}

}  // namespace

bool HasVariables(const PlannedProgram& program) {
  return !program.extents.empty() ||
         std::ranges::any_of(program.parts, [](const auto& p) { return !p.symbols.empty(); }) ||
         std::ranges::any_of(program.functions, [](const auto& f) { return HasVariables(f); });
}

std::size_t MostAxes(const PlannedProgram& program) {
  std::size_t most = 1;
  const auto add = [&](const std::vector<ArrayType>& types) {
    for (const ArrayType& type : types) most = std::max(most, type.extents.size());
  };
  for (const ProgramFunction& function : program.functions) {
    add(function.parameters);
    add(function.result_types);
  }
  for (const runtime::PlannedConstant& constant : program.constants)
    most = std::max(most, constant.type.shape.size());
  for (const runtime::PlannedPart& part : program.parts) {
    const Plan& plan = part.cases[0].plan;
    for (const runtime::EntryRef head : plan.heads)
      most = std::max(most, plan.entry(head).shape.size());
  }
  return most;
}

CFrameExtents::CFrameExtents(const PlannedProgram& program, const Plan& inputs, std::string prefix)
    : prefix_(std::move(prefix)), count_of_inputs_(inputs.symbols.size()) {
  AddNames(inputs.symbols);
  for (const runtime::PlannedPart& part : program.parts) AddNames(part.symbols);
  for (const ProgramFunction& function : program.functions) AddNames(function.own_extents);
}

void CFrameExtents::AddNames(const std::vector<std::string>& names) {
  for (const std::string& name : names) places_.try_emplace(name, places_.size());
}

std::string CFrameExtents::At(const std::string& name) const {
  return StrCat("e[", places_.at(name), "]");
}

std::string CFrameExtents::Values(const std::vector<std::string>& names) const {
  if (names.empty()) return "{0}";
  return StrCat(
      "{",
      StrJoin(names, ", ", [&](std::string* text, const std::string& name) { *text += At(name); }),
      "}");
}

std::string CFrameExtents::GivenBy(const std::string& name, const std::string& value,
                                   int least) const {
  return StrCat("tenon_set_extent(&", At(name), ", ", value, ", ", least, ")");
}

// Variables whose names do not begin with # are at least 1 in all code (runtime/program.cc).
std::vector<std::string> CFrameExtents::GivenBy(
    const std::vector<ExtentPlace>& places,
    const std::function<std::string(std::size_t)>& array) const {
  std::vector<std::string> statuses;
  for (const ExtentPlace& place : places) {
    const std::string extent = StrCat(array(place.array), ".shape[", place.axis, "]");
    statuses.push_back(place.extent.empty()
                           ? StrCat(extent, " == ", place.number, " ? 0 : 2")
                           : GivenBy(place.extent, extent, place.extent.starts_with('#') ? 0 : 1));
  }
  return statuses;
}

std::string CFrameExtents::Need(const ExtentCondition& condition) {
  std::set<std::string> names;
  condition.a.AddSymbols(&names);
  condition.b.AddSymbols(&names);
  // Nothing gives such a variable a value.
  if (std::ranges::any_of(names, [&](const auto& name) { return !places_.contains(name); }))
    return "0";
  const auto [known, is_new] = needs_.try_emplace(condition.ToString(), "");
  if (!is_new) return known->second;
  const std::string name = StrCat(prefix_, "_need", needs_.size() - 1);
  Plan plan;
  plan.symbols.assign(names.begin(), names.end());
  plan.conditions = {condition};
  const CExtents extents(plan, name + "_values", CVariables::kGiven);
  std::string unknown;
  for (const std::string& variable : names)
    StrAppend(&unknown, "  if (", At(variable), " < 0) return 0;\n");
  StrAppend(&definitions_, extents.Definition(), "static int32_t ", name,
            "(const int64_t* e) {\n  const int64_t given[] = ", Values(plan.symbols), ";\n", "  ",
            extents.Call("2")[0], "\n", unknown, "  ", extents.Call("2")[1], "\n  return 0;\n}\n");
  return known->second = name + "(e)";
}

}  // namespace tenon::compiler
