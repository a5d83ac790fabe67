// A variable has the value of the first extent that it is alone. All extents are then compared with
// what they say.
#include "tenon/runtime/input_symbols.h"

#include <map>
#include <optional>
#include <utility>

#include "tenon/runtime/check_inputs.h"
#include "tenon/runtime/symbolic_plan.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::runtime {

InputSymbols::InputSymbols(std::vector<InputInfo> inputs, std::vector<ExtentCondition> needs)
    : inputs_(std::move(inputs)), needs_(std::move(needs)) {
  std::set<std::string> alone;
  for (const InputInfo& input : inputs_) {
    for (const Dim& dim : input.extents) {
      dim.AddSymbols(&names_);
      if (const auto name = dim.symbol()) alone.insert(*name);
    }
  }
  for (const std::string& name : names_) {
    if (alone.contains(name)) continue;
    throw Unimplemented(StrCat("no input of the model has the extent ", name,
                               " alone, so that its value cannot be read off the inputs"));
  }
}

Dim::Values InputSymbols::Solve(const Inputs& inputs) const {
  Dim::Values values;
  std::map<std::string, std::string> found_in;
  for (const InputInfo& input : inputs_) {
    const auto given = inputs.find(input.name);
    if (given == inputs.end())
      throw InvalidArgument(
          StrCat("input '", input.name, "' is missing; it must be ", Describe(input)));
    const Shape& shape = given->second.shape();
    if (given->second.dtype() != input.dtype || shape.size() != input.extents.size())
      throw InvalidArgument(StrCat("input '", input.name, "' is ", given->second.dtype().ToString(),
                                   " ", ShapeToString(shape), "; it must be ", Describe(input)));
    for (std::size_t i = 0; i < shape.size(); ++i) {
      const auto name = input.extents[i].symbol();
      if (!name || !values.emplace(*name, shape[i]).second) continue;
      found_in.emplace(*name, input.name);
      if (shape[i] < Dim::Symbol(*name).LowerBound())
        throw InvalidArgument(StrCat("input '", input.name, "' has no elements on axis ", i, "; ",
                                     *name,
                                     " must be at least 1 (for empty inputs compile the model ",
                                     "for their shapes, or name the extent #", *name, ")"));
    }
  }
  for (const InputInfo& input : inputs_) {
    const Shape& shape = inputs.find(input.name)->second.shape();
    for (std::size_t i = 0; i < shape.size(); ++i) {
      const Dim& dim = input.extents[i];
      const std::optional<std::int64_t> wanted = dim.Evaluate(values);
      if (wanted == shape[i]) continue;
      const auto name = dim.symbol();
      throw InvalidArgument(StrCat("input '", input.name, "' has ", shape[i], " elements on axis ",
                                   i, "; it must have ", wanted ? StrCat(*wanted) : "a number",
                                   name ? StrCat(", as '", found_in.at(*name), "' has for ", *name)
                                   : dim.is_symbolic() ? StrCat(", which is ", dim.ToString())
                                                       : std::string()));
    }
  }
  if (inputs.size() != inputs_.size()) RefuseUnknown(inputs_, inputs);
  for (const ExtentCondition& need : needs_) {
    if (!need.Holds(values)) RefuseValues(need, values);
  }
  return values;
}

}  // namespace tenon::runtime
