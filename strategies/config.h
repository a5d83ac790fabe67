// The choices of a schedule: the values that each may have, and the one that it has.
//
// A schedule asks for a choice by name and gets its value. What was asked for is written down, so
// that a tuner learns what else there is. A choice may depend on the values of earlier ones.
// Without given values every choice has its default, which who asks names or Knob and Split say.
//
//   Config config({{"tile", 32}});
//   config.Split("tile", 512, {.max = 64}) == 32;
//   config.Knob("unroll", {1, 2, 4}) == 1;
//   config.ToText() == "tile=32 unroll=1";
#ifndef TENON_STRATEGIES_CONFIG_H_
#define TENON_STRATEGIES_CONFIG_H_

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tenon/te/tensor.h"

namespace tenon::strategies {

using ConfigValues = std::map<std::string, std::int64_t>;

// "tile=32 unroll=1" and back. ParseConfig throws InvalidArgument.
std::string ToText(const ConfigValues& values);
ConfigValues ParseConfig(std::string_view text);

class Config {
 public:
  struct Choice {
    std::string name;
    std::vector<std::int64_t> values;
    std::int64_t value;
  };
  struct SplitOptions {
    std::int64_t min = 1;
    std::optional<std::int64_t> max = std::nullopt;            // the extent
    std::optional<std::int64_t> default_value = std::nullopt;  // the largest factor up to 16
  };

  Config() = default;
  explicit Config(ConfigValues given) : given_(std::move(given)) {}

  // One of `values`; the first one by default. Asked again by the same name, it answers the same.
  // Throws InvalidArgument if there are no values, or if the default or the given value is not
  // among them.
  std::int64_t Knob(const std::string& name, std::vector<std::int64_t> values,
                    std::optional<std::int64_t> default_value = std::nullopt);
  // Such a value of an enum; texts have its number.
  template <typename Enum>
  Enum OneOf(const std::string& name, std::initializer_list<Enum> values,
             std::optional<Enum> default_value = std::nullopt) {
    std::vector<std::int64_t> numbers;
    for (const Enum value : values) numbers.push_back(static_cast<std::int64_t>(value));
    std::optional<std::int64_t> usual;
    if (default_value) usual = static_cast<std::int64_t>(*default_value);
    return static_cast<Enum>(Knob(name, std::move(numbers), usual));
  }
  // The iterations of the inner loop of a split: a divisor of the extent within the bounds, or the
  // default, which need not divide it. If there is no such divisor, it is 1. Throws InvalidArgument
  // for a least factor below 1 or above the greatest one, and for an axis of a symbolic extent.
  std::int64_t Split(const std::string& name, std::int64_t extent, const SplitOptions& options);
  std::int64_t Split(const std::string& name, const te::IterVar& axis, const SplitOptions& options);
  std::int64_t Split(const std::string& name, std::int64_t extent) {
    return Split(name, extent, SplitOptions());
  }
  std::int64_t Split(const std::string& name, const te::IterVar& axis) {
    return Split(name, axis, SplitOptions());
  }

  bool has_given() const { return !given_.empty(); }
  const std::vector<Choice>& choices() const { return choices_; }  // as they were asked for
  ConfigValues Values() const;
  std::string ToText() const { return strategies::ToText(Values()); }
  // Throws InvalidArgument for a given value that nobody has asked for.
  void RequireAllAsked() const;

 private:
  ConfigValues given_;
  std::vector<Choice> choices_;
};

// The same where there may be no config. Without one the value is the default.
std::int64_t KnobOf(Config* config, const std::string& name, std::vector<std::int64_t> values,
                    std::int64_t default_value);

}  // namespace tenon::strategies

#endif  // TENON_STRATEGIES_CONFIG_H_
