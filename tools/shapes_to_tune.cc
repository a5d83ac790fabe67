#include "tenon/tools/shapes_to_tune.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "tenon/ir/type.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/tools/results.h"

namespace tenon::tools {
namespace {

// A prime, so that steps through the values of a range reach them all.
constexpr std::int64_t kShapes = 5;

struct Range {
  std::int64_t first = 0, last = 0, step = 1;

  std::int64_t At(std::int64_t place) const {
    const std::int64_t steps = (last - first) / step;
    // In two parts, which do not overflow.
    const std::int64_t at =
        steps / (kShapes - 1) * place + steps % (kShapes - 1) * place / (kShapes - 1);
    return first + at * step;
  }
  bool Has(std::int64_t value) const {
    return first <= value && value <= last && (value - first) % step == 0;
  }
  friend bool operator==(const Range&, const Range&) = default;
};

// "32", "32..640" or "32..640:32".
Range ParseRange(const std::string& text) {
  const std::size_t dots = text.find("..");
  const std::size_t colon = dots == std::string::npos ? dots : text.find(':', dots);
  const auto first = ParseNumber<std::int64_t>(text.substr(0, dots));
  const auto last = dots == std::string::npos
                        ? first
                        : ParseNumber<std::int64_t>(text.substr(dots + 2, colon - dots - 2));
  const auto step = colon == std::string::npos ? std::optional<std::int64_t>(1)
                                               : ParseNumber<std::int64_t>(text.substr(colon + 1));
  if (!first || !last || !step || *first < 1 || *last < *first || *step < 1)
    throw InvalidArgument(StrCat("--shapes: ", text,
                                 " is neither an extent from 1 on nor a range of them, such as "
                                 "32..640 or 32..640:32"));
  return {*first, *last, *step};
}

std::vector<Range> ParseRanges(const std::string& text) {
  std::vector<Range> ranges;
  for (const std::string& part : StrSplit(text, ',')) ranges.push_back(ParseRange(part));
  return ranges;
}

using Inputs = std::map<std::string, std::vector<Dim>>;

Inputs InputsOf(const ir::Module& module) {
  Inputs inputs;
  for (const ir::Expr& param : module.Main().params) {
    const ir::Var var(param);
    if (const auto* type = var.type_annotation().As<ir::TensorTypeNode>())
      inputs.emplace(var.name(), type->shape);
  }
  return inputs;
}

using Wanted = std::vector<std::pair<std::string, std::vector<Range>>>;  // by input

// Ranges for the extents of each input that is named, as many as it has axes.
Wanted ParseWanted(const Inputs& inputs, const std::vector<std::string>& texts) {
  Wanted wanted;
  for (const auto& [name, text] : Assignments(texts, "--shapes")) {
    const auto input = inputs.find(name);
    if (input == inputs.end()) {
      throw InvalidArgument(StrCat("--shapes: the model has no input ", name, "; it has ",
                                   StrJoin(inputs, ", ", [](std::string* out, const auto& one) {
                                     StrAppend(out, one.first);
                                   })));
    }
    wanted.emplace_back(name, ParseRanges(text));
    if (wanted.back().second.size() != input->second.size())
      throw InvalidArgument(StrCat("--shapes: ", name, " has ", input->second.size(), " axes, not ",
                                   wanted.back().second.size()));
  }
  return wanted;
}

// Of the variables that are extents by themselves.
std::map<std::string, Range> RangesOf(const Inputs& inputs, const Wanted& wanted) {
  std::map<std::string, Range> ranges;
  for (const auto& [name, of_input] : wanted) {
    for (std::size_t axis = 0; axis < of_input.size(); ++axis) {
      const Dim& dim = inputs.at(name)[axis];
      if (!dim.symbol()) continue;
      const auto [known, is_new] = ranges.emplace(*dim.symbol(), of_input[axis]);
      if (!is_new && !(known->second == of_input[axis]))
        throw InvalidArgument(StrCat("--shapes: axis ", axis, " of ", name, " is ", *dim.symbol(),
                                     ", which has another range elsewhere"));
    }
  }
  std::set<std::string> missing;
  for (const auto& [name, dims] : inputs) {
    for (const Dim& dim : dims) dim.AddSymbols(&missing);
  }
  std::erase_if(missing, [&](const std::string& variable) { return ranges.contains(variable); });
  if (!missing.empty())
    throw InvalidArgument(StrCat("--shapes: these variables have no values: ",
                                 StrJoin(missing, ", "), "; name an input that has them"));
  return ranges;
}

void RequireFit(const Inputs& inputs, const Wanted& wanted, const Dim::Values& values) {
  for (const auto& [name, of_input] : wanted) {
    for (std::size_t axis = 0; axis < of_input.size(); ++axis) {
      const Dim& dim = inputs.at(name)[axis];
      const std::optional<std::int64_t> extent = dim.Evaluate(values);
      if (!extent || !of_input[axis].Has(*extent))
        throw InvalidArgument(StrCat("--shapes: axis ", axis, " of ", name, " is ", dim.ToString(),
                                     extent && !dim.is_static() ? StrCat(", here ", *extent) : "",
                                     ", which the extent that is given leaves out"));
    }
  }
}

}  // namespace

tune::Shapes ShapesToTune(const ir::Module& module, const std::vector<std::string>& texts) {
  const Inputs inputs = InputsOf(module);
  const Wanted wanted = ParseWanted(inputs, texts);
  const std::map<std::string, Range> ranges = RangesOf(inputs, wanted);
  tune::Shapes shapes;
  for (std::int64_t i = 0; i < kShapes; ++i) {
    Dim::Values values;
    std::int64_t stride = 1;
    for (const auto& [variable, range] : ranges) {
      values[variable] = range.At(i * stride % kShapes);
      if (range.first < range.last) stride = stride % (kShapes - 1) + 1;
    }
    RequireFit(inputs, wanted, values);
    if (std::ranges::find(shapes, values) == shapes.end()) shapes.push_back(std::move(values));
  }
  return shapes;
}

}  // namespace tenon::tools
