// What measurements say about the choice among rows, handed down to those who choose.
//
// strategies/ knows no store of measurements. It asks a function that it is given, by the content
// of the fused function (content.h), and takes its answer if today's table has that row.
//
//   StrategyOptions options{.measured = tune::ChoicesFor(records, target, threads).value()};
#ifndef TENON_STRATEGIES_CHOICE_MEASURED_H_
#define TENON_STRATEGIES_CHOICE_MEASURED_H_

#include <functional>
#include <optional>
#include <string>

#include "tenon/strategies/config.h"

namespace tenon::strategies {

struct MeasuredChoice {
  std::string row;  // "te.dense.tiled"
  ConfigValues config = {};
  // The row that it beat, and that row's values. Where another one would be chosen today, the
  // measurement says nothing. Empty: whichever that is.
  std::string over = {};
  ConfigValues over_config = {};
  std::string evidence = {};  // "0.93 x of default, 40 rounds, 2026-11-25, this CPU"
};

// Gives nothing where there is no measurement, or where the default was the best. Several threads
// call it at once.
using MeasuredChoices = std::function<std::optional<MeasuredChoice>(const std::string& content)>;

}  // namespace tenon::strategies

#endif  // TENON_STRATEGIES_CHOICE_MEASURED_H_
