#include "tenon/tools/random_inputs.h"

#include <set>

#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/verify/array_values.h"

namespace tenon::tools {
namespace {

constexpr std::int64_t kDefaultExtent = 16;

// Throws what the model refuses of the inputs, with the variables that nobody gave a value.
void RequireFit(const runtime::Executable& exe, const runtime::Inputs& inputs,
                const Dim::Values& values, const Dim::Values& given) {
  std::vector<std::string> chosen;
  for (const auto& [name, value] : values) {
    if (!given.contains(name)) chosen.push_back(StrCat(name, " = ", value));
  }
  if (chosen.empty()) return;
  const auto bound = exe.Bind(inputs);
  if (bound.ok()) return;
  throw FromStatus(bound.status())
      .AddNote(StrCat("the inputs are random, with ", StrJoin(chosen, ", "),
                      "; --extent NAME=VALUE gives a variable another value"));
}

}  // namespace

Dim::Values AllExtents(const runtime::Executable& exe, const Dim::Values& given) {
  std::set<std::string> names;
  for (const runtime::InputInfo& input : exe.inputs()) {
    for (const Dim& dim : input.extents) dim.AddSymbols(&names);
  }
  for (const auto& [name, value] : given) {
    if (!names.contains(name))
      throw InvalidArgument(StrCat("--extent: the inputs have no variable ", name,
                                   names.empty() ? "; their extents are numbers" : "; they have ",
                                   StrJoin(names, ", ")));
  }
  Dim::Values values = given;
  for (const std::string& name : names) values.try_emplace(name, kDefaultExtent);
  return values;
}

runtime::Inputs RandomInputs(const runtime::Executable& exe, std::uint64_t seed,
                             const Dim::Values& extents) {
  const Dim::Values values = AllExtents(exe, extents);
  runtime::Inputs inputs;
  verify::Random random(seed);
  for (const runtime::InputInfo& input : exe.inputs()) {
    Shape shape;
    for (const Dim& dim : input.extents) {
      const std::optional<std::int64_t> extent = dim.Evaluate(values);
      if (!extent || *extent < 0)
        throw InvalidArgument(StrCat("the input ", input.name, " would have the extent ",
                                     extent ? StrCat(*extent) : "2^63", " for ", dim.ToString()));
      shape.push_back(*extent);
    }
    inputs[input.name] = verify::TypicalArray(shape, input.dtype, random);
  }
  RequireFit(exe, inputs, values, extents);
  return inputs;
}

}  // namespace tenon::tools
