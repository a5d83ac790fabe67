#include "tenon/compiler/symbolic/extent_needs.h"

#include <map>
#include <optional>

#include "tenon/compiler/symbolic/concrete_module.h"
#include "tenon/passes/infer_type.h"
#include "tenon/runtime/symbolic_plan.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::compiler {

ExtentNeeds NeedsOf(const ir::Module& module) {
  return {.conditions = passes::ConditionsOf(module),
          .broadcast = passes::AssumedEqual(passes::InferType(module).Main().body)};
}

void RequireNeeds(const ExtentNeeds& needs, const Dim::Values& values) {
  for (const ExtentCondition& need : needs.conditions) {
    if (!need.Holds(values)) runtime::RefuseValues(need, values);
  }
  for (const auto& [a, b] : needs.broadcast) {
    const std::optional<std::int64_t> x = a.Evaluate(values), y = b.Evaluate(values);
    if (x && y && (*x == *y || *x == 1 || *y == 1)) continue;
    throw InvalidArgument(StrCat("the model broadcasts ", a.ToString(), " and ", b.ToString(),
                                 " together, so that they must be equal or one of them 1; here ",
                                 runtime::ToText(values)));
  }
}

ExtentNeeds WithValues(const ExtentNeeds& needs, const Dim::Values& values) {
  const std::map<std::string, Dim> numbers = AsDims(values);
  ExtentNeeds rest = needs;
  for (ExtentCondition& need : rest.conditions) {
    need.a = need.a.Substitute(numbers);
    need.b = need.b.Substitute(numbers);
  }
  for (auto& [a, b] : rest.broadcast) {
    a = a.Substitute(numbers);
    b = b.Substitute(numbers);
  }
  return rest;
}

std::vector<ExtentCondition> StrictConditions(const ExtentNeeds& needs) {
  std::vector<ExtentCondition> all = needs.conditions;
  for (const auto& [a, b] : needs.broadcast)
    all.push_back({a, ExtentCondition::Kind::kEqual, b, "extents that are broadcast together"});
  return all;
}

}  // namespace tenon::compiler
