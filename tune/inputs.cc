#include "tenon/tune/inputs.h"

#include <algorithm>
#include <map>
#include <utility>

#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/verify/array_values.h"

namespace tenon::tune {
namespace {

constexpr std::uint64_t kSeed = 36;

runtime::Inputs InputsOf(const runtime::Executable& executable, const Dim::Values& values) {
  runtime::Inputs inputs;
  verify::Random random(kSeed);
  for (const runtime::InputInfo& input : executable.inputs()) {
    Shape shape;
    for (const Dim& dim : input.extents) {
      const std::optional<std::int64_t> extent = dim.Evaluate(values);
      if (!extent || *extent < 0)
        throw InvalidArgument(StrCat("the shapes to measure do not give the extent ",
                                     dim.ToString(), " of the input ", input.name));
      shape.push_back(*extent);
    }
    inputs[input.name] = verify::TypicalArray(std::move(shape), input.dtype, random);
  }
  return inputs;
}

}  // namespace

std::vector<runtime::Inputs> InputsOf(const runtime::Executable& executable, const Shapes& shapes) {
  std::vector<runtime::Inputs> inputs;
  for (const Dim::Values& values : shapes) inputs.push_back(InputsOf(executable, values));
  return inputs;
}

std::string RangesText(const Shapes& shapes) {
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> ranges;
  for (const Dim::Values& values : shapes) {
    for (const auto& [variable, value] : values) {
      const auto [known, is_new] = ranges.try_emplace(variable, value, value);
      known->second = {std::min(known->second.first, value), std::max(known->second.second, value)};
    }
  }
  return StrJoin(ranges, ", ", [](std::string* text, const auto& entry) {
    const auto& [least, greatest] = entry.second;
    StrAppend(text, entry.first, "=", least);
    if (greatest != least) StrAppend(text, "..", greatest);
  });
}

}  // namespace tenon::tune
