#include "tenon/compiler/symbolic/solved_conditions.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace tenon::compiler {
namespace {

// What the variable is according to the condition, or nothing.
std::optional<Dim> ValueOf(const std::string& name, const ExtentCondition& condition) {
  if (condition.kind != ExtentCondition::Kind::kEqual) return std::nullopt;
  for (const auto& [a, b] : {std::pair(condition.a, condition.b), {condition.b, condition.a}}) {
    std::set<std::string> others;
    b.AddSymbols(&others);
    if (a.symbol() == name && !others.contains(name)) return b;
  }
  return std::nullopt;
}

}  // namespace

std::vector<ExtentCondition> SolvedFor(std::vector<ExtentCondition> conditions,
                                       const std::set<std::string>& known) {
  std::set<std::string> names;
  for (const ExtentCondition& condition : conditions) {
    condition.a.AddSymbols(&names);
    condition.b.AddSymbols(&names);
  }
  for (const std::string& name : names) {
    // Kernels find counts.
    if (known.contains(name) || name.starts_with('#')) continue;
    std::optional<Dim> value;
    for (const ExtentCondition& condition : conditions) {
      value = ValueOf(name, condition);
      if (value) break;
    }
    if (!value) continue;
    const std::map<std::string, Dim> values = {{name, *value}};
    for (ExtentCondition& condition : conditions) {
      condition.a = condition.a.Substitute(values);
      condition.b = condition.b.Substitute(values);
    }
  }
  std::erase_if(conditions, [](const ExtentCondition& condition) {
    return condition.kind == ExtentCondition::Kind::kEqual && condition.a == condition.b;
  });
  return conditions;
}

}  // namespace tenon::compiler
