#include "tenon/strategies/config.h"

#include <algorithm>
#include <utility>

#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::strategies {
namespace {

// If an author has named no default, it is the largest factor up to this: a vector of floats, if
// that divides.
constexpr std::int64_t kUsualFactor = 16;

// The divisors in ascending order.
std::vector<std::int64_t> DivisorsOf(std::int64_t extent) {
  std::vector<std::int64_t> small, large;
  for (std::int64_t factor = 1; factor <= extent / factor; ++factor) {
    if (extent % factor != 0) continue;
    small.push_back(factor);
    if (factor != extent / factor) large.push_back(extent / factor);
  }
  small.insert(small.end(), large.rbegin(), large.rend());
  return small;
}

}  // namespace

std::string ToText(const ConfigValues& values) {
  return StrJoin(values, " ", [](std::string* text, const auto& value) {
    StrAppend(text, value.first, "=", value.second);
  });
}

ConfigValues ParseConfig(std::string_view text) {
  ConfigValues values;
  if (text.empty()) return values;
  for (const std::string& part : StrSplit(text, ' ')) {
    const std::size_t sign = part.find('=');
    const auto value = sign == std::string::npos
                           ? std::nullopt
                           : ParseNumber<std::int64_t>(std::string_view(part).substr(sign + 1));
    if (sign == 0 || !value || !values.emplace(part.substr(0, sign), *value).second)
      throw InvalidArgument(StrCat("choices are NAME=NUMBER, with blanks between, not ", text));
  }
  return values;
}

std::int64_t Config::Knob(const std::string& name, std::vector<std::int64_t> values,
                          std::optional<std::int64_t> default_value) {
  const auto asked = std::ranges::find(choices_, name, &Choice::name);
  if (asked != choices_.end()) return asked->value;
  const auto is_allowed = [&](std::int64_t value) {
    return std::ranges::find(values, value) != values.end();
  };
  if (name.empty() || name.find_first_of(" =") != std::string::npos)
    throw InvalidArgument(
        StrCat("the choice '", name, "' needs a name without blanks and equals signs"));
  if (values.empty()) throw InvalidArgument(StrCat("the choice ", name, " has no values"));
  std::int64_t value = default_value.value_or(values[0]);
  if (!is_allowed(value))
    throw InvalidArgument(StrCat("the choice ", name, " has the default ", value,
                                 ", which is none of its values: ", StrJoin(values, ", ")));
  if (const auto given = given_.find(name); given != given_.end()) value = given->second;
  if (!is_allowed(value))
    throw InvalidArgument(
        StrCat("the choice ", name, "=", value, " is none of its values: ", StrJoin(values, ", ")));
  choices_.push_back({name, std::move(values), value});
  return value;
}

std::int64_t Config::Split(const std::string& name, std::int64_t extent,
                           const SplitOptions& options) {
  if (options.min < 1)
    throw InvalidArgument(StrCat("the choice ", name, " has the least factor ", options.min,
                                 "; factors are at least 1"));
  if (options.max && *options.max < options.min)
    throw InvalidArgument(StrCat("the choice ", name, " has the greatest factor ", *options.max,
                                 ", which is less than the least one, ", options.min));
  std::vector<std::int64_t> values;
  for (const std::int64_t factor : DivisorsOf(extent)) {
    if (factor >= options.min && factor <= options.max.value_or(extent)) values.push_back(factor);
  }
  std::int64_t usual = values.empty() ? 1 : values[0];
  for (const std::int64_t factor : values) {
    if (factor <= kUsualFactor) usual = factor;
  }
  const std::int64_t value = options.default_value.value_or(usual);
  if (std::ranges::find(values, value) == values.end())
    values.insert(std::ranges::upper_bound(values, value), value);
  return Knob(name, std::move(values), value);
}

std::int64_t Config::Split(const std::string& name, const te::IterVar& axis,
                           const SplitOptions& options) {
  const auto* extent = axis.extent.As<loop::IntImmNode>();
  if (extent == nullptr)
    throw InvalidArgument(StrCat("the choice ", name, " splits an axis whose extent is no number"));
  return Split(name, extent->value, options);
}

ConfigValues Config::Values() const {
  ConfigValues values;
  for (const Choice& choice : choices_) values.emplace(choice.name, choice.value);
  return values;
}

void Config::RequireAllAsked() const {
  for (const auto& [name, value] : given_) {
    if (std::ranges::find(choices_, name, &Choice::name) == choices_.end())
      throw InvalidArgument(StrCat(
          "the schedule has no choice ", name, "; it has ",
          choices_.empty() ? std::string("none")
                           : StrJoin(choices_, ", ", [](std::string* text, const Choice& choice) {
                               StrAppend(text, choice.name);
                             })));
  }
}

std::int64_t KnobOf(Config* config, const std::string& name, std::vector<std::int64_t> values,
                    std::int64_t default_value) {
  return config == nullptr ? default_value : config->Knob(name, std::move(values), default_value);
}

}  // namespace tenon::strategies
