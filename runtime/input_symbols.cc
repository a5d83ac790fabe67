// A variable has the value of the first extent that it is alone or, where there is none, that is a
// multiple of it and a number. All extents are then compared with what they say.
#include "tenon/runtime/input_symbols.h"

#include <map>
#include <optional>
#include <utility>

#include "tenon/runtime/check_inputs.h"
#include "tenon/runtime/symbolic_plan.h"
#include "tenon/support/error.h"
#include "tenon/support/linear_extent.h"
#include "tenon/support/strings.h"

namespace tenon::runtime {

InputSymbols::InputSymbols(std::vector<InputInfo> inputs, std::vector<ExtentCondition> needs)
    : inputs_(std::move(inputs)), needs_(std::move(needs)) {
  std::set<std::string> shown;
  for (const InputInfo& input : inputs_) {
    for (const Dim& dim : input.extents) {
      dim.AddSymbols(&names_);
      if (const auto linear = AsLinear(dim)) shown.insert(linear->symbol);
    }
  }
  for (const std::string& name : names_) {
    if (shown.contains(name)) continue;
    throw Unimplemented(StrCat("no input of the model has the extent ", name,
                               " alone, or a multiple of it and a number, so that its value cannot "
                               "be read off the inputs"));
  }
}

Dim::Values InputSymbols::Solve(const Inputs& inputs) const {
  Dim::Values values;
  std::map<std::string, std::pair<const InputInfo*, std::size_t>> found_at;  // input and axis
  const auto has = [&](const InputInfo& input, std::size_t axis) {
    return StrCat("input '", input.name, "' has ", inputs.find(input.name)->second.shape()[axis],
                  " elements on axis ", axis);
  };
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
      found_at.emplace(*name, std::pair(&input, i));
      if (shape[i] < Dim::Symbol(*name).LowerBound())
        throw InvalidArgument(StrCat(
            "input '", input.name, "' has no elements on axis ", i, "; ", *name,
            " must be at least 1 (for empty inputs compile the model ",
            "for their shapes, or name the extent #", *name, ", as --dim ", *name, "=0.. does)"));
    }
  }
  for (const InputInfo& input : inputs_) {
    if (values.size() == names_.size()) break;
    const Shape& shape = inputs.find(input.name)->second.shape();
    for (std::size_t i = 0; i < shape.size(); ++i) {
      const auto linear = AsLinear(input.extents[i]);
      if (!linear || values.contains(linear->symbol)) continue;
      const std::optional<std::int64_t> value = linear->ValueAt(shape[i]);
      const std::int64_t least = Dim::Symbol(linear->symbol).LowerBound().value_or(0);
      if (!value || *value < least)
        throw InvalidArgument(StrCat(has(input, i), "; it must have ", input.extents[i].ToString(),
                                     ", where ", linear->symbol, " is a whole number of at least ",
                                     least));
      values.emplace(linear->symbol, *value);
      found_at.emplace(linear->symbol, std::pair(&input, i));
    }
  }
  for (const InputInfo& input : inputs_) {
    const Shape& shape = inputs.find(input.name)->second.shape();
    for (std::size_t i = 0; i < shape.size(); ++i) {
      const Dim& dim = input.extents[i];
      const std::optional<std::int64_t> wanted = dim.Evaluate(values);
      if (wanted == shape[i]) continue;
      const auto name = dim.symbol();
      throw InvalidArgument(
          StrCat(has(input, i), "; it must have ", wanted ? StrCat(*wanted) : "a number",
                 name ? StrCat(", as '", found_at.at(*name).first->name, "' has for ", *name)
                 : dim.is_symbolic() ? StrCat(", which is ", dim.ToString())
                                     : std::string()));
    }
  }
  if (inputs.size() != inputs_.size()) RefuseUnknown(inputs_, inputs);
  for (const ExtentCondition& need : needs_) {
    if (need.Holds(values)) continue;
    std::set<std::string> names;
    need.a.AddSymbols(&names);
    need.b.AddSymbols(&names);
    const auto shown = names.size() == 1 ? found_at.find(*names.begin()) : found_at.end();
    RefuseValues(need, values,
                 shown == found_at.end() ? "" : has(*shown->second.first, shown->second.second));
  }
  return values;
}

}  // namespace tenon::runtime
